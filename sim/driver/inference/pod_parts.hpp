// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/driver/inference/model_rows.hpp"
#include "sim/driver/system/times.hpp"

namespace lacuna {

/// A row of a part: what it costs, and its bytes beside those of the part.
struct PodRow {
  enum class Of { rest, weights, cache };  // a product with weights; on keys and values

  std::string name;
  Of of = Of::rest;
  system::ChipCost cost;     // of all its repeats
  std::uint64_t stored = 0;  // as PodPart has them
  std::uint64_t working = 0;
  std::string as_density = {};  // of the denser row that it is taken as; empty: its own
};

/// A block of a layer, the embedding or the head on one chip.
struct PodPart {
  system::ChipCost cost;
  std::uint64_t stored = 0;   // bytes: weights, of all experts
  std::uint64_t live = 0;     // most bytes of results that are there at once
  std::uint64_t working = 0;  // of the fullest tile: most that a row needs beside what is stored
  std::vector<PodRow> rows;
};

/// The parts of a model on one chip of those that share it.
struct PodParts {
  struct Kind {
    PodPart attention;
    PodPart ffn;
    std::uint64_t cache = 0;    // bytes of keys and values on a chip
    std::uint64_t fresh = 0;    // of those that a pass makes
    std::uint64_t earlier = 0;  // and of those that were there before it

    PodPart& of(system::Part part);  // attention or ffn
  };
  std::vector<Kind> kinds;  // as kinds_of_layers() has them
  PodPart embedding;
  PodPart head;
  std::uint64_t hidden_bytes = 0;
  std::uint32_t batch = 1;
};

/// Bytes of keys and values of a layer on one chip, for all positions that the cache has room for.
std::uint64_t cache_bytes(const LayerKind& kind, const PassRequest& request, unsigned tensor);

/// Of the sizes of rows alone.
PodParts parts_of(const std::vector<LayerKind>& kinds, const PassRequest& request, unsigned tensor);

/// What rows are simulated with: a chip whose tiles have so many bytes for a row.
struct RoomForRows {
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};

  unsigned tiles = 1;            // that work
  std::uint64_t working = kAll;  // bytes of a tile that a row may need beside what is stored
  std::function<const Machine&(std::uint64_t bytes)> chip;
  bool runs = true;  // or is planned, of which what it needs is known
};

/// The rows as they run: each as it is soonest over, or, if that needs more than there is room for,
/// as it is soonest over within that. OutOfMemoryError if it is not.
PodParts parts_within(const std::vector<LayerKind>& kinds, const PassRequest& request,
                      unsigned tensor, const RoomForRows& room, ChipTimes& times);

/// The same as `parts`, but for products that are sooner over as `denser`, a request with fewer
/// zeros in its weights, has them: the zeros that it keeps as numbers are a layout of them.
/// OutOfMemoryError as parts_within().
PodParts sooner_parts(const std::vector<LayerKind>& kinds, const PassRequest& denser,
                      unsigned tensor, const RoomForRows& room, ChipTimes& times, PodParts parts);

/// A row on a chip: which it is and how often it is done, and what each tile did, not yet priced.
using SeenRow = std::function<void(const std::string& title, const OpResult& result)>;

/// Has `add` see each distinct row, simulated once more, in the order in which a pass has them.
void see_rows(const std::vector<LayerKind>& kinds, const PassRequest& request, unsigned tensor,
              const Machine& chip, ChipTimes& times, const SeenRow& add);

/// Bytes of the fullest of `tiles` tiles over which `bytes` are spread in whole words of 64 bits.
std::uint64_t share_of_tile(std::uint64_t bytes, unsigned tiles);

}  // namespace lacuna
