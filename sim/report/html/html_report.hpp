// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// What a page says beside the results.
struct HtmlReport {
  std::string version;                                       // of the program
  std::string command;                                       // that makes the same results again
  std::vector<std::pair<std::string, std::string>> figures;  // name and text of the SVG
  std::vector<std::string> beside = {};                      // files that the page links
  bool composed = false;                                     // tables of runs that are not exact
};

/// One page that needs nothing but itself, offline: the answer first, then figures with captions,
/// tables that sort and filter, parameters, and how to make it again. For light and dark, phones
/// and print; at most three MB for some dozens of runs. A function of its arguments.
std::string html_report(const HtmlReport& report, const Runs& records);

/// The same frame for results that are not runs of operations: `tables` are CSV texts with names
/// and a line of heads each.
std::string html_tables(const HtmlReport& report,
                        const std::vector<std::pair<std::string, std::string>>& tables,
                        const std::vector<ParameterValue>& parameters);

/// The SVG texts of a folder of figures, by name; none if there is no such folder.
std::vector<std::pair<std::string, std::string>> read_figures(const std::string& folder);

}  // namespace lacuna
