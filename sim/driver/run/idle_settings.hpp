// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/machines/machine.hpp"

namespace lacuna {

/// A parameter that changes a result only while another one has a certain value, or any other.
struct ActsWith {
  std::string path;   // a name, or a group that ends in '.'
  std::string other;  // without effect on itself
  std::string value;
  bool differs = false;  // it acts with every value but this
};

/// All of them, of machines of every kind.
const std::vector<ActsWith>& conditions();

/// Whether a setting is told that cannot act on one machine, or only if it acts on none.
enum class IdleOn { one, all };

/// A line for each of `settings` ("path=value") that cannot act on a machine that it was given to,
/// because another parameter is not what it needs; empty if all can. So of `fold`, which says
/// whether --fold was given, where there is no wafer.
std::string idle_settings(const std::vector<std::unique_ptr<Machine>>& machines,
                          const std::vector<std::string>& settings, bool fold,
                          IdleOn idle = IdleOn::one);

/// The same of a run of a language model's programs on `machine`, which are none of the layers that
/// other requests run.
std::string settings_beside_model(const Machine& machine, const std::vector<std::string>& settings);

/// True if one of them is a wafer, whose rows can stand for each other.
bool can_fold(const std::vector<std::unique_ptr<Machine>>& machines);

}  // namespace lacuna
