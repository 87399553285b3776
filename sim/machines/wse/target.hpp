// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/machines/wse/params.hpp"

namespace lacuna {

/// A parameter of which a wafer has two values: one that chips show, and one of the vendor's fabric
/// simulator.
struct TargetValue {
  const char* path;
  const char* silicon;
  const char* simfabric;
  const char* kind;        // "measured", "fitted" or "inferred"
  const char* confidence;  // H: two teams, or exact; M: one careful source; L: one number
  const char* source;
};

const std::vector<TargetValue>& target_values();

/// Sets `params` as text does, and keeps the rule of two columns: when the target is set, its
/// values go to all parameters of target_values() that were not set by their names.
class TargetSetter {
 public:
  /// ParameterError if the path or value is wrong, or if `target` is given to a machine of one set
  /// of values: the first to give it has to be the preset `wse3`.
  void set(WseParams& params, const std::string& path, const std::string& text,
           const std::string& origin);

  /// Whether a parameter was set by its name.
  bool named(const std::string& path) const { return named_.count(path) != 0; }

 private:
  std::set<std::string> named_;
};

}  // namespace lacuna
