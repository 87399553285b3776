// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sim/base/error.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"

// Whatever the bytes, the reader gives a mask that survives writing and reading, or a TraceError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const lacuna::Mask mask = lacuna::parse_smtx(text, "input.smtx").mask;
    const lacuna::Mask again = lacuna::parse_smtx(lacuna::format_smtx(mask), "again.smtx").mask;
    if (!(mask == again)) std::abort();
  } catch (const lacuna::TraceError&) {
    return 0;
  }
  return 0;
}
