// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/kernels/line_route.hpp"

#include <algorithm>

#include "models/wse/pe/vector_unit.hpp"

namespace lacuna::wse {
namespace {

constexpr Color kStream{0};

/// Words stay in the routers between.
class RoutedLine : LineWay {
 public:
  using LineWay::LineWay;

  std::optional<TaskProgram> program(const std::vector<LineVector>& vectors) {
    collect(vectors);
    order();
    measure();
    if (mine_.empty()) return std::nullopt;
    const auto same = [this](auto member) {
      return std::all_of(mine_.begin(), mine_.end(),
                         [&](const LineVector& v) { return v.*member == mine_.front().*member; });
    };
    const bool from_one = same(&LineVector::from);
    const bool to_one = same(&LineVector::to);
    const bool far = std::any_of(mine_.begin(), mine_.end(),
                                 [](const LineVector& v) { return v.to - v.from > 1; });
    if (!(from_one || to_one) || !far) return std::nullopt;
    for (std::uint32_t place = 0; place < cores_; ++place) add_core(place);
    return std::move(part_);
  }

 private:
  /// The order is that of the stream: the farthest first from one core, the nearest to one.
  void measure() {
    for (const LineVector& vector : mine_) {
      first_ = std::min(first_, vector.from);
      last_ = std::max(last_, vector.to);
      all_ += words(vector.length);
    }
  }

  void add_core(std::uint32_t place);

  std::uint32_t first_ = ~std::uint32_t{0};
  std::uint32_t last_ = 0;
  std::uint32_t all_ = 0;  // words of the stream
};

Route route(Port from, PortSet to, std::uint8_t position = 0) {
  Route made;
  made.color = kStream;
  made.from = from;
  made.to = to;
  made.position = position;
  return made;
}

void RoutedLine::add_core(std::uint32_t place) {
  CoreCode code(setup_.costs, setup_.functions);
  RouterProgram router;
  std::uint32_t sent = 0;
  std::uint32_t taken = 0;
  std::uint32_t before = 0;  // words of the stream before those of this place
  for (const LineVector& vector : mine_) {
    if (vector.from == place) {
      code.move(element_, on_fabric(kStream), in_memory(vector.from_at), vector.length);
      sent += words(vector.length);
    } else if (vector.to == place) {
      code.move(element_, in_memory(vector.to_at), on_fabric(kStream), vector.length);
      taken += words(vector.length);
    } else if (taken == 0) {
      before += words(vector.length);
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
  put(place, std::move(program), std::move(router));
}

}  // namespace

std::optional<TaskProgram> route_along(const std::vector<LineVector>& vectors, std::uint32_t cores,
                                       Direction direction, bool ahead, Element element,
                                       const LayerSetup& setup) {
  return RoutedLine(cores, ahead, direction, element, setup).program(vectors);
}

}  // namespace lacuna::wse
