// SPDX-License-Identifier: Apache-2.0
#include "tests/support/paths.hpp"

namespace lacuna::test {

std::string source_path(const std::string& file) { return LACUNA_SOURCE "/" + file; }
std::string binary_path(const std::string& file) { return LACUNA_BINARY "/" + file; }

}  // namespace lacuna::test
