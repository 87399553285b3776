// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lacuna {

/// What became of a parameter that there was in an earlier version, as the end of a sentence that
/// begins with its path; empty if there never was one of that name. `path` may begin with the
/// groups it lay in. See doc/migration.md.
std::string retired_parameter(const std::string& path);

}  // namespace lacuna
