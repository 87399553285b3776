// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/yaml_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "sim/base/contains.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/parsed_number.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/files/yaml_file.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/sweep/search_order.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kLongest = std::size_t{1} << 20U;
constexpr std::size_t kMostSteps = 100000;

/// What a map of an experiment file may hold.
enum class Keys { top, set, grid };

/// A number as an option takes it: no exponent, and no dust of the last bits.
std::string plain_number(double value) {
  std::string text = fmt::format("{:.12f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

class Reader : YamlFile {
 public:
  Reader(const std::string& path, bool searched) : YamlFile(path), searched_(searched) {
    file_.path = path;
  }

  SweepFile read() {
    read_map(load(kLongest, "'machine: ...', and 'grid: ...' or 'space: ...'"), Keys::top, "");
    return std::move(file_);
  }

 private:
  void read_map(const YAML::Node& map, Keys keys, const std::string& prefix) {
    if (!map.IsMap()) refuse(map.Mark(), "a map of 'name: values' is needed here");
    for (const auto& item : map) {
      if (!item.first.IsScalar()) refuse(item.first.Mark(), "a key is not a word");
      const std::string name = prefix + one_line(item.first);
      if (keys == Keys::top) {
        read_top(name, item.first, item.second);
      } else if (item.second.IsMap() && (keys == Keys::set || !is_range(item.second))) {
        read_map(item.second, keys, name + ".");  // a group of parameters
      } else {
        add_axis(name, item.first, item.second);
      }
    }
  }

  void read_top(const std::string& name, const YAML::Node& key, const YAML::Node& value) {
    if (name == "set" || name == "grid" || name == "zip" || name == "where") check_new(key, name);
    if (is_of_search(name)) return read_search_word(name, key, value);
    if (name == "set") return read_map(value, Keys::set, "");
    if (name == "grid") return read_map(value, Keys::grid, "");
    if (name == "zip") return read_zip(value);
    if (name == "where") return read_where(value);
    std::vector<std::string> known = experiment_words(kOfRows);
    const std::vector<std::string> of_model = experiment_words(kOfModel);
    append(known, of_model);
    // NAME:WORD is of one machine
    const std::size_t colon = name.find(':');
    const bool of_one = colon != std::string::npos && contains(of_model, name.substr(colon + 1));
    if (of_one || contains(known, name)) return add_axis(name, key, value);
    known.insert(known.end(), {"set", "grid", "zip", "where"});
    if (searched_) append(known, search_words());
    refuse(
        key.Mark(),
        fmt::format("there is no '{}' here; allowed: {}, and parameters under set, grid or zip{}",
                    name, fmt::join(known, ", "), hint_of(name, known)));
  }

  static const std::vector<std::string>& search_words() {
    static const std::vector<std::string> words = {
        "space", "minimise", "subject_to", "budget", "strategy", "restarts", "gain", "at_a_time"};
    return words;
  }

  static bool is_of_search(const std::string& name) { return contains(search_words(), name); }

  void read_search_word(const std::string& name, const YAML::Node& key, const YAML::Node& value) {
    if (!searched_) {
      refuse(key.Mark(), fmt::format("'{}' is of a search: lacuna search simulates what may be "
                                     "best, lacuna sweep all points",
                                     name));
    }
    check_new(key, name);
    if (name == "space") return read_map(value, Keys::grid, "");
    if (name == "budget") {
      file_.search.terms.budget = count_of(name, value, "points", 1);
      return;
    }
    if (name == "restarts") {
      file_.search.terms.restarts = count_of(name, value, "starts", 0);
      return;
    }
    if (name == "gain" || name == "at_a_time") {
      file_.search.terms_place = place(key.Mark());
      if (name == "gain") return read_gain(value);
      file_.search.terms.at_a_time = count_of(name, value, "points", 1);
      return;
    }
    if (name == "strategy") return read_strategy(value);
    std::vector<SearchWords::Word>& words =
        name == "minimise" ? file_.search.minimise : file_.search.subject_to;
    const auto add = [&](const YAML::Node& node) {
      if (!node.IsScalar()) refuse(node.Mark(), fmt::format("{}: words are needed", name));
      const std::string text = one_line(node);
      for (const SearchWords::Word& each : words) {
        if (each.text != text) continue;
        refuse(node.Mark(), fmt::format("{}: found '{}' twice; allowed: each once", name, text));
      }
      words.push_back({text, place(node.Mark())});
    };
    if (!value.IsSequence()) return add(value);
    for (const YAML::Node& node : value) add(node);
  }

  std::size_t count_of(const std::string& name, const YAML::Node& value, const char* what,
                       std::uint64_t least) const {
    const std::string text = value.IsScalar() ? one_line(value) : "";
    const auto number = parse_integer(text, least, 1U << 30U);
    if (!number) {
      refuse(value.Mark(), fmt::format("{}: found '{}'; allowed: a number of {} from {} on", name,
                                       text, what, least));
    }
    return *number;
  }

  void read_gain(const YAML::Node& value) {
    const double share = value.IsScalar() ? number_of(value) : -1;
    if (share < 0 || share >= 1) {
      const std::string text = value.IsScalar() ? one_line(value) : "";
      refuse(value.Mark(), fmt::format("gain: found '{}'; allowed: a share, 0 to below 1", text));
    }
    file_.search.terms.gain = share;
  }

  void read_strategy(const YAML::Node& value) {
    const std::string text = value.IsScalar() ? one_line(value) : "";
    const std::vector<std::string> allowed = {"bounds", "descent", "all"};
    if (!contains(allowed, text)) {
      refuse(value.Mark(), fmt::format("strategy: found '{}'; allowed: {}{}", text,
                                       fmt::join(allowed, ", "), hint_of(text, allowed)));
    }
    file_.search.terms.descends = text == "descent";
    file_.search.terms.prunes = text != "all";
    file_.search.place = place(value.Mark());
  }

  void add_axis(const std::string& name, const YAML::Node& key, const YAML::Node& value) {
    check_new(key, name);
    SweepAxis axis{{name}, {place(key.Mark())}, {}};
    for (std::string& text : values_of(name, key, value, false))
      axis.steps.push_back({std::move(text)});
    file_.axes.push_back(std::move(axis));
  }

  void read_zip(const YAML::Node& map) {
    if (!map.IsMap() || map.size() == 0) refuse(map.Mark(), "zip: a map of 'name: list' is needed");
    SweepAxis axis;
    for (const auto& item : map) {
      const std::string name = new_key(item.first);
      std::vector<std::string> values = values_of(name, item.first, item.second, true);
      if (axis.steps.empty()) axis.steps.resize(values.size());
      if (values.size() != axis.steps.size()) {
        refuse(item.first.Mark(),
               fmt::format("zip: '{}' has {} values, '{}' has {}; allowed: as "
                           "many of each",
                           name, values.size(), axis.keys[0], axis.steps.size()));
      }
      axis.keys.push_back(name);
      axis.places.push_back(place(item.first.Mark()));
      for (std::size_t i = 0; i < values.size(); ++i) axis.steps[i].push_back(values[i]);
    }
    file_.axes.push_back(std::move(axis));
  }

  void read_where(const YAML::Node& value) {
    const auto add = [&](const YAML::Node& node) {
      if (!node.IsScalar()) refuse(node.Mark(), "where: a condition, or a list of them, is needed");
      file_.where.emplace_back(node.Scalar(), place(node.Mark()));
    };
    if (!value.IsSequence()) return add(value);
    for (const YAML::Node& node : value) add(node);
  }

  std::vector<std::string> values_of(const std::string& name, const YAML::Node& key,
                                     const YAML::Node& value, bool may_repeat) const {
    if (value.IsScalar()) return {one_line(value)};
    if (value.IsMap()) return range_of(value);
    if (!value.IsSequence() || value.size() == 0) {
      refuse(key.Mark(), fmt::format("'{}' has no value", name));
    }
    std::vector<std::string> values;
    for (const YAML::Node& each : value) {
      if (!each.IsScalar()) refuse(each.Mark(), fmt::format("a value of '{}' is no word", name));
      const std::string& word = one_line(each);
      if (contains(values, word) && !may_repeat) {
        refuse(each.Mark(), fmt::format("'{}' has '{}' twice", name, word));
      }
      values.push_back(word);
    }
    return values;
  }

  static bool is_range(const YAML::Node& map) {
    return any_of(map, [](const auto& item) {
      return item.first.IsScalar() &&
             (item.first.Scalar() == "from" || item.first.Scalar() == "to");
    });
  }

  std::vector<std::string> range_of(const YAML::Node& map) const {
    std::map<std::string, double> parts;
    for (const auto& item : map) {
      const std::string name = item.first.IsScalar() ? item.first.Scalar() : "";
      const std::vector<std::string> known = {"from", "to", "step", "factor"};
      if (!contains(known, name) || !item.second.IsScalar()) {
        refuse(item.first.Mark(),
               fmt::format("a range has {}; found '{}'", fmt::join(known, ", "), name));
      }
      parts[name] = number_of(item.second);
    }
    if (parts.count("from") == 0 || parts.count("to") == 0 ||
        parts.count("step") + parts.count("factor") != 1) {
      refuse(map.Mark(), "a range has from, to, and one of step and factor");
    }
    return steps_of(map, parts);
  }

  double number_of(const YAML::Node& node) const {
    const auto value = parsed_number<double>(node.Scalar());
    if (value && std::isfinite(*value)) return *value;
    refuse(node.Mark(), fmt::format("found '{}'; allowed: a number", node.Scalar()));
  }

  std::vector<std::string> steps_of(const YAML::Node& map,
                                    const std::map<std::string, double>& parts) const {
    const double from = parts.at("from");
    const double to = parts.at("to");
    const bool adds = parts.count("step") != 0;
    const double by = adds ? parts.at("step") : parts.at("factor");
    const bool rises = adds ? by > 0 : by > 1;
    const bool moves = adds ? by != 0 : by > 0 && by != 1 && from > 0 && to > 0;
    if (!moves || (to != from && rises != (to > from))) {
      refuse(map.Mark(), fmt::format("the range from {} to {} does not end with {} {}", from, to,
                                     adds ? "step" : "factor", by));
    }
    std::vector<std::string> values;
    const double slack = 1e-9 * std::max(std::abs(from), std::abs(to));  // of rounding
    for (std::size_t i = 0; values.size() <= kMostSteps; ++i) {
      const auto times = static_cast<double>(i);
      const double value = adds ? from + times * by : from * std::pow(by, times);
      if (rises ? value > to + slack : value < to - slack) return values;
      values.push_back(plain_number(value));
    }
    refuse(map.Mark(), fmt::format("the range has more than {} values", kMostSteps));
  }

  const bool searched_;
  SweepFile file_;
};

}  // namespace

bool is_of_model(const SweepFile& file) {
  return any_of(file.axes, [](const SweepAxis& axis) { return contains(axis.keys, "model"); });
}

SweepFile read_sweep(const std::string& path) { return Reader(path, false).read(); }

SweepFile read_search(const std::string& path) {
  SweepFile file = Reader(path, true).read();
  if (file.search.minimise.empty()) {
    throw refused("{}: says not what is best; allowed: minimise: {}", path,
                  fmt::join(objective_words(), ", "));
  }
  return file;
}

}  // namespace lacuna
