// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/driver/run/options.hpp"
#include "sim/machines/wse/inference/decode_times.hpp"

namespace lacuna {

// What `run --model` says of zeros: of activations, weights, positions and experts.

bool asks_for_zeros(const Options& options);

/// RequestError of words that are not understood.
void set_weights(const Options& options, DecodeSparsity& sparsity);
void set_zeros(const Options& options, DecodePlacement& placement);

/// What --activations says.
DecodeSparsity activations_of(const Options& options);

/// RequestError if llm.skip leaves out zeros that nothing says, or if a request says how experts
/// lie or how something is drawn of a model that has none of it.
void check_zeros(const Options& options, const ModelShape& model, const WseParams& params);

/// Lines of the answer, or a list of JSON; empty if there is nothing to say.
std::string zeros_as_text(const Options& options, const DecodePlacement& placement,
                          const WseParams& params);
std::string zeros_as_json(const Options& options, const DecodePlacement& placement,
                          const WseParams& params);

}  // namespace lacuna
