// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "models/wse/fabric/route_rule.hpp"
#include "models/wse/lanes/fit.hpp"
#include "models/wse/lanes/lane_plan.hpp"
#include "models/wse/pe/task_control.hpp"
#include "models/wse/task_outcome.hpp"

// What a machine of lanes has beside its small integers. lane_wafer.cpp sets it up and runs it,
// lane_control.cpp does what is rare.

namespace lacuna::wse::lanes {

/// Memory that begins at a line of the host's cache.
class Bytes {
 public:
  explicit Bytes(std::size_t size) : store_(size + 64, 0) {
    void* at = store_.data();
    std::size_t room = store_.size();
    data_ = static_cast<std::int8_t*>(std::align(64, size, at, room));
  }
  std::int8_t* data() { return data_; }

 private:
  std::vector<std::int8_t> store_;
  std::int8_t* data_ = nullptr;
};

/// What a word carries, or is.
struct Tag {
  SwitchCommands switches = 0;
  bool control = false;
  std::uint8_t id = 0;
};

/// Tags in the order of their words, no more than a queue with tags holds.
class Tags {
 public:
  void push(const Tag& tag) { ring_[(first_ + count_++) % kMost] = tag; }
  const Tag& front() const { return ring_[first_]; }
  Tag pop() {
    const Tag tag = front();
    first_ = (first_ + 1U) % kMost;
    --count_;
    return tag;
  }

 private:
  static constexpr std::uint8_t kMost = 8;
  std::array<Tag, kMost> ring_{};
  std::uint8_t first_ = 0;
  std::uint8_t count_ = 0;
};

class LaneWafer {
 public:
  LaneWafer(const TaskParams& params, const TaskProgram& program, const LanePlan& plan,
            const Fit& fit, StepFunction step, unsigned width);

  /// False if nothing more can happen, and not all programs have come to their end.
  bool run();
  TaskOutcome outcome() const;

 private:
  /// A command in an input queue: so many words are between it and the one before.
  struct Command {
    int after = 0;
    std::uint8_t id = 0;
  };
  struct Lane {
    const Code* code = nullptr;
    const std::array<ColorUse, kMostClasses>* router = nullptr;
    TaskPlace place;
    std::array<std::uint32_t, kMostContexts> more{};  // beats beyond those in the lanes
    std::array<const Op*, kMostContexts> under_way{};
    std::vector<std::uint8_t> active, blocked;
    std::uint32_t ready = 0;   // tasks that are active and not blocked
    const Op* told = nullptr;  // of the main thread, which is over and not left yet
    bool runs = false;
    std::array<ColorSwitch, kMostClasses> switches;
    std::array<std::vector<Command>, kMostClasses> commands;
    std::vector<std::uint32_t> times;  // that each task has run
    TaskCounters counters;
    RouterCounters passed;
    std::vector<Cycle> stamps;
  };
  struct Start {
    std::uint32_t lane;
    const Op* op;
  };
  class Main;

  std::int8_t& field(int number, std::uint32_t lane) {
    const std::size_t first = lane & ~(width_ - 1);
    return fields_.data()[first * static_cast<std::size_t>(at_.fields) +
                          static_cast<std::size_t>(number) * width_ + (lane - first)];
  }
  int value(int number, std::uint32_t lane) { return field(number, lane); }
  static std::int8_t mask(bool whether) { return whether ? std::int8_t{-1} : std::int8_t{0}; }
  std::uint32_t lane_of(std::size_t place) const {
    const auto row = static_cast<std::uint32_t>(place / program_.columns);
    const auto column = static_cast<std::uint32_t>(place % program_.columns);
    return row * blocks_of_row_ * width_ + column;
  }
  const ColorUse& color_use(std::uint32_t lane, int cls) const {
    return (*lanes_[lane].router)[static_cast<std::size_t>(fit_class(cls))];
  }
  /// The program's class that a class of the shape stands for, and the other way.
  int fit_class(int cls) const { return class_of_[static_cast<std::size_t>(cls)]; }
  int shape_class(int cls) const { return shape_of_[static_cast<std::size_t>(cls)]; }

  // set-up and end
  void describe_machine(const TaskParams& params);
  void add_core(std::size_t place);
  void add_tasks(std::uint32_t lane);
  void add_queues(std::uint32_t lane, const Rooms& rooms, const RouterProgram& router);
  void set_masks(std::uint32_t lane, int cls, std::uint8_t position);
  bool words_are_left() const;
  bool words_wait();
  void flush(std::uint32_t block);

  // what is rare
  void tell(std::uint32_t block, Event what, int of, const std::int8_t* lanes);
  void happens(Event what, std::uint32_t lane, int of);
  void wake(std::uint32_t block);
  void control(std::uint32_t lane);
  static void set_active(Lane& state, TaskIndex task, bool active);
  static void set_blocked(Lane& state, TaskIndex task, bool blocked);
  void tell_tasks(Lane& state, const Op& op) const;
  void load(std::uint32_t lane, const Op& op);
  void count_down(std::uint32_t lane, std::uint8_t context, std::uint32_t beats);
  void start_threads();
  void over(std::uint32_t lane, int number);
  void go_on(std::uint32_t lane, const Op& op);
  void tag_last(std::uint32_t lane, const Op& op);
  Tags& tags(std::uint32_t lane, int of);
  void pass(std::uint32_t lane, int path);
  std::uint32_t neighbour(std::uint32_t lane, unsigned port) const;
  void leave(std::uint32_t lane, int number);
  void comes_down(std::uint32_t lane, int cls, std::uint8_t id);
  void commands_read(std::uint32_t lane, int cls);

  const TaskProgram& program_;
  const LanePlan& plan_;
  const Shape& shape_;
  const Layout at_;
  const std::array<int, kMostClasses> shape_of_;  // of the shape, by the program's
  const std::array<int, kMostClasses> class_of_;  // and the other way
  const TaskControl control_;
  const ArbiterRule arbiter_;
  const StepFunction step_;
  const unsigned width_;
  const std::uint32_t blocks_of_row_;
  const std::uint32_t blocks_;
  std::vector<Lane> lanes_;
  Bytes fields_;
  std::vector<std::uint8_t> awake_;
  std::vector<std::uint8_t> comes_;
  std::vector<Sleep> sleeps_;
  std::vector<Cycle> flushed_;  // by block: the window in which its counters were read last
  const std::uint64_t stride_;
  const std::uint64_t plane_;
  Bytes room_, sent_, sent_tags_;
  std::vector<Tags> tags_;  // by lane, slot and output queue
  std::vector<Start> starts_;
  Machine machine_;
  Cycle now_ = 0;
  Cycle end_ = 0;
  std::size_t running_ = 0;  // lanes with something to do
};

}  // namespace lacuna::wse::lanes
