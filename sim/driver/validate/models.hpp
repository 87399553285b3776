// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/driver/validate/points.hpp"
#include "sim/driver/validate/runs.hpp"
#include "sim/report/validation_report.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// The inference of a whole model, as a point describes it: "MODEL seqT ... batch=B" in samples/s.
struct ModelInference {
  std::string unsupported;   // why it cannot be run
  std::string name;          // of the model
  double samples = 0;        // sequences that are worked on at once
  std::vector<LayerOp> ops;  // of one layer; `repeat` is the number of layers
};

/// True if the point is one of these.
bool is_model_inference(const ValidationPoint& point);

/// The operations of the model. Products are of the point's type; in FP8 all others are in FP16, as
/// the vendor's compiler has them.
ModelInference model_inference(const ValidationPoint& point);

/// Samples in a second from the cycles of all operations, one after the other; or why there are
/// none. The transfer of inputs and results between host and chip is not in it.
void add_model(const std::vector<std::size_t>& runs, const std::vector<std::uint64_t>& times,
               double samples, const std::vector<ValidationRunResult>& results,
               ValidationOutcome& outcome);

}  // namespace lacuna
