// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/system/collectives.hpp"
#include "models/system/program.hpp"
#include "workloads/mapping/system/segment_work.hpp"
#include "workloads/mapping/system/training_step.hpp"

namespace lacuna::system {

/// The chips of all replicas of a training step, and what those at one place of a replica do alike.
struct ReplicaWork {
  const TrainingStep& step;
  bool moves = true;  // without, segments have what chips hold, and nothing that takes time
  const TrainingParams& training = step.training;

  std::uint64_t ns(Cycle cycles) const { return ns_of(cycles, step.clock_ghz); }
  bool streamed() const { return training.phases > 1; }

  Segment segment(std::string name) const {
    Segment made;
    made.name = std::move(name);
    if (moves) made.chips.resize(step.system.chips());
    return made;
  }

  /// The chips that have this place in the first `replicas` of them; none if nothing moves.
  Chips chips_at(unsigned place, unsigned replicas) const {
    Chips chips;
    for (unsigned replica = 0; moves && replica < replicas; ++replica) {
      for (unsigned shard = 0; shard < training.tensor; ++shard) {
        chips.push_back(first_chip(training, replica, place) + shard);
      }
    }
    return chips;
  }
  Chips chips_at(unsigned place) const { return chips_at(place, training.replicas); }

  /// Chips that have the same weights at a place, `size` of them in a group, `stride` replicas
  /// apart.
  std::vector<Chips> replica_chips(unsigned place, unsigned size, unsigned stride = 1) const {
    std::vector<Chips> groups;
    for (const Chips& replicas : replica_groups(training.replicas, size, stride)) {
      for (unsigned shard = 0; shard < training.tensor; ++shard) {
        Chips& group = groups.emplace_back();
        for (const std::uint32_t replica : replicas) {
          group.push_back(first_chip(training, replica, place) + shard);
        }
      }
    }
    return groups;
  }

  void work(Segment& to, unsigned place, Use use, const ChipCost& cost) const {
    add_work(to, chips_at(place), use, cost, step.clock_ghz);
  }

  /// Moves bytes to or from each chip of a place, which waits for them.
  void move(Segment& to, unsigned place, Way way, std::uint64_t bytes, Use use = Use::streaming,
            std::size_t lane = kMain) const {
    move_all(to, chips_at(place), way, bytes, use, lane);
  }

  void collective(Segment& to, Collective kind, std::vector<Chips> groups, std::uint64_t bytes,
                  Use use) const {
    if (!moves || groups.empty() || groups.front().size() < 2 || bytes == 0) return;
    const bool adds = kind == Collective::reduce_scatter || kind == Collective::all_reduce;
    const std::uint64_t add_ns =
        adds ? ns(step.add_cycles * (bytes / step.model.value_bytes) >> 20U) : 0;
    add_collective(step.system, {kind, std::move(groups), bytes, use, add_ns}, to);
  }
};

/// The program of a step as far as it is made.
struct StepLedger {
  Program program;
  std::vector<Holding> pending;  // before the next segment
  std::size_t phase = 0;         // of what is added

  void add(Segment segment, std::uint64_t times = 1, std::uint64_t every = 1) {
    program.add(std::move(segment), times);
    Repeat& added = program.order.back();
    added.every = every;
    added.phase = phase;
    added.before = std::exchange(pending, {});
  }
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

/// Adds what the stages do in a pass, and what they send each other.
void add_pass(const ReplicaWork& replicas, const Pass& pass, const std::vector<Stream>& streams,
              StepLedger& to);

}  // namespace lacuna::system
