// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/options.hpp"

namespace lacuna {

/// What chips are made of and what that takes; published areas beside those of the model.
std::string area_text(const MachineTable& kinds, const Options& options);

/// How far the model was from points that it has not seen, what was chosen by points, and what is
/// assumed.
std::string trust_text(const MachineTable& kinds, const Options& options);

/// What `--layout best` chooses from.
std::string layouts_text(const MachineTable& kinds, const Options& options);

/// All that can be described: words, machines, systems, models, patterns and groups of parameters;
/// of the rows alone whose kind has `part` in it.
std::string index_text(const MachineTable& kinds, const Options& options,
                       const std::string& part = "");

/// The shapes of all models, and of one by its name; empty if there is none.
std::string models_text(const Options& options);
std::string model_text(const std::string& name, const Options& options);

/// Completion for bash, and a manual page, of the program's own declarations.
std::string completion_text();
std::string manual_text();

}  // namespace lacuna
