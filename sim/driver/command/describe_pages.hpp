// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/result/result_page.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/options.hpp"
#include "workloads/generate/model_shape.hpp"

namespace lacuna {

/// A page of what `options` describe, in the form that they ask for.
std::string printed(const TextPage& page, const Options& options);

/// Presets of chips, and of systems that share a store of weights.
std::vector<std::string> machine_names();

/// Presets and their memory bandwidth, systems.
TextPage machines_page(const MachineTable& table);

/// Systems of chips, whatever joins them.
TextPage systems_page(const MachineTable& table);

/// What chips are made of and what that takes; published areas beside those of the model.
TextPage area_page(const MachineTable& kinds, const Options& options);

/// How far the model was from points that it has not seen, what was chosen by points, and what is
/// assumed.
TextPage trust_page(const MachineTable& kinds, const Options& options);

/// What `--layout best` chooses from.
TextPage layouts_page(const MachineTable& kinds, const Options& options);

/// All that can be described: words, machines, systems, models, patterns and groups of parameters;
/// of the rows alone whose kind has `part` in it.
TextPage index_page(const MachineTable& kinds, const std::string& part = "");

/// The shapes of all models, and of one.
TextPage models_page();
TextPage model_page(const ModelShape& model);

/// What is described as a whole, by name.
std::vector<std::string> subjects();

/// Completion for bash, zsh and fish, and a manual page, of the program's own declarations.
std::string completion_text();
std::string zsh_completion_text();
std::string fish_completion_text();
std::string manual_text();

}  // namespace lacuna
