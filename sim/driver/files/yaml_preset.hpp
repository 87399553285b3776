// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lacuna {

/// One parameter as a preset or an option sets it.
struct Setting {
  std::string path;
  std::string value;
  std::string origin;  // "study.yaml:7:3" or "--set"
};

/// A machine file, with what it inherits: settings in the order they are to be applied.
struct Preset {
  std::string name;
  std::string kind;  // "ipu", "wse"
  std::vector<Setting> settings;
};

/// Reads a preset by name, or a machine file (anything with a slash or ending in .yaml). A file
/// may inherit with `base: NAME|FILE`; what it inherits keeps the kind. A key given twice, a list,
/// an empty value or a kind that differs from the base's is a RequestError with file, line and
/// column. Whether parameters exist is for the machine to say.
Preset load_preset(const std::string& name_or_file);

/// All `key: value` lines of a file, groups as paths; the same errors.
std::vector<Setting> load_leaves(const std::string& file);

}  // namespace lacuna
