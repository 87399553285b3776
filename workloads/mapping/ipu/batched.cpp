// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/batched.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "models/ipu/exchange/planner.hpp"
#include "workloads/functions/ceil_div.hpp"

namespace lacuna::ipu {
namespace {

class Repeater {
 public:
  Repeater(const ChipParams& params, const Program& one, const BatchPlan& plan)
      : params_(params), one_(one), plan_(plan), tiles_(params.ipu.tiles) {}

  Program run(const std::vector<std::vector<Image>>& images) {
    // What has no place is taken as it is.
    result_.bundles = one_.bundles;
    result_.codelets = one_.codelets;
    result_.calls = one_.calls;
    result_.workers = one_.workers;
    result_.set_size = one_.set_size;
    result_.set_table = one_.set_table;
    result_.vertices = one_.vertices;
    result_.conflicts = one_.conflicts;
    result_.mac_algorithmic = one_.mac_algorithmic * plan_.instances;
    result_.values = one_.values;
    result_.memory_words = one_.memory_words * (one_.values ? plan_.rounds : 1);
    for (std::uint32_t round = 0; round < plan_.rounds; ++round) add_round(round);
    for (std::uint32_t i = 0; i < images.size(); ++i) {
      for (Image image : images[i]) {
        image.place = place(image.place, i % plan_.groups, plan_.round(i));
        result_.images.push_back(std::move(image));
      }
    }
    return std::move(result_);
  }

 private:
  /// Rounds are alike, but that the last may have fewer groups.
  struct Round {
    std::uint32_t groups = 0;
    std::vector<Superstep> supersteps;
  };

  /// Where the words of a round begin on every tile.
  std::uint32_t window(std::uint32_t round) const {
    return one_.values ? round * one_.memory_words : 0;
  }

  Place place(Place at, std::uint32_t group, std::uint32_t round) const {
    return {at.tile + group * plan_.tiles, at.address + window(round)};
  }

  void add_round(std::uint32_t round) {
    const std::uint32_t groups = std::min(plan_.groups, plan_.instances - round * plan_.groups);
    if (one_.values || last_.groups != groups) {
      last_ = {groups, {}};
      for (const Superstep& step : one_.supersteps) {
        Superstep made;
        if (step.compute != kNone) made.compute = compute(step.compute, groups, round);
        if (step.exchange != kNone) made.exchange = exchange(step.exchange, groups, round);
        last_.supersteps.push_back(made);
      }
    }
    result_.supersteps.insert(result_.supersteps.end(), last_.supersteps.begin(),
                              last_.supersteps.end());
  }

  std::uint32_t compute(std::uint32_t index, std::uint32_t groups, std::uint32_t round) {
    const ComputeSet& from = one_.computes[index];
    ComputeSet set;
    set.name = from.name;
    set.first.assign(tiles_ + 1U, 0);
    for (TileId tile = 0; tile < tiles_; ++tile) {
      const bool used = tile < groups * plan_.tiles;
      const std::uint32_t local = tile % plan_.tiles;
      for (std::uint32_t i = from.first[local]; used && i < from.first[local + 1]; ++i) {
        WorkItem item = from.items[i];
        if (item.function != kNone) item.function = function(item.function, round);
        set.items.push_back(item);
      }
      set.first[tile + 1] = static_cast<std::uint32_t>(set.items.size());
    }
    result_.computes.push_back(std::move(set));
    return static_cast<std::uint32_t>(result_.computes.size() - 1);
  }

  /// The function of a vertex in the window of a round; the same for all groups.
  std::uint32_t function(std::uint32_t index, std::uint32_t round) {
    const auto key = std::make_pair(index, round);
    const auto found = functions_.find(key);
    if (found != functions_.end()) return found->second;
    const std::size_t begin = std::size_t{round} * one_.memory_words;
    result_.functions.emplace_back([call = one_.functions[index], begin](TileMemory& memory) {
      memory.move_window(begin);
      call(memory);
      memory.move_window(0);
    });
    return functions_[key] = static_cast<std::uint32_t>(result_.functions.size() - 1);
  }

  std::uint32_t exchange(std::uint32_t index, std::uint32_t groups, std::uint32_t round) {
    const ExchangePhase& from = one_.exchanges[index];
    TransferList list;
    list.memory_begin = window(round);
    list.paired_words = from.transfers.paired_words;
    if (from.transfers.scratch) list.scratch = *from.transfers.scratch + window(round);
    std::vector<Place> places;
    for (std::uint32_t group = 0; group < groups; ++group) {
      for (const Transfer& t : from.transfers.transfers) {
        places.clear();
        for (std::uint32_t d = t.first; d < t.first + t.count; ++d) {
          places.push_back(place(from.transfers.destinations[d], group, round));
        }
        list.add(place(t.source, group, round), t.words, places.data(),
                 places.data() + places.size());
      }
    }
    ExchangePlan plan = plan_exchange(params_, list);
    result_.exchanges.push_back({from.name, std::move(plan), std::move(list)});
    return static_cast<std::uint32_t>(result_.exchanges.size() - 1);
  }

  const ChipParams& params_;
  const Program& one_;
  const BatchPlan plan_;
  const unsigned tiles_;
  Round last_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> functions_;
  Program result_;
};

}  // namespace

std::vector<BatchPlan> batch_plans(std::uint32_t instances, unsigned tiles) {
  constexpr std::array<std::uint32_t, 12> kRounds = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
  std::vector<BatchPlan> plans;
  for (const std::uint32_t wanted : kRounds) {
    if (wanted > instances) break;
    const auto groups = static_cast<std::uint32_t>(ceil_div(instances, wanted));
    if (groups > tiles) continue;
    BatchPlan plan;
    plan.instances = instances;
    plan.groups = groups;
    plan.rounds = static_cast<std::uint32_t>(ceil_div(instances, groups));
    plan.tiles = tiles / groups;
    // Pairs of tiles stay together.
    if (groups > 1 && plan.tiles > 1) plan.tiles -= plan.tiles % 2;
    plans.push_back(plan);
  }
  if (!plans.empty() && plans.back().groups > 1 && instances < kRounds.back()) {
    plans.push_back({instances, instances, 1, tiles});
  }
  if (plans.empty()) {  // many times more instances than tiles
    plans.push_back({instances, static_cast<std::uint32_t>(ceil_div(instances, tiles)), tiles, 1});
  }
  return plans;
}

Program repeat_program(const ChipParams& params, const Program& one, const BatchPlan& plan,
                       const std::vector<std::vector<Image>>& images) {
  return Repeater(params, one, plan).run(images);
}

ChipParams small_chip(const ChipParams& params, unsigned tiles) {
  ChipParams small = params;
  small.ipu.tiles = tiles;
  return small;
}

}  // namespace lacuna::ipu
