// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "workloads/mapping/wse/core_code.hpp"
#include "workloads/mapping/wse/direction.hpp"
#include "workloads/mapping/wse/inference/plan_cores.hpp"
#include "workloads/mapping/wse/ring_line.hpp"

namespace lacuna::wse {

/// A ring over a line of cores. Blocks are shifted from each core to the next on it. One core
/// shifts nothing. Several rings lie behind each other if there are more cores.
class CoreRing : public RingLine {
 public:
  CoreRing(std::uint32_t cores, Direction direction);

  /// Cores of equal kind use the same colors.
  std::uint32_t kind(std::uint32_t core) const;

  /// Routes of a core at `place` of a program.
  void route(TaskBuilder& builder, std::size_t place, std::uint32_t core) const;

  /// Sends `block` on, in a microthread of the ring; takes the next in, in another; or both.
  void send(CoreCode& code, std::uint32_t core, Element element, const Operand& block,
            std::uint64_t length) const;
  void take(CoreCode& code, std::uint32_t core, Element element, const Operand& block,
            std::uint64_t length) const;
  void shift(CoreCode& code, std::uint32_t core, std::uint32_t from, std::uint32_t to,
             std::uint32_t halves) const;
  /// Waits until both are done, or one of them.
  void wait(CoreCode& code) const;
  void wait_sent(CoreCode& code) const;
  void wait_taken(CoreCode& code) const;

 private:
  Color in(std::uint32_t core) const { return color(position(core) + cores() - 1); }
  Color out(std::uint32_t core) const { return color(position(core)); }

  Direction direction_;
  std::uint8_t sender_;  // microthreads
  std::uint8_t taker_;
  std::uint8_t slot_;  // of queues
};

/// Programs with rings along both axes; what a core does depends on its colors and on `more` of it.
template <typename More, typename Write>
TaskProgram plan_rings(const CoreRing& x, const CoreRing& y, const CoreExtent& extent,
                       const CoreMakers& makers, const More& more, const Write& write) {
  return plan_cores(
      extent, makers,
      [&](TaskBuilder& builder, std::uint32_t row, std::uint32_t column) {
        x.route(builder, builder.place(row, column), column);
        y.route(builder, builder.place(row, column), row);
      },
      [&](std::uint32_t row, std::uint32_t column) {
        return std::make_pair(x.kind(column) * 65536 + y.kind(row), more(row, column));
      },
      write);
}

}  // namespace lacuna::wse
