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

/// Each core hands on to its neighbour.
class Way : LineWay {
 public:
  using LineWay::LineWay;

  std::optional<TaskProgram> program(const std::vector<LineVector>& vectors) {
    gather(vectors);
    if (mine_.empty()) return std::nullopt;
    passed_.assign(cores_, 0);
    for (std::uint32_t place = 0; place < cores_; ++place) add_core(place);
    return std::move(part_);
  }

 private:
  void gather(const std::vector<LineVector>& vectors);
  void add_core(std::uint32_t place);
  bool send(std::uint32_t place, CoreCode& code);
  static void pass(std::uint32_t place, std::uint32_t& run, CoreCode& code);
  void take(std::uint32_t place, CoreCode& code) const;
  static void route(Color color, Port from, Port to, RouterProgram& router);

  std::vector<std::vector<std::uint32_t>> leave_;   // of mine_, by place
  std::vector<std::vector<std::uint32_t>> arrive_;  // likewise, in the order of arrival
  std::vector<std::uint32_t> passed_;               // words on the next link, by destination
};

/// Vectors that lie side by side in both cores are one.
void Way::gather(const std::vector<LineVector>& vectors) {
  const std::uint32_t bytes = source_bytes(element_);
  collect(vectors);
  std::vector<LineVector> whole;
  for (const LineVector& next : mine_) {
    if (!whole.empty()) {
      LineVector& last = whole.back();
      const std::uint32_t size = last.length * bytes;
      if (last.from == next.from && last.to == next.to && last.from_at + size == next.from_at &&
          last.to_at + size == next.to_at) {
        last.length += next.length;
        continue;
      }
    }
    whole.push_back(next);
  }
  mine_ = std::move(whole);
  order();
  leave_.resize(cores_);
  arrive_.resize(cores_);
  for (std::uint32_t i = 0; i < mine_.size(); ++i) {
    leave_[mine_[i].from].push_back(i);
    arrive_[mine_[i].to].push_back(i);
  }
}

void Way::route(Color color, Port from, Port to, RouterProgram& router) {
  Route made;
  made.color = color;
  made.from = from;
  made.to = bit(to);
  router.routes.push_back(made);
}

void Way::add_core(std::uint32_t place) {
  const bool takes = std::any_of(passed_.begin() + place, passed_.end(),
                                 [](std::uint32_t count) { return count != 0; });
  CoreCode code(setup_.costs, setup_.functions);
  const bool sends = send(place, code);
  take(place, code);
  CoreProgram program = std::move(code).finish();
  RouterProgram router;
  if (sends) {
    route(color_of(place), kRamp, onward_, router);
    program.out.push_back({color_of(place), kOutQueue});
  }
  if (takes) {
    route(color_of(place + 1), behind_, kRamp, router);
    program.in.push_back({color_of(place + 1), kInQueue});
  }
  put(place, std::move(program), std::move(router));
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

LineWay::LineWay(std::uint32_t cores, bool ahead, Direction direction, Element element,
                 const LayerSetup& setup)
    : cores_(cores),
      ahead_(ahead),
      element_(element),
      setup_(setup),
      onward_(ahead ? ahead_of(direction) : behind_of(direction)),
      behind_(ahead ? behind_of(direction) : ahead_of(direction)) {
  const bool columns = direction == Direction::columns;
  part_.columns = columns ? cores : 1;
  part_.rows = columns ? 1 : cores;
  part_.router_of.resize(cores);
  part_.core_of.resize(cores);
  part_.routers.resize(cores);
  part_.cores.resize(cores);
}

std::uint32_t LineWay::words(std::uint32_t elements) const {
  return words_of(source_bytes(element_), elements);
}

void LineWay::collect(const std::vector<LineVector>& vectors) {
  for (const LineVector& vector : vectors) {
    if (vector.length == 0 || place_of(vector.to) <= place_of(vector.from)) continue;
    mine_.push_back(vector);
    mine_.back().from = place_of(vector.from);
    mine_.back().to = place_of(vector.to);
  }
}

void LineWay::order() {
  std::stable_sort(mine_.begin(), mine_.end(), [](const LineVector& a, const LineVector& b) {
    return a.to != b.to ? a.to > b.to : a.from > b.from;
  });
}

void LineWay::put(std::uint32_t place, CoreProgram program, RouterProgram router) {
  const std::uint32_t core = place_of(place);
  part_.router_of[core] = part_.core_of[core] = core;
  part_.routers[core] = std::move(router);
  part_.cores[core] = std::move(program);
}

LineMove move_along(const std::vector<LineVector>& vectors, std::uint32_t cores,
                    Direction direction, Element element, const LayerSetup& setup) {
  LineMove move;
  move.ahead = Way(cores, true, direction, element, setup).program(vectors);
  move.back = Way(cores, false, direction, element, setup).program(vectors);
  return move;
}

Cycle estimated_move(const std::vector<LineVector>& vectors, Element element, Cycle start,
                     bool ahead) {
  struct Place {
    Cycle sends = 0;  // cycles for what leaves it,
    Cycle takes = 0;  // and for what comes; the first start is over before its turn comes
    int begin = 0;    // vectors, less those that end
  };
  std::vector<Place> places;
  for (const LineVector& v : vectors) {
    if (v.from == v.to || (v.from < v.to) != ahead) continue;
    const std::uint32_t last = std::max(v.from, v.to);
    if (places.size() <= last) places.resize(last + std::size_t{1});
    const Cycle words = words_of(source_bytes(element), v.length);
    Place& first = places[std::min(v.from, v.to)];
    ++first.begin;
    --places[last].begin;
    for (Cycle* const all : {&places[v.from].sends, &places[v.to].takes}) {
      *all += words + (*all == 0 ? 0 : start);
    }
  }
  Cycle most = 0;
  Cycle stretch = 0;
  int open = 0;
  for (const Place& place : places) {
    stretch += place.sends;
    most = std::max({most, stretch, place.takes});
    if ((open += place.begin) == 0) stretch = 0;
  }
  return most;
}

}  // namespace lacuna::wse
