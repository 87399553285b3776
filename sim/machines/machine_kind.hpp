// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/machines/declared_cause.hpp"
#include "sim/machines/machine.hpp"
#include "sim/report/tables/summary.hpp"
#include "sim/report/tables/table_bounds.hpp"

namespace lacuna {

/// A family of kernels of a machine that was measured; which of its regimes an operation is in.
struct TrustPlace {
  std::string machine;  // the preset that was measured
  std::string family;
  std::string regime;
};

/// All that the program knows of a kind of machine: how one is made, and what can be said of the
/// results of any. What is left out is not known of it.
struct MachineKind {
  const char* kind;  // as the word `machine:` of a preset has it
  const char* what;
  std::unique_ptr<Machine> (*make)(std::string name);

  /// The costs that it can be imagined without.
  std::vector<WhatIf> (*what_ifs)() = nullptr;

  /// The measured family of an operation of a run; nothing if no kernel like it was measured.
  std::optional<TrustPlace> (*trust)(const RunRecord& run, const OpRecord& op) = nullptr;

  /// Beginnings of the paths of settings that say where a kernel runs and which it is: they may
  /// differ from the preset that was measured.
  std::vector<std::string> of_kernels = {};

  /// What may be why a run is not faster; at most eight.
  std::vector<DeclaredCause> (*causes)() = nullptr;

  /// The same of language models, if it is something else; all of it is costs that add up.
  std::vector<DeclaredCause> (*model_causes)() = nullptr;
};

MachineKind ipu_kind();
MachineKind wse_kind();

/// The value of a parameter of a run, empty if it has none; what the request of an operation says,
/// such as its mode.
std::string value_of(const RunRecord& run, const std::string& path);
std::string asked(const OpRecord& op, const std::string& key);

}  // namespace lacuna
