// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/line.hpp"

#include <utility>

namespace lacuna::wse {
namespace {

// Group chains, chain of leaders (two each, in turn), result.
constexpr std::uint8_t kGroup = 0;
constexpr std::uint8_t kLeaders = 2;
constexpr Color kResult = CoreLine::result();

constexpr Color color_of(std::uint8_t first, std::uint32_t turn) {
  return Color{static_cast<std::uint8_t>(first + turn % 2)};
}

SwitchedRoute route(Color color, Port from, PortSet to) {
  SwitchedRoute route;
  route.color = color;
  route.from = from;
  route.to = to;
  return route;
}

constexpr std::uint8_t kGroupQueue = 0;  // the deepest
constexpr std::uint8_t kLeadersQueue = 1;
constexpr std::uint8_t kResultQueue = 2;

}  // namespace

std::uint32_t best_group(std::uint32_t cores, const RouterParams& router) {
  // A step of a chain takes ramp, hops, ramp and the beat (wafer chain: 2 T_R + 1 and the hops).
  const std::uint64_t step = 2 * std::uint64_t{router.ramp} + 1;
  const std::uint64_t hop = router.hop;
  std::uint32_t best = 1;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t group = 1; group <= cores; ++group) {
    const std::uint64_t leaders = (cores + group - 1) / group;
    const std::uint64_t cycles = (group - 1) * (step + hop) + (leaders - 1) * (step + group * hop);
    if (cycles >= least) continue;
    least = cycles;
    best = group;
  }
  return best;
}

CoreLine::CoreLine(std::uint32_t cores, Direction direction, const RouterParams& router)
    : cores_(cores),
      group_(best_group(cores, router)),
      ahead_(direction == Direction::columns ? kEast : kSouth),
      behind_(direction == Direction::columns ? kWest : kNorth) {}

bool CoreLine::takes_group(std::uint32_t core) const {
  return core + 1 < cores_ && !leads(core + 1);
}

bool CoreLine::takes_leaders(std::uint32_t core) const {
  return leads(core) && core + group_ < cores_;
}

Color CoreLine::group_in(std::uint32_t core) const { return color_of(kGroup, core % group_ + 1); }

Color CoreLine::leaders_in(std::uint32_t core) const {
  return color_of(kLeaders, core / group_ + 1);
}

Color CoreLine::sends(std::uint32_t core) const {
  if (core == 0) return kResult;
  return leads(core) ? color_of(kLeaders, core / group_) : color_of(kGroup, core % group_);
}

SwitchedRouter CoreLine::router(std::uint32_t core) const {
  SwitchedRouter made;
  if (cores_ == 1) return made;
  if (takes_group(core)) made.routes.push_back(route(group_in(core), ahead_, bit(kRamp)));
  if (takes_leaders(core)) made.routes.push_back(route(leaders_in(core), ahead_, bit(kRamp)));
  const std::uint32_t next_leader = (core / group_ + 1) * group_;
  if (!leads(core) && next_leader < cores_) {
    made.routes.push_back(route(color_of(kLeaders, core / group_ + 1), ahead_, bit(behind_)));
  }
  const bool last = core + 1 == cores_;
  if (core == 0) {
    made.routes.push_back(route(kResult, kRamp, bit(ahead_)));
  } else {
    made.routes.push_back(route(sends(core), kRamp, bit(behind_)));
    const auto on = static_cast<PortSet>(bit(kRamp) | (last ? 0U : bit(ahead_)));
    made.routes.push_back(route(kResult, behind_, on));
  }
  return made;
}

void CoreLine::use_queues(std::uint32_t core, CoreProgram& program) const {
  if (cores_ == 1) return;
  if (takes_group(core)) program.in.push_back({group_in(core), kGroupQueue});
  if (takes_leaders(core)) program.in.push_back({leaders_in(core), kLeadersQueue});
  if (core != 0) program.in.push_back({kResult, kResultQueue});
  program.out.push_back({sends(core), kOutQueue});
}

void CoreLine::reduce(std::uint32_t core, VectorOp op, Element element, std::uint32_t address,
                      std::uint64_t length, CoreCode& code) const {
  const Operand here = in_memory(address);
  const bool both = takes_group(core) && takes_leaders(core);
  // A leader with two inputs adds up its group in memory first.
  if (takes_group(core) && (both || core == 0)) {
    code.vector(op, element, here, on_fabric(group_in(core)), here, length);
  }
  const bool takes = takes_leaders(core) || (takes_group(core) && !both && core != 0);
  const Operand in = on_fabric(takes_leaders(core) ? leaders_in(core) : group_in(core));
  if (core == 0) {
    if (takes_leaders(core)) code.vector(op, element, here, in, here, length);
    return;
  }
  const Operand out = on_fabric(sends(core));
  if (takes) {
    code.vector(op, element, out, in, here, length);
  } else {
    code.move(element, out, here, length);
  }
}

void CoreLine::broadcast(std::uint32_t core, Element element, std::uint32_t address,
                         std::uint64_t length, CoreCode& code) const {
  if (cores_ == 1) return;
  if (core == 0) {
    code.move(element, on_fabric(kResult), in_memory(address), length);
  } else {
    code.move(element, in_memory(address), on_fabric(kResult), length);
  }
}

void add_line_core(const CoreLine& line, std::uint32_t core, CoreCode code, TaskProgram& part) {
  CoreProgram program = std::move(code).finish();
  line.use_queues(core, program);
  part.router_of.push_back(static_cast<std::uint32_t>(part.routers.size()));
  part.routers.push_back(line.router(core));
  part.core_of.push_back(static_cast<std::uint32_t>(part.cores.size()));
  part.cores.push_back(std::move(program));
}

}  // namespace lacuna::wse
