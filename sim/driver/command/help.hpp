// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/command/typed_verbs.hpp"

namespace lacuna {

/// The help of a verb: examples, what most people need and the groups of all else; or the options
/// of the group that `arguments` name after --help, or of all. RequestError names the groups if
/// there is none of that name.
std::string help_text(const TypedVerb& verb, const std::vector<std::string>& arguments);

}  // namespace lacuna
