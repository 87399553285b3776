// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/static/classes.hpp"

#include <algorithm>
#include <numeric>

#include "sim/base/bits.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/reduce/reduce_cost.hpp"

namespace lacuna::ipu {
namespace {

/// Elements of one 64-bit access.
std::uint64_t vector_of(const Types& types) { return 8 / types.partial_bytes(); }

/// With more classes than this, each has two workers of a tile.
constexpr std::size_t kManyClasses = 6;

/// What a hash of 64 bits becomes with one more value (boost::hash_combine).
std::uint64_t combined(std::uint64_t hash, std::uint64_t value) {
  constexpr std::uint64_t kFactor = 0xc6a4a7935bd1e995U;
  value *= kFactor;
  value ^= value >> 47U;
  value *= kFactor;
  hash ^= value;
  hash *= kFactor;
  return hash + 0xe6546b64U;
}

/// The tile that a spread class begins on: any would do, so that classes begin on different ones.
unsigned begin_of(std::uint32_t index, std::uint64_t elements, unsigned tiles) {
  return static_cast<unsigned>(combined(combined(0x9e3779b9U, index), elements) % tiles);
}

}  // namespace

std::vector<std::uint64_t> even_cuts(std::uint64_t size, std::uint64_t grain, std::uint64_t most,
                                     std::uint64_t least) {
  const std::uint64_t grains = ceil_div(size, grain);
  const std::uint64_t by_size =
      std::max<std::uint64_t>(1, grains / std::max<std::uint64_t>(1, ceil_div(least, grain)));
  const std::uint64_t each = std::max(ceil_div(grains, most), ceil_div(grains, by_size));
  const std::uint64_t pieces = ceil_div(grains, each);
  std::vector<std::uint64_t> ends;
  for (std::uint64_t i = 1; i <= pieces; ++i) {
    ends.push_back(std::min(size, i * grains / pieces * grain));
  }
  return ends;
}

std::vector<unsigned> deal_pieces(const std::vector<std::uint64_t>& elements, std::uint32_t depth,
                                  unsigned workers, const Types& types) {
  const std::size_t count = elements.size();
  // Additions of as many elements as divide a row, at most 8 halves or 4 floats.
  std::vector<std::uint64_t> costs;
  const std::uint64_t scale = types.half_partials() ? 1 : 2;
  for (const std::uint64_t width : elements) {
    const std::uint64_t at_once = width <= 8 && (width & (width - 1)) == 0
                                      ? 8
                                      : std::min<std::uint64_t>(8, width & (~width + 1));
    costs.push_back(ceil_div(scale * depth * width, at_once));
  }
  const std::uint64_t total = std::accumulate(costs.begin(), costs.end(), std::uint64_t{0});
  const bool alike = std::all_of(costs.begin(), costs.end(), [&](std::uint64_t cost) {
    const std::uint64_t all = cost * count;
    const std::uint64_t apart = all > total ? all - total : total - all;
    return apart <= std::max<std::uint64_t>(8 * count, total / 10);
  });
  std::vector<unsigned> result(count);
  if (alike) {
    const std::uint64_t each = ceil_div(count, workers);
    for (std::uint64_t i = 0; i < count; ++i) result[i] = static_cast<unsigned>(i / each);
    return result;
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
  std::vector<std::uint64_t> busy(workers, 0);
  for (const std::size_t i : order) {
    const auto least = std::min_element(busy.begin(), busy.end());
    *least += costs[i];
    result[i] = static_cast<unsigned>(least - busy.begin());
  }
  return result;
}

SumPlan::SumPlan(const Target& target, const Types& types, const StaticPlan& plan,
                 const std::map<unsigned, StaticRuns>& runs, std::uint32_t grid_rows,
                 const LinearMap& home)
    : target_(target), types_(types), plan_(plan), runs_(runs), tiles_(target.tiles) {
  find_classes(grid_rows);
  choose_workers();
  for (std::uint32_t c = 0; c < classes_.size(); ++c) {
    choose_place(classes_[c], c, home);
    if (classes_[c].depth < 2) continue;
    if (classes_[c].at_home) {
      place_at_home(c, home);
    } else {
      place_on_all_tiles(c);
    }
  }
  for (TileSums& tile : tiles_) give_to_workers(tile);
}

void SumPlan::find_classes(std::uint32_t grid_rows) {
  std::map<std::uint32_t, SumClass> by_depth;
  for (std::uint32_t p = 0; p < plan_.parts.size(); ++p) {
    const ColumnPart& part = plan_.parts[p];
    const RunUses& of_row = runs_.at(part.tiles).of_row;
    const std::uint64_t elements = part.columns() * plan_.block;
    for (std::uint32_t row = 0; row < grid_rows; ++row) {
      const std::uint32_t depth = of_row.count(row);
      if (depth == 0) continue;
      SumClass& sums = by_depth[depth];
      sums.depth = depth;
      sums.rows.push_back({p, row, sums.elements, elements});
      sums.elements += elements;
    }
  }
  for (auto& [depth, sums] : by_depth) classes_.push_back(std::move(sums));
}

/// The more classes, the fewer workers of a tile has each, as the vendor's code shares them: in
/// proportion to the reductions of a class, whatever their work.
void SumPlan::choose_workers() {
  std::uint64_t reductions = 0;
  for (const SumClass& sums : classes_) reductions += sums.rows.size();
  for (SumClass& sums : classes_) {
    if (!target_.few_workers) {
      sums.workers = target_.workers;
    } else if (classes_.size() > kManyClasses) {
      sums.workers = std::min(2U, target_.workers);
    } else {
      sums.workers =
          static_cast<unsigned>(ceil_div(target_.workers * sums.rows.size(), reductions));
    }
  }
}

std::uint64_t SumPlan::most_at_home(const SumClass& sums, const LinearMap& home) const {
  std::vector<std::uint64_t> of_tile(target_.tiles, 0);
  for (const RowSum& row : sums.rows) {
    const std::uint64_t first = first_output(row);
    home.for_each(first, first + row.elements,
                  [&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
                    of_tile[tile] += end - begin;
                  });
  }
  return *std::max_element(of_tile.begin(), of_tile.end());
}

/// The vendor's estimate of both ways, in its own terms: what is exchanged, four bytes a clock, a
/// delay for each exchange, and a clock for each vector that is added. At home, what is exchanged
/// is not multiplied by the depth.
void SumPlan::choose_place(SumClass& sums, std::uint32_t index, const LinearMap& home) const {
  const std::uint64_t vector = vector_of(types_);
  const std::uint64_t bytes = types_.partial_bytes();
  const std::uint64_t delay = target_.sums_delay;
  const std::uint64_t most = most_at_home(sums, home);
  const std::uint64_t share = 8 * ceil_div(ceil_div(sums.elements, 8), target_.tiles);
  const std::uint64_t here =
      ceil_div(most * bytes, 4) + sums.depth * ceil_div(most, vector) + delay;
  const std::uint64_t spread = ceil_div(share * sums.depth * bytes, 4) + delay +
                               sums.depth * ceil_div(share, vector) + ceil_div(most * bytes, 4) +
                               delay;
  sums.at_home = target_.sums == SumsAt::rule ? here < spread : target_.sums == SumsAt::home;
  sums.first_tile = begin_of(index, sums.elements, target_.tiles);
}

void SumPlan::place_at_home(std::uint32_t index, const LinearMap& home) {
  const SumClass& sums = classes_[index];
  std::vector<std::size_t> before;
  for (const TileSums& tile : tiles_) before.push_back(tile.segments.size());
  for (std::uint32_t r = 0; r < sums.rows.size(); ++r) {
    const std::uint64_t first = first_output(sums.rows[r]);
    home.for_each(first, first + sums.rows[r].elements,
                  [&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
                    tiles_[tile].segments.push_back({r, begin - first, end - begin});
                  });
  }
  for (std::size_t t = 0; t < tiles_.size(); ++t) cut_regions(index, tiles_[t], before[t]);
}

void SumPlan::place_on_all_tiles(std::uint32_t index) {
  const SumClass& sums = classes_[index];
  const std::uint64_t vector = vector_of(types_);
  std::uint64_t begin = 0;
  std::uint32_t row = 0;
  unsigned tile = sums.first_tile;
  for (const std::uint64_t end : even_cuts(sums.elements, vector, target_.tiles, 4 * vector)) {
    TileSums& on_tile = tiles_[tile];
    const std::size_t before = on_tile.segments.size();
    while (begin < end) {
      const RowSum& of = sums.rows[row];
      const std::uint64_t stop = std::min(end, of.first + of.elements);
      on_tile.segments.push_back({row, begin - of.first, stop - begin});
      begin = stop;
      if (stop == of.first + of.elements) ++row;
    }
    cut_regions(index, on_tile, before);
    tile = tile + 1 < target_.tiles ? tile + 1 : 0;
  }
}

/// Whether the same tiles contribute to both rows.
bool SumPlan::same_tiles(const SumClass& sums, const RowSum& a, const RowSum& b) const {
  if (a.part != b.part) return false;
  const RunUse* const left = uses(a);
  return std::equal(left, left + sums.depth, uses(b),
                    [](const RunUse& x, const RunUse& y) { return x.run == y.run; });
}

/// Cuts a tile's segments of a class, from `first` on, into even shares for the workers, of whole
/// accumulations. Neighbours in the class with the same contributing tiles are a region.
SumPlan::Regions SumPlan::cut_segments(const SumClass& sums, TileSums& tile, std::size_t first,
                                       std::uint64_t wide) const {
  const std::vector<SumSegment> given(tile.segments.begin() + static_cast<std::ptrdiff_t>(first),
                                      tile.segments.end());
  tile.segments.resize(first);
  std::uint64_t all = 0;
  for (const SumSegment& segment : given) all += segment.elements;
  const std::vector<std::uint64_t> cuts = even_cuts(all, wide, sums.workers, 0);

  Regions regions;
  auto& [begins, sizes] = regions;
  std::size_t cut = 0;
  std::uint64_t done = 0;
  const auto class_begin = [&](const SumSegment& s) { return sums.rows[s.row].first + s.begin; };
  for (SumSegment left : given) {
    while (left.elements != 0) {
      const std::uint64_t take = std::min(left.elements, cuts[cut] - done);
      const SumSegment piece{left.row, left.begin, take};
      const SumSegment* const last =
          tile.segments.size() == first ? nullptr : &tile.segments.back();
      const bool next =
          last != nullptr && class_begin(*last) + last->elements == class_begin(piece);
      const bool at_cut = cut > 0 && done == cuts[cut - 1];
      const bool joins =
          next && !at_cut &&
          (last->row == piece.row || same_tiles(sums, sums.rows[last->row], sums.rows[piece.row]));
      if (!joins) {
        begins.push_back(static_cast<std::uint32_t>(tile.segments.size()));
        sizes.push_back(0);
      }
      sizes.back() += take;
      tile.segments.push_back(piece);
      left.begin += take;
      left.elements -= take;
      done += take;
      if (done == cuts[cut] && cut + 1 < cuts.size()) ++cut;
    }
  }
  begins.push_back(static_cast<std::uint32_t>(tile.segments.size()));
  return regions;
}

/// Makes vertices of what a tile has of a class, its segments from `first` on: its regions are
/// dealt to the workers. If all are whole accumulations, a worker's neighbours are one vertex.
void SumPlan::cut_regions(std::uint32_t index, TileSums& tile, std::size_t first) const {
  if (tile.segments.size() == first) return;
  const SumClass& sums = classes_[index];
  const std::uint64_t wide = 2 * vector_of(types_);
  const auto [begins, sizes] = cut_segments(sums, tile, first, wide);

  const std::vector<unsigned> workers = deal_pieces(sizes, sums.depth, sums.workers, types_);
  const bool whole =
      std::all_of(sizes.begin(), sizes.end(), [&](std::uint64_t size) { return size % wide == 0; });
  std::vector<SumVertex> vertices;
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    const std::uint32_t segments = begins[r + 1] - begins[r];
    if (r > 0 && whole && workers[r] == workers[r - 1]) {
      vertices.back().segments += segments;
      vertices.back().elements += sizes[r];
      continue;
    }
    vertices.push_back({index, begins[r], segments, sizes[r], workers[r]});
  }
  std::stable_sort(vertices.begin(), vertices.end(),
                   [](const SumVertex& a, const SumVertex& b) { return a.worker < b.worker; });
  tile.vertices.insert(tile.vertices.end(), vertices.begin(), vertices.end());
}

/// The vertices of all classes wait in one queue; the worker that is free first takes the next.
void SumPlan::give_to_workers(TileSums& tile) const {
  std::vector<std::uint64_t> busy(target_.workers, 0);
  for (SumVertex& vertex : tile.vertices) {
    const auto next = std::min_element(busy.begin(), busy.end());
    vertex.worker = static_cast<unsigned>(next - busy.begin());
    const std::uint64_t vectors = ceil_div(vertex.elements, vector_of(types_));
    *next += strided_reduce_bundles(target_, vectors, classes_[vertex.of_class].depth,
                                    types_.partials, types_.data);
  }
}

}  // namespace lacuna::ipu
