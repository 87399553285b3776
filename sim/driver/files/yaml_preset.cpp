// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/files/yaml_preset.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/ranges.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/yaml_file.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongestPreset = std::size_t{1} << 18U;
constexpr std::size_t kDeepest = 16;

/// One file on its way to settings: it collects the leaves.
class PresetReader : YamlFile {
 public:
  explicit PresetReader(std::string file) : YamlFile(std::move(file)) {}

  void read() { descend(load(kLongestPreset, "'parameter: value' lines"), ""); }

  /// Removes and returns the setting `key`, which is no parameter.
  Setting take(const std::string& key) {
    const auto* const found =
        find_where(settings_, [&](const Setting& s) { return s.path == key; });
    if (found == nullptr) return {};
    Setting setting = *found;
    settings_.erase(settings_.begin() + (found - settings_.data()));
    return setting;
  }

  const std::vector<Setting>& settings() const { return settings_; }

 private:
  void descend(const YAML::Node& map, const std::string& prefix) {
    if (std::count(prefix.begin(), prefix.end(), '.') >= static_cast<int>(kDeepest)) {
      refuse(map.Mark(), fmt::format("groups are nested more than {} deep", kDeepest));
    }
    for (const auto& item : map) {
      const YAML::Node& key = item.first;
      const YAML::Node& value = item.second;
      const std::string path = new_key(key, prefix);
      if (value.IsMap()) {
        descend(value, path + ".");
      } else if (value.IsScalar()) {
        settings_.push_back({path, one_line(value), place(key.Mark())});
      } else {
        refuse(key.Mark(), fmt::format("'{}' {}; a parameter takes one value", path,
                                       value.IsSequence() ? "is a list" : "has no value"));
      }
    }
  }

  std::vector<Setting> settings_;
};

bool is_file_name(const std::string& text) {
  const fs::path path = text;
  return text.find('/') != std::string::npos || path.extension() == ".yaml" ||
         path.extension() == ".yml";
}

/// The file behind a name; `from` is the file that names it as its base, or empty.
fs::path locate(const std::string& name, const fs::path& from, const std::string& origin) {
  if (is_file_name(name)) return from.parent_path() / name;  // an absolute name stays what it is
  const std::vector<std::string> names = preset_names();
  if (contains(names, name)) return config_folder() / (name + ".yaml");
  const std::vector<std::string> systems = system_names();
  if (contains(systems, name)) return config_folder() / "systems" / (name + ".yaml");
  std::vector<std::string> all = names;
  append(all, systems);
  const std::string meant = nearest(name, all);
  throw RequestError(fmt::format("{}there is no machine '{}'; presets are {}, of systems {}{}",
                                 origin.empty() ? "" : origin + ": ", name, fmt::join(names, ", "),
                                 fmt::join(systems, ", "),
                                 meant.empty() ? "" : "; did you mean '" + meant + "'?"));
}

void check_kind(const Preset& preset, const Setting& kind, const std::string& file) {
  if (kind.path.empty() && preset.kind.empty()) {
    throw RequestError(
        fmt::format("{}: needs 'machine: ipu|wse|system' or 'base: NAME|FILE'", file));
  }
  if (!kind.path.empty() && !preset.kind.empty() && kind.value != preset.kind) {
    throw RequestError(fmt::format("{}: machine = '{}', but its base is for '{}'", kind.origin,
                                   kind.value, preset.kind));
  }
}

Preset load(const std::string& name, const fs::path& from, const std::string& origin,
            std::size_t depth) {
  const fs::path path = locate(name, from, origin);
  if (depth > kDeepest) {
    throw RequestError(
        fmt::format("{}: more than {} bases follow each other; is '{}' its own base?", origin,
                    kDeepest, path.string()));
  }
  PresetReader reader(path.string());
  reader.read();
  const Setting base = reader.take("base");
  const Setting kind = reader.take("machine");
  Preset preset;
  if (!base.path.empty()) preset = load(base.value, path, base.origin, depth + 1);
  check_kind(preset, kind, path.string());
  if (!kind.path.empty()) preset.kind = kind.value;
  preset.name = path.stem().string();
  append(preset.settings, reader.settings());
  return preset;
}

}  // namespace

std::string network_of(const Preset& preset) {
  std::string network = kLinksNetwork;
  for (const Setting& setting : preset.settings) {
    if (setting.path != kNetworkKey) continue;
    network = setting.value;
    if (network == kLinksNetwork || network == kTreeNetwork) continue;
    throw RequestError(fmt::format("{}: found network = '{}'; allowed: {}, {}", setting.origin,
                                   network, kLinksNetwork, kTreeNetwork));
  }
  return network;
}

std::vector<std::string> system_names() { return yaml_names(config_folder() / "systems"); }

Preset load_preset(const std::string& name_or_file) { return load(name_or_file, "", "", 0); }

std::vector<Setting> load_leaves(const std::string& file) {
  PresetReader reader(file);
  reader.read();
  return reader.settings();
}

}  // namespace lacuna
