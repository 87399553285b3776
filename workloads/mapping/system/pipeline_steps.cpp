// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include "workloads/mapping/system/held_bytes.hpp"
#include "workloads/mapping/system/pipeline_turns.hpp"
#include "workloads/mapping/system/program_builder.hpp"
#include "workloads/mapping/system/segment_work.hpp"

namespace lacuna::system {

/// Which stages are at work in each step, equal steps together. In the grouped schedule stage s
/// begins the forward pass of micro-batch m in step m + s and its backward pass in step
/// m + 2 (P - 1) - s; alone, the backward pass begins in step m + P - 1 - s.
std::vector<std::pair<Active, std::uint64_t>> ProgramBuilder::steps_of(std::size_t stages,
                                                                       bool forward,
                                                                       bool backward) const {
  const std::uint64_t batches = training_.accumulation;
  std::vector<std::pair<Active, std::uint64_t>> steps;
  const Active none{std::vector<bool>(stages), std::vector<bool>(stages)};
  if (training_.schedule == Schedule::sequential) {  // those of a micro-batch
    for (std::size_t s = 0; forward && s < stages; ++s) {
      steps.emplace_back(none, 1);
      steps.back().first.forward[s] = true;
    }
    for (std::size_t s = stages; backward && s-- > 0;) {
      steps.emplace_back(none, 1);
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

void ProgramBuilder::pass(const Pass& pass, const std::vector<Stream>& streams) {
  if (training_.schedule == Schedule::one_f_one_b) return one_after_the_other(pass, streams);
  const auto steps = steps_of(step_.phases[pass.phase].size(), pass.forward, pass.backward);
  const bool in_turn = training_.schedule == Schedule::sequential;
  const std::uint64_t rounds = in_turn ? training_.accumulation.value() : 1;
  std::uint64_t count = 0;
  for (const auto& [active, times] : steps) count += times * rounds;
  std::vector<Stream> parts = streams;  // of a step; the last bytes of a stream are rounded up
  for (Stream& part : parts) part.bytes = (part.bytes + count - 1) / count;
  const std::size_t first = program_.order.size();
  for (const auto& [active, times] : steps) pipeline_step(pass, active, times, parts);
  std::vector<Repeat> round(program_.order.begin() + static_cast<std::ptrdiff_t>(first),
                            program_.order.end());
  for (Repeat& repeat : round) repeat.before.clear();
  for (std::uint64_t i = 1; i < rounds; ++i) {
    program_.order.insert(program_.order.end(), round.begin(), round.end());
  }
}

/// Whether inputs of layers wait in streaming memory: for a later phase, or if asked to.
bool ProgramBuilder::keeps_elsewhere(std::size_t phase) const {
  return phase + 1 != step_.phases.size() || training_.activations == Activations::offloaded;
}

void ProgramBuilder::forward_work(Segment& to, std::size_t phase, const Stage& stage) const {
  const std::uint64_t kept = kept_bytes(step_, stage);
  const unsigned chip = stage.chip;
  take(to.memory, chip, Held::activations, kept);
  hold_while(to, chip, forward_bytes(step_, stage));
  if (keeps_elsewhere(phase)) give(to.memory, chip, Held::activations, kept);
  take(to.memory, chip, Held::activations, kept_of_head(step_, stage));
  work(to, stage.chip, Use::forward, forward_cost(step_.costs[stage.chip], stage));
}

void ProgramBuilder::backward_work(Segment& to, std::size_t phase, const Stage& stage) const {
  const std::uint64_t kept = kept_bytes(step_, stage);
  const unsigned chip = stage.chip;
  hold_while(to, chip, backward_bytes_of_head(step_, stage));
  give(to.memory, chip, Held::activations, kept_of_head(step_, stage));
  if (keeps_elsewhere(phase)) take(to.memory, chip, Held::activations, kept);
  hold_while(to, chip, backward_bytes(step_, stage));
  give(to.memory, chip, Held::activations, kept);
  const std::array<PartCost, kParts>& costs = step_.costs[stage.chip];
  if (training_.activations != Activations::stored) {
    work(to, stage.chip, Use::recompute, recompute_cost(costs, stage));
  }
  work(to, stage.chip, Use::backward, backward_cost(costs, stage));
}

/// What a stage takes for a micro-batch in one direction.
Cycle ProgramBuilder::turn_cycles(const Stage& stage, bool forward) const {
  const std::array<PartCost, kParts>& costs = step_.costs[stage.chip];
  if (forward) return forward_cost(costs, stage).cycles;
  const bool again = training_.activations != Activations::stored;
  return backward_cost(costs, stage).cycles + (again ? recompute_cost(costs, stage).cycles : 0);
}

/// What each place does in a step in which all of its stages are at work.
std::vector<Cycle> ProgramBuilder::cycles_of_places(const Pass& pass) const {
  std::vector<Cycle> cycles(training_.pipeline);
  for (const Stage& stage : step_.phases[pass.phase]) {
    if (pass.forward) cycles[stage.chip] += turn_cycles(stage, true);
    if (pass.backward) cycles[stage.chip] += turn_cycles(stage, false);
  }
  return cycles;
}

/// A full step lasts as long as its longest place. Of a place that lacks a part of its turns that
/// part of the step is bubble: (p - 1) / (m + p - 1) of the time if places are alike.
void ProgramBuilder::share_bubble(Segment& to, const Pass& pass, const Active& active) const {
  const std::vector<Cycle> full = cycles_of_places(pass);
  const Cycle longest = *std::max_element(full.begin(), full.end());
  std::vector<Cycle> missing = full;
  const Stages& stages = step_.phases[pass.phase];
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (active.forward[s]) missing[stages[s].chip] -= turn_cycles(stages[s], true);
    if (active.backward[s]) missing[stages[s].chip] -= turn_cycles(stages[s], false);
  }
  for (unsigned place = 0; place < training_.pipeline; ++place) {
    if (full[place] == 0) continue;
    const double part = static_cast<double>(missing[place]) / static_cast<double>(full[place]);
    const auto bubble = static_cast<std::uint64_t>(part * static_cast<double>(ns(longest)));
    for (const std::uint32_t chip : chips_at(place)) to.chips[chip].bubble_ns = bubble;
  }
}

/// Weights that are spread over replicas come whole for a step; what they take beside a replica's
/// own share.
std::uint64_t ProgramBuilder::gather_for(Segment& to, unsigned chip, const Stages& stages) const {
  if (training_.rts == 1 || streamed() || stages.empty()) return 0;
  const std::uint64_t bytes = trained_of(step_, stages, chip).weights;
  collective(to, Collective::all_gather, replica_chips(chip, training_.rts), bytes, Use::links);
  return bytes - bytes / training_.rts;
}

/// The batch from the host.
void ProgramBuilder::take_batch(Segment& to, const Stage& stage) const {
  if (!stage.embedding) return;
  const std::uint64_t bytes = kInputBytes * training_.tokens * training_.micro_batch;
  move(to, stage.chip, Way::from_host, bytes, Use::host);
}

void ProgramBuilder::pipeline_step(const Pass& pass, const Active& active, std::uint64_t times,
                                   const std::vector<Stream>& streams) {
  const Stages& stages = step_.phases[pass.phase];
  Segment made = segment("pipeline step");
  for (const Stream& each : streams) {
    move(made, each.chip, each.way, each.bytes, Use::streaming, kBackground);
  }
  std::vector<std::uint64_t> gathered(training_.pipeline);
  for (unsigned place = 0; place < training_.pipeline; ++place) {
    Stages at_work;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      const bool here = stages[s].chip == place && (active.forward[s] || active.backward[s]);
      if (here) at_work.push_back(stages[s]);
    }
    gathered[place] = gather_for(made, place, at_work);
    take(made.memory, place, Held::weights, gathered[place]);
  }
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (!active.forward[s]) continue;
    take_batch(made, stages[s]);
    forward_work(made, pass.phase, stages[s]);
  }
  for (std::size_t s = stages.size(); s-- > 0;) {
    if (active.backward[s]) backward_work(made, pass.phase, stages[s]);
  }
  for (unsigned place = 0; place < training_.pipeline; ++place) {
    give(made.memory, place, Held::weights, gathered[place]);
  }
  if (moves_) share_bubble(made, pass, active);
  move_activations(made, pass.phase, active);
  add(std::move(made), times);
  if (moves_ && training_.tensor > 1) tensor_reductions(stages, active, times);
}

/// One forward, one backward: in the order of `turns_of`, each as soon as its input is there.
void ProgramBuilder::one_after_the_other(const Pass& pass, const std::vector<Stream>& streams) {
  const Stages& stages = step_.phases[pass.phase];
  const std::size_t p = stages.size();
  std::vector<StageCycles> cycles;
  for (const Stage& stage : stages) {
    // of sizes alone, as if all stages were alike
    cycles.push_back({stage.chip, moves_ ? turn_cycles(stage, true) : 1,
                      moves_ ? turn_cycles(stage, false) : 2});
  }
  const std::vector<Turn> turns =
      turns_of(cycles, training_.accumulation, pass.forward, pass.backward);
  Segment made = segment("one forward, one backward");
  for (const Stream& each : streams) {
    move(made, each.chip, each.way, each.bytes, Use::streaming, kBackground);
  }
  const std::vector<Cycle> full = cycles_of_places(pass);
  const auto idle = static_cast<std::size_t>(std::count(full.begin(), full.end(), Cycle{0}));
  const std::uint64_t bubble =
      (full.size() - idle - 1) * ns(*std::max_element(full.begin(), full.end()));
  for (unsigned place = 0; place < training_.pipeline; ++place) {
    for (const std::uint32_t chip : chips_at(place)) made.chips[chip].bubble_ns = bubble;
  }
  // what each micro-batch has sent: to the next stage or the one before
  std::map<std::tuple<bool, std::size_t, std::uint64_t>, Receives> sent;
  for (const auto& [forward, s, m] : turns) {
    const auto input = sent.find({forward, s, m});
    if (input != sent.end()) {
      made.receive(input->second, Use::bubble);
      sent.erase(input);
      gather_input(made, stages[s].chip);
    }
    const std::uint64_t gathered = gather_for(made, stages[s].chip, {stages[s]});
    take(made.memory, stages[s].chip, Held::weights, gathered);
    if (forward) take_batch(made, stages[s]);
    forward ? forward_work(made, pass.phase, stages[s])
            : backward_work(made, pass.phase, stages[s]);
    give(made.memory, stages[s].chip, Held::weights, gathered);
    reduce_within(made, stages[s], forward);
    keep_elsewhere(made, pass.phase, s, forward);
    const bool ends = forward ? s + 1 == p : s == 0;
    if (ends) continue;
    const std::size_t next = forward ? s + 1 : s - 1;
    if (stages[s].chip == stages[next].chip) continue;
    for (const std::uint32_t chip : chips_at(stages[s].chip)) {
      made.work(chip, Use::links, step_.system.sync_ns(2) + step_.system.sync.exchange_ns);
    }
    boundary(made, stages[s].chip, stages[next].chip, sent[{forward, next, m}]);
  }
  add(std::move(made));
}

/// What waits in streaming memory: inputs of layers, results and gradients between phases.
void ProgramBuilder::keep_elsewhere(Segment& to, std::size_t phase, std::size_t s,
                                    bool forward) const {
  const Stages& stages = step_.phases[phase];
  const bool ends = phase + 1 == step_.phases.size();
  const auto keep = [&](Way way, std::uint64_t bytes) {
    (way == Way::store ? take : give)(to.memory, stages[s].chip, Held::activations,
                                      bytes * training_.tensor, Holding::Space::streaming);
    move(to, stages[s].chip, way, bytes, Use::streaming, lane());
  };
  if (keeps_elsewhere(phase)) {
    keep(forward ? Way::store : Way::load, kept_bytes(step_, stages[s]));
  }
  const auto stream = [&](Way way) { keep(way, step_.model.boundary_bytes / training_.tensor); };
  if (phase > 0 && s == 0) stream(forward ? Way::load : Way::store);
  if (!ends && s + 1 == stages.size()) stream(forward ? Way::store : Way::load);
}

/// A stage's passes over its blocks for one micro-batch, forward or backward.
unsigned ProgramBuilder::passes_of(bool forward) const {
  return forward || training_.activations == Activations::stored ? 1 : 2;
}

/// Beside blocks: each chip finds the tokens of its part of the table, and all of them are summed.
/// Logits are there by parts of the vocabulary: for the loss every token needs their maximum, their
/// sum and its label's, and what they are made of needs the sum of its gradients. Where chips share
/// features too both ends take them whole.
void ProgramBuilder::add_ends(const Stage& stage, bool forward, bool backward,
                              std::vector<TensorCall>& calls) const {
  using Group = TensorCall::Group;
  const SharedLogits& logits = step_.model.logits;
  const auto add = [&](const char* name, Collective kind, Group group, std::uint64_t bytes,
                       bool here, unsigned count) {
    calls.push_back({name, kind, group, bytes, here ? count : 0});
  };
  const bool first = stage.embedding;
  const bool last = stage.head;
  const std::uint64_t boundary = step_.model.boundary_bytes;
  add("sums of the embedding", Collective::all_reduce, Group::all, boundary, first && forward, 1);
  add("numbers of the loss", Collective::all_reduce, Group::all, logits.number_bytes,
      last && forward, 3 * logits.parts);
  add("gradient of the head", Collective::all_reduce, Group::all, logits.operand_bytes,
      last && backward, logits.parts);
  if (training_.tensor_columns == 1) return;
  add("operands of the head", Collective::all_gather, Group::columns, logits.operand_bytes,
      last && forward, logits.parts);
  add("gradient of the embedding", Collective::all_gather, Group::columns, boundary,
      first && backward, 1);
}

/// Matrices that are cut in two dimensions have partial sums of their first products over the
/// columns' chips, of their last ones over the rows': queries, keys and values are summed for all,
/// a wider layer each chip its share; the operand of the last product is gathered. Norms are sums
/// over the features of all columns.
void ProgramBuilder::add_sums(const Stage& stage, unsigned passes,
                              std::vector<TensorCall>& calls) const {
  using Group = TensorCall::Group;
  const ModelParts& model = step_.model;
  const unsigned rows = training_.tensor_rows();
  const auto inner = [&](const std::array<std::uint64_t, kParts>& bytes, Part part) {
    return bytes.at(static_cast<std::size_t>(part)) / rows;
  };
  const auto add = [&](const char* name, Collective kind, std::uint64_t bytes, unsigned count) {
    calls.push_back({name, kind, Group::columns, bytes, count * passes});
  };
  add("sums of queries", Collective::all_reduce, inner(model.first_bytes, Part::attention),
      stage.attention);
  add("operands of attention", Collective::all_gather, inner(model.last_bytes, Part::attention),
      stage.attention);
  add("sums of wider layers", Collective::reduce_scatter, inner(model.first_bytes, Part::ffn),
      stage.ffn);
  add("operands of wider layers", Collective::all_gather, inner(model.last_bytes, Part::ffn),
      stage.ffn);
  for (const Part part : {Part::attention, Part::ffn}) {
    const SharedNorms& norms = model.norms.at(static_cast<std::size_t>(part));
    add("sums of norms", Collective::all_reduce, norms.bytes,
        norms.count * (part == Part::attention ? stage.attention : stage.ffn));
  }
}

/// Every block ends with a reduction over the chips that share its matrices, forward and backward;
/// the recomputed forward pass has them again. Where those chips share the sequence, the halves of
/// a reduction stand at the two ends of a block, and the backward pass gathers the operand of the
/// first products once more, for the gradient of their weights.
std::vector<TensorCall> ProgramBuilder::tensor_calls(const Stage& stage, bool forward,
                                                     bool backward) const {
  using Group = TensorCall::Group;
  const unsigned passes = (forward ? passes_of(true) : 0) + (backward ? passes_of(false) : 0);
  const unsigned again = training_.share_sequence && backward ? stage.blocks() : 0;
  const bool two = training_.tensor_columns > 1;
  const Group group = two ? Group::rows : Group::all;
  const std::uint64_t bytes = step_.model.boundary_bytes / training_.tensor_columns;
  std::vector<TensorCall> calls;
  if (two) add_sums(stage, passes, calls);
  calls.push_back(
      {"sums of blocks", Collective::all_reduce, group, bytes, stage.blocks() * passes});
  calls.push_back({"operands of blocks", Collective::all_gather, group, bytes, again});
  add_ends(stage, forward, backward, calls);
  return calls;
}

/// Those of one stage at its own time, one after the other behind its work.
void ProgramBuilder::reduce_within(Segment& to, const Stage& stage, bool forward) const {
  if (training_.tensor == 1) return;
  for (const TensorCall& call : tensor_calls(stage, forward, !forward)) {
    for (unsigned i = 0; i < call.count; ++i) {
      collective(to, call.kind, tensor_groups(stage.chip, call.group), call.bytes, Use::links);
    }
  }
}

/// Each chip has its share of what the stage before has sent; its products take all of their rows.
void ProgramBuilder::gather_input(Segment& to, unsigned chip) const {
  if (training_.tensor == 1 || training_.share_sequence) return;
  const bool two = training_.tensor_columns > 1;
  collective(to, Collective::all_gather,
             tensor_groups(chip, two ? TensorCall::Group::rows : TensorCall::Group::all),
             step_.model.boundary_bytes / training_.tensor_columns, Use::links);
}

/// The collectives of all stages at work in a step: those that several have stand side by side, and
/// apart from the work: chips come to them together.
void ProgramBuilder::tensor_reductions(const Stages& stages, const Active& active,
                                       std::uint64_t times) {
  std::map<unsigned, std::vector<TensorCall>> calls;  // of each chip that is at work
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (!active.forward[s] && !active.backward[s]) continue;
    const std::vector<TensorCall> made =
        tensor_calls(stages[s], active.forward[s], active.backward[s]);
    std::vector<TensorCall>& sum = calls[stages[s].chip];
    if (sum.empty()) {
      sum = made;
      continue;
    }
    for (std::size_t i = 0; i < made.size(); ++i) sum[i].count += made[i].count;
  }
  for (std::size_t i = 0; !calls.empty() && i < calls.begin()->second.size(); ++i) {
    std::map<unsigned, std::vector<unsigned>> chips;  // that have so many of a call
    for (const auto& [chip, of_chip] : calls) chips[of_chip[i].count].push_back(chip);
    unsigned done = 0;
    for (const auto& [count, unused] : chips) {
      if (count == done) continue;  // none
      Segment made = segment(calls.begin()->second[i].name);
      for (auto more = chips.find(count); more != chips.end(); ++more) {
        for (const unsigned chip : more->second) {
          const TensorCall& call = calls[chip][i];
          collective(made, call.kind, tensor_groups(chip, call.group), call.bytes, Use::links);
        }
      }
      add(std::move(made), times * (count - done));
      done = count;
    }
  }
}

/// From each chip of a stage its share, which the chips of the next then give to each other.
void ProgramBuilder::boundary(Segment& to, unsigned from, unsigned into, Receives& receives) const {
  if (from == into) return;
  const Chips sources = chips_at(from);
  const Chips targets = chips_at(into);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    hand_over(to, sources[i], targets[i], step_.model.boundary_bytes / training_.tensor, receives);
  }
}

/// An exchange between chips begins when all chips of a replica are there.
void ProgramBuilder::meet(Segment& to) const {
  if (training_.pipeline < 2 || !moves_) return;
  const std::uint32_t chips = training_.pipeline * training_.tensor;
  for (unsigned replica = 0; replica < training_.replicas; ++replica) {
    Chips members;
    for (std::uint32_t i = 0; i < chips; ++i) {
      members.push_back(first_chip(training_, replica, 0) + i);
    }
    to.barrier(members, step_.system.sync_ns(chips), Use::bubble);
  }
}

void ProgramBuilder::move_activations(Segment& to, std::size_t phase, const Active& active) const {
  const Stages& stages = step_.phases[phase];
  meet(to);
  Receives receives;
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
    if (active.forward[s]) keep_elsewhere(to, phase, s, true);
    if (active.backward[s]) keep_elsewhere(to, phase, s, false);
  }
  to.receive(receives, Use::links);
  // a chip that has both an input and a gradient gathers both
  std::sort(into.begin(), into.end());
  for (const unsigned chip : into) gather_input(to, chip);
}

}  // namespace lacuna::system
