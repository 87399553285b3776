// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/ipu_chip.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/ipu/memory_layout.hpp"
#include "models/ipu/memory_ports.hpp"
#include "sim/base/error.hpp"
#include "sim/base/mix.hpp"

namespace lacuna::ipu {
namespace {

/// A bundle cannot do more than an instruction and the matrix unit. What the ports of the tile
/// cannot do in a slot takes more of them, which the program has counted.
void check_bundle(const ChipParams& params, const Bundle& bundle) {
  const auto count = [&](Tally tally) {
    return bundle.tallies.at(static_cast<std::size_t>(tally));
  };
  const std::uint64_t reads = MemoryPorts::kAccessBytes * reads_of(bundle);
  const std::uint64_t writes = MemoryPorts::kAccessBytes * writes_of(bundle);
  const MemoryPorts ports(params.tile.memory);
  if (reads > ports.most_loads() || writes > ports.most_stores()) {
    throw UnsupportedError(
        fmt::format("'{}' needs {} B of loads and {} B of stores in a bundle, which has {} and {}",
                    bundle.name, reads, writes, ports.most_loads(), ports.most_stores()));
  }
  const AmpParams& amp = params.tile.amp;
  const unsigned halves = std::max(amp.fp16_macs.value(), amp.fp16_fp32_macs.value());
  if (count(Tally::amp_mac_fp16) > halves || count(Tally::amp_mac_fp32) > amp.fp32_macs ||
      count(Tally::amp_mac_fp8) > amp.fp8_macs) {
    throw InternalError(fmt::format("bundle '{}' makes more products than the AMP", bundle.name));
  }
}

/// What a bundle loses is found when its program is taken from the builder.
void check_lost(const ChipParams& params, const Program& program, std::size_t index) {
  const Bundle& bundle = program.bundles[index];
  const std::uint32_t lost = lost_to_ports(params.tile.memory, bundle);
  const std::uint32_t said = index < program.conflicts.size() ? program.conflicts[index] : 0;
  if (said >= lost) return;
  throw InternalError(
      fmt::format("bundle '{}' loses {} slots at the memory ports and its program says {}: it was "
                  "added after the program was taken",
                  bundle.name, lost, said));
}

void check_program(const ChipParams& params, const Program& program) {
  if (program.set_size != params.tile.slots()) {
    throw InternalError(fmt::format("a program for {} issue slots on a tile with {}",
                                    program.set_size, params.tile.slots()));
  }
  for (std::size_t i = 0; i < program.bundles.size(); ++i) {
    check_bundle(params, program.bundles[i]);
    check_lost(params, program, i);
  }
  for (const ExchangePhase& phase : program.exchanges) {
    check_plan(phase.plan, params.ipu.tiles);
    if (phase.plan.length == 0) throw InternalError("an exchange that moves nothing");
  }
  for (const ComputeSet& set : program.computes) {
    if (set.first.size() != params.ipu.tiles + 1U) {
      throw InternalError("a compute set for another number of tiles");
    }
  }
}

/// Of a whole run: what was formed is of the dense operation, or outside its shape.
void check_products(const TileWorkStats& work) {
  const std::uint64_t actual = work.mac_actual.value();
  const std::uint64_t edge = work.mac_edge.value();
  if (edge + work.mac_zero.value() <= actual && actual - edge <= work.mac_algorithmic.value()) {
    return;
  }
  throw InternalError(fmt::format(
      "mac_actual: {} products, of which {} outside the operation's {} and {} with zeros", actual,
      edge, work.mac_algorithmic.value(), work.mac_zero.value()));
}

/// The cycles of each tile's items up to the next barrier, or the end, as their mean over the tiles
/// used: by superstep.
std::vector<Cycle> mean_times(const ChipParams& params, const Program& program,
                              VertexCosts& costs) {
  std::uint64_t used = 0;
  for (TileId id = 0; id < params.ipu.tiles; ++id) used += uses_tile(program, id) ? 1 : 0;
  std::vector<Cycle> means;
  std::uint64_t sum = 0;
  for (std::size_t s = 0; s < program.supersteps.size(); ++s) {
    const Superstep& step = program.supersteps[s];
    if (step.compute != kNone) {
      const ComputeSet& set = program.computes[step.compute];
      for (TileId id = 0; id < params.ipu.tiles; ++id) {
        if (set.first[id] != set.first[id + 1]) sum += params.tile.launch;
      }
      for (const WorkItem& item : set.items) {
        if (item.kind != WorkItem::Kind::vertex) {
          throw UnsupportedError("without.slowest: how long a tile waits at its port is not known");
        }
        sum += costs.cost(item.index).cycles;
      }
    }
    if (step.exchange == kNone && s + 1 < program.supersteps.size()) continue;
    means.resize(s + 1, used == 0 ? 0 : (sum + used - 1) / used);
    sum = 0;
  }
  return means;
}

/// The longest way any word of the program takes.
std::size_t longest_latency(const Program& program) {
  std::size_t longest = 0;
  for (const ExchangePhase& phase : program.exchanges) {
    for (const Receive& receive : phase.plan.receives) {
      longest = std::max<std::size_t>(longest, receive.latency);
    }
  }
  return longest;
}

}  // namespace

IpuChip::IpuChip(const sc_core::sc_module_name& name, ClockDomain& clock, const ChipParams& params,
                 const Program& program, Engine engine, bool event_log, Cycle interval,
                 std::size_t marks)
    : sc_module(name),
      params_((check_program(params, program), params)),
      program_(program),
      clock_(clock),
      sync_(clock, params.sync.cycles, program.supersteps.size()),
      fabric_(engine == Engine::clocked ? params.ipu.tiles : 0U, longest_latency(program)),
      costs_(program),
      book_(params, program, interval),
      marks_(params.ipu.tiles, program.supersteps.size(), marks),
      context_{params_, program, clock, sync_, fabric_, log_, memories_, costs_, book_,
               marks_,  {},      0,     0,     0,       {},   0,         0},
      issues_(program.bundles.size(), 0) {
  if (event_log) log_.enable();
  if (params.without.any() && (event_log || interval != 0)) {
    throw UnsupportedError("an idealised chip (without.*) has no event log and no intervals");
  }
  if (params.without.slowest) context_.means = mean_times(params, program, costs_);
  context_.times.resize(program.supersteps.size());
  load_images();
  tiles_.reserve(params.ipu.tiles);
  for (TileId id = 0; id < params.ipu.tiles; ++id) {
    tiles_.push_back(make_tile(engine, fmt::format("tile_{}", id).c_str(), id, context_));
    if (!tiles_.back()->used()) continue;
    sync_.add(*tiles_.back());
    clock_.add(*tiles_.back());
    ++context_.unfinished;
  }
}

/// SystemC looks for a port from the last one on, so that the last tile goes first.
IpuChip::~IpuChip() {
  while (!tiles_.empty()) tiles_.pop_back();
}

void IpuChip::load_images() {
  if (!program_.values) return;
  memories_.assign(params_.ipu.tiles, TileMemory(program_.memory_words));
  for (TileId id = 0; id < params_.ipu.tiles; ++id) {
    memories_[id].rounding() =
        HalfRounding(program_.round, mix(program_.round_seed + id), params_.tile.workers);
  }
  for (const Image& image : program_.images) {
    for (std::uint32_t w = 0; w < image.words.size(); ++w) {
      memories_.at(image.place.tile).set_word(image.place.address + w, image.words[w]);
    }
  }
}

Cycle IpuChip::run() {
  check_ports();
  const Cycle end = context_.unfinished == 0 ? 0 : clock_.run_until_done();
  end_ = end;
  account_all(end);
  count_items();
  count_exchange();
  work_.mac_algorithmic += program_.mac_algorithmic;
  for (std::size_t b = 0; b < issues_.size(); ++b) work_.add(program_.bundles[b], issues_[b]);
  if (program_.round == RoundMode::stochastic) {
    work_.random_bits += kBitsOfARounding * work_.rounded_fp16.value();
  }
  work_.derive();
  check_products(work_);
  if (log_.enabled()) record_supersteps();
  return end;
}

void IpuChip::account_all(Cycle end) {
  for (const auto& tile : tiles_) {
    tile->settle(end);
    tile->book_rest();
    tile->add_issues(issues_);
    const CycleAccount& account = tile->account();
    if (account.total() != end) {
      throw AccountingError(
          fmt::format("tile {} has booked {} of {} cycles", tile->id(), account.total(), end));
    }
    cycles_.add(account);
  }
  costs_.add_issues(issues_);
  const std::uint64_t busy = cycles_.worker.value() + cycles_.supervisor.value();
  work_.issues += busy;
  work_.busy_cycles += busy;
  work_.idle_cycles += end * tiles_.size() - busy;
}

void IpuChip::for_each_border(
    const std::function<void(Cycle, const TileCycleStats&, const TileWorkStats&)>& visit) const {
  TileCycleStats cycles("tile.cycles");
  IntervalBook::Page all;
  all.issues.assign(issues_.size(), 0);
  for (std::size_t i = 0; i < book_.pages().size() && i * book_.length() < end_; ++i) {
    const IntervalBook::Page& page = book_.pages()[i];
    const Cycle at = std::min(end_, (i + 1) * book_.length());
    cycles.add(page.spent);
    for (std::size_t b = 0; b < issues_.size(); ++b) all.issues[b] += page.issues[b];
    all.moved.sent += page.moved.sent;
    all.moved.received += page.moved.received;
    all.moved.fragments += page.moved.fragments;
    all.moved.conflicts += page.moved.conflicts;
    all.port_sent += page.port_sent;
    all.port_received += page.port_received;
    all.mac_edge += page.mac_edge;
    all.mac_zero += page.mac_zero;
    TileWorkStats work("tile");
    work.mac_algorithmic += program_.mac_algorithmic;
    work.mac_edge += all.mac_edge;
    work.mac_zero += all.mac_zero;
    for (std::size_t b = 0; b < issues_.size(); ++b) work.add(program_.bundles[b], all.issues[b]);
    const std::uint64_t busy = cycles.worker.value() + cycles.supervisor.value();
    work.issues += busy;
    work.busy_cycles += busy;
    work.idle_cycles += at * tiles_.size() - busy;
    work.exch_sent += all.moved.sent;
    work.exch_received += all.moved.received;
    work.exch_fragments += all.moved.fragments;
    work.exch_conflicts += all.moved.conflicts;
    work.port_sent += all.port_sent;
    work.port_received += all.port_received;
    for (const SuperstepTimes& times : context_.times) {
      if (times.released != kNever && times.released < at) work.syncs += tiles_.size();
    }
    work.derive();
    visit(at, cycles, work);
  }
}

void IpuChip::count_items() {
  for (const Superstep& superstep : program_.supersteps) {
    if (superstep.compute == kNone) continue;
    for (const WorkItem& item : program_.computes[superstep.compute].items) {
      work_.mac_edge += item.mac_edge;
      work_.mac_zero += item.mac_zero;
    }
  }
  work_.port_sent += context_.port_sent;
  work_.port_received += context_.port_received;
}

void IpuChip::count_exchange() {
  for (const Superstep& superstep : program_.supersteps) {
    if (superstep.exchange != kNone) work_.syncs += tiles_.size();
  }
  for (const auto& tile : tiles_) {
    work_.exch_sent += tile->moved().sent;
    work_.exch_received += tile->moved().received;
    work_.exch_fragments += tile->moved().fragments;
    work_.exch_conflicts += tile->moved().conflicts;
  }
}

/// Every tile whose port the program uses has a module bound to it.
void IpuChip::check_ports() const {
  for (const ComputeSet& set : program_.computes) {
    for (TileId id = 0; id < tiles_.size(); ++id) {
      for (std::uint32_t i = set.first[id]; i < set.first[id + 1]; ++i) {
        const WorkItem& item = set.items[i];
        if (item.words == 0) continue;
        const bool sends = item.kind == WorkItem::Kind::port_send && tiles_[id]->out.size() == 0;
        const bool takes = item.kind == WorkItem::Kind::port_receive && tiles_[id]->in.size() == 0;
        if (!sends && !takes) continue;
        throw RequestError(
            fmt::format("the program uses port '{}' of tile {}, but nothing is bound to it",
                        sends ? "out" : "in", id));
      }
    }
  }
}

void IpuChip::record_supersteps() {
  const std::size_t unit = tiles_.size();
  const auto record = [&](Cycle cycle, EventKind kind, std::size_t superstep) {
    log_.record(cycle, unit, static_cast<std::uint16_t>(kind), superstep);
  };
  for (std::size_t s = 0; s < context_.times.size(); ++s) {
    const SuperstepTimes& times = context_.times[s];
    record(times.begin, EventKind::superstep_start, s);
    if (times.released == kNever) continue;
    record(times.released, EventKind::sync_release, s);
    record(times.end, EventKind::exchange_end, s);
  }
}

}  // namespace lacuna::ipu
