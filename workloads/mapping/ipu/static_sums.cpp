// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/static_sums.hpp"

#include <algorithm>
#include <utility>

#include "workloads/mapping/ceil_div.hpp"

namespace lacuna::ipu {
namespace {

/// With so many rows for each tile, every tile sums whole ones: an even share, in fewer messages.
constexpr std::uint32_t kRowsEach = 32;

}  // namespace

StaticSums::StaticSums(const Target& target, const Types& types, const StaticPlan& plan,
                       const std::map<unsigned, StaticRuns>& runs, std::uint32_t grid_rows,
                       const LinearMap& home)
    : target_(target),
      types_(types),
      plan_(plan),
      runs_(runs),
      grid_rows_(grid_rows),
      at_home_(home.share() <= target.home_sums) {
  std::vector<std::uint64_t> received(target.tiles, 0);
  for_each_slice([&](const Slice& slice) {
    if (slice.depth < 2) return;
    if (at_home_) {
      const std::uint64_t first = first_output(slice);
      home.for_each(first, first + slice.end - slice.begin,
                    [&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
                      received[tile] += slice.depth * (end - begin);
                    });
      return;
    }
    const TileId tile = slice.part.first_tile + uses(slice)[slice.owner].run;
    received[tile] += (slice.depth - 1) * (slice.end - slice.begin);
  });
  received_ = *std::max_element(received.begin(), received.end());
  if (!at_home_ && target.copy_results) received_ = std::max(received_, home.share());
}

const RunUse* StaticSums::uses(const Slice& slice) const {
  const RunUses& of_row = runs_.at(slice.part.tiles).of_row;
  return of_row.uses.data() + of_row.first[slice.row];
}

/// Slices are whole accumulations, of 128 bits, where the row is; the first of a row goes to
/// another of its tiles from row to row.
template <class Visit>
void StaticSums::for_each_slice(Visit visit) const {
  for (const ColumnPart& part : plan_.parts) {
    const StaticRuns& runs = runs_.at(part.tiles);
    const std::uint64_t all = part.columns() * plan_.block;
    const unsigned wide = 16 / types_.bytes();
    const std::uint64_t grain = all % wide == 0 ? wide : wide / 2;
    for (std::uint32_t row = 0; row < grid_rows_; ++row) {
      const std::uint32_t depth = runs.of_row.count(row);
      const bool whole = at_home_ || depth < 2 || grid_rows_ >= kRowsEach * part.tiles;
      const std::uint64_t share = whole ? all : round_up(ceil_div(all, depth), grain);
      std::uint32_t owner = depth == 0 ? 0 : row % depth;
      for (std::uint64_t begin = 0; begin < all; begin += share) {
        visit(Slice{part, row, begin, std::min(all, begin + share), owner, depth});
        owner = owner + 1 < depth ? owner + 1 : 0;
      }
    }
  }
}

Place StaticSums::partial(const Slice& slice, const RunUse& use) const {
  const std::uint64_t all = slice.part.columns() * plan_.block;
  return {slice.part.first_tile + use.run, places_.partials + words(use.slot * all + slice.begin)};
}

/// Has the other contributions sent to the owner.
void StaticSums::collect(const Slice& slice, TransferList& list) {
  const RunUse* const use = uses(slice);
  const Place own = partial(slice, use[slice.owner]);
  const std::uint64_t per_word = 4 / types_.bytes();
  const std::uint64_t size = slice.end - slice.begin;
  Tile& tile = tiles_[own.tile];
  Reduction sum{types_.partials, types_.data, size, own.address * per_word, {}};
  if (values_) sum.sources.push_back(sum.output);
  for (std::uint32_t d = 0; d < slice.depth; ++d) {
    if (d == slice.owner) continue;
    const std::uint32_t target = places_.received + words(tile.received);
    list.add(partial(slice, use[d]), words(size), {Place{own.tile, target}});
    if (values_) sum.sources.push_back(target * per_word);
    tile.received += size;
  }
  tile.pieces.push_back({size, slice.depth});
  if (values_) tile.sums.push_back(std::move(sum));
}

/// Sends a sum, or a single contribution, to where the output has its home. What is there already
/// is copied by the code that sums.
void StaticSums::move(const Slice& slice, const LinearMap& home, TransferList& list) {
  const std::uint64_t per_word = 4 / types_.bytes();
  const std::uint64_t first = first_output(slice);
  home.for_each(first, first + slice.end - slice.begin,
                [&](unsigned to, std::uint64_t begin, std::uint64_t end) {
                  const std::uint32_t target = places_.output + words(begin - home.begin(to));
                  Tile& tile = tiles_[to];
                  Reduction copy{types_.partials, types_.data, end - begin, target * per_word, {}};
                  if (slice.depth == 0) {
                    tile.zeros += (end - begin) * types_.bytes();
                    if (values_) tile.sums.push_back(std::move(copy));
                    return;
                  }
                  Place from = partial(slice, uses(slice)[slice.owner]);
                  from.address += words(begin - first);
                  if (from.tile != to) {
                    list.add(from, words(end - begin), {Place{to, target}});
                    tile.moved += (end - begin) * types_.bytes();
                    return;
                  }
                  tile.pieces.push_back({end - begin, 1});
                  if (!values_) return;
                  copy.sources.push_back(from.address * per_word);
                  tile.sums.push_back(std::move(copy));
                });
}

/// Has all contributions to a part of the output sent to its home, and summed there.
void StaticSums::collect_at_home(const Slice& slice, const LinearMap& home, TransferList& list) {
  if (slice.depth == 0) return move(slice, home, list);
  const std::uint64_t per_word = 4 / types_.bytes();
  const std::uint64_t first = first_output(slice);
  const RunUse* const use = uses(slice);
  home.for_each(first, first + slice.end - slice.begin,
                [&](unsigned to, std::uint64_t begin, std::uint64_t end) {
                  Tile& tile = tiles_[to];
                  const std::uint32_t output = places_.output + words(begin - home.begin(to));
                  Reduction sum{types_.partials, types_.data, end - begin, output * per_word, {}};
                  bool is_summed = slice.depth > 1;
                  for (std::uint32_t d = 0; d < slice.depth; ++d) {
                    Place from = partial(slice, use[d]);
                    from.address += words(begin - first);
                    if (from.tile == to) {
                      is_summed = true;
                    } else {
                      const std::uint32_t landing =
                          slice.depth == 1 ? output : places_.received + words(tile.received);
                      list.add(from, words(end - begin), {Place{to, landing}});
                      if (slice.depth > 1) tile.received += end - begin;
                      from.address = landing;
                    }
                    if (values_) sum.sources.push_back(from.address * per_word);
                  }
                  if (!is_summed) return;  // a single contribution lands where it belongs
                  tile.pieces.push_back({end - begin, slice.depth});
                  if (values_) tile.sums.push_back(std::move(sum));
                });
}

void StaticSums::lower(ProgramBuilder& builder, ReduceCodelets& codelets, const Places& places,
                       const LinearMap& home, std::uint32_t multiply, bool values) {
  places_ = places;
  values_ = values;
  tiles_.assign(target_.tiles, {});
  TransferList partials;
  TransferList results;
  std::size_t messages = 0;
  for_each_slice([&](const Slice& slice) { messages += slice.depth > 1 ? slice.depth - 1 : 0; });
  partials.transfers.reserve(messages);
  partials.destinations.reserve(messages);
  if (at_home_) {
    for_each_slice([&](const Slice& slice) { collect_at_home(slice, home, partials); });
    builder.superstep(multiply, builder.exchange("partials", std::move(partials)));
    add_sums(builder, codelets);
    builder.superstep(builder.compute_set("reduce"), kNone);
    return;
  }
  for_each_slice([&](const Slice& slice) {
    if (slice.depth > 1) collect(slice, partials);
  });
  // After all sums: a copy must not be made before its sum.
  for_each_slice([&](const Slice& slice) { move(slice, home, results); });
  builder.superstep(multiply, builder.exchange("partials", std::move(partials)));
  add_sums(builder, codelets);
  builder.superstep(builder.compute_set("reduce"), builder.exchange("move", std::move(results)));
  if (!target_.copy_results) return;
  for (TileId id = 0; id < tiles_.size(); ++id) {
    if (tiles_[id].moved != 0) builder.work(id, codelets.copy_vertex(tiles_[id].moved));
  }
}

void StaticSums::add_sums(ProgramBuilder& builder, ReduceCodelets& codelets) {
  for (TileId id = 0; id < tiles_.size(); ++id) {
    Tile& tile = tiles_[id];
    std::uint32_t function = kNone;
    if (!tile.sums.empty()) {
      function = builder.function([list = std::move(tile.sums)](TileMemory& memory) {
        for (const Reduction& one : list) one(memory);
      });
    }
    if (!tile.pieces.empty()) builder.work(id, codelets.strided_vertex(tile.pieces), function);
    if (tile.zeros != 0) {
      builder.work(id, codelets.fill_vertex(tile.zeros), tile.pieces.empty() ? function : kNone);
    }
  }
}

}  // namespace lacuna::ipu
