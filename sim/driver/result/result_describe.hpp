// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/machines/machine.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

/// True if a dotted name is of `group`: it, or a part of it, and everything below; of all if empty.
bool is_in_group(const std::string& name, const std::string& group);

/// Statistics of a machine, or of a group of them.
TextTable statistics_table(Machine& machine, const std::string& group = "");

/// Parameters that are no machine's, and what stands before their paths where they are set.
struct NamedSet {
  std::string name;  // in JSON: a kind, or a system that was asked for
  std::string prefix;
  const ParameterSet* parameters;
  std::string owners = {};   // behind "of", in the text of a parameter
  std::string heading = {};  // of their table
  std::string section = {};  // behind "Parameters of", of a group of them
};

/// What `describe --json` prints of parameters, statistics or patterns, of a parameter or of a
/// group of them, with the statistics of that group; nothing if `subject` is another.
/// `with_values`: machines and `sets`, which are systems then, were asked for by name, and values
/// are theirs. Else `sets` are what has parameters beside machines.
std::optional<std::string> described_json(const std::vector<std::unique_ptr<Machine>>& machines,
                                          bool with_values, const std::string& subject,
                                          const std::vector<NamedSet>& sets);

/// JSON Schemas for editors: of experiment files, whose words are options and parameters of
/// `machines`, and of machine files.
std::string experiment_schema(const std::vector<std::unique_ptr<Machine>>& machines);
std::string machine_schema(const std::vector<std::unique_ptr<Machine>>& machines);

}  // namespace lacuna
