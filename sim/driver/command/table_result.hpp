// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// A result of tables, of language models or systems, that has no rows of operations.
struct TableResult {
  std::string workload;
  std::vector<std::string> inputs;  // files that were read; what is no file is left out
  std::string models;               // reports of models as JSON, if it is of these
  std::vector<std::pair<std::string, std::string>> files;  // name, text
  std::vector<Figure> figures;
  std::vector<std::string> pages;  // of view.html, as pack() made them
  std::string view_title;
  std::vector<ParameterValue> parameters;
};

/// Writes it: its files, result.json, figures, and a page of its tables.
void write_table_result(ResultFolder& folder, const Options& options, const TableResult& result);

}  // namespace lacuna
