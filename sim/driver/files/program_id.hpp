// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lacuna {

/// What tells this build of the program, module or library from any other: the identifier that the
/// linker made of all that it linked (the GNU build ID, hexadecimal); of a file without one the
/// SHA-256 of its bytes.
std::string program_id();

}  // namespace lacuna
