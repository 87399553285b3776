// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lacuna::test {

/// Where `file`, such as "traces/tiny.csv", lies in the source tree.
std::string source_path(const std::string& file);

/// Where `file`, such as "lacuna", lies in the build tree the tests belong to.
std::string binary_path(const std::string& file);

}  // namespace lacuna::test
