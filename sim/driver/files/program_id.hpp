// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lacuna {

/// What tells this build of the program, module or library from any other. It is the linker's
/// identifier of all that it linked (the GNU build ID, hexadecimal). Of a file without one it is
/// the SHA-256 of its bytes.
std::string program_id();

}  // namespace lacuna
