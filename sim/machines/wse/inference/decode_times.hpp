// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/wse/task_outcome.hpp"
#include "sim/machines/wse/inference/decode_sparsity.hpp"
#include "sim/machines/wse/inference/inference_runs.hpp"
#include "sim/machines/wse/inference/layer_deal.hpp"
#include "sim/machines/wse/params.hpp"
#include "workloads/generate/model_shape.hpp"
#include "workloads/mapping/wse/inference/decode_ends.hpp"
#include "workloads/mapping/wse/inference/decode_layer.hpp"

namespace lacuna {

/// Cycles of the phases of a layer, of several the last, in the core that takes the stamps.
using DecodePhaseTimes = std::map<wse::DecodePhase, double>;

/// What the code of that core has in them.
using DecodePhaseShares = std::map<wse::DecodePhase, wse::CodeShares>;

/// Of phases `first` to `last`.
double sum_of(const DecodePhaseTimes& times, wse::DecodePhase first, wse::DecodePhase last);

/// A layer by itself, or its halves in blocks of their own.
struct DecodeLayerTimes {
  double first = 0;      // of a block, which waits for the hidden vector
  double next = 0;       // of the others; 0 if no block has any
  double attention = 0;  // of halves
  double ffn = 0;
  DecodePhaseTimes phases;
  DecodePhaseShares shares;
};

using DecodeLayers = KindOfLayers<wse::DecodeBlock, DecodeLayerTimes>;

/// Placed layers. Both a model's pass and the rows of a trace run from this object.
using PlacedLayers = PlacedKinds<DecodeLayers>;

/// A token's way through a model, of parts that are simulated once each and added up.
struct DecodeStep : PlacedLayers {
  DecodeLayerTimes layer;  // the mean of all
  double hand_over = 0;    // from a block to its neighbour
  double row_change = 0;   // from a row of blocks to the next
  double head = 0;
  double tail = 0;
  double cycles = 0;         // of the whole step
  double slowest_stage = 0;  // of tokens that follow each other through the blocks
  std::uint64_t cores = 0;   // of blocks, head and tail
  PassTotals totals;         // of the whole step
  PassTotals forced;         // of tokens that follow each other: without the tail
};

/// Runs programs of workloads/mapping/wse/inference on a wafer, each once; what they came to is
/// kept in `cache`, if there is one.
class DecodeTimes {
 public:
  DecodeTimes(const WseParams& params, Engine engine, PartCache* cache = nullptr);
  DecodeTimes(const WseParams& params, const wse::RunOptions& options,
              std::shared_ptr<KnownRuns> known);

  /// UnsupportedError of models that are no decoder with gated blocks or of blocks that do not
  /// suit them, OutOfMemoryError if a core cannot hold its part.
  DecodePhaseTimes layer(const ModelShape& model, const wse::DecodeBlock& given);

  DecodePhaseShares shares(const ModelShape& model, const wse::DecodeBlock& given) const;

  /// The run of a layer, or a part of one, as `block` places it: the one of a model and of the rows
  /// of a trace.
  const RunTotals& layer_run(const wse::DecoderModel& decoder, const wse::DecodeBlock& block);

  /// As the engine is built.
  wse::DecodeBlock built(wse::DecodeBlock block) const;

  /// The published benchmark of one layer on a square of `side` cores: sizes padded to multiples of
  /// it, one head as wide as the model, halves throughout, a short exponential, and layers that
  /// follow each other without a barrier. The cycles of a layer that follows one.
  struct SquareLayer {
    std::uint32_t side = 1;
    std::uint32_t width = 0;
    std::uint32_t ffn = 0;
    std::uint32_t context = 0;
    std::uint32_t groups = 0;  // of sums; 0: the root of `side`

    std::uint32_t padded(std::uint32_t size) const;
    wse::DecoderModel model() const;
    wse::InferenceParams functions(wse::InferenceParams params) const;  // with its groups
  };
  double square_layer(const SquareLayer& what);

  /// Has the programs of what follows shown; see InferenceRuns.
  void watch(const TaskView& view, ShowProgram show) { runs_.watch(view, std::move(show)); }

  DecodeStep step(const ModelShape& model, const DecodePlacement& placement, std::uint32_t context);

  /// The same, of which nothing has been simulated: where layers are, and their blocks.
  DecodeStep placed(const ModelShape& model, const DecodePlacement& placement,
                    std::uint32_t context) const;

  /// What a token passes before the first block and after the last.
  double head(const ModelShape& model, const DecodePlacement& placement);
  double tail(const ModelShape& model, const DecodePlacement& placement);

  /// Adds the counters of `heads` heads and `tails` tails.
  void add_ends(const ModelShape& model, const DecodePlacement& placement, double heads,
                double tails, PassTotals& totals);

  /// Cores of all blocks, of the head and of the tail.
  static std::uint64_t cores(const DecodePlacement& placement);

 private:
  const RunTotals& head_run(const ModelShape& model, const DecodePlacement& placement);
  const RunTotals& tail_column(const wse::DecodeTail& tail);
  const RunTotals& tail_row(const wse::DecodeTail& tail);
  void add_totals(const ModelShape& model, const DecodePlacement& placement,
                  const RunTotals& hand_over, DecodeStep& step);
  void add_zeros(const ModelShape& model, const DecodePlacement& placement,
                 wse::DecodeBlock& block) const;
  std::vector<DecodeLayers> layers_of(const ModelShape& model, const DecodePlacement& placement,
                                      std::uint32_t context) const;
  const RunTotals& add_moves(const ModelShape& model, const wse::DecodeBlock& block,
                             DecodeStep& step);
  DecodeLayerTimes time_split(const ModelShape& model, wse::DecodeBlock block);
  /// With `several`, layers behind the first of a block are simulated too, and phases are theirs.
  DecodeLayerTimes time_whole(const ModelShape& model, wse::DecodeBlock block, bool several);
  void time_layers(const ModelShape& model, DecodeStep& step);

  const WseParams& params_;
  const wse::CodeCosts costs_;
  InferenceRuns runs_;
};

/// What the programs need to know of a model. UnsupportedError as above.
wse::DecoderModel decoder_model(const ModelShape& model);

/// The same in words, for those who keep what they have simulated.
std::string text_of(const wse::DecoderModel& model);

/// The window that all layers of a model have, 0: none. UnsupportedError if layers differ.
std::uint32_t window_of(const ModelShape& model);

}  // namespace lacuna
