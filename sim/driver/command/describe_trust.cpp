// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <vector>

#include "sim/base/ranges.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/command/describe_pages.hpp"
#include "sim/driver/files/config_table.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/driver/result/trust.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kLongest = std::size_t{1} << 18U;

std::string percent(double fraction) { return fmt::format("{:+.1f}", 100 * fraction); }

TextTable errors_table() {
  TextTable table({"machine<", "family<", "regime<", "error of a<", "points", "5 %|%", "median|%",
                   "95 %|%", "median of sizes|%", "measured at<", "since then<"});
  const Trust trust(config_folder());
  for (const BlindErrors& each : trust.all()) {
    const TrustErrors& errors = each.errors;
    table.row({errors.machine, errors.family, errors.regime, errors.quantity,
               fmt::format("{}", errors.points), percent(errors.p5), percent(errors.median),
               percent(errors.p95), fmt::format("{:.1f}", 100 * each.median_absolute),
               errors.commit, errors.moved ? "measured before this model" : ""});
  }
  return table;
}

TextTable chosen_table() {
  TextTable table({"constant<", "value<", "chosen by<", "remark<"});
  const ConfigTable chosen(config_folder() / "chosen_constants.csv",
                           {"constant", "value", "points", "remark"});
  for (std::size_t row = 0; row < chosen.size(); ++row) table.row(chosen.cells(row));
  return table;
}

/// The comments of a machine file by its lines; "likewise" is what the comment above it says.
class Comments {
 public:
  /// Of the line that an origin, "FILE:LINE:COLUMN", names.
  std::string of(const std::string& origin) {
    const std::size_t column = origin.rfind(':');
    const std::size_t line = column == std::string::npos ? column : origin.rfind(':', column - 1);
    if (line == std::string::npos) return "";
    const std::vector<std::string>& comments = file(origin.substr(0, line));
    const std::size_t number = std::stoul(origin.substr(line + 1, column - line - 1));
    return number <= comments.size() ? comments[number - 1] : "";
  }

 private:
  const std::vector<std::string>& file(const std::string& path) {
    const auto [known, is_new] = files_.try_emplace(path);
    if (!is_new) return known->second;
    std::istringstream lines(read_text(path, kLongest));
    std::string above;
    for (std::string line; std::getline(lines, line);) {
      const std::size_t hash = line.find(" # ");
      std::string comment = hash == std::string::npos ? "" : line.substr(hash + 3);
      if (starts_with(comment, "likewise")) comment = above;
      if (!comment.empty()) above = comment;
      known->second.push_back(comment);
    }
    return known->second;
  }

  std::map<std::string, std::vector<std::string>> files_;
};

bool says_assumed(const std::string& text) {
  const std::string small = lower_case(text);
  return small.find("assumed") != std::string::npos || small.find("inferred") != std::string::npos;
}

/// Where a preset or a declaration says that nothing is published.
TextTable assumed_table(const MachineTable& kinds, const Options& options) {
  TextTable table({"presets<", "parameter<", "value", "what is said of it<"});
  Comments comments;
  std::vector<std::vector<std::string>> rows;  // path, value, text, then the presets
  for (const std::string& name : options.machines.empty() ? preset_names() : options.machines) {
    const std::unique_ptr<Machine> machine = make_machine(kinds, name);
    std::map<std::string, std::string> said;  // by path; the last setting counts
    for (const Setting& setting : load_preset(name).settings) {
      said[setting.path] = comments.of(setting.origin);
    }
    machine->parameters().for_each([&](const std::string& path, const ParamBase& parameter) {
      const auto preset = said.find(path);
      const bool stated = preset != said.end() && !preset->second.empty();
      const std::string text = stated ? preset->second : parameter.doc();
      if (!says_assumed(text)) return;
      const std::vector<std::string> row = {path, parameter.value_text(), text};
      const auto same = [&](const auto& each) {
        return std::equal(row.begin(), row.end(), each.begin());
      };
      find_or_add(rows, same, row).push_back(name);
    });
  }
  for (const std::vector<std::string>& row : rows) {
    table.row(
        {fmt::format("{}", fmt::join(row.begin() + 3, row.end(), " ")), row[0], row[1], row[2]});
  }
  return table;
}

}  // namespace

TextPage trust_page(const MachineTable& kinds, const Options& options) {
  TextPage page;
  page.heading("Simulated over published, by points that were not used in building the model");
  page.table(errors_table());
  page.text(
      "A rate of error e: the published time of a simulated time t lies between t(1 + 5 %) and\n"
      "t(1 + 95 %) in nine of ten cases. Cycles and times: between t/(1 + 95 %) and t/(1 + 5 "
      "%).\n"
      "Ratios say something of the speed-up alone. All of it holds for the preset as it is; with\n"
      "another value of a parameter of its hardware a result says 'not validated here'.");
  page.heading("Constants that points have chosen").table(chosen_table());
  page.heading("Parameters that are assumed").table(assumed_table(kinds, options));
  return page;
}

}  // namespace lacuna
