// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sim/base/error.hpp"
#include "workloads/trace/op_cost.hpp"
#include "workloads/trace/trace_reader.hpp"
#include "workloads/trace/trace_writer.hpp"

// Whatever the bytes, the reader gives rows that are written and read back the same, or a
// TraceError. Pattern files are not opened.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const lacuna::WorkloadTrace trace = lacuna::parse_trace(text, "input.csv", false);
    for (const lacuna::LayerOp& op : trace.ops) lacuna::masked_elements(op);
    const std::string written = lacuna::format_trace(trace);
    try {
      if (lacuna::format_trace(lacuna::parse_trace(written, "again.csv", false)) != written) {
        std::abort();
      }
    } catch (const lacuna::TraceError&) {
      std::abort();  // what was read once must be read again
    }
  } catch (const lacuna::TraceError&) {
    return 0;
  }
  return 0;
}
