// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/training_program.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/mapping/system/program_builder.hpp"

namespace lacuna::system {

Program ProgramBuilder::build() {
  const std::vector<Pass> all = passes();
  for (std::size_t i = 0; i < all.size(); ++i) {
    load_weights(all[i].phase, i == 0 || training_.prefetch == Prefetch::none);
    pass(all[i], in_background(all, i));
    if (all[i].backward) reduce_and_update(all[i].phase, i + 1 == all.size());
  }
  host_turn();
  return std::move(program_);
}

/// Forward through all phases but the last, whose passes are one; then back.
std::vector<Pass> ProgramBuilder::passes() const {
  const std::size_t last = step_.phases.size() - 1;
  std::vector<Pass> all;
  for (std::size_t phase = 0; phase < last; ++phase) all.push_back({phase, true, false});
  for (std::size_t i = 0; i <= last; ++i) all.push_back({last - i, i == 0, true});
  return all;
}

/// What comes and goes while a pass works: the weights of the next phase; with Prefetch::all also
/// the state of this one, and what the update before this pass has changed.
std::vector<Stream> ProgramBuilder::in_background(const std::vector<Pass>& all,
                                                  std::size_t i) const {
  std::vector<Stream> streams;
  if (training_.prefetch == Prefetch::none) return streams;
  const auto add = [&](std::size_t phase, Way way, auto bytes_of) {
    const Stages& stages = step_.phases[phase];
    for (const unsigned chip : chips_in(stages)) {
      streams.push_back({chip, way, bytes_of(stages, chip)});
    }
  };
  if (i + 1 < all.size()) {
    add(all[i + 1].phase, Way::load, [&](const Stages& stages, unsigned chip) {
      return kWeightBytes * elements_of(step_.costs, stages, chip) / training_.rts;
    });
  }
  if (training_.prefetch != Prefetch::all) return streams;
  const auto state = [&](const Stages& stages, unsigned chip) { return state_bytes(stages, chip); };
  const auto updated = [&](const Stages& stages, unsigned chip) {
    return updated_bytes(stages, chip);
  };
  if (all[i].backward) add(all[i].phase, Way::load, state);
  if (i > 0 && all[i - 1].backward) add(all[i - 1].phase, Way::store, updated);
  return streams;
}

std::uint64_t ProgramBuilder::ns(Cycle cycles) const {
  const auto mhz = static_cast<std::uint64_t>(std::llround(step_.clock_ghz * 1000));
  return (cycles * 1000 + mhz - 1) / mhz;
}

Segment ProgramBuilder::segment(std::string name) const {
  Segment made;
  made.name = std::move(name);
  made.chips.resize(step_.system.chips());
  return made;
}

std::vector<Chips> ProgramBuilder::tensor_groups(unsigned chip, TensorCall::Group group) const {
  const unsigned columns = training_.tensor_columns;
  std::uint32_t size = training_.tensor;
  std::uint32_t stride = 1;
  if (group == TensorCall::Group::columns) size = columns;
  if (group == TensorCall::Group::rows) {
    size = training_.tensor_rows();
    stride = columns;
  }
  std::vector<Chips> groups;
  for (unsigned replica = 0; replica < training_.replicas; ++replica) {
    for (Chips& shards : replica_groups(training_.tensor, size, stride)) {
      for (std::uint32_t& shard : shards) shard += first_chip(training_, replica, chip);
      groups.push_back(std::move(shards));
    }
  }
  return groups;
}

std::vector<Chips> ProgramBuilder::replica_chips(unsigned chip, unsigned size) const {
  std::vector<Chips> groups;
  for (const Chips& replicas : replica_groups(training_.replicas, size, 1)) {
    for (unsigned shard = 0; shard < training_.tensor; ++shard) {
      Chips group;
      for (const std::uint32_t replica : replicas) {
        group.push_back(first_chip(training_, replica, chip) + shard);
      }
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

void ProgramBuilder::work(Segment& to, unsigned chip, Use use, const ChipCost& cost) const {
  const std::uint64_t all = ns(cost.cycles);
  const std::uint64_t exchange = std::min(all, ns(cost.exchange_cycles));
  each(chip, [&](std::uint32_t each_chip) {
    to.work(each_chip, use, all - exchange);
    to.work(each_chip, Use::exchange, exchange);
  });
}

void ProgramBuilder::collective(Segment& to, Collective kind, std::vector<Chips> groups,
                                std::uint64_t bytes, Use use) const {
  if (groups.empty() || groups.front().size() < 2 || bytes == 0) return;
  const bool adds = kind == Collective::reduce_scatter || kind == Collective::all_reduce;
  const std::uint64_t add_ns = adds ? ns(step_.add_cycles * (bytes / kGradientBytes) >> 20U) : 0;
  add_collective(step_.system, {kind, std::move(groups), bytes, use, add_ns}, to);
}

/// State that a chip's share of an update takes from streaming memory.
std::uint64_t ProgramBuilder::state_bytes(const Stages& stages, unsigned chip) const {
  if (training_.state == Place::chip && !streamed()) return 0;
  const std::uint64_t share = training_.rts_state;
  return (elements_of(step_.costs, stages, chip) + share - 1) / share * step_.state_bytes;
}

/// State and weights that it gives back.
std::uint64_t ProgramBuilder::updated_bytes(const Stages& stages, unsigned chip) const {
  const std::uint64_t elements = elements_of(step_.costs, stages, chip);
  return state_bytes(stages, chip) +
         (streamed() ? kWeightBytes * elements / training_.rts_state : 0);
}

/// Weights of a phase, each replica of a group its share from streaming memory if it is not there
/// yet, and the rest from each other.
void ProgramBuilder::load_weights(std::size_t phase, bool from_memory) {
  if (!streamed()) return;
  Segment load = segment("load weights");
  const Stages& stages = step_.phases[phase];
  for (const unsigned chip : chips_in(stages)) {
    const std::uint64_t bytes = kWeightBytes * elements_of(step_.costs, stages, chip);
    if (from_memory) {
      each(chip, [&](std::uint32_t at) {
        load.transfer_and_wait({at, at, bytes / training_.rts, Way::load}, Use::streaming);
      });
    }
    if (training_.rts > 1) {
      collective(load, Collective::all_gather, replica_chips(chip, training_.rts), bytes,
                 Use::streaming);
    }
  }
  program_.add(std::move(load));
}

std::vector<unsigned> ProgramBuilder::chips_in(const Stages& stages) {
  std::vector<unsigned> chips;
  for (const Stage& stage : stages) {
    if (std::find(chips.begin(), chips.end(), stage.chip) == chips.end()) {
      chips.push_back(stage.chip);
    }
  }
  return chips;
}

/// The loss goes to the host, which then has the next program started.
void ProgramBuilder::host_turn() {
  Segment host = segment("host");
  const auto ns = static_cast<std::uint64_t>(std::llround(step_.system.gateway.update_ms * 1e6));
  for (unsigned chip = 0; chip < training_.pipeline; ++chip) {
    each(chip, [&](std::uint32_t at) {
      host.transfer_and_wait({at, at, 4, Way::to_host}, Use::host);
      host.work(at, Use::host, ns);
    });
  }
  program_.add(std::move(host));
}

/// Gradients are summed over replicas, whole or each replica its share; then the weights of the
/// share are updated, with state from streaming memory if that is where it is, and given to all.
void ProgramBuilder::reduce_and_update(std::size_t phase, bool last) {
  const Stages& stages = step_.phases[phase];
  Segment reduce = segment("reduce gradients");
  Segment update = segment("update");
  Segment gather = segment("gather weights");
  const unsigned share = training_.rts_state;
  const bool scatter = share == training_.replicas;
  for (const unsigned chip : chips_in(stages)) {
    const std::uint64_t elements = elements_of(step_.costs, stages, chip);
    collective(reduce, scatter ? Collective::reduce_scatter : Collective::all_reduce,
               replica_chips(chip, training_.replicas), kGradientBytes * elements, Use::all_reduce);
    const bool hidden = training_.prefetch == Prefetch::all;
    const auto stream = [&](Way way, std::uint64_t bytes) {
      if (bytes == 0) return;
      each(chip, [&](std::uint32_t at) {
        update.transfer_and_wait({at, at, bytes, way}, Use::streaming);
      });
    };
    if (!hidden) stream(Way::load, state_bytes(stages, chip));
    ChipCost cost;
    for (const Stage& stage : stages) {
      if (stage.chip != chip) continue;
      cost += update_cost(step_.costs[chip], stage);
    }
    work(update, chip, Use::optimizer, cost);
    if (!hidden || last) stream(Way::store, updated_bytes(stages, chip));
    if (!streamed()) {
      collective(gather, Collective::all_gather, replica_chips(chip, share),
                 kWeightBytes * elements, Use::all_reduce);
    }
  }
  program_.add(std::move(reduce));
  program_.add(std::move(update));
  if (!streamed() && share > 1) program_.add(std::move(gather));
}

Program training_program(const TrainingStep& step) { return ProgramBuilder(step).build(); }

}  // namespace lacuna::system
