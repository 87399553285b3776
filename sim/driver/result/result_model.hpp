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

/// An outcome as bytes for another process, and back without loss.
std::string encode_outcome(const ModelOutcome& outcome);
ModelOutcome decode_outcome(const std::string& bytes);

}  // namespace lacuna
