// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lacuna {

/// SHA-256 (FIPS 180-4) of the bytes of `text`, as 64 hexadecimal digits.
std::string sha256(const std::string& text);

/// The same of a file, which is read by pieces. RequestError if it cannot be read.
std::string sha256_of_file(const std::string& path);

}  // namespace lacuna
