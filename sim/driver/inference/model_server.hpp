// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/driver/inference/model_report.hpp"
#include "sim/driver/inference/pod_model.hpp"
#include "sim/driver/inference/wafer_model.hpp"
#include "workloads/import/request_file.hpp"

namespace lacuna {

/// Serves `requests` with programs for `slots` sequences, as serving.hpp has it; `csv` becomes the
/// table of all requests.
///
/// On chips weights lie as a step at the longest context has them, and there is a program for every
/// multiple of inference.context_step: a pass is the one of the next multiple, simulated as such.
ModelReport serve_on_pod(PodModel& pod, const std::vector<ServingRequest>& requests,
                         std::uint32_t slots, std::string& csv);

/// On a wafer a core counts the positions that it holds. Up to the next multiple of a
/// block's rows, and of `context_step`, no core has more than at that multiple. What the row
/// with the new position does besides is on the way of the sums or beside it. So a step takes
/// what the slowest of a few takes: the new position is in the last row, in the first, or in the
/// row whose sum has the longest way. That is no less than the step itself. A prompt's tokens are
/// known and follow each other; the last passes the blocks alone.
ModelReport serve_on_wafer(WaferModel& wafer, const std::vector<ServingRequest>& requests,
                           std::uint32_t context_step, std::string& csv);

/// The context of the program that the longest step of `requests` takes.
std::uint32_t longest_step(const PodModel& pod, const std::vector<ServingRequest>& requests);
std::uint32_t longest_step(const WaferModel& wafer, const std::vector<ServingRequest>& requests,
                           std::uint32_t context_step);

}  // namespace lacuna
