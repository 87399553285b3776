// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/system/collectives.hpp"
#include "models/system/program.hpp"
#include "workloads/mapping/system/training_step.hpp"

namespace lacuna::system {

inline constexpr std::uint64_t kInputBytes = 16;  // of a token: ids, positions, segments, labels

/// What the stages do in one step of a pipeline.
struct Active {
  std::vector<bool> forward;
  std::vector<bool> backward;

  auto all() const { return std::tie(forward, backward); }
};

/// A run of all micro-batches through the stages of a phase.
struct Pass {
  std::size_t phase = 0;
  bool forward = false;
  bool backward = false;
};

/// Bytes to or from streaming memory in the background of a pass, of each chip at one place of a
/// replica.
struct Stream {
  unsigned chip = 0;
  Way way = Way::load;
  Held what = Held::weights;
  std::uint64_t bytes = 0;
};

/// A collective of the chips that share a matrix, so many times.
struct TensorCall {
  const char* name;
  Collective kind;
  enum class Group { all, rows, columns } group;  // all that share it, or its rows or columns
  std::uint64_t bytes;
  unsigned count;
};

/// Makes the program of a weight update. What happens in a step of the pipeline is in
/// pipeline_steps.cpp, what happens once in an update in training_program.cpp.
class ProgramBuilder {
 public:
  /// Without `moves` the program has what the chips hold, and nothing that takes time.
  ProgramBuilder(const TrainingStep& step, bool moves)
      : step_(step), training_(step.training), moves_(moves) {}

  /// To be called once.
  Program build();

 private:
  std::uint64_t ns(Cycle cycles) const;
  Segment segment(std::string name) const;
  void add(Segment segment, std::uint64_t times = 1, std::uint64_t every = 1);

  void begin_memory();
  void begin_pass(const Pass& pass, const std::vector<Stream>& streams);
  void end_pass(const Pass& pass, const std::vector<Stream>& streams);
  bool keeps_elsewhere(std::size_t phase) const;
  bool streamed() const { return training_.phases > 1; }
  std::size_t lane() const { return training_.io_tiles > 0 ? kBackground : kMain; }

  /// The chips that have this place in a replica; none if nothing moves.
  Chips chips_at(unsigned place) const;

  /// Chips that share each matrix, its rows or its columns, for one place in a replica.
  std::vector<Chips> tensor_groups(unsigned chip,
                                   TensorCall::Group group = TensorCall::Group::all) const;

  /// Chips that have the same weights, `size` of them in a group, `stride` replicas apart.
  std::vector<Chips> replica_chips(unsigned chip, unsigned size, unsigned stride = 1) const;

  void work(Segment& to, unsigned chip, Use use, const ChipCost& cost) const;

  /// To or from each chip of a place, waited for.
  void move(Segment& to, unsigned chip, Way way, std::uint64_t bytes, Use use = Use::streaming,
            std::size_t lane = kMain) const;

  void collective(Segment& to, Collective kind, std::vector<Chips> groups, std::uint64_t bytes,
                  Use use) const;

  std::vector<Pass> passes() const;
  std::vector<Stream> in_background(const std::vector<Pass>& all, std::size_t i) const;
  void load_weights(std::size_t phase, bool from_memory);
  void pass(const Pass& pass, const std::vector<Stream>& streams);
  void reduce(std::size_t phase);
  void reduce_table(Segment& reduce, std::size_t phase) const;
  void update(std::size_t phase, bool last);
  void update_part(Segment& to, unsigned chip, const UpdatedPart& part, bool load,
                   bool store) const;
  void gather_weights(std::size_t phase);
  bool is_scattered() const { return training_.rts_state == training_.replicas; }
  bool has_state_elsewhere() const { return training_.state == Place::streaming || streamed(); }
  std::uint64_t state_bytes(const Trained& trained) const;
  std::uint64_t updated_bytes(const Trained& trained) const;
  void host_turn();
  std::vector<std::pair<Active, std::uint64_t>> steps_of(std::size_t stages, bool forward,
                                                         bool backward) const;
  void pipeline_step(const Pass& pass, const Active& active, std::uint64_t times,
                     const std::vector<Stream>& streams);
  void one_after_the_other(const Pass& pass, const std::vector<Stream>& streams);
  std::uint64_t gather_for(Segment& to, unsigned chip, const Stages& stages) const;
  void take_batch(Segment& to, const Stage& stage) const;
  void forward_work(Segment& to, std::size_t phase, const Stage& stage) const;
  void backward_work(Segment& to, std::size_t phase, const Stage& stage) const;
  Cycle turn_cycles(const Stage& stage, bool forward) const;
  void share_bubble(Segment& to, const Pass& pass, const Active& active) const;
  std::vector<Cycle> cycles_of_places(const Pass& pass) const;
  unsigned passes_of(bool forward) const;
  std::vector<TensorCall> tensor_calls(const Stage& stage, bool forward, bool backward) const;
  void add_ends(const Stage& stage, bool forward, bool backward,
                std::vector<TensorCall>& calls) const;
  void add_sums(const Stage& stage, unsigned passes, std::vector<TensorCall>& calls) const;
  void reduce_within(Segment& to, const Stage& stage, bool forward) const;
  void gather_input(Segment& to, unsigned chip) const;
  void tensor_reductions(const Stages& stages, const Active& active, std::uint64_t times);
  void move_activations(Segment& to, std::size_t phase, const Active& active) const;
  void meet(Segment& to) const;
  void boundary(Segment& to, unsigned from, unsigned into, Receives& receives) const;
  void keep_elsewhere(Segment& to, std::size_t phase, std::size_t s, bool forward) const;
  static std::vector<unsigned> chips_in(const Stages& stages);

  const TrainingStep& step_;
  const TrainingParams& training_;
  bool moves_;
  std::size_t phase_ = 0;         // of what is added
  std::vector<Holding> pending_;  // before the next segment
  Program program_;
};

}  // namespace lacuna::system
