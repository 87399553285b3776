// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/kernels/line_route.hpp"

#include <algorithm>

#include "models/wse/pe/vector_unit.hpp"

namespace lacuna::wse {
namespace {

constexpr Color kStream{0};

/// Places count in the direction of the way, as in move_along().
class Route {
 public:
  Route(std::uint32_t cores, Direction direction, bool ahead, Element element,
        const LayerSetup& setup)
      : cores_(cores), ahead_(ahead), element_(element), setup_(setup) {
    const bool columns = direction == Direction::columns;
    part_.columns = columns ? cores : 1;
    part_.rows = columns ? 1 : cores;
    onward_ = ahead ? ahead_of(direction) : behind_of(direction);
    behind_ = ahead ? behind_of(direction) : ahead_of(direction);
  }

  std::optional<TaskProgram> program(const std::vector<LineVector>& vectors) {
    collect(vectors);
    if (mine_.empty()) return std::nullopt;
    const auto same = [this](auto member) {
      return std::all_of(mine_.begin(), mine_.end(),
                         [&](const LineVector& v) { return v.*member == mine_.front().*member; });
    };
    from_one_ = same(&LineVector::from);
    const bool to_one = same(&LineVector::to);
    const bool far = std::any_of(mine_.begin(), mine_.end(),
                                 [](const LineVector& v) { return v.to - v.from > 1; });
    if (!(from_one_ || to_one) || !far) return std::nullopt;
    part_.router_of.resize(cores_);
    part_.core_of.resize(cores_);
    part_.routers.resize(cores_);
    part_.cores.resize(cores_);
    for (std::uint32_t place = 0; place < cores_; ++place) add_core(place);
    return std::move(part_);
  }

 private:
  std::uint32_t place_of(std::uint32_t core) const { return ahead_ ? core : cores_ - 1 - core; }
  std::uint32_t words(const LineVector& vector) const {
    return words_of(source_bytes(element_), vector.length);
  }

  /// In the order of the stream: the farthest first from one core, the nearest to one.
  void collect(const std::vector<LineVector>& vectors) {
    for (const LineVector& vector : vectors) {
      if (vector.length == 0 || place_of(vector.to) <= place_of(vector.from)) continue;
      mine_.push_back(vector);
      mine_.back().from = place_of(vector.from);
      mine_.back().to = place_of(vector.to);
    }
    std::stable_sort(mine_.begin(), mine_.end(), [](const LineVector& a, const LineVector& b) {
      return a.to != b.to ? a.to > b.to : a.from > b.from;
    });
    for (const LineVector& vector : mine_) {
      first_ = std::min(first_, vector.from);
      last_ = std::max(last_, vector.to);
      all_ += words(vector);
    }
  }

  void add_core(std::uint32_t place);

  std::uint32_t cores_;
  bool ahead_;
  Element element_;
  const LayerSetup& setup_;
  Port onward_ = kEast;
  Port behind_ = kWest;
  bool from_one_ = false;
  TaskProgram part_;
  std::vector<LineVector> mine_;  // places for cores
  std::uint32_t first_ = ~std::uint32_t{0};
  std::uint32_t last_ = 0;
  std::uint32_t all_ = 0;  // words of the stream
};

SwitchedRoute route(Port from, PortSet to, std::uint8_t position = 0) {
  SwitchedRoute made;
  made.color = kStream;
  made.from = from;
  made.to = to;
  made.position = position;
  return made;
}

void Route::add_core(std::uint32_t place) {
  CoreCode code(setup_.costs, setup_.functions);
  SwitchedRouter router;
  std::uint32_t sent = 0;
  std::uint32_t taken = 0;
  std::uint32_t before = 0;  // words of the stream before those of this place
  for (const LineVector& vector : mine_) {
    if (vector.from == place) {
      code.move(element_, on_fabric(kStream), in_memory(vector.from_at), vector.length);
      sent += words(vector);
    } else if (vector.to == place) {
      code.move(element_, in_memory(vector.to_at), on_fabric(kStream), vector.length);
      taken += words(vector);
    } else if (taken == 0) {
      before += words(vector);
    }
  }
  const bool more_behind = sent != 0 && first_ < place;
  if (more_behind) code.switch_after(first_command(SwitchCommand::advance) | kOwnRouterOnly);
  CoreProgram program = std::move(code).finish();
  if (sent != 0) {
    router.routes.push_back(route(kRamp, bit(onward_)));
    program.out.push_back({kStream, kOutQueue});
    if (more_behind) router.routes.push_back(route(behind_, bit(onward_), 1));
  } else if (first_ < place && place <= last_) {
    const auto onward = static_cast<PortSet>(place < last_ ? bit(onward_) : 0U);
    const auto here = static_cast<PortSet>(taken != 0 ? bit(kRamp) : 0U);
    router.routes.push_back(route(behind_, static_cast<PortSet>(onward | here)));
  }
  if (taken != 0) {
    program.in.push_back({kStream, kInQueue});
    if (taken != all_) {
      router.filters.push_back({kStream, WaveletFilter::counter(taken, all_, before)});
    }
  }
  part_.router_of[place_of(place)] = part_.core_of[place_of(place)] = place;
  part_.routers[place] = std::move(router);
  part_.cores[place] = std::move(program);
}

}  // namespace

std::optional<TaskProgram> route_along(const std::vector<LineVector>& vectors, std::uint32_t cores,
                                       Direction direction, bool ahead, Element element,
                                       const LayerSetup& setup) {
  return Route(cores, direction, ahead, element, setup).program(vectors);
}

}  // namespace lacuna::wse
