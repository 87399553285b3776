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
  std::string kind;  // "ipu", "wse", "system"
  std::vector<Setting> settings;
};

/// The kind of a file that describes a system of chips; the key in it that says what joins them,
/// and its words.
inline constexpr const char* kSystemKind = "system";
inline constexpr const char* kNetworkKey = "network";
inline constexpr const char* kLinksNetwork = "links";  // from chip to chip; where nothing is said
inline constexpr const char* kTreeNetwork = "tree";    // between them and a store of weights

/// What joins the chips of a system; RequestError if it is none of these words.
std::string network_of(const Preset& preset);

/// The systems that are shipped, by name, sorted: config/systems/*.yaml.
std::vector<std::string> system_names();

/// Reads a preset by name, or a machine file (anything with a slash or ending in .yaml). A file
/// may inherit with `base: NAME|FILE`; what it inherits keeps the kind. A key given twice, a list,
/// an empty value or a kind that differs from the base's is a RequestError with file, line and
/// column. Whether parameters exist is for the machine to say.
Preset load_preset(const std::string& name_or_file);

/// All `key: value` lines of a file, groups as paths; the same errors.
std::vector<Setting> load_leaves(const std::string& file);

}  // namespace lacuna
