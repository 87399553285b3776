// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/driver/files/yaml_preset.hpp"
#include "sim/machines/machine.hpp"

namespace lacuna {

/// One kind of machine, as the word `machine:` of a preset names it.
struct MachineKind {
  const char* kind;
  const char* what;
  std::unique_ptr<Machine> (*make)(std::string name);
};

using MachineTable = std::vector<MachineKind>;

/// All that Lacuna can build.
const MachineTable& standard_machines();

/// The machine of a preset or a file, without further settings and not yet checked. Results call it
/// `label`, or what the preset is called if that is empty.
std::unique_ptr<Machine> make_machine(const MachineTable& table, const std::string& name_or_file,
                                      const std::string& label = "");

/// Splits "path=value"; RequestError if it is not of that form.
Setting parse_setting(const std::string& text);

/// The machines of a request with its settings. A setting goes to each machine that has its
/// parameter, and at least one must have it; "NAME:path=value" goes to the machine NAME alone. A
/// parameter set twice for one machine is refused. Every machine is checked.
std::vector<std::unique_ptr<Machine>> make_machines(const MachineTable& table,
                                                    const std::vector<std::string>& names,
                                                    const std::vector<std::string>& settings);

}  // namespace lacuna
