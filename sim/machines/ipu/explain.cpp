// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/ipu/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "models/ipu/floor_plan.hpp"

namespace lacuna {
namespace {

using ipu::CycleAccount;
using ipu::Spend;

constexpr unsigned kDieColumns = 64;  // places in a row of the floor plan

std::uint64_t busy_cycles(const CycleAccount& account) {
  return account[Spend::worker] + account[Spend::supervisor] + account[Spend::slot];
}

/// Reads a run once; each member writes one section.
class IpuExplainer {
 public:
  explicit IpuExplainer(const IpuExplainInput& input) : in_(input) {}

  Explanation explain() {
    plan();
    phases();
    busiest();
    estimate();
    maps();
    return std::move(result_);
  }

 private:
  void plan();
  void phases();
  void busiest();
  void busiest_sets(ExplainSection& section, ipu::TileId tile);
  void estimate();
  std::string simulated(const std::string& estimate) const;
  void maps();
  void add_map(const char* name, const char* title, const char* quantity,
               const std::vector<double>& values);
  unsigned tiles() const { return in_.params.ipu.tiles; }
  std::string of_all(std::uint64_t cycles) const {
    return per_cent(static_cast<double>(cycles), static_cast<double>(in_.cycles));
  }
  Cycle set_cycles(const ipu::ComputeSet& set, ipu::TileId tile);
  std::vector<ipu::TileId> used_tiles() const;

  const IpuExplainInput& in_;
  std::vector<std::pair<std::string, Cycle>> phases_;  // in their order
  Explanation result_;
};

std::vector<ipu::TileId> IpuExplainer::used_tiles() const {
  std::vector<ipu::TileId> used;
  for (ipu::TileId tile = 0; tile < tiles(); ++tile) {
    if (in_.chip.used(tile)) used.push_back(tile);
  }
  return used;
}

/// What the vertices of a tile in a compute set take; its own port's words are left out.
Cycle IpuExplainer::set_cycles(const ipu::ComputeSet& set, ipu::TileId tile) {
  if (set.first[tile] == set.first[tile + 1]) return 0;
  Cycle cycles = in_.params.tile.launch;
  for (std::uint32_t i = set.first[tile]; i < set.first[tile + 1]; ++i) {
    const ipu::WorkItem& item = set.items[i];
    if (item.kind != ipu::WorkItem::Kind::vertex || item.index == ipu::kNone) continue;
    cycles += in_.costs.cost(item.index).cycles;
  }
  return cycles;
}

void IpuExplainer::plan() {
  ExplainSection& section = result_.section("plan");
  section.facts = in_.notes;
  const std::uint64_t memory = std::uint64_t{in_.params.tile.memory.kib} * 1024U;
  section.fact("tiles used", fmt::format("{} of {}", used_tiles().size(), tiles()));
  section.fact(
      "memory of the fullest tile",
      fmt::format("{} of {} B ({} %)", in_.tile_bytes, memory,
                  per_cent(static_cast<double>(in_.tile_bytes), static_cast<double>(memory))));
}

void IpuExplainer::phases() {
  ExplainSection& section = result_.section("phases, as simulated");
  ExplainTable table;
  table.columns = {{"superstep", ""}, {"phase", ""}, {"cycles", ""}, {"of all", "%"}};
  const auto add = [&](std::size_t superstep, const std::string& name, Cycle cycles) {
    phases_.emplace_back(name, cycles);
    table.rows.push_back(
        {fmt::format("{}", superstep), name, fmt::format("{}", cycles), of_all(cycles)});
  };
  const auto& supersteps = in_.program.supersteps;
  Cycle before = 0;  // without an exchange between them, supersteps of different tiles overlap
  for (std::size_t i = 0; i < supersteps.size(); ++i) {
    const ipu::SuperstepTimes& times = in_.chip.times()[i];
    if (supersteps[i].compute != ipu::kNone && times.begin != kNever) {
      const Cycle end = std::max(before, times.computed);
      add(i, in_.program.computes[supersteps[i].compute].name, end - before);
      before = end;
    }
    if (times.released == kNever) continue;
    add(i, "sync", times.released - before);
    add(i, "exchange of " + in_.program.exchanges[supersteps[i].exchange].name,
        times.end - times.released);
    before = times.end;
  }
  section.tables.push_back(std::move(table));
}

/// In which compute sets the busiest tile does more than the mean of the tiles used.
void IpuExplainer::busiest_sets(ExplainSection& section, ipu::TileId tile) {
  ExplainTable table;
  table.title = "its compute sets beside those of the other tiles used";
  table.columns = {{"compute set", ""},
                   {"this tile", "cycles"},
                   {"mean", "cycles"},
                   {"longest", "cycles"},
                   {"vertices", ""}};
  const std::vector<ipu::TileId> used = used_tiles();
  Cycle most = 0;
  std::string where;
  for (const ipu::Superstep& step : in_.program.supersteps) {
    if (step.compute == ipu::kNone) continue;
    const ipu::ComputeSet& set = in_.program.computes[step.compute];
    Cycle sum = 0;
    Cycle longest = 0;
    for (const ipu::TileId other : used) {
      const Cycle cycles = set_cycles(set, other);
      sum += cycles;
      longest = std::max(longest, cycles);
    }
    const Cycle mine = set_cycles(set, tile);
    const double mean = static_cast<double>(sum) / static_cast<double>(used.size());
    table.rows.push_back({set.name, fmt::format("{}", mine), fmt::format("{:.0f}", mean),
                          fmt::format("{}", longest),
                          fmt::format("{}", set.first[tile + 1] - set.first[tile])});
    if (mine <= most) continue;
    most = mine;
    where = fmt::format("'{}' takes it {} cycles, {:.2f} times the mean", set.name, mine,
                        mean > 0 ? static_cast<double>(mine) / mean : 0.0);
  }
  if (!where.empty()) section.fact("why", where);
  section.tables.push_back(std::move(table));
}

void IpuExplainer::busiest() {
  const std::vector<ipu::TileId> used = used_tiles();
  if (used.empty()) return;
  const auto busy = [&](ipu::TileId tile) { return busy_cycles(in_.chip.account(tile)); };
  ipu::TileId most = used.front();
  std::uint64_t sum = 0;
  for (const ipu::TileId tile : used) {
    sum += busy(tile);
    if (busy(tile) > busy(most)) most = tile;
  }
  const double mean = static_cast<double>(sum) / static_cast<double>(used.size());
  const CycleAccount& account = in_.chip.account(most);
  ExplainSection& section = result_.section("busiest tile");
  section.fact("tile", fmt::format("{}", most));
  section.fact("in vertices", fmt::format("{} of {} cycles ({} %); mean of the tiles used {:.0f}",
                                          busy(most), in_.cycles, of_all(busy(most)), mean));
  const auto share = [&](Spend spend) { return of_all(account[spend]); };
  section.fact("its cycles",
               fmt::format("workers {} %, supervisor {} %, empty slots {} %, exchange {} %, gaps "
                           "{} %, waiting {} %",
                           share(Spend::worker), share(Spend::supervisor), share(Spend::slot),
                           share(Spend::exchange), share(Spend::exchange_gap),
                           of_all(account[Spend::barrier] + account[Spend::sync] +
                                  account[Spend::exchange_tail])));
  busiest_sets(section, most);
}

/// The cycles of the phases that an estimate is of; empty if none is that alone.
std::string IpuExplainer::simulated(const std::string& estimate) const {
  if (estimate == "total") return fmt::format("{}", in_.cycles);
  const std::string compute = estimate == "compute" ? "multiply" : estimate;
  Cycle sum = 0;
  bool found = false;
  for (const auto& [phase, cycles] : phases_) {
    // A sum in stages is one phase to the planner.
    const std::string name =
        phase.substr(0, std::min(phase.find(" in groups"), phase.find(" over groups")));
    const bool same = name == compute || name == "exchange of " + estimate ||
                      (estimate == "move" && name == "rearrange output");
    if (same) sum += cycles;
    found = found || same;
  }
  return found ? fmt::format("{}", sum) : "";
}

void IpuExplainer::estimate() {
  if (in_.estimates.empty()) return;
  ExplainSection& section = result_.section("planner's estimate against the simulation");
  ExplainTable table;
  table.columns = {{"estimated phase", ""}, {"estimate", "cycles"}, {"simulated", "cycles"}};
  for (const auto& [phase, cycles] : in_.estimates) {
    table.rows.push_back({phase, fmt::format("{}", cycles), simulated(phase)});
  }
  const Cycle total = in_.estimates.back().second;
  section.fact("estimate", fmt::format("{} cycles", total));
  section.fact("simulated", fmt::format("{} cycles", in_.cycles));
  if (in_.cycles > 0) {
    section.fact(
        "estimate is off by",
        fmt::format("{:+.1f} %",
                    100 * (static_cast<double>(total) / static_cast<double>(in_.cycles) - 1)));
  }
  section.tables.push_back(std::move(table));
}

void IpuExplainer::add_map(const char* name, const char* title, const char* quantity,
                           const std::vector<double>& values) {
  const unsigned rows = in_.params.ipu.rows;
  UnitMap map;
  map.name = name;
  map.title = title;
  map.quantity = quantity;
  map.columns = kDieColumns;
  unsigned last_row = 0;
  for (unsigned tile = 0; tile < tiles(); ++tile) {
    last_row = std::max(last_row, ipu::physical_id(tile, rows) / kDieColumns);
  }
  map.values.assign(std::size_t{last_row + 1} * kDieColumns,
                    std::numeric_limits<double>::quiet_NaN());
  for (unsigned tile = 0; tile < tiles(); ++tile) {
    map.values.at(ipu::physical_id(tile, rows)) = values[tile];
  }
  result_.maps.push_back(std::move(map));
}

void IpuExplainer::maps() {
  if (in_.cycles == 0) return;
  std::vector<double> busy;
  std::vector<double> exchange;
  for (ipu::TileId tile = 0; tile < tiles(); ++tile) {
    const CycleAccount& account = in_.chip.account(tile);
    // in tenths of a per cent: whole numbers, so that files do not depend on how they are printed
    const auto share = [&](std::uint64_t cycles) {
      const std::uint64_t tenths = (cycles * 1000 + in_.cycles / 2) / in_.cycles;
      return static_cast<double>(tenths) / 10;
    };
    busy.push_back(share(busy_cycles(account)));
    exchange.push_back(share(account[Spend::exchange]));
  }
  add_map("tile_load", "Vertices of each tile, as placed on the die",
          "Cycles in vertices, % of all", busy);
  add_map("tile_exchange", "Exchange of each tile, as placed on the die",
          "Cycles moving words, % of all", exchange);
}

}  // namespace

Explanation explain_ipu(const IpuExplainInput& input) { return IpuExplainer(input).explain(); }

}  // namespace lacuna
