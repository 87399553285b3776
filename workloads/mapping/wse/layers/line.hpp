// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "workloads/mapping/wse/core_code.hpp"

namespace lacuna::wse {

/// The queues of a core that words of a line go through, the deepest of each kind.
constexpr std::uint8_t kInQueue = 0;
constexpr std::uint8_t kOutQueue = 2;

/// Sums or maxima over a line of cores, to its first and back to all.
///
/// Groups of neighbours add up along a chain to the first of each group, these along a chain to
/// the first of the line (two-phase reduce); a single color then brings the result to all. A core
/// sends on at most one color. In a chain two colors alternate, so that what a core takes in and
/// what it sends never meet on a link.
class CoreLine {
 public:
  enum class Direction : std::uint8_t { columns, rows };  // of neighbours: in x, in y

  /// The size of groups is that of the fewest cycles for vectors of one word.
  CoreLine(std::uint32_t cores, Direction direction, const RouterParams& router);

  std::uint32_t cores() const { return cores_; }
  std::uint32_t group() const { return group_; }

  SwitchedRouter router(std::uint32_t core) const;

  /// The color that leads from the first core to the others.
  static constexpr Color result() { return Color{4}; }

  /// Says which queues the colors use.
  void use_queues(std::uint32_t core, CoreProgram& program) const;

  /// Combines `length` elements at `address` of all cores at that of the first.
  void reduce(std::uint32_t core, VectorOp op, Element element, std::uint32_t address,
              std::uint64_t length, CoreCode& code) const;

  /// Copies `length` elements at `address` of the first core to that of the others.
  void broadcast(std::uint32_t core, Element element, std::uint32_t address, std::uint64_t length,
                 CoreCode& code) const;

 private:
  bool leads(std::uint32_t core) const { return core % group_ == 0; }
  /// What the core takes in of its group, and of the leaders after it; what it sends.
  bool takes_group(std::uint32_t core) const;
  bool takes_leaders(std::uint32_t core) const;
  Color group_in(std::uint32_t core) const;
  Color leaders_in(std::uint32_t core) const;
  Color sends(std::uint32_t core) const;

  std::uint32_t cores_;
  std::uint32_t group_ = 1;
  Port ahead_;   // away from the first core
  Port behind_;  // towards it
};

/// Adds core `core` of a line, which runs `code`, to the end of a part that is this line.
void add_line_core(const CoreLine& line, std::uint32_t core, CoreCode code, TaskProgram& part);

/// Size of groups with which a two-phase reduce of one word over `cores` takes the fewest cycles.
std::uint32_t best_group(std::uint32_t cores, const RouterParams& router);

}  // namespace lacuna::wse
