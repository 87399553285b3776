// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/wse/task_outcome.hpp"
#include "sim/machines/wse/inference/decode_times.hpp"
#include "sim/machines/wse/params.hpp"
#include "workloads/generate/model_shape.hpp"
#include "workloads/mapping/wse/inference/prefill_parts.hpp"

namespace lacuna {

/// Cycles of a layer and a chunk of a prompt, of parts that are simulated once each and added up.
struct PrefillLayer {
  std::map<wse::PrefillPart, double> parts;       // those of each chunk of keys once
  std::map<wse::PrefillPart, PassTotals> totals;  // of all cores of a square, likewise
  double product_step = 0;                        // mean step of the products with weights

  double of(wse::PrefillPart first, wse::PrefillPart last, std::uint32_t chunks) const;
  /// With keys of so many chunks, its own included.
  double attention(std::uint32_t chunks) const;
  double ffn() const;
};

using PrefillLayers = KindOfLayers<wse::PrefillBlock, PrefillLayer>;

/// A prompt on blocks of whole layers or, if a core cannot hold that, of attention and of
/// feed-forward parts by turns.
struct PrefillRun : PlacedKinds<PrefillLayers> {
  std::uint32_t chunks = 0;
  double hand_over = 0;
  double head = 0;          // of all tokens of a chunk
  double tail = 0;          // of the last token
  double cycles = 0;        // from the first token on the wafer to the choice of the next
  PrefillLayer layer;       // the mean of all
  std::uint64_t cores = 0;  // of blocks, head and tail
  PassTotals totals;        // of the whole prompt
};

/// Keys and values of so many tokens from the host to the blocks of a model, or back. A stream of
/// the host feeds a row of blocks, one row of cores after the other.
struct CacheMove {
  std::uint32_t tokens = 1;
  std::uint32_t streams = 1;
  double clock_ghz = 0;  // 0: the wafer's
  bool outwards = false;
};

/// How long that takes.
struct CacheMoveTimes {
  bool split = false;        // attention parts have blocks of their own
  std::uint32_t layers = 0;  // in the fullest block that has keys
  std::uint32_t rows = 0;    // of cores that follow each other in a stream
  double row = 0;            // cycles of one, of its cores
  double stream = 0;         // of one, of the host's stream
  double bytes = 0;          // of one
  double cycles = 0;         // of all

  double clock_ghz = 0;
};

class PrefillTimes {
 public:
  PrefillTimes(const WseParams& params, Engine engine, DecodeTimes& ends,
               PartCache* cache = nullptr);

  /// UnsupportedError and OutOfMemoryError as of DecodeTimes.
  const PrefillLayer& layer(const ModelShape& model, const wse::PrefillBlock& block);

  /// Where layers lie, without times; likewise.
  PrefillRun placed(const ModelShape& model, const DecodePlacement& placement, std::uint32_t tokens,
                    std::uint32_t chunk) const;

  PrefillRun run(const ModelShape& model, const DecodePlacement& placement, std::uint32_t tokens,
                 std::uint32_t chunk);

  /// The published benchmark of one layer on a square: one head as wide as the model, halves
  /// throughout, products one by one, functions in scalar loops, the whole sequence at once.
  double square_layer(const DecodeTimes::SquareLayer& what);

  /// Has the programs of what follows shown; see InferenceRuns.
  void watch(const TaskView& view, ShowProgram show) { runs_.watch(view, std::move(show)); }

  /// Placed as for decoding.
  CacheMoveTimes cache_moves(const ModelShape& model, const DecodePlacement& placement,
                             const CacheMove& move);

 private:
  const PrefillLayer& parts_of(const wse::PrefillShape& shape, const wse::PrefillStyle& style,
                               const wse::InferenceParams& functions);
  const RunTotals& program_run(const std::string& key, const wse::PrefillBlock& block,
                               wse::PrefillPart part, const std::vector<wse::TaskProgram>& programs,
                               std::size_t which);
  static void add_totals(const DecodePlacement& placement, PrefillRun& run);
  std::vector<PrefillLayers> layers_of(const ModelShape& model, const DecodePlacement& placement,
                                       std::uint32_t chunk, std::uint32_t chunks) const;

  const WseParams& params_;
  const wse::CodeCosts costs_;
  InferenceRuns runs_;
  DecodeTimes& ends_;
  std::map<std::string, PrefillLayer> layers_;
};

}  // namespace lacuna
