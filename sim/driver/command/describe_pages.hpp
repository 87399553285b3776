// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

/// A table, and the headings of a page, as text or as Markdown.
std::string shown(const TextTable& table, const Options& options);
std::string heading(const std::string& text, const Options& options);
std::string title(const std::string& page, const std::string& what, const Options& options);

/// Presets of chips, and of systems that share a store of weights.
std::vector<std::string> machine_names();

/// Presets and their memory bandwidth, systems.
std::string machines_text(const MachineTable& table, const Options& options);

/// Systems of chips, whatever joins them.
std::string systems_page(const MachineTable& table, const Options& options);

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

/// What is described as a whole, by name.
std::vector<std::string> subjects();

/// Completion for bash, zsh and fish, and a manual page, of the program's own declarations.
std::string completion_text();
std::string zsh_completion_text();
std::string fish_completion_text();
std::string manual_text();

}  // namespace lacuna
