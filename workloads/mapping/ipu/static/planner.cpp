// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/static/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/reduce/reduce_cost.hpp"
#include "workloads/mapping/ipu/static/cost.hpp"

namespace lacuna::ipu {
namespace {

constexpr unsigned kMostNSplits = 32;
constexpr unsigned kMostKSplits = 128;
constexpr std::uint64_t kMetaLimit = 65535;  // meta-information has 16-bit words

/// x to the power of n by squaring: the same bits with every C library.
double power(double x, std::uint64_t n) {
  double result = 1;
  for (; n != 0; n >>= 1U, x *= x) {
    if ((n & 1U) != 0) result *= x;
  }
  return result;
}

/// One standard deviation of a binomial count, rounded up.
std::uint64_t deviation(double p, double q) {
  return static_cast<std::uint64_t>(std::ceil(std::sqrt(p * (1 - p) * q)));
}

/// The count of `of` things that each happen with probability p, plus one standard deviation.
std::uint64_t expected(double p, std::uint64_t of) {
  const auto q = static_cast<double>(of);
  const auto count =
      static_cast<std::uint64_t>(std::ceil(p * q + static_cast<double>(deviation(p, q))));
  return std::min(of, count);
}

/// Kept indices in ascending order, then those with few non-zeros by falling count; and how many
/// are kept.
std::pair<std::vector<std::uint32_t>, std::uint64_t> prune(
    const std::vector<std::uint64_t>& counts) {
  const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> rejected;
  for (std::uint32_t i = 0; i < counts.size(); ++i) {
    // At most a tenth of the average.
    const bool few = counts[i] * 10 * counts.size() <= total;
    (few ? rejected : order).push_back(i);
  }
  const std::uint64_t kept = std::max<std::uint64_t>(order.size(), 1);
  std::stable_sort(rejected.begin(), rejected.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return counts[a] > counts[b]; });
  order.insert(order.end(), rejected.begin(), rejected.end());
  return {std::move(order), kept};
}

/// What the cost of a candidate is computed from: the heaviest band of one n part.
struct Load {
  std::uint64_t columns;   // of the dense operand
  std::uint64_t nonzeros;  // of the band
  std::uint64_t tiles;
  std::uint64_t width;  // columns of the band
  unsigned n_split;
  unsigned k_split;
  std::uint64_t widest;  // widest band
};

class Search {
 public:
  Search(const Target& target, const Types& types, const Mask& mask, std::uint64_t n)
      : target_(target), types_(types), mask_(mask), n_(n), nonzeros_(mask.blocks()) {
    plan_.block = mask.block_rows;
    plan_.padded_n = round_up(n, static_grain(types));
    count_rows_and_columns();
    make_bands();
  }

  StaticPlan run() {
    const std::uint64_t pairs = target_.tiles / 2;
    for (unsigned sn = 1; sn <= most_parts(); ++sn) {
      if (target_.static_parts != 0 && sn != target_.static_parts) continue;
      const std::vector<ColumnPart> parts = make_parts(sn);
      if (parts.empty()) continue;
      for (unsigned sk = 1; sk <= bands_.size(); ++sk) {
        if (target_.static_bands != 0 && sk != target_.static_bands) continue;
        if (std::uint64_t{sn} * sk > pairs && sn * sk > 1) break;
        consider(parts, sn, sk);
      }
    }
    if (best_total_ == kNever) fail();
    return std::move(best_);
  }

 private:
  /// Of the columns.
  std::uint64_t most_parts() const {
    return std::min<std::uint64_t>(kMostNSplits, plan_.padded_n / static_grain(types_));
  }

  void count_rows_and_columns() {
    std::vector<std::uint64_t> columns(mask_.grid_cols(), 0);
    for (const std::uint32_t column : mask_.columns) ++columns[column];
    std::vector<std::uint64_t> rows(mask_.grid_rows());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      rows[r] = mask_.offsets[r + 1] - mask_.offsets[r];
    }
    plan_.planned_rows = prune(rows).second;
    std::tie(plan_.column_order, plan_.planned_columns) = prune(columns);
    prefix_.assign(1, 0);
    filled_.assign(1, 0);
    for (const std::uint32_t column : plan_.column_order) {
      prefix_.push_back(prefix_.back() + columns[column]);
      filled_.push_back(filled_.back() + (columns[column] != 0 ? 1 : 0));
    }
    const double planned =
        static_cast<double>(plan_.planned_rows) * static_cast<double>(plan_.planned_columns);
    density_ = std::min(1.0, static_cast<double>(nonzeros_) / planned);
  }

  /// For every number of bands wanted: a band is closed as soon as it has its share.
  void make_bands() {
    const std::uint64_t grain = plan_.block == 1 ? 1 : static_grain(types_);
    const std::uint64_t most =
        std::min<std::uint64_t>(kMostKSplits, ceil_div(plan_.planned_columns, grain));
    const auto columns = static_cast<std::uint32_t>(plan_.column_order.size());
    for (std::uint64_t sk = 1; sk <= most; ++sk) {
      const std::uint64_t share = ceil_div(nonzeros_, sk);
      std::vector<ColumnBand> bands;
      for (std::uint32_t begin = 0; begin < columns;) {
        const auto found =
            std::lower_bound(prefix_.begin() + begin + 1, prefix_.end(), prefix_[begin] + share);
        auto end = static_cast<std::uint32_t>(found - prefix_.begin());
        end = std::min(end, columns);
        const std::uint64_t count = prefix_[end] - prefix_[begin];
        if (count == 0) break;  // only empty columns are left
        bands.push_back({begin, end, count, filled_[end] - filled_[begin]});
        begin = end;
      }
      bands_.push_back(std::move(bands));
    }
  }

  std::vector<ColumnPart> make_parts(unsigned sn) const {
    const unsigned grain = static_grain(types_);
    const std::uint64_t size = ceil_div(plan_.padded_n / grain, sn) * grain;
    std::vector<ColumnPart> parts;
    for (std::uint64_t begin = 0; begin < plan_.padded_n; begin += size) {
      parts.push_back({begin, std::min(begin + size, plan_.padded_n), 0, 0});
    }
    const std::uint64_t pairs = std::max(target_.tiles / 2, 1U);
    unsigned used = 0;
    for (ColumnPart& part : parts) {
      const std::uint64_t share = std::max(ceil_div(pairs * part.columns(), 1 + plan_.padded_n) - 1,
                                           ceil_div(pairs, parts.size()));
      part.first_tile = used;
      part.tiles = static_cast<unsigned>(std::min<std::uint64_t>(2 * share, target_.tiles - used));
      if (&part == &parts.back()) part.tiles = target_.tiles - used;
      used += part.tiles;
      if (part.tiles == 0) return {};
    }
    return parts;
  }

  void consider(const std::vector<ColumnPart>& parts, unsigned sn, unsigned sk) {
    StaticEstimate worst;
    std::uint64_t bytes = 0;
    const ColumnPart* done = nullptr;
    for (const ColumnPart& part : parts) {
      if (done != nullptr && done->columns() == part.columns() && done->tiles == part.tiles) {
        continue;  // it costs the same
      }
      done = &part;
      Load load{};
      if (!find_load(part, sn, sk, load)) return;
      if (!evaluate(load, worst, bytes)) return;
      if (worst.total() >= best_total_) return;
    }
    best_total_ = worst.total();
    best_ = plan_;
    best_.n_split = sn;
    best_.k_split = sk;
    best_.parts = parts;
    best_.bands = bands_[sk - 1];
    best_.tile_bytes = bytes;
    best_.estimate = worst;
  }

  /// Finds the band with the most non-zeros for each of its tiles.
  bool find_load(const ColumnPart& part, unsigned sn, unsigned sk, Load& load) {
    const std::vector<ColumnBand>& bands = bands_[sk - 1];
    tiles_of_bands(bands, nonzeros_, part.tiles).swap(tiles_);
    if (tiles_.empty()) return false;
    std::size_t heaviest = 0;
    std::uint64_t widest = 0;
    for (std::size_t b = 0; b < bands.size(); ++b) {
      widest = std::max<std::uint64_t>(widest, bands[b].filled);
      const bool heavier =
          bands[b].nonzeros * tiles_[heaviest] > bands[heaviest].nonzeros * tiles_[b];
      if (heavier) heaviest = b;
    }
    const ColumnBand& band = bands[heaviest];
    load = {part.columns(), band.nonzeros, tiles_[heaviest], band.filled, sn, sk, widest};
    return true;
  }

  /// Takes the candidate's clocks and bytes into `worst` and `bytes`; false if it cannot be.
  bool evaluate(const Load& load, StaticEstimate& worst, std::uint64_t& bytes);
  StaticEstimate clocks_of(const Load& load, std::uint64_t nz, std::uint64_t rows,
                           std::uint64_t columns, std::uint64_t reduce_factor,
                           std::uint64_t possible_columns) const;

  [[noreturn]] void fail() const {
    const std::string product =
        fmt::format("static sparse {} x {} x {}, {} blocks of {} x {}", mask_.rows, mask_.cols, n_,
                    nonzeros_, plan_.block, plan_.block);
    if (least_bytes_ == std::numeric_limits<std::uint64_t>::max()) {
      throw UnsupportedError(
          fmt::format("{}: planner.static_parts is {}, planner.static_bands {}; of {} tiles there "
                      "are at most {} parts, {} bands, and parts x bands is at most {}",
                      product, target_.static_parts, target_.static_bands, target_.tiles,
                      most_parts(), bands_.size(), target_.tiles / 2));
    }
    if (out_of_range_) {
      throw OutOfMemoryError(
          fmt::format("{}: partitions that fit a tile's memory have worklists or offsets beyond 16 "
                      "bits",
                      product));
    }
    throw OutOfMemoryError(
        fmt::format("{}: the smallest partition needs {} bytes on a tile, of which a plan may use "
                    "{}",
                    product, least_bytes_, target_.planning_bytes));
  }

  const Target target_;
  const Types types_;
  const Mask& mask_;
  std::uint64_t n_;
  std::uint64_t nonzeros_;
  double density_ = 0;
  StaticPlan plan_;                             // what all candidates have in common
  std::vector<std::uint64_t> prefix_;           // non-zeros left of a column
  std::vector<std::uint32_t> filled_;           // columns with non-zeros left of a column
  std::vector<std::vector<ColumnBand>> bands_;  // for 1, 2, ... bands wanted
  std::vector<unsigned> tiles_;
  StaticPlan best_;
  Cycle best_total_ = kNever;
  std::uint64_t least_bytes_ = std::numeric_limits<std::uint64_t>::max();
  bool out_of_range_ = false;  // a partition that fits has too long worklists or offsets
};

bool Search::evaluate(const Load& load, StaticEstimate& worst, std::uint64_t& bytes) {
  const std::uint64_t b = plan_.block;
  const unsigned size = types_.bytes();
  const std::uint64_t nz = ceil_div(load.nonzeros, load.tiles);
  const std::uint64_t m_tile = ceil_div(plan_.planned_rows, load.tiles);
  std::uint64_t k_tile = load.width;
  if (m_tile == 1) {
    const double columns = std::ceil(static_cast<double>(load.nonzeros) / density_);
    k_tile = std::min(static_cast<std::uint64_t>(columns), plan_.planned_columns);
  }
  const double row_filled = 1 - power(1 - density_, k_tile);
  const std::uint64_t rows = expected(row_filled, m_tile);
  const std::uint64_t columns = expected(1 - power(1 - density_, m_tile), k_tile);
  const auto splits = static_cast<double>(load.k_split);
  const double factor = (row_filled * splits + static_cast<double>(deviation(row_filled, splits))) *
                        static_cast<double>(load.width) / static_cast<double>(k_tile);
  const auto reduce_factor =
      std::max<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(factor)), 1);

  const std::uint64_t rhs_bytes = load.columns * columns * b * size;
  const std::uint64_t nz_bytes = nz * b * b * size;
  const std::uint64_t out = rows * load.columns * b * size;
  const std::uint64_t moved = ceil_div(out * (reduce_factor - 1), reduce_factor);
  const std::uint64_t need = std::max(rhs_bytes + nz_bytes + out, moved + out);
  const std::uint64_t header = b == 1 ? 36 + rows + 1 : 12 + 2 * rows + 1;
  const std::uint64_t reach = kMetaLimit * (b == 1 ? 1 : 8 * b);
  least_bytes_ = std::min(least_bytes_, need);
  if (need > target_.planning_bytes) return false;
  if (header > kMetaLimit || load.widest * b * load.columns * size > reach) {
    out_of_range_ = true;
    return false;
  }

  const StaticEstimate e = clocks_of(load, nz, rows, columns, reduce_factor, k_tile);
  if (bytes == 0 || e.total() > worst.total()) worst = e;
  bytes = std::max(bytes, need);
  return true;
}

StaticEstimate Search::clocks_of(const Load& load, std::uint64_t nz, std::uint64_t rows,
                                 std::uint64_t columns, std::uint64_t reduce_factor,
                                 std::uint64_t possible_columns) const {
  const std::uint64_t b = plan_.block;
  const unsigned size = types_.bytes();
  const std::uint64_t word = target_.exchange_bytes;
  const std::uint64_t out = rows * load.columns * b * size;
  StaticEstimate e;
  e.rhs = ceil_div(load.columns * columns * b * size, 2 * word) * possible_columns / columns;
  if (load.n_split > 1) e.nonzeros = ceil_div(nz * b * b * size, word);
  if (b == 1) {
    const ElementWiseBundles w = element_wise_bundles(types_, load.columns, Form::planner);
    const std::uint64_t per_worker = ceil_div(rows, target_.workers);
    e.compute = target_.worker_clocks(w.entry +
                                      per_worker * (w.row + w.nonzero * (ceil_div(nz, rows) - 1)));
  } else {
    e.compute = block_vertex_clocks(target_, types_, plan_.block, rows, ceil_div(nz, rows),
                                    ceil_div(load.columns, target_.workers));
  }
  e.zero = block_zero_clocks(target_, types_, plan_.block, out);
  e.partials = ceil_div(ceil_div(out * (reduce_factor - 1), reduce_factor), word);
  if (reduce_factor > 1) {
    e.reduce =
        static_reduce_clocks(target_, ceil_div(out / size, reduce_factor), reduce_factor, types_);
  }
  // The estimator counts the bytes of the final move as clocks; plans depend on it.
  e.move = ceil_div(std::uint64_t{mask_.rows} * plan_.padded_n * size, target_.tiles);
  return e;
}

}  // namespace

unsigned static_grain(const Types& types) { return types.half() ? 4 : 2; }

std::vector<unsigned> tiles_of_bands(const std::vector<ColumnBand>& bands, std::uint64_t nonzeros,
                                     unsigned tiles) {
  std::vector<unsigned> result;
  result.reserve(bands.size());
  std::uint64_t used = 0;
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const std::uint64_t after = 2 * (bands.size() - 1 - i);
    if (after >= tiles) return {};
    const std::uint64_t band = bands[i].nonzeros;
    std::uint64_t t = band * tiles / nonzeros;
    if (t == 0) t = std::min(tiles, 2U);
    t = std::min(round_up(ceil_div(band, ceil_div(band, t)), 2), t);
    if (i + 1 == bands.size()) t = tiles - used;
    t -= t % 2;
    t = std::min({std::max<std::uint64_t>(t, 2), tiles - used, tiles - after});
    if (t == 0) return {};
    used += t;
    result.push_back(static_cast<unsigned>(t));
  }
  return result;
}

StaticPlan plan_static(const Target& target, const Types& types, const Mask& mask,
                       std::uint64_t n) {
  return Search(target, types, mask, n).run();
}

}  // namespace lacuna::ipu
