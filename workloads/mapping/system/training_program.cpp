// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/training_program.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/system/collectives.hpp"

namespace lacuna::system {

namespace {

using Costs = std::array<PartCost, kParts>;

const PartCost& of(const Costs& costs, Part part) { return costs[static_cast<std::size_t>(part)]; }

void add(ChipCost& sum, const ChipCost& cost, unsigned times) {
  for (unsigned i = 0; i < times; ++i) sum += cost;
}

constexpr std::uint64_t kWeightBytes = 2;    // FP16, without a master copy
constexpr std::uint64_t kGradientBytes = 2;  // FP16
constexpr std::uint64_t kInputBytes = 16;    // of a token: ids, positions, segments, labels

/// What the stages do in one step of a pipeline.
struct Active {
  std::vector<bool> forward;
  std::vector<bool> backward;
};

bool operator==(const Active& a, const Active& b) {
  return a.forward == b.forward && a.backward == b.backward;
}

class ProgramBuilder {
 public:
  explicit ProgramBuilder(const TrainingStep& step) : step_(step), training_(step.training) {}

  Program build() {
    const std::size_t last = step_.phases.size() - 1;
    for (std::size_t phase = 0; phase < last; ++phase) {
      load_weights(phase);
      pass(phase, true, false);
    }
    for (std::size_t i = 0; i <= last; ++i) {
      const std::size_t phase = last - i;
      load_weights(phase);
      pass(phase, phase == last, true);
      reduce_and_update(phase);
    }
    host_turn();
    return std::move(program_);
  }

 private:
  std::uint64_t ns(Cycle cycles) const {
    const auto mhz = static_cast<std::uint64_t>(std::llround(step_.clock_ghz * 1000));
    return (cycles * 1000 + mhz - 1) / mhz;
  }

  Segment segment(std::string name) const {
    Segment made;
    made.name = std::move(name);
    made.chips.resize(step_.system.chips());
    return made;
  }

  bool streamed() const { return training_.phases > 1; }
  std::size_t lane() const { return training_.io_tiles > 0 ? kBackground : kMain; }

  /// Calls `visit` with each chip that has this place in a replica.
  template <typename Visit>
  void each(unsigned chip, Visit visit) const {
    for (unsigned replica = 0; replica < training_.replicas; ++replica) {
      for (unsigned shard = 0; shard < training_.tensor; ++shard) {
        visit(first_chip(training_, replica, chip) + shard);
      }
    }
  }

  /// Chips that share each matrix, for one place in a replica.
  std::vector<Chips> tensor_groups(unsigned chip) const {
    std::vector<Chips> groups;
    for (unsigned replica = 0; replica < training_.replicas; ++replica) {
      Chips group;
      for (unsigned shard = 0; shard < training_.tensor; ++shard) {
        group.push_back(first_chip(training_, replica, chip) + shard);
      }
      groups.push_back(std::move(group));
    }
    return groups;
  }

  /// Chips that have the same weights, `size` of them in a group.
  std::vector<Chips> replica_chips(unsigned chip, unsigned size) const {
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

  void work(Segment& to, unsigned chip, Use use, const ChipCost& cost) const {
    const std::uint64_t all = ns(cost.cycles);
    const std::uint64_t exchange = std::min(all, ns(cost.exchange_cycles));
    each(chip, [&](std::uint32_t each_chip) {
      to.work(each_chip, use, all - exchange);
      to.work(each_chip, Use::exchange, exchange);
    });
  }

  void collective(Segment& to, Collective kind, std::vector<Chips> groups, std::uint64_t bytes,
                  Use use) const {
    if (groups.empty() || groups.front().size() < 2 || bytes == 0) return;
    const bool adds = kind == Collective::reduce_scatter || kind == Collective::all_reduce;
    const std::uint64_t add_ns = adds ? ns(step_.add_cycles * (bytes / kGradientBytes) >> 20U) : 0;
    add_collective(step_.system, {kind, std::move(groups), bytes, use, add_ns}, to);
  }

  void load_weights(std::size_t phase);
  void pass(std::size_t phase, bool forward, bool backward);
  void reduce_and_update(std::size_t phase);
  void host_turn();
  std::vector<std::pair<Active, std::uint64_t>> steps_of(std::size_t stages, bool forward,
                                                         bool backward) const;
  void pipeline_step(std::size_t phase, const Active& active, std::uint64_t times);
  void forward_work(Segment& to, const Stage& stage) const;
  void backward_work(Segment& to, const Stage& stage) const;
  void tensor_reductions(const Stages& stages, const Active& active, std::uint64_t times);
  void move_activations(Segment& to, std::size_t phase, const Active& active) const;
  void meet(Segment& to, const Active& active, const Stages& stages) const;
  void boundary(Segment& to, unsigned from, unsigned into,
                std::vector<std::pair<std::uint32_t, std::uint32_t>>& receives) const;
  void keep(Segment& to, const Stage& stage, Way way) const;
  std::vector<unsigned> chips_in(const Stages& stages) const;

  const TrainingStep& step_;
  const TrainingParams& training_;
  Program program_;
};

/// Weights of a phase from streaming memory, each replica of a group its share, and the rest from
/// each other.
void ProgramBuilder::load_weights(std::size_t phase) {
  if (!streamed()) return;
  Segment load = segment("load weights");
  const Stages& stages = step_.phases[phase];
  for (const unsigned chip : chips_in(stages)) {
    const std::uint64_t bytes = kWeightBytes * elements_of(step_.costs, stages, chip);
    each(chip, [&](std::uint32_t at) {
      load.transfer_and_wait({at, at, bytes / training_.rts, Way::load}, Use::streaming);
    });
    if (training_.rts > 1) {
      collective(load, Collective::all_gather, replica_chips(chip, training_.rts), bytes,
                 Use::streaming);
    }
  }
  program_.add(std::move(load));
}

std::vector<unsigned> ProgramBuilder::chips_in(const Stages& stages) const {
  std::vector<unsigned> chips;
  for (const Stage& stage : stages) {
    if (std::find(chips.begin(), chips.end(), stage.chip) == chips.end()) {
      chips.push_back(stage.chip);
    }
  }
  return chips;
}

/// Which stages are at work in each step, equal steps together. In the grouped schedule stage s
/// begins the forward pass of micro-batch m in step m + s and its backward pass in step
/// m + 2 (P - 1) - s; alone, the backward pass begins in step m + P - 1 - s.
std::vector<std::pair<Active, std::uint64_t>> ProgramBuilder::steps_of(std::size_t stages,
                                                                       bool forward,
                                                                       bool backward) const {
  const std::uint64_t batches = training_.accumulation;
  std::vector<std::pair<Active, std::uint64_t>> steps;
  const Active none{std::vector<bool>(stages), std::vector<bool>(stages)};
  if (training_.schedule == Schedule::sequential) {
    for (std::size_t s = 0; forward && s < stages; ++s) {
      steps.emplace_back(none, batches);
      steps.back().first.forward[s] = true;
    }
    for (std::size_t s = stages; backward && s-- > 0;) {
      steps.emplace_back(none, batches);
      steps.back().first.backward[s] = true;
    }
    return steps;
  }
  const std::uint64_t ramp = stages - 1;
  const std::uint64_t count = batches + (forward && backward ? 2 * ramp : ramp);
  for (std::uint64_t k = 0; k < count; ++k) {
    Active active = none;
    for (std::size_t s = 0; s < stages; ++s) {
      active.forward[s] = forward && k >= s && k - s < batches;
      const std::uint64_t first = (forward ? 2 * ramp : ramp) - s;
      active.backward[s] = backward && k >= first && k - first < batches;
    }
    if (steps.empty() || !(steps.back().first == active)) steps.emplace_back(active, 0);
    ++steps.back().second;
  }
  return steps;
}

void ProgramBuilder::pass(std::size_t phase, bool forward, bool backward) {
  for (const auto& [active, times] : steps_of(step_.phases[phase].size(), forward, backward)) {
    pipeline_step(phase, active, times);
  }
}

void ProgramBuilder::forward_work(Segment& to, const Stage& stage) const {
  work(to, stage.chip, Use::forward, forward_cost(step_.costs[stage.chip], stage));
}

void ProgramBuilder::backward_work(Segment& to, const Stage& stage) const {
  const Costs& costs = step_.costs[stage.chip];
  if (training_.activations != Activations::stored) {
    work(to, stage.chip, Use::recompute, recompute_cost(costs, stage));
  }
  work(to, stage.chip, Use::backward, backward_cost(costs, stage));
}

void ProgramBuilder::pipeline_step(std::size_t phase, const Active& active, std::uint64_t times) {
  const Stages& stages = step_.phases[phase];
  Segment made = segment("pipeline step");
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (training_.rts > 1 && !streamed() && (active.forward[s] || active.backward[s])) {
      const std::uint64_t elements = elements_of(step_.costs, {stages[s]}, stages[s].chip);
      collective(made, Collective::all_gather, replica_chips(stages[s].chip, training_.rts),
                 kWeightBytes * elements, Use::links);
    }
    if (active.forward[s] && stages[s].embedding) {
      const std::uint64_t bytes = kInputBytes * training_.tokens * training_.micro_batch;
      each(stages[s].chip, [&](std::uint32_t chip) {
        made.transfer_and_wait({chip, chip, bytes, Way::from_host}, Use::host);
      });
    }
    if (active.forward[s]) forward_work(made, stages[s]);
  }
  for (std::size_t s = stages.size(); s-- > 0;) {
    if (active.backward[s]) backward_work(made, stages[s]);
  }
  move_activations(made, phase, active);
  program_.add(std::move(made), times);
  if (training_.tensor > 1) tensor_reductions(stages, active, times);
}

/// Every block ends with a reduction over the chips that share its matrices, forward and backward;
/// the recomputed forward pass has them again. Where those chips share the sequence, the halves of
/// a reduction stand at the two ends of a block, and the backward pass gathers the operand of the
/// first products once more, for the gradient of their weights. All are alike, and stand apart from
/// the work: chips come to them together.
void ProgramBuilder::tensor_reductions(const Stages& stages, const Active& active,
                                       std::uint64_t times) {
  unsigned most = 0;     // reductions, of the stage with the most of them
  unsigned gathers = 0;  // likewise
  std::vector<unsigned> chips;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const unsigned passes =
        (active.forward[s] ? 1 : 0) +
        (active.backward[s] ? (training_.activations == Activations::stored ? 1 : 2) : 0);
    unsigned here = stages[s].blocks() * passes;
    if (stages[s].embedding) here += passes;
    if (stages[s].head) here += 2 * passes;  // of the logits' maxima and sums, and the gradient
    most = std::max(most, here);
    if (active.backward[s]) gathers = std::max(gathers, stages[s].blocks());
    const bool again = std::find(chips.begin(), chips.end(), stages[s].chip) != chips.end();
    if (passes > 0 && !again) chips.push_back(stages[s].chip);
  }
  const auto add = [&](const char* name, Collective kind, std::uint64_t count) {
    Segment made = segment(name);
    for (const unsigned chip : chips) {
      collective(made, kind, tensor_groups(chip), step_.model.boundary_bytes, Use::links);
    }
    program_.add(std::move(made), times * count);
  };
  add("tensor all-reduce", Collective::all_reduce, most);
  if (training_.share_sequence) add("tensor all-gather", Collective::all_gather, gathers);
}

/// From each chip of a stage its share, which the chips of the next then give to each other.
void ProgramBuilder::boundary(
    Segment& to, unsigned from, unsigned into,
    std::vector<std::pair<std::uint32_t, std::uint32_t>>& receives) const {
  if (from == into) return;
  const std::uint64_t bytes = step_.model.boundary_bytes / training_.tensor;
  for (unsigned replica = 0; replica < training_.replicas; ++replica) {
    for (unsigned shard = 0; shard < training_.tensor; ++shard) {
      const std::uint32_t source = first_chip(training_, replica, from) + shard;
      const std::uint32_t target = first_chip(training_, replica, into) + shard;
      receives.emplace_back(target, to.send({source, target, bytes, Way::links}));
    }
  }
}

/// An exchange between chips begins when all chips of a replica are there.
void ProgramBuilder::meet(Segment& to, const Active& active, const Stages& stages) const {
  if (training_.pipeline < 2) return;
  std::vector<bool> busy(training_.pipeline);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (active.forward[s] || active.backward[s]) busy[stages[s].chip] = true;
  }
  const std::uint32_t chips = training_.pipeline * training_.tensor;
  for (unsigned replica = 0; replica < training_.replicas; ++replica) {
    Chips members;
    for (std::uint32_t i = 0; i < chips; ++i) {
      members.push_back(first_chip(training_, replica, 0) + i);
    }
    to.barrier(members, step_.system.sync_ns(chips), Use::imbalance);
    for (std::uint32_t i = 0; i < chips; ++i) {
      if (!busy[i / training_.tensor]) to.chips[members[i]].lanes[kMain].back().use = Use::bubble;
    }
  }
}

void ProgramBuilder::move_activations(Segment& to, std::size_t phase, const Active& active) const {
  const Stages& stages = step_.phases[phase];
  const bool ends = phase + 1 == step_.phases.size();
  meet(to, active, stages);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> receives;
  std::vector<unsigned> into;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (active.forward[s] && s + 1 < stages.size()) {
      boundary(to, stages[s].chip, stages[s + 1].chip, receives);
      into.push_back(stages[s + 1].chip);
    }
    if (active.backward[s] && s > 0) {
      boundary(to, stages[s].chip, stages[s - 1].chip, receives);
      into.push_back(stages[s - 1].chip);
    }
    // the inputs of layers wait in streaming memory for a later phase, or if asked to
    const bool offloads = !ends || training_.activations == Activations::offloaded;
    if (offloads && active.forward[s]) keep(to, stages[s], Way::store);
    if (offloads && active.backward[s]) keep(to, stages[s], Way::load);
  }
  // between phases results and their gradients wait there too
  const std::uint64_t bytes = step_.model.boundary_bytes / training_.tensor;
  const auto stream = [&](unsigned chip, Way way) {
    each(chip, [&](std::uint32_t at) {
      to.transfer_and_wait({at, at, bytes, way}, Use::streaming, lane());
    });
  };
  const std::size_t last = stages.size() - 1;
  if (phase > 0 && active.forward[0]) stream(stages[0].chip, Way::load);
  if (phase > 0 && active.backward[0]) stream(stages[0].chip, Way::store);
  if (!ends && active.forward[last]) stream(stages[last].chip, Way::store);
  if (!ends && active.backward[last]) stream(stages[last].chip, Way::load);
  for (const auto& [chip, transfer] : receives) to.receive(chip, transfer, Use::links);
  if (training_.tensor == 1 || training_.share_sequence) return;
  std::sort(into.begin(), into.end());
  into.erase(std::unique(into.begin(), into.end()), into.end());
  for (const unsigned chip : into) {
    collective(to, Collective::all_gather, tensor_groups(chip), step_.model.boundary_bytes,
               Use::links);
  }
}

/// The kept activations of a stage, to or from streaming memory.
void ProgramBuilder::keep(Segment& to, const Stage& stage, Way way) const {
  const unsigned inputs =
      (stage.blocks() + 2 * training_.checkpoint_every - 1) / (2 * training_.checkpoint_every);
  const std::uint64_t bytes = inputs * step_.model.boundary_bytes / training_.tensor;
  each(stage.chip, [&](std::uint32_t chip) {
    to.transfer_and_wait({chip, chip, bytes, way}, Use::streaming, lane());
  });
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
void ProgramBuilder::reduce_and_update(std::size_t phase) {
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
    const bool loads = training_.state == Place::streaming || streamed();
    const std::uint64_t state = loads ? (elements + share - 1) / share * step_.state_bytes : 0;
    const auto stream = [&](Way way, std::uint64_t bytes) {
      if (bytes == 0) return;
      each(chip, [&](std::uint32_t at) {
        update.transfer_and_wait({at, at, bytes, way}, Use::streaming);
      });
    };
    stream(Way::load, state);
    ChipCost cost;
    for (const Stage& stage : stages) {
      if (stage.chip != chip) continue;
      const Costs& costs = step_.costs[chip];
      add(cost, of(costs, Part::attention).update, stage.attention);
      add(cost, of(costs, Part::ffn).update, stage.ffn);
      if (stage.embedding) add(cost, of(costs, Part::embedding).update, 1);
      if (stage.head) add(cost, of(costs, Part::head).update, 1);
    }
    work(update, chip, Use::optimizer, cost);
    stream(Way::store, state + (streamed() ? kWeightBytes * elements / share : 0));
    if (!streamed()) {
      collective(gather, Collective::all_gather, replica_chips(chip, share),
                 kWeightBytes * elements, Use::all_reduce);
    }
  }
  program_.add(std::move(reduce));
  program_.add(std::move(update));
  if (!streamed() && share > 1) program_.add(std::move(gather));
}

}  // namespace

Program training_program(const TrainingStep& step) { return ProgramBuilder(step).build(); }

std::uint32_t first_chip(const TrainingParams& training, unsigned replica, unsigned chip) {
  return (replica * training.pipeline + chip) * training.tensor;
}

ChipCost forward_cost(const std::array<PartCost, kParts>& costs, const Stage& stage) {
  ChipCost cost = recompute_cost(costs, stage);
  if (stage.embedding) cost += of(costs, Part::embedding).forward;
  if (stage.head) cost += of(costs, Part::head).forward;
  return cost;
}

ChipCost recompute_cost(const std::array<PartCost, kParts>& costs, const Stage& stage) {
  ChipCost cost;
  add(cost, of(costs, Part::attention).forward, stage.attention);
  add(cost, of(costs, Part::ffn).forward, stage.ffn);
  return cost;
}

ChipCost backward_cost(const std::array<PartCost, kParts>& costs, const Stage& stage) {
  ChipCost cost;
  add(cost, of(costs, Part::attention).backward, stage.attention);
  add(cost, of(costs, Part::ffn).backward, stage.ffn);
  if (stage.embedding) cost += of(costs, Part::embedding).backward;
  if (stage.head) cost += of(costs, Part::head).backward;
  return cost;
}

std::uint64_t elements_of(const ChipCosts& costs, const Stages& stages, unsigned chip) {
  std::uint64_t elements = 0;
  bool table = false;  // the head shares it with the embedding
  for (const Stage& stage : stages) {
    if (stage.chip != chip) continue;
    const std::array<PartCost, kParts>& parts = costs[chip];
    elements += of(parts, Part::attention).elements * stage.attention;
    elements += of(parts, Part::ffn).elements * stage.ffn;
    if (stage.head) elements += of(parts, Part::head).elements;
    table = table || stage.embedding || stage.head;
  }
  return elements + (table ? of(costs[chip], Part::embedding).elements : 0);
}

}  // namespace lacuna::system
