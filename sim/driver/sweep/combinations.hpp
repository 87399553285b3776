// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sim/driver/run/options.hpp"
#include "sim/driver/sweep/yaml_sweep.hpp"

namespace lacuna {

/// A word of an experiment with its value at one point.
struct Assigned {
  std::string key;
  std::string value;
  std::string place;
};

using Assignment = std::vector<Assigned>;

/// Null if nothing is said of it.
const Assigned* find(const Assignment& assignment, const std::string& key);

/// Calls `visit` with each combination of the values of a file that meets its conditions, the last
/// axis the fastest. RequestError if there is none, or more than `most`.
void for_each_combination(const SweepFile& file, std::size_t most,
                          const std::function<void(Assignment)>& visit);

/// The axes of a file that vary.
std::vector<std::string> varying_axes(const SweepFile& file);

/// RequestError if options say what the file says, of those that an experiment takes both ways.
void refuse_said_twice(const SweepFile& file, const Options& options);

/// A key without the machine that it is for, which is KEY of NAME:KEY; and whether it is for this
/// machine, as keys without a name are.
std::string bare_key(const std::string& key);
bool is_key_of(const std::string& machine, const std::string& key);

/// A file as it is named, or if there is none, beside the experiment file.
std::string located(const std::string& name, const SweepFile& file);

/// "study.yaml: at density = 0.1, block = 4: ", of what varies.
std::string where_in(const SweepFile& file, const Assignment& assigned);

}  // namespace lacuna
