// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/mapping/wse/inference/decode_shape.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"
#include "workloads/mapping/wse/inference/prefill_shape.hpp"

namespace lacuna::wse {

/// What says how long code of a core takes.
struct CodeTimes {
  const CodeCosts& costs;
  const InferenceParams& params;
  const Datapath& datapath;
};

/// Says of each matrix with zeros whether cores have it with these (`dense`): llm.weight_form, by
/// what the code of its product takes in the core whose lists take longest, as if no input were
/// zero. Tiles are measured.
void choose_forms(const DecodeShape& shape, const CodeTimes& times, DecodeZeros& zeros);

/// The same of a prompt, whose cores wait for each other in every step: of the tile whose lists
/// take longest.
void choose_forms(const PrefillShape& shape, const CodeTimes& times, DecodeZeros& zeros);

}  // namespace lacuna::wse
