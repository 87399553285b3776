// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/line_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lacuna::wse {

LineSums::LineSums(std::uint32_t cores, std::uint32_t groups, unsigned first_color)
    : cores_(cores), groups_(groups), first_color_(first_color) {}

std::uint32_t LineSums::usual_groups(std::uint32_t cores) {
  constexpr double kFar = 2;  // times the root
  const double root = std::sqrt(cores);
  auto groups = static_cast<std::uint32_t>(std::ceil(root));
  while (cores % groups != 0) ++groups;
  return groups <= kFar * root ? groups : static_cast<std::uint32_t>(std::lround(root));
}

std::uint32_t LineSums::groups_of(const InferenceParams& params, std::uint32_t cores) {
  return params.groups == 0 ? usual_groups(cores) : std::min<std::uint32_t>(params.groups, cores);
}

std::uint32_t LineSums::group_of(std::uint32_t core) const {
  auto group = static_cast<std::uint32_t>(std::uint64_t{core} * groups_ / cores_);
  while (begin_of(group) > core) --group;
  while (begin_of(group + 1) <= core) ++group;
  return group;
}

// A core before the middle sends on the color of its own parity, a core behind the middle on the
// other color. So what reaches the middle from its two sides has two colors.
LineSums::Level LineSums::within(std::uint32_t core) const {
  const std::uint32_t group = group_of(core);
  const std::uint32_t middle = middle_of(group);
  Level level;
  if (core <= middle && core > begin_of(group)) level.lower = static_cast<int>((core - 1) % 2);
  if (core >= middle && core + 1 < begin_of(group + 1)) level.upper = static_cast<int>(core % 2);
  if (core < middle) level.out = static_cast<int>(core % 2);
  if (core > middle) level.out = static_cast<int>((core + 1) % 2);
  return level;
}

LineSums::Level LineSums::between(std::uint32_t core) const {
  const std::uint32_t group = group_of(core);
  const std::uint32_t middle = groups_ / 2;
  Level level;
  if (core != middle_of(group)) return level;
  if (group <= middle && group > 0) level.lower = 2 + static_cast<int>((group - 1) % 2);
  if (group >= middle && group + 1 < groups_) level.upper = 2 + static_cast<int>(group % 2);
  if (group < middle) level.out = 2 + static_cast<int>(group % 2);
  if (group > middle) level.out = 2 + static_cast<int>((group + 1) % 2);
  return level;
}

Color LineSums::color(int slot) const {
  const bool spread = slot == kBroadcast && groups_ == 1;
  return static_cast<Color>(first_color_ + (spread ? 2U : static_cast<unsigned>(slot)));
}

std::string LineSums::role(std::uint32_t core) const {
  const Level a = within(core);
  const Level b = between(core);
  return fmt::format("{},{},{},{},{},{},{}", a.lower, a.upper, a.out, b.lower, b.upper, b.out,
                     core == root() ? 1 : 0);
}

void LineSums::Laid::route(std::uint32_t core, Color color, Port from, PortSet to) const {
  builder.route(place(core), color, from, to);
}

/// What a core takes in of both levels, and sends towards the middle of its group.
void LineSums::route_group(const Laid& laid, std::uint32_t core) const {
  const Level inner = within(core);
  for (const Level& level : {inner, between(core)}) {
    if (level.lower != kNone) laid.route(core, color(level.lower), laid.lower, bit(kRamp));
    if (level.upper != kNone) laid.route(core, color(level.upper), laid.upper, bit(kRamp));
  }
  if (inner.out == kNone) return;
  const bool before = core < middle_of(group_of(core));
  laid.route(core, color(inner.out), kRamp, bit(before ? laid.upper : laid.lower));
}

/// The result from the root towards both ends, as far as cores take it.
void LineSums::route_broadcast(const Laid& laid, std::uint32_t core, std::uint32_t takers) const {
  PortSet to = core == root() || core >= takers ? PortSet{0} : bit(kRamp);
  if (core <= root() && core > 0) to = static_cast<PortSet>(to | bit(laid.lower));
  if (core >= root() && core + 1 < takers) to = static_cast<PortSet>(to | bit(laid.upper));
  if (to == 0) return;
  const Port from = core == root() ? kRamp : core < root() ? laid.upper : laid.lower;
  laid.route(core, color(kBroadcast), from, to);
}

/// From the middle of a group past the cores up to that of the next towards the root.
void LineSums::route_out(const Laid& laid, std::uint32_t group) const {
  const std::uint32_t start = middle_of(group);
  const Level outer = between(start);
  if (outer.out == kNone) return;
  const bool up = group < groups_ / 2;
  const std::uint32_t end = middle_of(up ? group + 1 : group - 1);
  const PortSet onward = bit(up ? laid.upper : laid.lower);
  laid.route(start, color(outer.out), kRamp, onward);
  for (std::uint32_t core = up ? start + 1 : start - 1; core != end; core += up ? 1 : ~0U) {
    laid.route(core, color(outer.out), up ? laid.lower : laid.upper, onward);
  }
}

void LineSums::route(TaskBuilder& builder, const std::function<std::size_t(std::uint32_t)>& place,
                     Direction direction, std::uint32_t takers) const {
  if (cores_ == 1) return;
  const Laid laid{builder, place, behind_of(direction), ahead_of(direction)};
  for (std::uint32_t core = 0; core < cores_; ++core) {
    route_group(laid, core);
    route_broadcast(laid, core, std::min(takers, cores_));
  }
  for (std::uint32_t group = 0; group < groups_; ++group) route_out(laid, group);
}

void LineSums::level(CoreCode& code, const Level& level, const SummedVector& vector) const {
  const Operand own = in_memory(vector.address);
  const auto add = [&](const Operand& to, int slot) {
    code.take(color(slot), static_cast<std::uint8_t>(slot));
    if (vector.merge_cycles != 0) {
      code.move(vector.element, own, on_fabric(color(slot)), vector.elements);
      code.scalar(vector.merge_cycles);
      if (to.kind == Operand::Kind::memory) return;
      code.move(vector.element, to, own, vector.elements);
      return;
    }
    code.vector(vector.op, vector.element, to, on_fabric(color(slot)), own, vector.elements);
  };
  if (level.out == kNone) {
    if (level.lower != kNone) add(own, level.lower);
    if (level.upper != kNone) add(own, level.upper);
    return;
  }
  const Operand out = on_fabric(color(level.out));
  code.send(color(level.out), static_cast<std::uint8_t>(level.out));
  if (level.lower != kNone) {
    add(out, level.lower);
  } else if (level.upper != kNone) {
    add(out, level.upper);
  } else {
    code.move(vector.element, out, own, vector.elements);
  }
}

void LineSums::write(CoreCode& code, std::uint32_t core, const SummedVector& vector) const {
  if (cores_ == 1) return;
  code.scalar(code.params().sum_step);
  level(code, within(core), vector);
  if (groups_ > 1) {
    code.scalar(code.params().sum_step);
    level(code, between(core), vector);
  }
  if (vector.to_all) {
    broadcast(code, core, vector.element, in_memory(vector.address), vector.elements);
  }
}

void LineSums::broadcast(CoreCode& code, std::uint32_t core, Element element, const Operand& own,
                         std::uint32_t elements) const {
  code.scalar(code.params().sum_step);
  if (core == root()) {
    code.send(result(), kBroadcast);
    code.move(element, on_fabric(result()), own, elements);
  } else {
    code.take(result(), kBroadcast);
    code.move(element, own, on_fabric(result()), elements);
  }
}

TaskProgram plan_line(const LineSums& line, Direction direction, const CodeCosts& costs,
                      const InferenceParams& params,
                      const std::function<void(CoreCode& code, std::uint32_t core)>& write,
                      std::uint32_t takers) {
  const bool columns = direction == Direction::columns;
  TaskBuilder builder(columns ? line.cores() : 1, columns ? 1 : line.cores());
  line.route(
      builder, [](std::uint32_t i) { return std::size_t{i}; }, direction, takers);
  SharedRoutines routines(builder);
  for (std::uint32_t i = 0; i < line.cores(); ++i) {
    CoreCode code(costs, params, routines);
    write(code, i);
    builder.core(i, builder.share(std::move(code).finish()));
  }
  return std::move(builder).finish();
}

TaskProgram plan_line_sum(const LineSums& line, std::uint32_t elements, const CodeCosts& costs,
                          const InferenceParams& params) {
  return plan_line(line, Direction::rows, costs, params, [&](CoreCode& code, std::uint32_t core) {
    line.write(code, core, {0, elements, Element::fp32});
    code.stamp();
  });
}

}  // namespace lacuna::wse
