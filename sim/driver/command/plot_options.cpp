// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/plot_options.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "sim/base/contains.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/parsed_number.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/report/figures/figure_check.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

/// A word of a style, wherever it was said.
struct Said {
  std::string where;  // "--width" or "paper.yaml:2:1: width"
  std::string value;
};

double inches(const Said& said, double least) {
  constexpr double kMost = 60;
  const auto value = parsed_number<double>(said.value);
  if (value && *value >= least && *value <= kMost) return *value;
  throw refused("{}: found '{}'; allowed: a number from {} to {}", said.where, said.value, least,
                kMost);
}

std::string one_of(const Said& said, const std::vector<std::string>& allowed) {
  return check_word(said.where, said.value, allowed);
}

void set_points(const Said& said, LookWords& look) {
  constexpr double kLeast = 3;
  look["points"] = inches(said, kLeast);
}

void set_font(const Said& said, LookWords& look) {
  const std::size_t comma = said.value.find(',');
  const std::string name = said.value.substr(0, comma);
  if (name.empty() || name.find_first_of("'\"\\") != std::string::npos) {
    throw refused("{}: found '{}'; allowed: the name of a font, such as Times", said.where,
                  said.value);
  }
  look["font"] = name;
  if (comma != std::string::npos) set_points({said.where, said.value.substr(comma + 1)}, look);
}

void set_palette(const Said& said, LookWords& look) {
  const auto& colours =
      one_of(said, {"colour", "grey"}) == "grey" ? grey_colours() : figure_colours();
  for (const auto& [name, colour] : colours) look["colours"][name] = colour;
}

void set_formats(const Said& said, LookWords& look) {
  std::string list = said.value;
  std::replace(list.begin(), list.end(), ' ', ',');
  std::vector<std::string> formats;
  for (const std::string& format : split(list, ',')) {
    if (format.empty()) continue;
    formats.push_back(one_of({said.where, format}, figure_formats()));
  }
  if (formats.empty()) one_of(said, figure_formats());
  look["formats"] = fmt::format("{}", fmt::join(formats, " "));
}

void set_colour(const std::string& name, const Said& said, LookWords& look) {
  std::vector<std::string> names;
  for (const auto& [known, colour] : figure_colours()) names.push_back(known);
  check_word(said.where, name, names);
  const bool hexadecimal =
      said.value.find_first_not_of("0123456789ABCDEFabcdef", 1) == std::string::npos;
  if (said.value.size() != 7 || said.value[0] != '#' || !hexadecimal) {
    throw refused("{}: found '{}'; allowed: #RRGGBB", said.where, said.value);
  }
  look["colours"][name] = said.value;
}

/// All words of a style but colours.NAME and labels.TEXT.
using Setter = std::function<void(const Said&, LookWords&)>;

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> all = {
      {"width", [](const Said& said, LookWords& look) { look["width"] = inches(said, 1); }},
      {"height", [](const Said& said, LookWords& look) { look["height"] = inches(said, 0); }},
      {"font", set_font},
      {"points", set_points},
      {"palette", set_palette},
      {"title",
       [](const Said& said, LookWords& look) {
         look["title"] = LookWords::array();
         if (said.value != "none") look["title"].push_back(said.value);
       }},
      {"legend",
       [](const Said& said, LookWords& look) {
         look["legend"] = one_of(said, {"below", "none"}) == "below";
       }},
      {"format", set_formats}};
  return all;
}

fs::path style_file(const std::string& name) {
  fs::path path = name;
  if (name.find('/') != std::string::npos || path.extension() == ".yaml") return path;
  const fs::path folder = config_folder() / "styles";
  const std::vector<std::string> names = yaml_names(folder);
  if (!contains(names, name)) {
    throw refused("--style: there is no style '{}'; there are {}{}", name, fmt::join(names, ", "),
                  hint_of(name, names));
  }
  return folder / (name + ".yaml");
}

void apply_style(const std::string& name, LookWords& look) {
  for (const Setting& setting : load_leaves(style_file(name).string())) {
    const Said said{fmt::format("{}: {}", setting.origin, setting.path), setting.value};
    const auto setter = setters().find(setting.path);
    if (setter != setters().end()) {
      setter->second(said, look);
    } else if (starts_with(setting.path, "colours.")) {
      set_colour(setting.path.substr(8), said, look);
    } else if (starts_with(setting.path, "labels.")) {
      look["labels"][setting.path.substr(7)] = setting.value;
    } else {
      std::vector<std::string> words{"colours.NAME", "labels.TEXT"};
      for (const auto& [word, set] : setters()) words.push_back(word);
      throw refused("{}: is no word of a style; there are {}{}", said.where, fmt::join(words, ", "),
                    hint_of(setting.path, words));
    }
  }
}

}  // namespace

LookWords figure_look(const PlotOptions& plot) {
  LookWords look = LookWords::object();
  if (plot.style) apply_style(*plot.style, look);
  for (const auto& [word, value] :
       {std::pair("width", plot.width), std::pair("height", plot.height),
        std::pair("font", plot.font), std::pair("palette", plot.palette),
        std::pair("title", plot.title), std::pair("legend", plot.legend),
        std::pair("format", plot.format)}) {
    if (value) setters().at(word)({fmt::format("--{}", word), *value}, look);
  }
  for (const std::string& label : plot.labels) {
    const std::size_t equals = label.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw refused("--labels: found '{}'; allowed: OLD=NEW", label);
    }
    look["labels"][label.substr(0, equals)] = label.substr(equals + 1);
  }
  return look;
}

Figures chosen_figures(Figures figures, const PlotOptions& plot) {
  const LookWords look = figure_look(plot);
  std::vector<std::string> names;
  names.reserve(figures.size());
  for (const Figure& figure : figures) names.push_back(figure.name);
  std::set<std::string> wanted;
  for (const std::string& pattern : plot.only) {
    bool any = false;
    for (const std::string& name : names) {
      if (fnmatch(pattern.c_str(), name.c_str(), 0) != 0) continue;
      wanted.insert(name);
      any = true;
    }
    if (any) continue;
    throw refused("--only: no figure is called '{}'; these results have {}{}", pattern,
                  fmt::join(names, ", "), hint_of(pattern, names));
  }
  Figures chosen;
  for (Figure& figure : figures) {
    if (plot.only.empty() || wanted.count(figure.name) != 0) chosen.push_back(std::move(figure));
  }
  for (const std::string& label : plot.labels) {
    const std::string old = label.substr(0, label.find('='));
    const bool any = any_of(chosen, [&](const Figure& figure) { return shows(figure, old); });
    if (!any) throw refused("--labels: no figure here shows '{}'", old);
  }
  for (Figure& figure : chosen) figure = with_look(figure, look);
  if (plot.normalise) normalise(chosen, *plot.normalise);
  return chosen;
}

Runs chosen_runs(Runs records, const PlotOptions& plot) {
  if (plot.runs.empty()) return records;
  Runs chosen;
  for (const std::string& text : plot.runs) {
    const std::uint64_t run = check_count("--run", text, 0, records.size() - 1);
    chosen.push_back(records[run]);
  }
  return chosen;
}

}  // namespace lacuna
