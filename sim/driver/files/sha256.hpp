// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lacuna {

/// SHA-256 (FIPS 180-4) of the bytes of `text`, as 64 hexadecimal digits.
std::string sha256(const std::string& text);

}  // namespace lacuna
