// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/system/params.hpp"
#include "models/system/program.hpp"
#include "workloads/mapping/system/chip_cost.hpp"

namespace lacuna::system {

/// Bytes of the fullest tile of a chip that has a part of the model.
struct TileBytes {
  std::uint64_t weights = 0;
  std::uint64_t cache = 0;
  std::uint64_t values = 0;   // results of rows that others wait for
  std::uint64_t working = 0;  // of the row that needs most beside what is stored
};

/// A layer on each of the chips that share it.
struct SharedLayer {
  ChipCost attention;
  ChipCost ffn;
  TileBytes tile;
  std::uint64_t weights_elsewhere = 0;  // of a chip, in streaming memory
  std::uint64_t cache_elsewhere = 0;
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
  TileBytes embedding_tile;
  TileBytes head_tile;
  unsigned streamed_weights = 0;  // layers whose weights are there at once; 0: those of all
  unsigned streamed_cache = 0;    // the same of keys and values
  std::uint64_t code_bytes = 0;   // of a tile
  std::uint64_t buffer_bytes = 0;
  std::uint64_t hidden_bytes = 0;  // of all tokens, between blocks
  std::uint64_t choice_bytes = 0;  // that the chips of a head tell each other of their shares
  std::uint64_t token_bytes = 0;   // of the chosen ones, for the embedding of the next pass
  bool in_background = false;      // loads come while the layer before works
  bool alone = false;              // one chip of a machine whose others take part in nothing
  double clock_ghz = 1;

  unsigned chips() const { return tensor * static_cast<unsigned>(stages.size()); }
};

/// One pass by itself, stage after stage. Blocks end with a sum over the chips that share them. The
/// hidden vector goes from each chip of a stage to its like in the next. The chosen tokens go from
/// the last to the first.
Program pass_program(const SystemParams& params, const InferencePass& pass);

/// The same without what moves, for the memory of the fullest tile of each stage alone.
Program pass_entries(const InferencePass& pass);

/// A turn of the pipeline in which every stage does its part of a pass of another batch, and hands
/// it on: what each further batch takes.
Program turn_program(const SystemParams& params, const InferencePass& pass);

}  // namespace lacuna::system
