// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>

#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/system/held_bytes.hpp"
#include "workloads/mapping/system/pipeline_schedule.hpp"
#include "workloads/mapping/system/replica_work.hpp"

namespace lacuna::system {

namespace {

constexpr std::uint64_t kInputBytes = 16;  // of a token: ids, positions, segments, labels

/// The stages that are at work in one step of a pipeline: backward [0], and forward [1].
using Active = std::array<std::vector<bool>, 2>;
constexpr std::array<bool, 2> kDirections = {true, false};  // forward comes first

/// A collective of the chips that share a matrix, so many times.
struct TensorCall {
  const char* name;
  Collective kind;
  enum class Group { all, rows, columns } group;  // all that share it, or its rows or columns
  std::uint64_t bytes;
  unsigned count;
};

/// A pass through the stages of a phase, and what streams behind it.
class PipelinePass : private ReplicaWork {
 public:
  PipelinePass(const ReplicaWork& replicas, const Pass& pass, const std::vector<Stream>& streams,
               StepLedger& ledger)
      : ReplicaWork(replicas),
        pass_(pass),
        streams_(streams),
        stages_(step.phases[pass.phase]),
        ledger_(ledger) {}

  /// The steps of the pipeline, or the turns of stages without common steps.
  void build() {
    if (training.schedule == Schedule::one_f_one_b) return one_after_the_other();
    const auto all = steps();
    const std::uint64_t rounds = in_turn() ? training.accumulation.value() : 1;
    std::uint64_t count = 0;
    for (const auto& [active, times] : all) count += times * rounds;
    std::vector<Repeat>& order = ledger_.program.order;
    const auto first = static_cast<std::ptrdiff_t>(order.size());
    for (const auto& [active, times] : all) pipeline_step(active, times, count);
    std::vector<Repeat> round(order.begin() + first, order.end());
    for (Repeat& repeat : round) repeat.before.clear();
    for (std::uint64_t i = 1; i < rounds; ++i) {
      order.insert(order.end(), round.begin(), round.end());
    }
  }

 private:
  bool in_turn() const { return training.schedule == Schedule::sequential; }
  bool again() const { return training.activations != Activations::stored; }

  /// Which stages are at work in each step, equal steps together; where stages work one at a time,
  /// those of one micro-batch. Of P stages, stage s begins the forward pass of micro-batch m in
  /// step m + s. It begins the backward pass in step m + 2 (P - 1) - s of the grouped schedule, and
  /// in step 2 P - 1 - s where stages work one at a time. A backward pass alone begins in step m +
  /// P - 1 - s.
  std::vector<std::pair<Active, std::uint64_t>> steps() const {
    const std::uint64_t batches = in_turn() ? 1 : training.accumulation.value();
    const std::uint64_t ramp = stages_.size() - 1;
    const std::uint64_t back = ramp + (pass_.forward ? ramp + in_turn() : 0);
    const std::uint64_t count = batches + (pass_.backward ? back : ramp);
    std::vector<std::pair<Active, std::uint64_t>> steps;
    for (std::uint64_t k = 0; k < count; ++k) {
      Active active;
      for (std::size_t s = 0; s < stages_.size(); ++s) {
        const auto begins = [&](std::uint64_t first) { return k >= first && k - first < batches; };
        active[true].push_back(pass_.forward && begins(s));
        active[false].push_back(pass_.backward && begins(back - s));
      }
      if (steps.empty() || steps.back().first != active) steps.emplace_back(active, 0);
      ++steps.back().second;
    }
    return steps;
  }

  /// Whether inputs of layers wait in streaming memory: for a later phase, or if asked to.
  bool keeps_elsewhere() const {
    return pass_.phase + 1 != step.phases.size() || training.activations == Activations::offloaded;
  }

  /// What a stage does for a micro-batch in one direction.
  std::vector<std::pair<Use, ChipCost>> costs_of(const Stage& stage, bool forward) const {
    const PartCosts& costs = step.costs[stage.chip];
    if (forward) return {{Use::forward, forward_cost(costs, stage)}};
    if (!again()) return {{Use::backward, backward_cost(costs, stage)}};
    return {{Use::recompute, recompute_cost(costs, stage)},
            {Use::backward, backward_cost(costs, stage)}};
  }

  Cycle turn_cycles(const Stage& stage, bool forward) const {
    Cycle cycles = 0;
    for (const auto& [use, cost] : costs_of(stage, forward)) cycles += cost.cycles;
    return cycles;
  }

  /// A stage works on a micro-batch; the embedding takes the batch from the host.
  void turn(Segment& to, const Stage& stage, bool forward) const {
    const unsigned chip = stage.chip;
    const std::uint64_t kept = kept_bytes(step, stage);
    const auto hold = [&](bool takes, std::uint64_t bytes) {
      (takes ? take : give)(to.memory, chip, Held::activations, bytes, Holding::Space::chip);
    };
    if (forward) {
      const std::uint64_t batch = kInputBytes * training.tokens * training.micro_batch;
      if (stage.embedding) move(to, chip, Way::from_host, batch, Use::host);
      hold(true, kept);
      hold_while(to.memory, chip, forward_bytes(step, stage));
      if (keeps_elsewhere()) hold(false, kept);
      hold(true, kept_of_head(step, stage));
    } else {
      hold_while(to.memory, chip, backward_bytes_of_head(step, stage));
      hold(false, kept_of_head(step, stage));
      if (keeps_elsewhere()) hold(true, kept);
      hold_while(to.memory, chip, backward_bytes(step, stage));
      hold(false, kept);
    }
    for (const auto& [use, cost] : costs_of(stage, forward)) work(to, chip, use, cost);
  }

  /// What each place does in a step in which all of its stages are at work, but for `done`.
  std::vector<Cycle> cycles_of_places(const Active* done = nullptr) const {
    std::vector<Cycle> cycles(training.pipeline);
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      for (const bool forward : kDirections) {
        const bool goes = forward ? pass_.forward : pass_.backward;
        if (!goes || (done != nullptr && (*done)[forward][s])) continue;
        cycles[stages_[s].chip] += turn_cycles(stages_[s], forward);
      }
    }
    return cycles;
  }

  /// A full step lasts as long as its longest place. Of a place that lacks a part of its turns that
  /// part of the step is bubble: (p - 1) / (m + p - 1) of the time if places are alike.
  void share_bubble(Segment& to, const Active& active) const {
    const std::vector<Cycle> full = cycles_of_places();
    const auto longest = static_cast<double>(ns(*std::max_element(full.begin(), full.end())));
    const std::vector<Cycle> missing = cycles_of_places(&active);
    for (unsigned place = 0; place < training.pipeline; ++place) {
      if (full[place] == 0) continue;
      const double part = static_cast<double>(missing[place]) / static_cast<double>(full[place]);
      for (const std::uint32_t chip : chips_at(place)) {
        to.chips[chip].bubble_ns = static_cast<std::uint64_t>(part * longest);
      }
    }
  }

  /// Weights that are spread over replicas come whole for a step; what they take beside a replica's
  /// own share.
  std::uint64_t gather_for(Segment& to, unsigned chip, const Stages& stages) const {
    if (training.rts == 1 || streamed() || stages.empty()) return 0;
    const std::uint64_t bytes = trained_of(step, stages, chip).weights;
    collective(to, Collective::all_gather, replica_chips(chip, training.rts), bytes, Use::links);
    const std::uint64_t gathered = bytes - bytes / training.rts;
    take(to.memory, chip, Held::weights, gathered);
    return gathered;
  }

  /// A segment with one of `parts` of what streams; the last bytes of a stream are rounded up.
  Segment begun(const char* name, std::uint64_t parts) const {
    Segment made = segment(name);
    for (const Stream& each : streams_) {
      move(made, each.chip, each.way, ceil_div(each.bytes, parts), Use::streaming, kBackground);
    }
    return made;
  }

  /// One of `count` steps.
  void pipeline_step(const Active& active, std::uint64_t times, std::uint64_t count) {
    Segment made = begun("pipeline step", count);
    std::vector<std::uint64_t> gathered;
    for (unsigned place = 0; place < training.pipeline; ++place) {
      Stages at_work;
      for (std::size_t s = 0; s < stages_.size(); ++s) {
        const bool here = stages_[s].chip == place && (active[true][s] || active[false][s]);
        if (here) at_work.push_back(stages_[s]);
      }
      gathered.push_back(gather_for(made, place, at_work));
    }
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      if (active[true][s]) turn(made, stages_[s], true);
    }
    for (std::size_t s = stages_.size(); s-- > 0;) {
      if (active[false][s]) turn(made, stages_[s], false);
    }
    for (unsigned place = 0; place < training.pipeline; ++place) {
      give(made.memory, place, Held::weights, gathered[place]);
    }
    if (moves) share_bubble(made, active);
    move_activations(made, active);
    // all stages store before any of them takes back
    std::stable_partition(made.memory.begin(), made.memory.end(), [](const Holding& each) {
      return each.space == Holding::Space::chip || each.bytes > 0;
    });
    ledger_.add(std::move(made), times);
    if (moves && training.tensor > 1) tensor_reductions(active, times);
  }

  /// One forward, one backward: in the order of `schedule_of`, each as soon as its input is there.
  void one_after_the_other() {
    std::vector<StageCycles> cycles;
    for (const Stage& stage : stages_) {
      // of sizes alone, as if all stages were alike
      cycles.push_back({stage.chip, moves ? turn_cycles(stage, true) : 1,
                        moves ? turn_cycles(stage, false) : 2});
    }
    Segment made = begun("one forward, one backward", 1);
    const std::vector<Cycle> full = cycles_of_places();
    const auto idle = static_cast<std::size_t>(std::count(full.begin(), full.end(), Cycle{0}));
    const std::uint64_t bubble =
        (full.size() - idle - 1) * ns(*std::max_element(full.begin(), full.end()));
    for (unsigned place = 0; place < training.pipeline; ++place) {
      for (const std::uint32_t chip : chips_at(place)) made.chips[chip].bubble_ns = bubble;
    }
    // what each micro-batch has sent: to the next stage or the one before
    std::map<std::tuple<bool, std::size_t, std::uint64_t>, Receives> sent;
    for (const auto& [forward, s, m] :
         schedule_of(cycles, training.accumulation, pass_.forward, pass_.backward)) {
      const Stage& stage = stages_[s];
      const auto input = sent.find({forward, s, m});
      if (input != sent.end()) {
        made.receive(input->second, Use::bubble);
        sent.erase(input);
        gather_input(made, stage.chip);
      }
      const std::uint64_t gathered = gather_for(made, stage.chip, {stage});
      turn(made, stage, forward);
      give(made.memory, stage.chip, Held::weights, gathered);
      reduce_within(made, stage, forward);
      keep_elsewhere(made, s, forward);
      const std::size_t next = next_of(s, forward);
      if (next == stages_.size() || stage.chip == stages_[next].chip) continue;
      for (const std::uint32_t chip : chips_at(stage.chip)) {
        made.work(chip, Use::links, step.system.sync_ns(2) + step.system.sync.exchange_ns);
      }
      boundary(made, stage.chip, stages_[next].chip, sent[{forward, next, m}]);
    }
    ledger_.add(std::move(made));
  }

  /// The stage that a micro-batch goes to from stage `s`; their number after the last one.
  std::size_t next_of(std::size_t s, bool forward) const {
    return forward ? s + 1 : (s == 0 ? stages_.size() : s - 1);
  }

  /// What waits in streaming memory: inputs of layers, results and gradients between phases. These
  /// lie where the chip is that has stored them, at the other end of the phases' boundary.
  void keep_elsewhere(Segment& to, std::size_t s, bool forward) const {
    const bool ends = pass_.phase + 1 == step.phases.size();
    const unsigned here = stages_[s].chip;
    const auto keep = [&](bool stores, std::uint64_t bytes, unsigned stored_by) {
      (stores ? take : give)(to.memory, stores ? here : stored_by, Held::activations, bytes,
                             Holding::Space::streaming);
      move(to, here, stores ? Way::store : Way::load, bytes, Use::streaming,
           training.io_tiles > 0 ? kBackground : kMain);
    };
    if (keeps_elsewhere()) keep(forward, kept_bytes(step, stages_[s]), here);
    const std::uint64_t boundary = step.model.boundary_bytes / training.tensor;
    if (pass_.phase > 0 && s == 0) {
      keep(!forward, boundary, step.phases[pass_.phase - 1].back().chip);
    }
    if (!ends && s + 1 == stages_.size()) {
      keep(forward, boundary, step.phases[pass_.phase + 1].front().chip);
    }
  }

  /// The collectives beside blocks. Each chip finds the tokens of its part of the table; these are
  /// summed. Each chip has the logits of its part of the vocabulary. For the loss every token needs
  /// their maximum, their sum and its label's logit. Their operand needs the sum of its gradients.
  /// Where chips share features too, both ends take operands whole.
  void add_ends(const Stage& stage, bool forward, std::vector<TensorCall>& calls) const {
    using Group = TensorCall::Group;
    const SharedLogits& logits = step.model.logits;
    const auto add = [&](const char* name, Collective kind, Group group, std::uint64_t bytes,
                         bool here, unsigned count) {
      calls.push_back({name, kind, group, bytes, here ? count : 0});
    };
    const std::uint64_t boundary = step.model.boundary_bytes;
    add("sums of the embedding", Collective::all_reduce, Group::all, boundary,
        stage.embedding && forward, 1);
    add("numbers of the loss", Collective::all_reduce, Group::all, logits.number_bytes,
        stage.head && forward, 3 * logits.parts);
    add("gradient of the head", Collective::all_reduce, Group::all, logits.operand_bytes,
        stage.head && !forward, logits.parts);
    if (training.tensor_columns == 1) return;
    add("operands of the head", Collective::all_gather, Group::columns, logits.operand_bytes,
        stage.head && forward, logits.parts);
    add("gradient of the embedding", Collective::all_gather, Group::columns, boundary,
        stage.embedding && !forward, 1);
  }

  /// Sums of matrices that are cut in two dimensions. First products have partial sums over the
  /// chips of the columns, last products over those of the rows. Queries, keys and values are
  /// summed for all chips; of a wider layer each chip gets its share. The operand of the last
  /// product is gathered. Norms are sums over the features of all columns.
  void add_sums(const Stage& stage, unsigned passes, std::vector<TensorCall>& calls) const {
    const ModelParts& model = step.model;
    const unsigned rows = training.tensor_rows();
    const auto add = [&](const char* name, Collective kind, std::uint64_t bytes, unsigned count) {
      calls.push_back({name, kind, TensorCall::Group::columns, bytes, count * passes});
    };
    add("sums of queries", Collective::all_reduce, model.first_bytes[Part::attention] / rows,
        stage.attention);
    add("operands of attention", Collective::all_gather, model.last_bytes[Part::attention] / rows,
        stage.attention);
    add("sums of wider layers", Collective::reduce_scatter, model.first_bytes[Part::ffn] / rows,
        stage.ffn);
    add("operands of wider layers", Collective::all_gather, model.last_bytes[Part::ffn] / rows,
        stage.ffn);
    for (const Part part : {Part::attention, Part::ffn}) {
      const SharedNorms& norms = model.norms[part];
      add("sums of norms", Collective::all_reduce, norms.bytes,
          norms.count * (part == Part::attention ? stage.attention : stage.ffn));
    }
  }

  /// Every block ends with a reduction over the chips that share its matrices, forward and
  /// backward; the recomputed forward pass has them again. Where those chips share the sequence,
  /// the halves of a reduction stand at the two ends of a block, and the backward pass gathers the
  /// operand of the first products once more, for the gradient of their weights.
  std::vector<TensorCall> tensor_calls(const Stage& stage, bool forward) const {
    using Group = TensorCall::Group;
    const unsigned passes = forward || !again() ? 1 : 2;
    const unsigned gathers = training.share_sequence && !forward ? stage.blocks() : 0;
    const bool two = training.tensor_columns > 1;
    const Group group = two ? Group::rows : Group::all;
    const std::uint64_t bytes = step.model.boundary_bytes / training.tensor_columns;
    std::vector<TensorCall> calls;
    if (two) add_sums(stage, passes, calls);
    calls.push_back(
        {"sums of blocks", Collective::all_reduce, group, bytes, stage.blocks() * passes});
    calls.push_back({"operands of blocks", Collective::all_gather, group, bytes, gathers});
    add_ends(stage, forward, calls);
    return calls;
  }

  /// Chips that share each matrix, its rows or its columns, for one place in a replica.
  std::vector<Chips> tensor_groups(unsigned chip, TensorCall::Group group) const {
    const unsigned columns = training.tensor_columns;
    std::uint32_t size = training.tensor;
    if (group == TensorCall::Group::columns) size = columns;
    if (group == TensorCall::Group::rows) size = training.tensor_rows();
    const std::uint32_t stride = group == TensorCall::Group::rows ? columns : 1;
    std::vector<Chips> groups;
    for (unsigned replica = 0; replica < training.replicas; ++replica) {
      for (Chips& shards : replica_groups(training.tensor, size, stride)) {
        for (std::uint32_t& shard : shards) shard += first_chip(training, replica, chip);
        groups.push_back(std::move(shards));
      }
    }
    return groups;
  }

  void share(Segment& to, const TensorCall& call, unsigned chip) const {
    collective(to, call.kind, tensor_groups(chip, call.group), call.bytes, Use::links);
  }

  /// The collectives of one stage at its own time, one after the other behind its work.
  void reduce_within(Segment& to, const Stage& stage, bool forward) const {
    if (training.tensor == 1) return;
    for (const TensorCall& call : tensor_calls(stage, forward)) {
      for (unsigned i = 0; i < call.count; ++i) share(to, call, stage.chip);
    }
  }

  /// Each chip has its share of what the stage before has sent; its products take all of their
  /// rows.
  void gather_input(Segment& to, unsigned chip) const {
    if (training.tensor == 1 || training.share_sequence) return;
    const unsigned columns = training.tensor_columns;
    share(
        to,
        {"", Collective::all_gather, columns > 1 ? TensorCall::Group::rows : TensorCall::Group::all,
         step.model.boundary_bytes / columns, 1},
        chip);
  }

  /// The collectives of all stages at work in a step: those that several have stand side by side,
  /// and apart from the work: chips come to them together.
  void tensor_reductions(const Active& active, std::uint64_t times) {
    std::map<unsigned, std::vector<TensorCall>> calls;  // of each chip that is at work
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      for (const bool forward : kDirections) {
        if (!active[forward][s]) continue;
        std::vector<TensorCall> made = tensor_calls(stages_[s], forward);
        std::vector<TensorCall>& sum = calls[stages_[s].chip];
        for (std::size_t i = 0; i < sum.size(); ++i) made[i].count += sum[i].count;
        sum = std::move(made);
      }
    }
    for (std::size_t i = 0; !calls.empty() && i < calls.begin()->second.size(); ++i) {
      std::map<unsigned, std::vector<unsigned>> chips;  // that have so many of a call
      for (const auto& [chip, of_chip] : calls) chips[of_chip[i].count].push_back(chip);
      unsigned done = 0;
      for (const auto& [count, unused] : chips) {
        if (count == done) continue;  // none
        Segment made = segment(calls.begin()->second[i].name);
        for (auto more = chips.find(count); more != chips.end(); ++more) {
          for (const unsigned chip : more->second) share(made, calls[chip][i], chip);
        }
        ledger_.add(std::move(made), times * (count - done));
        done = count;
      }
    }
  }

  /// Each chip of a stage sends its share. The chips of the next stage then give these to each
  /// other.
  void boundary(Segment& to, unsigned from, unsigned into, Receives& receives) const {
    if (from == into) return;
    const Chips sources = chips_at(from);
    const Chips targets = chips_at(into);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      hand_over(to, sources[i], targets[i], step.model.boundary_bytes / training.tensor, receives);
    }
  }

  /// An exchange between chips begins when all chips of a replica are there.
  void meet(Segment& to) const {
    if (training.pipeline < 2 || !moves) return;
    const std::uint32_t chips = training.pipeline * training.tensor;
    for (unsigned replica = 0; replica < training.replicas; ++replica) {
      Chips members(chips);
      std::iota(members.begin(), members.end(), first_chip(training, replica, 0));
      to.barrier(members, step.system.sync_ns(chips), Use::bubble);
    }
  }

  void move_activations(Segment& to, const Active& active) const {
    meet(to);
    Receives receives;
    std::vector<unsigned> into;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      for (const bool forward : kDirections) {
        const std::size_t next = next_of(s, forward);
        if (!active[forward][s] || next == stages_.size()) continue;
        boundary(to, stages_[s].chip, stages_[next].chip, receives);
        into.push_back(stages_[next].chip);
      }
      for (const bool forward : kDirections) {
        if (active[forward][s]) keep_elsewhere(to, s, forward);
      }
    }
    to.receive(receives, Use::links);
    // a chip that has both an input and a gradient gathers both
    std::sort(into.begin(), into.end());
    for (const unsigned chip : into) gather_input(to, chip);
  }

  const Pass& pass_;
  const std::vector<Stream>& streams_;
  const Stages& stages_;
  StepLedger& ledger_;
};

}  // namespace

void add_pass(const ReplicaWork& replicas, const Pass& pass, const std::vector<Stream>& streams,
              StepLedger& to) {
  PipelinePass(replicas, pass, streams, to).build();
}

}  // namespace lacuna::system
