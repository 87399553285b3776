// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/pipeline_schedule.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace lacuna::system {

namespace {

/// Micro-batches on their way through the stages, as if nothing took time between them.
class Planner {
 public:
  Planner(const std::vector<StageCycles>& stages, std::uint64_t micro_batches, bool forward,
          bool backward)
      : stages_(stages),
        limited_(forward && backward),
        turns_back_(backward),
        ready_(2 * stages.size()),
        under_way_(stages.size()) {
    unsigned chips = 0;
    for (const StageCycles& stage : stages) chips = std::max(chips, stage.chip + 1);
    free_.resize(chips);
    const std::size_t first = forward ? 0 : 2 * stages.size() - 1;
    for (std::uint64_t m = 0; m < micro_batches; ++m) ready_[first].push_back({m, 0});
  }

  std::vector<MicroBatchPass> plan() {
    std::vector<MicroBatchPass> order;
    for (;;) {
      const std::size_t queue = next();
      if (queue == ready_.size()) return order;
      order.push_back(take(queue));
    }
  }

 private:
  using Waiting = std::pair<std::uint64_t, Cycle>;  // micro-batch, and when it is ready

  // queue 2 s is forward on stage s, 2 s + 1 backward
  bool may_start(std::size_t queue) const {
    if (ready_[queue].empty()) return false;
    const std::size_t s = queue / 2;
    return queue % 2 == 1 || !limited_ || under_way_[s] < stages_.size() - s;
  }

  Cycle start(std::size_t queue) const {
    return std::max(free_[stages_[queue / 2].chip], ready_[queue].front().second);
  }

  /// What starts first; of several backward, then the later stage.
  std::size_t next() const {
    std::size_t best = ready_.size();
    const auto rank = [](std::size_t queue) { return std::make_pair(queue % 2, queue); };
    for (std::size_t queue = 0; queue < ready_.size(); ++queue) {
      if (!may_start(queue)) continue;
      const bool first = best == ready_.size() || start(queue) < start(best);
      if (first || (start(queue) == start(best) && rank(queue) > rank(best))) best = queue;
    }
    return best;
  }

  MicroBatchPass take(std::size_t queue) {
    const std::size_t s = queue / 2;
    const bool forward = queue % 2 == 0;
    const Cycle begin = start(queue);
    const std::uint64_t m = ready_[queue].front().first;
    ready_[queue].pop_front();
    const Cycle end = begin + (forward ? stages_[s].forward : stages_[s].backward);
    free_[stages_[s].chip] = end;
    if (forward) {
      ++under_way_[s];
      const bool last = s + 1 == stages_.size();
      if (!last) ready_[queue + 2].push_back({m, end});
      if (last && turns_back_) ready_[queue + 1].push_back({m, end});
    } else {
      --under_way_[s];
      if (s > 0) ready_[queue - 2].push_back({m, end});
    }
    return {forward, s, m};
  }

  const std::vector<StageCycles>& stages_;
  bool limited_;
  bool turns_back_;
  std::vector<std::deque<Waiting>> ready_;
  std::vector<std::uint64_t> under_way_;
  std::vector<Cycle> free_;  // by chip
};

}  // namespace

std::vector<MicroBatchPass> schedule_of(const std::vector<StageCycles>& stages,
                                        std::uint64_t micro_batches, bool forward, bool backward) {
  return Planner(stages, micro_batches, forward, backward).plan();
}

}  // namespace lacuna::system
