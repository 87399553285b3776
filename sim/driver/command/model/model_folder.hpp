// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/driver/inference/model_report.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/report/figures/figure.hpp"

namespace lacuna {

/// Reports as a list of JSON.
std::string all_json(const std::vector<ModelReport>& reports);

/// What is beside the reports in a result folder.
struct ModelFolder {
  std::string workload;
  std::vector<std::string> inputs;  // files that were read; those that are none are left out
  std::vector<std::pair<std::string, std::string>> files;  // name, text
  std::vector<Figure> figures;
  std::vector<std::string> pages;  // of view.html, as pack() made them
};

/// Writes reports with their tables, figures and page.
void write_model_folder(ResultFolder& folder, const Options& options,
                        const std::vector<ModelReport>& reports, const ModelFolder& more);

}  // namespace lacuna
