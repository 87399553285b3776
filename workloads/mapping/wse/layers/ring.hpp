// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/program/task_program.hpp"
#include "workloads/mapping/wse/core_code.hpp"
#include "workloads/mapping/wse/layers/line.hpp"

namespace lacuna::wse {

/// A closed ring over a line of cores: even ones forward, odd ones back, so that no link is longer
/// than two hops. Blocks are shifted from each core to the next on it. A link alternates between
/// two colors of its direction, so that what a core takes in and what it sends never meet.
class CoreRing {
 public:
  CoreRing(std::uint32_t cores, CoreLine::Direction direction);

  std::uint32_t cores() const { return static_cast<std::uint32_t>(positions_.size()); }

  /// Place of a core on the ring.
  std::uint32_t position(std::uint32_t core) const { return positions_[core]; }

  /// Cores of equal kind use the same colors.
  std::uint32_t kind(std::uint32_t core) const;

  /// Colors on which a core takes in and sends.
  Color in(std::uint32_t core) const;
  Color out(std::uint32_t core) const;

  void add_routes(std::uint32_t core, SwitchedRouter& router) const;
  void use_queues(std::uint32_t core, CoreProgram& program) const;

  /// Sends `block` on, in a microthread of the ring; takes the next in, in another.
  void send(std::uint32_t core, Element element, const Operand& block, std::uint64_t length,
            CoreCode& code) const;
  void take(std::uint32_t core, Element element, const Operand& block, std::uint64_t length,
            CoreCode& code) const;

  /// Waits until both are done, or one of them.
  void wait(CoreCode& code) const;
  void wait_taken(CoreCode& code) const;
  void wait_sent(CoreCode& code) const;

 private:
  bool goes_ahead(std::uint32_t position) const;
  Color color(std::uint32_t position) const;

  std::vector<std::uint32_t> ring_;       // cores in its order
  std::vector<std::uint32_t> positions_;  // of each core
  std::uint8_t first_color_;
  std::uint8_t first_thread_;
  std::uint8_t queue_;  // in; out: two more
  Port ahead_;
  Port behind_;
};

}  // namespace lacuna::wse
