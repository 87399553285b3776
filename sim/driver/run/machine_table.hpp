// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/machines/machine_kind.hpp"

namespace lacuna {

struct Setting;

using MachineTable = std::vector<MachineKind>;

/// All that Lacuna can build.
const MachineTable& standard_machines();

/// Those that this program was started with, standard_machines() if nothing was said; of any other
/// kind only its results are known.
const MachineTable& known_machines();
void set_known_machines(const MachineTable& machines);

/// Null if there is none of this kind among them.
const MachineKind* known_kind(const std::string& kind);

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
