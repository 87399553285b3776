// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/import/import_table.hpp"
#include "workloads/trace/trace_reader.hpp"
#include "workloads/trace/trace_writer.hpp"

// Whatever the bytes, an importer gives rows that are a right trace, or one of our errors. The
// format is set by the build: LACUNA_FORMAT.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string format = LACUNA_FORMAT;
  lacuna::Pairs settings = {{"format", format}};
  if (format == "chakra" || format == "chakra-json") {
    settings.insert(settings.end(), {{"ranks", "4"}, {"comm-size", "64"}, {"drop-missing", "1"}});
  }
  if (format == "npy" || format == "safetensors") settings.insert(settings.end(), {{"n", "4"}});
  if (format == "config") settings.insert(settings.end(), {{"layers", "1"}, {"tokens", "1"}});
  if (format == "requests") settings.insert(settings.end(), {{"model", "bert-tiny"}});
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const lacuna::WorkloadTrace trace =
        lacuna::import_text(text, "input." + format, settings).trace;
    const std::string written = lacuna::format_trace(trace);
    try {
      lacuna::parse_trace(written, "again.csv", false);
    } catch (const lacuna::TraceError& error) {
      // products of dimensions may be too large together, which only the whole trace shows
      if (std::string(error.what()).find("E213") == std::string::npos) std::abort();
    }
  } catch (const lacuna::TraceError&) {
    return 0;
  } catch (const lacuna::RequestError&) {
    return 0;
  }
  return 0;
}
