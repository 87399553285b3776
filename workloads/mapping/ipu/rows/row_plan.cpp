// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/rows/row_plan.hpp"

#include <algorithm>
#include <utility>

#include "workloads/functions/ceil_div.hpp"

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

/// Whole rows: the next one goes to the worker that has least.
RowWork whole_rows(const Target& target, const std::vector<VectorPass>& stages, std::size_t first,
                   std::size_t last, const std::vector<std::uint64_t>& vectors) {
  std::vector<WorkerCode> workers(target.workers);
  std::vector<std::uint64_t> load(target.workers, 0);
  for (const std::uint64_t length : vectors) {
    const auto least =
        static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    for (std::size_t s = first; s < last; ++s) {
      const std::uint64_t entry = workers[least].empty() ? kVectorEntry : 0;
      workers[least].push_back({stages[s], entry + kRowSetup, length});
      load[least] += workers[least].back().bundles();
    }
  }
  const std::uint64_t most = longest(workers);
  return {{std::move(workers)}, most};
}

/// Every row over all workers, one launch for each pass.
RowWork shared_rows(const Target& target, const std::vector<VectorPass>& stages, std::size_t first,
                    std::size_t last, const std::vector<std::uint64_t>& vectors) {
  RowWork work;
  for (std::size_t s = first; s < last; ++s) {
    std::vector<WorkerCode> workers(target.workers);
    for (const std::uint64_t length : vectors) {
      const std::uint64_t share = ceil_div(length, target.workers);
      for (unsigned w = 0; w < target.workers; ++w) {
        const std::uint64_t mine = std::min(share, length - std::min(length, w * share));
        if (mine == 0) continue;
        const std::uint64_t entry = workers[w].empty() ? kVectorEntry : 0;
        workers[w].push_back({stages[s], entry + kRowSetup, mine});
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
  void consider(std::uint64_t parts, std::uint64_t vectors) {
    const std::uint64_t groups = std::min<std::uint64_t>(rows_, target_.tiles / parts);
    const std::uint64_t rows = ceil_div(rows_, groups);
    const Cycle cycles = estimate(parts, rows, vectors);
    if (cycles >= best_.estimate) return;
    best_.estimate = cycles;
    best_.parts = parts;
    best_.part_length = vectors * width_;
    best_.first = equal_runs(rows_, groups);
  }

  // Equal rows need no list: whole rows to workers, or each row over all of them.
  std::uint64_t bundles(std::size_t first, std::size_t last, std::uint64_t rows,
                        std::uint64_t vectors) const {
    std::uint64_t whole = 0;
    std::uint64_t shared = 0;
    for (std::size_t s = first; s < last; ++s) {
      const std::uint64_t each = passes_.stages[s].bundles();
      whole += ceil_div(rows, target_.workers) * (kRowSetup + vectors * each);
      shared += kVectorEntry + rows * (kRowSetup + ceil_div(vectors, target_.workers) * each);
    }
    return std::min(whole + kVectorEntry, shared);
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
        constexpr Cycle kLatency = 100;
        cycles += sync_ + kLatency + (parts - 1) * std::max<std::uint64_t>(words, 3);
        cycles += target_.worker_clocks(ceil_div(rows, target_.workers) * (4 + parts));
      }
    }
    if (function_.sums > 0) {
      const std::uint64_t each = kColumnSetup + rows * passes_.columns.bundles();
      cycles += target_.worker_clocks(kVectorEntry + ceil_div(vectors, target_.workers) * each);
    }
    return cycles;
  }

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
  RowWork whole = whole_rows(target, stages, first, last, vectors);
  RowWork shared = shared_rows(target, stages, first, last, vectors);
  return shared.bundles < whole.bundles ? shared : whole;
}

RowPlan plan_row_parts(const Target& target, const RowFunction& function, std::uint64_t rows,
                       std::vector<std::uint64_t> lengths, unsigned width, Cycle sync) {
  return Search(target, function, rows, std::move(lengths), width, sync).run();
}

}  // namespace lacuna::ipu
