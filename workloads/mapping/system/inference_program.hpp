// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/system/params.hpp"
#include "models/system/program.hpp"
#include "workloads/mapping/system/chip_cost.hpp"

namespace lacuna::system {

/// A layer on each of the chips that share it.
struct SharedLayer {
  ChipCost attention;
  ChipCost ffn;
  std::uint64_t load_bytes = 0;   // from streaming memory, before it works
  std::uint64_t store_bytes = 0;  // to it, behind its work
};

/// Layers of one kind that follow each other.
struct LayerRun {
  std::size_t kind = 0;
  unsigned count = 0;
};

/// A pass of a model over chips: stage s has chips s * tensor and on, all with the same share of
/// each of its layers. Embedding on the first, the choice of tokens on the last.
struct InferencePass {
  unsigned tensor = 1;
  std::vector<SharedLayer> kinds;
  std::vector<std::vector<LayerRun>> stages;
  ChipCost embedding;
  ChipCost head;
  std::uint64_t hidden_bytes = 0;  // of all tokens, between blocks
  std::uint64_t choice_bytes = 0;  // that the chips of a head tell each other of their shares
  std::uint64_t token_bytes = 0;   // of the chosen ones, for the embedding of the next pass
  bool in_background = false;      // loads come while the layer before works
  bool alone = false;              // one chip of a machine whose others take part in nothing
  double clock_ghz = 1;

  unsigned chips() const { return tensor * static_cast<unsigned>(stages.size()); }
};

/// One pass by itself, stage after stage. Blocks end with a sum over the chips that share them; the
/// hidden vector goes from each chip of a stage to its like in the next, and the chosen tokens from
/// the last to the first.
Program pass_program(const SystemParams& params, const InferencePass& pass);

/// A turn of the pipeline in which every stage does its part of a pass of another batch, and hands
/// it on: what each further batch takes.
Program turn_program(const SystemParams& params, const InferencePass& pass);

}  // namespace lacuna::system
