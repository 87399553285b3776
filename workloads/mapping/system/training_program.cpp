// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/training_program.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/system/pattern_update.hpp"
#include "workloads/mapping/system/replica_work.hpp"

namespace lacuna::system {

namespace {

constexpr auto kStreaming = Holding::Space::streaming;

/// Makes the program of a weight update: what happens once in an update, around the passes.
class StepBuilder : private ReplicaWork {
 public:
  explicit StepBuilder(const ReplicaWork& replicas) : ReplicaWork(replicas) {}

  /// To be called once.
  Program build() {
    ledger_.program.used = static_cast<std::uint32_t>(training.chips());
    const std::vector<Pass> all = passes();
    begin_memory();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t phase = ledger_.phase = all[i].phase;
      const std::vector<Stream> streams = in_background(all, i);
      begin_pass(all[i], streams);
      load_weights(phase, i == 0 || training.prefetch == Prefetch::none);
      add_pass(*this, all[i], streams, ledger_);
      if (all[i].backward) {
        reduce(phase);
        update(phase, i + 1 == all.size());
        if (!streamed()) gather_weights(phase);
      }
      end_pass(all[i], streams);
    }
    host_turn();
    if (moves && training.pattern_every > 0) {
      ledger_.add(pattern_update(step), 1, training.pattern_every);
    }
    return std::move(ledger_.program);
  }

 private:
  bool is_scattered() const { return training.rts_state == training.replicas; }
  bool has_state_elsewhere() const { return training.state == Place::streaming || streamed(); }

  /// The places that have stages in a phase, and what each of their chips trains.
  std::vector<std::pair<unsigned, Trained>> trained_in(std::size_t phase) const {
    const Stages& stages = step.phases[phase];
    std::vector<std::pair<unsigned, Trained>> places;
    for (const Stage& stage : stages) {
      const bool known = std::any_of(places.begin(), places.end(),
                                     [&](const auto& each) { return each.first == stage.chip; });
      if (!known) places.emplace_back(stage.chip, trained_of(step, stages, stage.chip));
    }
    return places;
  }

  void take_now(unsigned place, Held what, std::uint64_t bytes) {
    take(ledger_.pending, place, what, bytes);
  }
  void give_now(unsigned place, Held what, std::uint64_t bytes) {
    give(ledger_.pending, place, what, bytes);
  }

  /// What is there between weight updates. A tied table is once in streaming memory.
  void begin_memory() {
    const auto of_tiles = [&](double kib) {
      return static_cast<std::uint64_t>(std::llround(kib * 1024)) * step.tiles;
    };
    for (unsigned place = 0; place < training.pipeline; ++place) {
      take_now(place, Held::code, of_tiles(training.code_kib));
      take_now(place, Held::buffers, of_tiles(training.buffer_kib));
    }
    for (std::size_t phase = 0; phase < step.phases.size(); ++phase) {
      for (const auto& [place, here] : trained_in(phase)) {
        Trained once;
        for (const UpdatedPart& part : updated_parts(step, step.phases[phase], place)) {
          if (!part.is_copy || !streamed()) once += part.trained * part.times;
        }
        if (has_state_elsewhere()) {
          take(ledger_.pending, place, Held::state, state_bytes(once), kStreaming);
        } else {
          take_now(place, Held::state, here.state / training.rts_state);
        }
        if (streamed()) {
          take(ledger_.pending, place, Held::weights, once.weights / training.rts, kStreaming);
          continue;
        }
        take_now(place, Held::weights, here.weights / training.rts);
        take_now(place, Held::gradients, here.gradients);
      }
    }
  }

  /// What comes in the background has its place from the beginning of a pass. Weights of a streamed
  /// phase are whole, and its gradients are there from its backward pass on.
  void begin_pass(const Pass& pass, const std::vector<Stream>& streams) {
    for (const auto& [place, here] : trained_in(pass.phase)) {
      if (!streamed()) break;
      take_now(place, Held::weights, here.weights);
      if (pass.backward) take_now(place, Held::gradients, here.gradients);
    }
    for (const Stream& stream : streams) {
      if (stream.way == Way::load) take_now(stream.chip, stream.what, stream.bytes);
    }
  }

  /// What the update has changed and the next pass stores is there until that pass ends; weights of
  /// the next phase, which then takes them whole, are not counted twice.
  void end_pass(const Pass& pass, const std::vector<Stream>& streams) {
    const bool hidden = training.prefetch == Prefetch::all && pass.backward;
    for (const auto& [place, here] : trained_in(pass.phase)) {
      if (!streamed()) break;
      const std::uint64_t share = here.weights / training.rts_state;
      const std::uint64_t left = pass.backward ? share : here.weights;
      give_now(place, Held::weights, hidden ? left - share : left);
      const std::uint64_t gradients =
          is_scattered() ? here.gradients / training.rts_state : here.gradients;
      if (pass.backward) give_now(place, Held::gradients, gradients);
    }
    for (const Stream& stream : streams) {
      const bool state_of_this = stream.way == Way::load && stream.what == Held::state;
      if (state_of_this) continue;  // is changed, and stored behind the next pass
      give_now(stream.chip, stream.what, stream.bytes);
    }
  }

  /// Forward through all phases but the last, whose passes are one; then back.
  std::vector<Pass> passes() const {
    const std::size_t last = step.phases.size() - 1;
    std::vector<Pass> all;
    for (std::size_t phase = 0; phase < last; ++phase) all.push_back({phase, true, false});
    for (std::size_t i = 0; i <= last; ++i) all.push_back({last - i, i == 0, true});
    return all;
  }

  /// What comes and goes while a pass works: the weights of the next phase; with Prefetch::all also
  /// the state of this one, and what the update before this pass has changed.
  std::vector<Stream> in_background(const std::vector<Pass>& all, std::size_t i) const {
    std::vector<Stream> streams;
    if (training.prefetch == Prefetch::none) return streams;
    const auto add = [&](std::size_t pass, Way way, Held what, unsigned shared) {
      for (const auto& [place, here] : trained_in(all[pass].phase)) {
        streams.push_back(
            {place, way, what, shared == 0 ? state_bytes(here) : here.weights / shared});
      }
    };
    constexpr unsigned kState = 0;
    if (i + 1 < all.size()) add(i + 1, Way::load, Held::weights, training.rts);
    if (training.prefetch != Prefetch::all) return streams;
    if (all[i].backward) add(i, Way::load, Held::state, kState);
    if (i > 0 && all[i - 1].backward) {
      add(i - 1, Way::store, Held::state, kState);
      add(i - 1, Way::store, Held::weights, training.rts_state);
    }
    return streams;
  }

  /// State that a chip's share of an update takes from streaming memory.
  std::uint64_t state_bytes(const Trained& trained) const {
    return has_state_elsewhere() ? ceil_div(trained.state, training.rts_state) : 0;
  }

  /// Weights of a phase, each replica of a group its share from streaming memory if it is not there
  /// yet, and the rest from each other.
  void load_weights(std::size_t phase, bool from_memory) {
    if (!streamed()) return;
    Segment load = segment("load weights");
    for (const auto& [place, here] : trained_in(phase)) {
      if (from_memory) move(load, place, Way::load, here.weights / training.rts);
      collective(load, Collective::all_gather, replica_chips(place, training.rts), here.weights,
                 Use::streaming);
    }
    ledger_.add(std::move(load));
  }

  /// The loss goes to the host, which then has the next program started.
  void host_turn() {
    Segment host = segment("host");
    const auto ns = static_cast<std::uint64_t>(std::llround(step.system.gateway.update_ms * 1e6));
    for (unsigned place = 0; place < training.pipeline; ++place) {
      move(host, place, Way::to_host, 4, Use::host);
      for (const std::uint32_t at : chips_at(place)) host.work(at, Use::host, ns);
    }
    ledger_.add(std::move(host));
  }

  /// Gradients are summed over replicas, whole or each replica its share.
  void reduce(std::size_t phase) {
    Segment made = segment("reduce gradients");
    for (const auto& [place, here] : trained_in(phase)) {
      const std::uint64_t all = here.gradients;
      collective(made, is_scattered() ? Collective::reduce_scatter : Collective::all_reduce,
                 replica_chips(place, training.replicas), all, Use::all_reduce);
      if (is_scattered()) {
        give(made.memory, place, Held::gradients, all - all / training.rts_state);
      }
    }
    reduce_table(made, phase);
    ledger_.add(std::move(made));
  }

  /// A tied table that lies on two chips has two gradients, whose sum both take. Where embedding
  /// and head are phases of their own, the head's waits in streaming memory for that of the
  /// embedding.
  void reduce_table(Segment& to, std::size_t phase) const {
    const unsigned head = training.head_stage;
    const unsigned embedding = training.embedding_stage;
    const Trained table = step.costs[streamed() ? embedding : head][Part::embedding].table;
    if (!step.model.tied || table.gradients == 0) return;
    const std::uint64_t bytes = table.gradients / (is_scattered() ? training.rts_state : 1U);
    if (streamed()) {
      const bool stores = phase + 1 == step.phases.size();
      if (!stores && phase != 0) return;
      const unsigned place = stores ? head : embedding;
      (stores ? take : give)(to.memory, head, Held::gradients, bytes, kStreaming);
      move(to, place, stores ? Way::store : Way::load, bytes);
      return;
    }
    if (head == embedding || !moves) return;
    std::vector<Chips> pairs;
    for (const std::uint32_t at : chips_at(embedding)) {
      pairs.push_back({at, at + head * training.tensor - embedding * training.tensor});
    }
    collective(to, Collective::all_reduce, std::move(pairs), bytes, Use::all_reduce);
  }

  /// Parts are updated one after the other, so chips hold no more than one part's state from
  /// elsewhere. State and streamed weights go back.
  void update_part(Segment& to, unsigned place, const UpdatedPart& part, bool load,
                   bool store) const {
    const std::uint64_t all = state_bytes(part.trained);
    const std::uint64_t state = load ? all : 0;
    const std::uint64_t weights = streamed() ? part.trained.weights / training.rts_state : 0;
    for (unsigned i = 0; i < part.times; ++i) {
      take(to.memory, place, Held::state, state);
      move(to, place, Way::load, state);
      work(to, place, Use::optimizer, part.cost);
      if (store) move(to, place, Way::store, all + weights);
      give(to.memory, place, Held::state, state);
    }
  }

  /// A replica's share of the weights is updated, with state from streaming memory if that is where
  /// it is.
  void update(std::size_t phase, bool last) {
    Segment made = segment("update");
    const bool hidden = training.prefetch == Prefetch::all;
    for (const auto& [place, here] : trained_in(phase)) {
      if (streamed()) {
        give_now(place, Held::weights, here.weights - here.weights / training.rts_state);
      }
      for (const UpdatedPart& part : updated_parts(step, step.phases[phase], place)) {
        if (part.is_copy && streamed()) continue;  // with the embedding
        update_part(made, place, part, !hidden, !hidden || last);
      }
    }
    ledger_.add(std::move(made));
  }

  /// Replicas that have updated parts of what each of them holds tell each other.
  void gather_weights(std::size_t phase) {
    if (training.rts % training.rts_state == 0) return;  // each has what it keeps
    const unsigned stride = training.rts_state % training.rts != 0 ? 1 : training.rts.value();
    Segment made = segment("gather weights");
    for (const auto& [place, here] : trained_in(phase)) {
      collective(made, Collective::all_gather,
                 replica_chips(place, training.rts_state / stride, stride), here.weights / stride,
                 Use::all_reduce);
    }
    ledger_.add(std::move(made));
  }

  StepLedger ledger_;
};

}  // namespace

Program training_program(const TrainingStep& step) { return StepBuilder({step, true}).build(); }

Program training_entries(const TrainingStep& step) { return StepBuilder({step, false}).build(); }

TrainingMemory training_memory(const TrainingStep& step, std::uint64_t chip_bytes) {
  const TrainingParams& training = step.training;
  const ProgramMemory read =
      memory_of(training_entries(step), training.pipeline, chip_bytes,
                machine_banks(step.system, training.pipeline, training.tensor, training.replicas));
  return {read.chips, streaming_of(step.system, read)};
}

}  // namespace lacuna::system
