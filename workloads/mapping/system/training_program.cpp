// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/training_program.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/mapping/system/pattern_update.hpp"
#include "workloads/mapping/system/program_builder.hpp"
#include "workloads/mapping/system/segment_work.hpp"

namespace lacuna::system {

Program ProgramBuilder::build() {
  program_.used = static_cast<std::uint32_t>(training_.chips());
  const std::vector<Pass> all = passes();
  begin_memory();
  for (std::size_t i = 0; i < all.size(); ++i) {
    phase_ = all[i].phase;
    const std::vector<Stream> streams = in_background(all, i);
    begin_pass(all[i], streams);
    load_weights(phase_, i == 0 || training_.prefetch == Prefetch::none);
    pass(all[i], streams);
    if (all[i].backward) {
      reduce(phase_);
      update(phase_, i + 1 == all.size());
      if (!streamed()) gather_weights(phase_);
    }
    end_pass(all[i], streams);
  }
  host_turn();
  if (moves_ && training_.pattern_every > 0) {
    add(pattern_update(step_), 1, training_.pattern_every);
  }
  return std::move(program_);
}

void ProgramBuilder::add(Segment segment, std::uint64_t times, std::uint64_t every) {
  program_.add(std::move(segment), times);
  Repeat& added = program_.order.back();
  added.every = every;
  added.phase = phase_;
  added.before = std::move(pending_);
  pending_.clear();
}

/// What is there between weight updates. A tied table is once in streaming memory.
void ProgramBuilder::begin_memory() {
  const auto of_tiles = [&](double kib) {
    return static_cast<std::uint64_t>(std::llround(kib * 1024)) * step_.tiles;
  };
  for (unsigned place = 0; place < training_.pipeline; ++place) {
    take(pending_, place, Held::code, of_tiles(training_.code_kib));
    take(pending_, place, Held::buffers, of_tiles(training_.buffer_kib));
  }
  for (const Stages& stages : step_.phases) {
    for (const unsigned chip : chips_in(stages)) {
      const Trained here = trained_of(step_, stages, chip);
      Trained once;
      for (const UpdatedPart& part : updated_parts(step_, stages, chip)) {
        if (!part.is_copy || !streamed()) once += part.trained * part.times;
      }
      constexpr auto kStreaming = Holding::Space::streaming;
      const std::uint64_t shards = training_.tensor;
      if (has_state_elsewhere()) {
        take(pending_, chip, Held::state, once.state * shards / training_.rts_state, kStreaming);
      } else {
        take(pending_, chip, Held::state, here.state / training_.rts_state);
      }
      if (streamed()) {
        take(pending_, chip, Held::weights, once.weights * shards / training_.rts, kStreaming);
        continue;
      }
      take(pending_, chip, Held::weights, here.weights / training_.rts);
      take(pending_, chip, Held::gradients, here.gradients);
    }
  }
}

/// What comes in the background has its place from the beginning of a pass. Weights of a streamed
/// phase are whole, and its gradients are there from its backward pass on.
void ProgramBuilder::begin_pass(const Pass& pass, const std::vector<Stream>& streams) {
  const Stages& stages = step_.phases[pass.phase];
  for (const unsigned chip : chips_in(stages)) {
    if (!streamed()) break;
    const Trained here = trained_of(step_, stages, chip);
    take(pending_, chip, Held::weights, here.weights);
    if (pass.backward) take(pending_, chip, Held::gradients, here.gradients);
  }
  for (const Stream& stream : streams) {
    if (stream.way == Way::load) take(pending_, stream.chip, stream.what, stream.bytes);
  }
}

/// What the update has changed and the next pass stores is there until that pass ends; weights of
/// the next phase, which then takes them whole, are not counted twice.
void ProgramBuilder::end_pass(const Pass& pass, const std::vector<Stream>& streams) {
  const Stages& stages = step_.phases[pass.phase];
  const bool hidden = training_.prefetch == Prefetch::all && pass.backward;
  for (const unsigned chip : chips_in(stages)) {
    if (!streamed()) break;
    const Trained here = trained_of(step_, stages, chip);
    const std::uint64_t share = here.weights / training_.rts_state;
    const std::uint64_t left = pass.backward ? share : here.weights;
    give(pending_, chip, Held::weights, hidden ? left - share : left);
    const std::uint64_t gradients =
        is_scattered() ? here.gradients / training_.rts_state : here.gradients;
    if (pass.backward) give(pending_, chip, Held::gradients, gradients);
  }
  for (const Stream& stream : streams) {
    const bool state_of_this = stream.way == Way::load && stream.what == Held::state;
    if (state_of_this) continue;  // is changed, and stored behind the next pass
    give(pending_, stream.chip, stream.what, stream.bytes);
  }
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
  const auto add = [&](std::size_t phase, Way way, Held what, auto bytes_of) {
    const Stages& stages = step_.phases[phase];
    for (const unsigned chip : chips_in(stages)) {
      streams.push_back({chip, way, what, bytes_of(trained_of(step_, stages, chip))});
    }
  };
  if (i + 1 < all.size()) {
    add(all[i + 1].phase, Way::load, Held::weights,
        [&](const Trained& trained) { return trained.weights / training_.rts; });
  }
  if (training_.prefetch != Prefetch::all) return streams;
  const auto state = [&](const Trained& trained) { return state_bytes(trained); };
  if (all[i].backward) add(all[i].phase, Way::load, Held::state, state);
  if (i > 0 && all[i - 1].backward) {
    add(all[i - 1].phase, Way::store, Held::state, state);
    add(all[i - 1].phase, Way::store, Held::weights,
        [&](const Trained& trained) { return trained.weights / training_.rts_state; });
  }
  return streams;
}

std::uint64_t ProgramBuilder::ns(Cycle cycles) const { return ns_of(cycles, step_.clock_ghz); }

Segment ProgramBuilder::segment(std::string name) const {
  Segment made;
  made.name = std::move(name);
  if (moves_) made.chips.resize(step_.system.chips());
  return made;
}

Chips ProgramBuilder::chips_at(unsigned place) const {
  Chips chips;
  for (unsigned replica = 0; moves_ && replica < training_.replicas; ++replica) {
    for (unsigned shard = 0; shard < training_.tensor; ++shard) {
      chips.push_back(first_chip(training_, replica, place) + shard);
    }
  }
  return chips;
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

std::vector<Chips> ProgramBuilder::replica_chips(unsigned chip, unsigned size,
                                                 unsigned stride) const {
  std::vector<Chips> groups;
  for (const Chips& replicas : replica_groups(training_.replicas, size, stride)) {
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
  add_work(to, chips_at(chip), use, cost, step_.clock_ghz);
}

void ProgramBuilder::move(Segment& to, unsigned chip, Way way, std::uint64_t bytes, Use use,
                          std::size_t lane) const {
  move_all(to, chips_at(chip), way, bytes, use, lane);
}

void ProgramBuilder::collective(Segment& to, Collective kind, std::vector<Chips> groups,
                                std::uint64_t bytes, Use use) const {
  if (!moves_ || groups.empty() || groups.front().size() < 2 || bytes == 0) return;
  const bool adds = kind == Collective::reduce_scatter || kind == Collective::all_reduce;
  const std::uint64_t add_ns =
      adds ? ns(step_.add_cycles * (bytes / step_.model.value_bytes) >> 20U) : 0;
  add_collective(step_.system, {kind, std::move(groups), bytes, use, add_ns}, to);
}

/// State that a chip's share of an update takes from streaming memory.
std::uint64_t ProgramBuilder::state_bytes(const Trained& trained) const {
  if (!has_state_elsewhere()) return 0;
  const std::uint64_t share = training_.rts_state;
  return (trained.state + share - 1) / share;
}

/// State and weights that it gives back.
std::uint64_t ProgramBuilder::updated_bytes(const Trained& trained) const {
  return state_bytes(trained) + (streamed() ? trained.weights / training_.rts_state : 0);
}

/// Weights of a phase, each replica of a group its share from streaming memory if it is not there
/// yet, and the rest from each other.
void ProgramBuilder::load_weights(std::size_t phase, bool from_memory) {
  if (!streamed()) return;
  Segment load = segment("load weights");
  const Stages& stages = step_.phases[phase];
  for (const unsigned chip : chips_in(stages)) {
    const std::uint64_t bytes = trained_of(step_, stages, chip).weights;
    if (from_memory) move(load, chip, Way::load, bytes / training_.rts);
    if (training_.rts > 1) {
      collective(load, Collective::all_gather, replica_chips(chip, training_.rts), bytes,
                 Use::streaming);
    }
  }
  add(std::move(load));
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
    move(host, chip, Way::to_host, 4, Use::host);
    for (const std::uint32_t at : chips_at(chip)) host.work(at, Use::host, ns);
  }
  add(std::move(host));
}

/// Gradients are summed over replicas, whole or each replica its share.
void ProgramBuilder::reduce(std::size_t phase) {
  const Stages& stages = step_.phases[phase];
  Segment made = segment("reduce gradients");
  for (const unsigned chip : chips_in(stages)) {
    const std::uint64_t all = trained_of(step_, stages, chip).gradients;
    collective(made, is_scattered() ? Collective::reduce_scatter : Collective::all_reduce,
               replica_chips(chip, training_.replicas), all, Use::all_reduce);
    if (is_scattered()) {
      give(made.memory, chip, Held::gradients, all - all / training_.rts_state);
    }
  }
  reduce_table(made, phase);
  add(std::move(made));
}

/// A tied table that lies on two chips has two gradients, whose sum both take. Where embedding and
/// head are phases of their own, the head's waits in streaming memory for that of the embedding.
void ProgramBuilder::reduce_table(Segment& to, std::size_t phase) const {
  const unsigned head = training_.head_stage;
  const unsigned embedding = training_.embedding_stage;
  const Trained table =
      step_.costs[streamed() ? embedding : head][static_cast<std::size_t>(Part::embedding)].table;
  if (!step_.model.tied || table.gradients == 0) return;
  const std::uint64_t bytes = table.gradients / (is_scattered() ? training_.rts_state : 1U);
  if (streamed()) {
    const bool stores = phase + 1 == step_.phases.size();
    if (!stores && phase != 0) return;
    const unsigned chip = stores ? head : embedding;
    (stores ? take : give)(to.memory, chip, Held::gradients, bytes * training_.tensor,
                           Holding::Space::streaming);
    move(to, chip, stores ? Way::store : Way::load, bytes);
    return;
  }
  if (head == embedding || !moves_) return;
  std::vector<Chips> pairs;
  for (const std::uint32_t at : chips_at(embedding)) {
    pairs.push_back({at, at + head * training_.tensor - embedding * training_.tensor});
  }
  collective(to, Collective::all_reduce, std::move(pairs), bytes, Use::all_reduce);
}

/// One after the other, so that of state from elsewhere no more than one is there.
void ProgramBuilder::update_part(Segment& to, unsigned chip, const UpdatedPart& part, bool load,
                                 bool store) const {
  const std::uint64_t state = load ? state_bytes(part.trained) : 0;
  for (unsigned i = 0; i < part.times; ++i) {
    take(to.memory, chip, Held::state, state);
    move(to, chip, Way::load, state);
    work(to, chip, Use::optimizer, part.cost);
    if (store) move(to, chip, Way::store, updated_bytes(part.trained));
    give(to.memory, chip, Held::state, state);
  }
}

/// A replica's share of the weights is updated, with state from streaming memory if that is where
/// it is.
void ProgramBuilder::update(std::size_t phase, bool last) {
  const Stages& stages = step_.phases[phase];
  Segment made = segment("update");
  const bool hidden = training_.prefetch == Prefetch::all;
  for (const unsigned chip : chips_in(stages)) {
    const Trained here = trained_of(step_, stages, chip);
    if (streamed()) {
      give(pending_, chip, Held::weights, here.weights - here.weights / training_.rts_state);
    }
    for (const UpdatedPart& part : updated_parts(step_, stages, chip)) {
      if (part.is_copy && streamed()) continue;  // with the embedding
      update_part(made, chip, part, !hidden, !hidden || last);
    }
  }
  add(std::move(made));
}

/// Replicas that have updated parts of what each of them holds tell each other.
void ProgramBuilder::gather_weights(std::size_t phase) {
  const Stages& stages = step_.phases[phase];
  if (training_.rts % training_.rts_state == 0) return;  // each has what it keeps
  const bool whole = training_.rts_state % training_.rts != 0;
  const unsigned stride = whole ? 1 : training_.rts.value();
  Segment made = segment("gather weights");
  for (const unsigned chip : chips_in(stages)) {
    collective(made, Collective::all_gather,
               replica_chips(chip, training_.rts_state / stride, stride),
               trained_of(step_, stages, chip).weights / stride, Use::all_reduce);
  }
  add(std::move(made));
}

Program training_program(const TrainingStep& step) { return ProgramBuilder(step, true).build(); }

Program training_entries(const TrainingStep& step) { return ProgramBuilder(step, false).build(); }

TrainingMemory training_memory(const TrainingStep& step, std::uint64_t chip_bytes) {
  const TrainingParams& training = step.training;
  const ProgramMemory read = memory_of(training_entries(step), training.pipeline, chip_bytes);
  const std::uint64_t machines =
      (training.chips() + step.system.machine_chips - 1) / step.system.machine_chips;
  const double room = step.system.gateway.ddr_gb * 1e9;
  return {read.chips,
          {read.streaming.total() * training.replicas / std::max<std::uint64_t>(machines, 1),
           static_cast<std::uint64_t>(std::llround(room))}};
}

}  // namespace lacuna::system
