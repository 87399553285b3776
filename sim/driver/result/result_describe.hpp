// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/machines/machine.hpp"

namespace lacuna {

/// What `describe --json` prints: `subject` is parameters, statistics or patterns, or the path of a
/// parameter or of a group of them. RequestError if it is another. `with_values`: the machines were
/// asked for by name, and their values are theirs.
std::string described_json(const std::vector<std::unique_ptr<Machine>>& machines, bool with_values,
                           const std::string& subject);

}  // namespace lacuna
