// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/kernels/line_move.hpp"

#include <algorithm>
#include <utility>

#include "models/wse/pe/vector_unit.hpp"

namespace lacuna::wse {
namespace {

/// Of the link that leaves a place of the line.
constexpr Color color_of(std::uint32_t place) {
  return Color{static_cast<std::uint8_t>(place % 2)};
}

/// One way along a line. Places count in the direction of the way.
class Way {
 public:
  Way(std::uint32_t cores, bool ahead, Direction direction, Element element,
      const LayerSetup& setup)
      : cores_(cores), ahead_(ahead), element_(element), setup_(setup) {
    const bool columns = direction == Direction::columns;
    part_.columns = columns ? cores : 1;
    part_.rows = columns ? 1 : cores;
    onward_ = ahead ? ahead_of(direction) : behind_of(direction);
    behind_ = ahead ? behind_of(direction) : ahead_of(direction);
  }

  std::optional<TaskProgram> program(const std::vector<LineVector>& vectors) {
    gather(vectors);
    if (mine_.empty()) return std::nullopt;
    part_.router_of.resize(cores_);
    part_.core_of.resize(cores_);
    part_.routers.resize(cores_);
    part_.cores.resize(cores_);
    passed_.assign(cores_, 0);
    for (std::uint32_t place = 0; place < cores_; ++place) add_core(place);
    return std::move(part_);
  }

 private:
  std::uint32_t place_of(std::uint32_t core) const { return ahead_ ? core : cores_ - 1 - core; }
  std::uint32_t words(std::uint32_t elements) const {
    return words_of(source_bytes(element_), elements);
  }

  void gather(const std::vector<LineVector>& vectors);
  void add_core(std::uint32_t place);
  bool send(std::uint32_t place, CoreCode& code);
  static void pass(std::uint32_t place, std::uint32_t& run, CoreCode& code);
  void take(std::uint32_t place, CoreCode& code) const;
  static void route(Color color, Port from, Port to, SwitchedRouter& router);

  std::uint32_t cores_;
  bool ahead_;
  Element element_;
  const LayerSetup& setup_;
  Port onward_ = kEast;
  Port behind_ = kWest;
  TaskProgram part_;
  std::vector<LineVector> mine_;                    // places for cores; farthest first
  std::vector<std::vector<std::uint32_t>> leave_;   // of mine_, by place
  std::vector<std::vector<std::uint32_t>> arrive_;  // likewise, in the order of arrival
  std::vector<std::uint32_t> passed_;               // words on the next link, by destination
};

/// Vectors that lie side by side in both cores are one.
void Way::gather(const std::vector<LineVector>& vectors) {
  const std::uint32_t bytes = source_bytes(element_);
  for (const LineVector& vector : vectors) {
    if (vector.length == 0 || place_of(vector.to) <= place_of(vector.from)) continue;
    LineVector next = vector;
    next.from = place_of(vector.from);
    next.to = place_of(vector.to);
    if (!mine_.empty()) {
      LineVector& last = mine_.back();
      const std::uint32_t size = last.length * bytes;
      if (last.from == next.from && last.to == next.to && last.from_at + size == next.from_at &&
          last.to_at + size == next.to_at) {
        last.length += next.length;
        continue;
      }
    }
    mine_.push_back(next);
  }
  std::stable_sort(mine_.begin(), mine_.end(), [](const LineVector& a, const LineVector& b) {
    return a.to != b.to ? a.to > b.to : a.from > b.from;
  });
  leave_.resize(cores_);
  arrive_.resize(cores_);
  for (std::uint32_t i = 0; i < mine_.size(); ++i) {
    leave_[mine_[i].from].push_back(i);
    arrive_[mine_[i].to].push_back(i);
  }
}

void Way::route(Color color, Port from, Port to, SwitchedRouter& router) {
  SwitchedRoute made;
  made.color = color;
  made.from = from;
  made.to = bit(to);
  router.routes.push_back(made);
}

void Way::add_core(std::uint32_t place) {
  const std::uint32_t core = ahead_ ? place : cores_ - 1 - place;
  const bool takes = std::any_of(passed_.begin() + place, passed_.end(),
                                 [](std::uint32_t count) { return count != 0; });
  CoreCode code(setup_.costs, setup_.functions);
  const bool sends = send(place, code);
  take(place, code);
  CoreProgram program = std::move(code).finish();
  SwitchedRouter router;
  if (sends) {
    route(color_of(place), kRamp, onward_, router);
    program.out.push_back({color_of(place), kOutQueue});
  }
  if (takes) {
    route(color_of(place + 1), behind_, kRamp, router);
    program.in.push_back({color_of(place + 1), kInQueue});
  }
  part_.router_of[core] = part_.core_of[core] = core;
  part_.routers[core] = std::move(router);
  part_.cores[core] = std::move(program);
}

/// What leaves a place, the farthest first: its own, then what comes for the same core from behind.
bool Way::send(std::uint32_t place, CoreCode& code) {
  bool sends = false;
  std::uint32_t run = 0;  // words to pass on
  auto own = leave_[place].begin();
  for (std::uint32_t to = cores_ - 1; to > place; --to) {
    std::uint32_t added = 0;
    for (; own != leave_[place].end() && mine_[*own].to == to; ++own) {
      pass(place, run, code);
      const LineVector& vector = mine_[*own];
      code.move(element_, on_fabric(color_of(place)), in_memory(vector.from_at), vector.length);
      added += words(vector.length);
    }
    run += passed_[to];
    passed_[to] += added;
    sends = sends || passed_[to] != 0;
  }
  pass(place, run, code);
  return sends;
}

void Way::pass(std::uint32_t place, std::uint32_t& run, CoreCode& code) {
  code.move(Element::fp32, on_fabric(color_of(place)), on_fabric(color_of(place + 1)), run);
  run = 0;
}

void Way::take(std::uint32_t place, CoreCode& code) const {
  for (const std::uint32_t i : arrive_[place]) {
    const LineVector& vector = mine_[i];
    code.move(element_, in_memory(vector.to_at), on_fabric(color_of(place + 1)), vector.length);
  }
}

}  // namespace

LineMove move_along(const std::vector<LineVector>& vectors, std::uint32_t cores,
                    Direction direction, Element element, const LayerSetup& setup) {
  LineMove move;
  move.ahead = Way(cores, true, direction, element, setup).program(vectors);
  move.back = Way(cores, false, direction, element, setup).program(vectors);
  return move;
}

}  // namespace lacuna::wse
