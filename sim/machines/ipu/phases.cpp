// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/ipu/phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"

namespace lacuna {
namespace {

using ipu::TileWorkStats;

/// What all tiles have done by the end of a phase, from the costs of the vertices and the plans of
/// the exchanges before it.
class WorkSoFar {
 public:
  WorkSoFar(ipu::IpuChip& chip, const ipu::Program& program, unsigned launch)
      : costs_(chip.costs()),
        program_(program),
        launch_(launch),
        issues_(program.bundles.size(), 0) {}

  void compute(const ipu::ComputeSet& set);
  void exchange(const ipu::ExchangePlan& plan);

  /// Bytes of tile memory, and those put on the exchange.
  std::pair<std::uint64_t, std::uint64_t> bytes() const;

 private:
  void add(const ipu::WorkItem& item);

  ipu::VertexCosts& costs_;
  const ipu::Program& program_;
  unsigned launch_;
  std::vector<std::uint64_t> issues_;  // by bundle
  std::uint64_t busy_ = 0;
  std::uint64_t mac_edge_ = 0;
  std::uint64_t mac_zero_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t port_sent_ = 0;
  std::uint64_t port_received_ = 0;
};

void WorkSoFar::compute(const ipu::ComputeSet& set) {
  for (std::size_t tile = 0; tile + 1 < set.first.size(); ++tile) {
    if (set.first[tile] != set.first[tile + 1]) busy_ += launch_;
  }
  for (const ipu::WorkItem& item : set.items) add(item);
}

void WorkSoFar::add(const ipu::WorkItem& item) {
  mac_edge_ += item.mac_edge;
  mac_zero_ += item.mac_zero;
  if (item.kind == ipu::WorkItem::Kind::port_send) port_sent_ += item.words;
  if (item.kind == ipu::WorkItem::Kind::port_receive) port_received_ += item.words;
  if (item.kind != ipu::WorkItem::Kind::vertex || item.index == ipu::kNone) return;
  const ipu::VertexCost& cost = costs_.cost(item.index);
  busy_ += cost.worker + cost.supervisor;
  const std::uint64_t* const issues = costs_.issues(item.index);
  for (std::size_t b = 0; b < issues_.size(); ++b) issues_[b] += issues[b];
}

void WorkSoFar::exchange(const ipu::ExchangePlan& plan) {
  for (const ipu::TileTraffic& traffic : plan.traffic) {
    sent_ += traffic.sent;
    received_ += traffic.received;
  }
}

std::pair<std::uint64_t, std::uint64_t> WorkSoFar::bytes() const {
  TileWorkStats work("tile");
  work.mac_algorithmic += program_.mac_algorithmic;
  work.mac_edge += mac_edge_;
  work.mac_zero += mac_zero_;
  work.issues += busy_;
  work.exch_sent += sent_;
  work.exch_received += received_;
  work.port_sent += port_sent_;
  work.port_received += port_received_;
  for (std::size_t b = 0; b < issues_.size(); ++b) work.add(program_.bundles[b], issues_[b]);
  work.derive();
  return {work.bytes_sram_read.value() + work.bytes_sram_written.value(),
          work.exch_sent.value() * 4};
}

/// Phases by name, in the order of their first times.
class Phases {
 public:
  Phases(ipu::IpuChip& chip, const ipu::Program& program, bool with_bytes)
      : work_(chip, program, chip.params().tile.launch), with_bytes_(with_bytes) {}

  void compute(const ipu::ComputeSet& set, Cycle cycles) {
    if (with_bytes_) work_.compute(set);
    add(set.name, cycles, with_bytes_);
  }
  void sync(Cycle cycles) { add("sync", cycles, false); }
  void exchange(const ipu::ExchangePhase& phase, Cycle cycles) {
    if (with_bytes_) work_.exchange(phase.plan);
    add("exchange of " + phase.name, cycles, with_bytes_);
  }

  std::vector<PhaseTraffic> take() { return std::move(phases_); }

 private:
  void add(const std::string& name, Cycle cycles, bool moved) {
    const auto same = [&](const PhaseTraffic& phase) { return phase.name == name; };
    PhaseTraffic& found = find_or_add(phases_, same, PhaseTraffic{name});
    found.cycles += cycles;
    if (!moved) return;
    const auto [sram, fabric] = work_.bytes();
    found.sram_bytes += sram - sram_;
    found.fabric_bytes += fabric - fabric_;
    sram_ = sram;
    fabric_ = fabric;
  }

  WorkSoFar work_;
  bool with_bytes_;
  std::vector<PhaseTraffic> phases_;
  std::uint64_t sram_ = 0;  // by the end of the phase before
  std::uint64_t fabric_ = 0;
};

void check_sum(const std::vector<PhaseTraffic>& phases, const TileWorkStats& work) {
  std::uint64_t sram = 0;
  std::uint64_t fabric = 0;
  for (const PhaseTraffic& phase : phases) {
    sram += phase.sram_bytes;
    fabric += phase.fabric_bytes;
  }
  const std::uint64_t counted = work.bytes_sram_read.value() + work.bytes_sram_written.value();
  if (sram == counted && fabric == work.exch_sent.value() * 4) return;
  throw InternalError(
      fmt::format("phases moved {} bytes of tile memory and {} of the exchange, the chip {} and {}",
                  sram, fabric, counted, work.exch_sent.value() * 4));
}

}  // namespace

std::vector<PhaseTraffic> ipu_phases(ipu::IpuChip& chip, const ipu::Program& program,
                                     bool with_bytes) {
  Phases phases(chip, program, with_bytes);
  Cycle before = 0;  // the end of the phase before
  for (std::size_t i = 0; i < program.supersteps.size(); ++i) {
    const ipu::Superstep& step = program.supersteps[i];
    const ipu::SuperstepTimes& times = chip.times()[i];
    if (step.compute != ipu::kNone) {
      const Cycle begin = std::min(std::max(times.begin, before), times.computed);
      phases.compute(program.computes[step.compute], times.computed - begin);
      before = std::max(before, times.computed);
    }
    if (times.released == kNever) continue;
    phases.sync(times.released - times.computed);
    phases.exchange(program.exchanges[step.exchange], times.end - times.released);
    before = times.end;
  }
  std::vector<PhaseTraffic> result = phases.take();
  if (with_bytes) check_sum(result, chip.work_stats());
  return result;
}

}  // namespace lacuna
