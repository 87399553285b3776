// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/wse/program/task_program.hpp"
#include "workloads/mapping/wse/direction.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"

namespace lacuna::wse {

/// Neighbouring elements of one core of a line, and where in another they belong.
struct LineVector {
  std::uint32_t from = 0;  // core
  std::uint32_t to = 0;
  std::uint32_t length = 0;   // elements
  std::uint32_t from_at = 0;  // bytes, where it begins in the memory of its core
  std::uint32_t to_at = 0;
};

/// One way along a line of cores, and the program of its cores. Places count in its direction.
class LineWay {
 public:
  LineWay(std::uint32_t cores, bool ahead, Direction direction, Element element,
          const LayerSetup& setup);

 protected:
  std::uint32_t place_of(std::uint32_t core) const { return ahead_ ? core : cores_ - 1 - core; }
  std::uint32_t words(std::uint32_t elements) const;

  /// Those of `vectors` that go this way.
  void collect(const std::vector<LineVector>& vectors);
  /// What goes farthest first, and of that what comes from farthest behind last.
  void order();
  void put(std::uint32_t place, CoreProgram program, RouterProgram router);

  std::uint32_t cores_;
  bool ahead_;
  Element element_;
  const LayerSetup& setup_;
  Port onward_;
  Port behind_;
  TaskProgram part_;
  std::vector<LineVector> mine_;  // places for cores
};

/// The programs that move vectors along a line of cores: one for those that go ahead (to higher
/// numbers), one for those that go back. None if nothing goes that way.
struct LineMove {
  std::optional<TaskProgram> ahead;
  std::optional<TaskProgram> back;
};

/// A core hands its vectors to one neighbour and passes on what its other neighbour hands to it.
/// What goes farthest goes first, and of that the core's own first; it takes its own at last. So
/// links carry only what has to cross them, every core knows the order of its words beforehand, and
/// two colors that alternate from link to link are enough. An instruction for each vector that is
/// sent or taken and for each run of words passed on; an odd FP16 vector ends in a half-filled
/// word. What stays in its core is not touched. `element`: fp16 or fp32.
LineMove move_along(const std::vector<LineVector>& vectors, std::uint32_t cores,
                    Direction direction, Element element, const LayerSetup& setup);

/// What one way takes, roughly: as no core sends what goes less far before what goes farther, links
/// in use that follow each other carry all that leaves their cores one after the other. `start`:
/// cycles from a vector of a core to the next.
Cycle estimated_move(const std::vector<LineVector>& vectors, Element element, Cycle start,
                     bool ahead);

}  // namespace lacuna::wse
