// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/rows/row_plan.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/reduce/reduce_cost.hpp"

namespace lacuna::ipu {
namespace {

std::uint64_t bundles_of(const WorkerCode& code) {
  std::uint64_t sum = 0;
  for (const Stretch& stretch : code) sum += stretch.bundles();
  return sum;
}

std::uint64_t longest(const std::vector<WorkerCode>& workers) {
  std::uint64_t most = 0;
  for (const WorkerCode& code : workers) most = std::max(most, bundles_of(code));
  return most;
}

/// The first `whole` rows go to one worker each, the next to the one that has least. All workers
/// share every other row and meet after each pass.
RowWork deal_rows(const Target& target, const std::vector<VectorPass>& stages, std::size_t first,
                  std::size_t last, const std::vector<std::uint64_t>& vectors, std::size_t whole) {
  RowWork work;
  std::vector<std::uint64_t> load(target.workers, 0);
  for (std::size_t s = first; s < last && (s == first || whole < vectors.size()); ++s) {
    std::vector<WorkerCode> workers(target.workers);
    const auto add = [&](std::size_t w, std::size_t stage, std::uint64_t length) {
      const std::uint64_t entry = workers[w].empty() ? kVectorEntry : 0;
      workers[w].push_back({stages[stage], entry + kRowSetup, length});
      load[w] += workers[w].back().bundles();
    };
    for (std::size_t r = 0; s == first && r < whole; ++r) {
      const auto least =
          static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
      for (std::size_t stage = first; stage < last; ++stage) add(least, stage, vectors[r]);
    }
    for (std::size_t r = whole; r < vectors.size(); ++r) {
      const std::uint64_t share = ceil_div(vectors[r], target.workers);
      for (std::uint64_t w = 0; w * share < vectors[r]; ++w) {
        add(w, s, std::min(share, vectors[r] - w * share));
      }
    }
    work.bundles += longest(workers);
    work.launches.push_back(std::move(workers));
  }
  return work;
}

/// Rows whole on a tile, dealt in runs of about as many elements.
std::vector<std::uint64_t> even_runs(const RowPlan& plan, std::uint64_t rows,
                                     std::uint64_t groups) {
  std::uint64_t all = 0;
  for (std::uint64_t r = 0; r < rows; ++r) all += plan.length(r) + kRowSetup;
  std::vector<std::uint64_t> first{0};
  std::uint64_t sum = 0;
  for (std::uint64_t r = 0; r < rows; ++r) {
    sum += plan.length(r) + kRowSetup;
    // A group ends with the row that fills its share.
    if (r + 1 == rows || sum * groups >= all * first.size()) first.push_back(r + 1);
  }
  return first;
}

std::vector<std::uint64_t> equal_runs(std::uint64_t rows, std::uint64_t groups) {
  const std::uint64_t share = ceil_div(rows, groups);
  std::vector<std::uint64_t> first;
  for (std::uint64_t r = 0; r < rows; r += share) first.push_back(r);
  first.push_back(rows);
  return first;
}

class Search {
 public:
  Search(const Target& target, const RowFunction& function, std::uint64_t rows,
         std::vector<std::uint64_t> lengths, unsigned width, Cycle sync)
      : target_(target),
        function_(function),
        passes_(row_passes(function)),
        rows_(rows),
        width_(width),
        sync_(sync) {
    best_.lengths = std::move(lengths);
  }

  RowPlan run() {
    if (best_.lengths.size() > 1) {
      best_.part_length = *std::max_element(best_.lengths.begin(), best_.lengths.end());
      best_.first = even_runs(best_, rows_, target_.tiles);
      return std::move(best_);
    }
    const std::uint64_t vectors = ceil_div(best_.lengths[0], width_);
    best_.estimate = kNever;
    std::uint64_t last = 0;
    for (std::uint64_t parts = 1; parts <= std::min<std::uint64_t>(vectors, target_.tiles);
         ++parts) {
      const std::uint64_t part = ceil_div(vectors, parts);
      if (part == last) continue;
      last = part;
      consider(ceil_div(vectors, part), part);
    }
    return std::move(best_);
  }

 private:
  /// One group adds up no columns of others.
  void consider(std::uint64_t parts, std::uint64_t vectors) {
    for (const std::uint64_t groups :
         {std::min<std::uint64_t>(rows_, target_.tiles / parts), 1UL}) {
      const Cycle cycles = estimate(parts, ceil_div(rows_, groups), vectors);
      if (cycles >= best_.estimate) continue;
      best_.estimate = cycles;
      best_.parts = parts;
      best_.part_length = vectors * width_;
      best_.first = equal_runs(rows_, groups);
    }
  }

  // Equal rows need no list.
  std::uint64_t bundles(std::size_t first, std::size_t last, std::uint64_t rows,
                        std::uint64_t vectors) const {
    const auto dealt = [&](std::uint64_t rounds, std::uint64_t shared) {
      std::uint64_t sum = shared == 0 ? kVectorEntry : 0;
      for (std::size_t s = first; s < last; ++s) {
        const std::uint64_t each = passes_.stages[s].bundles();
        sum += rounds * (kRowSetup + vectors * each);
        if (shared == 0) continue;
        sum += kVectorEntry + shared * (kRowSetup + ceil_div(vectors, target_.workers) * each);
      }
      return sum;
    };
    const std::uint64_t rounds = rows / target_.workers;
    return std::min({dealt(ceil_div(rows, target_.workers), 0), dealt(0, rows),
                     dealt(rounds, rows - rounds * target_.workers)});
  }

  Cycle estimate(std::uint64_t parts, std::uint64_t rows, std::uint64_t vectors) const {
    const std::size_t stages = function_.stages.size();
    Cycle cycles = 0;
    if (parts == 1) {
      cycles = target_.worker_clocks(bundles(0, stages, rows, vectors));
    } else {
      for (std::size_t s = 0; s < stages; ++s) {
        cycles += target_.worker_clocks(bundles(s, s + 1, rows, vectors));
        const std::uint64_t words = rows * function_.stages[s].stats;
        if (words == 0) continue;
        cycles += sync_ + kLatency + (parts - 1) * std::max<std::uint64_t>(words, 3);
        cycles += target_.worker_clocks(ceil_div(rows, target_.workers) * (4 + parts));
      }
    }
    if (function_.sums > 0) {
      const std::uint64_t each = kColumnSetup + rows * passes_.columns.bundles();
      cycles += target_.worker_clocks(kVectorEntry + ceil_div(vectors, target_.workers) * each);
      cycles += column_cycles(function_.sums * vectors * width_, ceil_div(rows_, rows));
    }
    return cycles;
  }

  /// Of the stages in which ColumnReduce adds up so many elements of the parts of `tiles` tiles.
  Cycle column_cycles(std::uint64_t elements, std::uint64_t tiles) const {
    const auto slices = static_cast<std::uint64_t>(std::ceil(std::sqrt(tiles)));
    Cycle cycles = 0;
    for (const std::uint64_t depth : {slices, ceil_div(tiles, slices)}) {
      elements = ceil_div(elements, depth);
      cycles += reduce_clocks(target_, elements, depth, DType::fp32, DType::fp32);
      if (depth > 1) cycles += sync_ + kLatency + (depth - 1) * elements;
    }
    return cycles;
  }

  static constexpr Cycle kLatency = 100;
  const Target target_;
  const RowFunction& function_;
  const RowPasses& passes_;
  const std::uint64_t rows_;
  const unsigned width_;
  const Cycle sync_;
  RowPlan best_;
};

}  // namespace

RowWork row_work(const Target& target, const std::vector<VectorPass>& stages, std::size_t first,
                 std::size_t last, const std::vector<std::uint64_t>& vectors) {
  RowWork best = deal_rows(target, stages, first, last, vectors, vectors.size());
  for (const std::size_t whole :
       {std::size_t{0}, vectors.size() / target.workers * target.workers}) {
    RowWork work = deal_rows(target, stages, first, last, vectors, whole);
    if (work.bundles < best.bundles) best = std::move(work);
  }
  return best;
}

RowPlan plan_row_parts(const Target& target, const RowFunction& function, std::uint64_t rows,
                       std::vector<std::uint64_t> lengths, unsigned width, Cycle sync) {
  return Search(target, function, rows, std::move(lengths), width, sync).run();
}

}  // namespace lacuna::ipu
