// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "workloads/mapping/wse/core_code.hpp"
#include "workloads/mapping/wse/direction.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"

namespace lacuna::wse {

/// A vector in the memory of each core of a line that becomes the sum, or the maximum, of all.
struct SummedVector {
  std::uint32_t address = 0;  // bytes
  std::uint32_t elements = 0;
  Element element = Element::fp32;
  VectorOp op = VectorOp::add;
  bool to_all = true;              // or to the root alone
  std::uint32_t merge_cycles = 0;  // not 0: lists, which scalar code merges once they are there
};

/// An all-reduce along a line in two levels. First both ends of each group of neighbours stream
/// towards its middle, each core adding its own; two colors by parity. Then the middles stream
/// towards that of the middle group, past the cores between them; two more. Its result goes back to
/// all on a fifth. One group is one level, with three colors.
class LineSums {
 public:
  /// `groups` is at least 1 and at most `cores`. Colors from `first_color` on.
  LineSums(std::uint32_t cores, std::uint32_t groups, unsigned first_color);

  /// Of one core or more: equal groups, as many as are nearest to the root of `cores`; of two the
  /// larger number. If that is more than twice the root, the root, of groups that differ by a core.
  static std::uint32_t usual_groups(std::uint32_t cores);

  /// llm.groups of a line of so many cores.
  static std::uint32_t groups_of(const InferenceParams& params, std::uint32_t cores);

  std::uint32_t cores() const { return cores_; }
  std::uint32_t groups() const { return groups_; }
  std::uint32_t root() const { return middle_of(groups_ / 2); }

  /// A core whose sum has the longest way: an end of a largest group, of which the last is one.
  std::uint32_t farthest() const { return cores_ % groups_ == 0 ? 0 : begin_of(groups_ - 1); }
  unsigned colors() const { return groups_ > 1 ? 5 : 3; }

  /// Cores with the same word do the same.
  std::string role(std::uint32_t core) const;

  /// Routes of one line: `place` gives its cores in order. The first `takers` of them take the
  /// result.
  void route(TaskBuilder& builder, const std::function<std::size_t(std::uint32_t)>& place,
             Direction direction, std::uint32_t takers = ~0U) const;

  /// Appends what a core does.
  void write(CoreCode& code, std::uint32_t core, const SummedVector& vector) const;

  /// The color of the result, and what a core does with it: the root sends `own`, others take so
  /// many elements of it there.
  Color result() const { return color(kBroadcast); }
  void broadcast(CoreCode& code, std::uint32_t core, Element element, const Operand& own,
                 std::uint32_t elements) const;

 private:
  /// Colors, counted from the first, on which a core takes and sends; kNone: not at all.
  struct Level {
    int lower = kNone;  // comes in from the side of the first core
    int upper = kNone;
    int out = kNone;
  };
  static constexpr int kNone = -1;
  static constexpr int kBroadcast = 4;

  std::uint32_t begin_of(std::uint32_t group) const {
    return static_cast<std::uint32_t>(std::uint64_t{group} * cores_ / groups_);
  }
  std::uint32_t middle_of(std::uint32_t group) const {
    return begin_of(group) + (begin_of(group + 1) - begin_of(group)) / 2;
  }
  std::uint32_t group_of(std::uint32_t core) const;
  Level within(std::uint32_t core) const;
  Level between(std::uint32_t core) const;
  Color color(int slot) const;

  /// Where a line lies.
  struct Laid {
    TaskBuilder& builder;
    const std::function<std::size_t(std::uint32_t)>& place;
    Port lower;
    Port upper;

    void route(std::uint32_t core, Color color, Port from, PortSet to) const;
  };
  void route_group(const Laid& laid, std::uint32_t core) const;
  void route_broadcast(const Laid& laid, std::uint32_t core, std::uint32_t takers) const;
  void route_out(const Laid& laid, std::uint32_t group) const;
  void level(CoreCode& code, const Level& level, const SummedVector& vector) const;

  std::uint32_t cores_;
  std::uint32_t groups_;
  unsigned first_color_;
};

/// A line of cores by itself: `write` appends what each of them does.
TaskProgram plan_line(const LineSums& line, Direction direction, const CodeCosts& costs,
                      const InferenceParams& params,
                      const std::function<void(CoreCode& code, std::uint32_t core)>& write,
                      std::uint32_t takers = ~0U);

/// One sum along a line of cores, from north to south, of `elements` numbers in single precision;
/// every core stamps its end.
TaskProgram plan_line_sum(const LineSums& line, std::uint32_t elements, const CodeCosts& costs,
                          const InferenceParams& params);

}  // namespace lacuna::wse
