// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/driver/inference/model_report.hpp"

namespace lacuna {

/// What became of a run of a language model: a report, or why there is none.
struct ModelOutcome {
  std::optional<ModelReport> report;
  std::string reason;
  std::string requests_csv;        // the table of requests, if it served some
  std::vector<std::string> pages;  // of view.html, as pack() made them
  std::string said;                // remarks of the run
};

/// A word as JSON.
std::string json_text(const std::string& text);

/// A report as a JSON object: facts, numbers and, by their names, tables. Several as a list.
std::string model_json(const ModelReport& report);
std::string models_json(const std::vector<ModelReport>& reports);

/// The numbers of a step as a JSON object, and why it is not faster, as JSON, if that was asked.
std::string metrics_json(const std::vector<NamedQuantity>& metrics,
                         const std::optional<std::string>& why);

/// An outcome as bytes for another process, and back without loss.
std::string encode_outcome(const ModelOutcome& outcome);
ModelOutcome decode_outcome(const std::string& bytes);

}  // namespace lacuna
