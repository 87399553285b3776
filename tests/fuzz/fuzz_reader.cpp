// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/support/any_reader.hpp"
#include "tests/support/temp_file.hpp"

// Whatever the bytes, a reader gives something right or one of our errors. Which reader is set by
// the build: LACUNA_READER.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const lacuna::test::TempFolder folder("lacuna-fuzz-");
  static lacuna::test::AnyReader reader(LACUNA_READER, folder.path());
  reader.read(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
