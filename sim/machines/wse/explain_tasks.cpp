// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/explain_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/machines/wse/explain.hpp"

namespace lacuna {
namespace {

using wse::TaskCounters;
using wse::TaskCycle;

std::uint64_t cycles_of(const TaskCounters& core, TaskCycle kind) {
  return core.cycles[static_cast<std::size_t>(kind)];
}

std::uint64_t issued(const TaskCounters& core) {
  return cycles_of(core, TaskCycle::vector) + cycles_of(core, TaskCycle::fabric) +
         cycles_of(core, TaskCycle::scalar);
}

/// What a core's cycles can go to, in the words of the cycle stack.
constexpr std::array<std::pair<TaskCycle, const char*>, 9> kKinds{
    {{TaskCycle::vector, "instructions on its memory"},
     {TaskCycle::fabric, "instructions with words of the fabric"},
     {TaskCycle::scalar, "scalar code: loops, addresses, starting instructions"},
     {TaskCycle::conflict, "conflicts in its memory banks"},
     {TaskCycle::residual, "residual stalls of its datapath"},
     {TaskCycle::special, "divisions and special functions"},
     {TaskCycle::dispatch, "the dispatch of tasks"},
     {TaskCycle::wait_in, "waiting for words of other cores"},
     {TaskCycle::wait_out, "waiting for room in an output queue"}}};

Cycle all_of(const WseTaskStage& stage) { return stage.cycles * stage.times; }

std::string core_name(const WseTaskStage& stage) {
  return fmt::format("wafer.r{}.c{}.core", stage.row, stage.column);
}

ExplainTable stage_table(const std::vector<WseTaskStage>& stages, Cycle total) {
  ExplainTable table{"Stages, one after the other, and the core that ends each",
                     {{"stage", ""},
                      {"cycles", "cycles"},
                      {"of the run", "%"},
                      {"last core", ""},
                      {"issue", "%"},
                      {"stalls", "%"},
                      {"no words", "%"},
                      {"no room", "%"},
                      {"dispatch", "%"}},
                     {}};
  for (const WseTaskStage& stage : stages) {
    const auto share = [&](std::uint64_t part) {
      return per_cent(static_cast<double>(part), static_cast<double>(stage.cycles));
    };
    const TaskCounters& core = stage.core;
    table.rows.push_back(
        {stage.times == 1 ? stage.name : fmt::format("{} ({} times)", stage.name, stage.times),
         fmt::format("{}", all_of(stage)),
         per_cent(static_cast<double>(all_of(stage)), static_cast<double>(total)), core_name(stage),
         share(issued(core)),
         share(cycles_of(core, TaskCycle::conflict) + cycles_of(core, TaskCycle::residual) +
               cycles_of(core, TaskCycle::special)),
         share(cycles_of(core, TaskCycle::wait_in)), share(cycles_of(core, TaskCycle::wait_out)),
         share(cycles_of(core, TaskCycle::dispatch))});
  }
  return table;
}

void explain_longest(const WseTaskStage& stage, Cycle total, ExplainSection& section) {
  const auto window = static_cast<double>(stage.cycles);
  section.fact(
      "longest stage",
      fmt::format("{}: {} of {} cycles, {} %", stage.name, all_of(stage), total,
                  per_cent(static_cast<double>(all_of(stage)), static_cast<double>(total))));
  section.fact("limiting core", core_name(stage) + ", which ends last");
  auto kinds = kKinds;
  sort_all(kinds, [&](const auto& a, const auto& b) {
    return cycles_of(stage.core, a.first) > cycles_of(stage.core, b.first);
  });
  std::string why;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint64_t spent = cycles_of(stage.core, kinds.at(i).first);
    if (spent == 0) break;
    why += fmt::format("{}{} % {}", why.empty() ? "" : ", ",
                       per_cent(static_cast<double>(spent), window), kinds.at(i).second);
  }
  section.fact("its cycles went to", why.empty() ? "nothing" : why);
  section.fact("balance of the cores",
               fmt::format("the busiest issues in {} % of the stage, the mean in {} %",
                           per_cent(static_cast<double>(stage.most_issued), window),
                           per_cent(stage.mean_issued, window)));
  section.fact("fullest link",
               fmt::format("{} words, {} % of the stage", stage.fullest_link,
                           per_cent(static_cast<double>(stage.fullest_link), window)));
}

}  // namespace

WseTaskStage observe_stage(std::string name, const wse::TaskProgram& part,
                           const wse::TaskOutcome& run, std::uint64_t times, std::uint32_t row,
                           std::uint32_t column) {
  WseTaskStage stage;
  stage.name = std::move(name);
  stage.cycles = run.cycles;
  stage.times = times;
  stage.columns = part.columns;
  std::size_t last = 0;
  for (std::size_t i = 0; i < run.cores.size(); ++i) {
    const auto key = [&](std::size_t core) {
      return std::make_tuple(run.cores[core].end, issued(run.cores[core]));
    };
    if (key(i) > key(last)) last = i;
    stage.most_issued = std::max(stage.most_issued, issued(run.cores[i]));
    stage.issued.push_back(static_cast<double>(issued(run.cores[i])));
    const auto& sent = run.routers[i].sent;
    double hops = 0;
    for (const unsigned port : {wse::kNorth, wse::kEast, wse::kSouth, wse::kWest}) {
      stage.fullest_link = std::max(stage.fullest_link, sent[port]);
      hops += static_cast<double>(sent[port]);
    }
    stage.hops.push_back(hops);
  }
  if (run.cores.empty()) return stage;
  const auto idle = std::count(stage.issued.begin(), stage.issued.end(), 0.0);
  const auto busy = static_cast<double>(run.cores.size()) - static_cast<double>(idle);
  stage.mean_issued =
      std::accumulate(stage.issued.begin(), stage.issued.end(), 0.0) / std::max(busy, 1.0);
  stage.core = run.cores[last];
  stage.row = row + static_cast<std::uint32_t>(last / part.columns);
  stage.column = column + static_cast<std::uint32_t>(last % part.columns);
  return stage;
}

Explanation explain_tasks(const std::vector<WseTaskStage>& stages) {
  Explanation result;
  Cycle total = 0;
  for (const WseTaskStage& stage : stages) total += all_of(stage);
  if (total == 0) return result;
  const WseTaskStage& longest = *std::max_element(
      stages.begin(), stages.end(),
      [](const WseTaskStage& a, const WseTaskStage& b) { return all_of(a) < all_of(b); });
  ExplainSection& section = result.section("What limits it");
  explain_longest(longest, total, section);
  section.tables.push_back(stage_table(stages, total));
  const auto window = static_cast<double>(longest.cycles);
  const std::size_t rows = longest.issued.size() / longest.columns;
  result.maps.push_back(
      averaged_map("core_use", fmt::format("Use of the cores, stage {}", longest.name),
                   "Issue slots used, % of the stage", longest.columns, rows,
                   [&](std::size_t core) { return 100 * longest.issued[core] / window; }));
  result.maps.push_back(
      averaged_map("links", fmt::format("Use of the links, stage {}", longest.name),
                   "Words to neighbours, % of four links", longest.columns, rows,
                   [&](std::size_t core) { return 25 * longest.hops[core] / window; }));
  return result;
}

}  // namespace lacuna
