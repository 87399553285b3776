// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/wse/program/task_program.hpp"

namespace lacuna::wse {

/// Where data begins in the memory of a core; a beat reads two operands in one cycle only if
/// they are four bytes apart modulo eight.
enum class Half8 : std::uint8_t { lower, upper };

/// Deals out the memory of a core, from its beginning.
class CoreSpace {
 public:
  /// The address of `elements` of `bytes` each, at 0 or 4 modulo 8.
  std::uint32_t take(std::uint64_t elements, unsigned bytes, Half8 where = Half8::lower) {
    const std::uint64_t base = (end_ + 7) / 8 * 8 + (where == Half8::upper ? 4 : 0);
    end_ = base + elements * bytes;
    return static_cast<std::uint32_t>(base);
  }
  std::uint64_t bytes() const { return (end_ + 7) / 8 * 8; }

 private:
  std::uint64_t end_ = 0;
};

/// One after the other, the instructions of a core whose main thread waits for each. Starting one
/// costs scalar.vec_issue.
class LayerCode {
 public:
  explicit LayerCode(unsigned vec_issue) : vec_issue_(vec_issue) {}

  void vector(VectorOp op, Element element, const Operand& to, const Operand& a, const Operand& b,
              std::uint64_t length);
  void move(Element element, const Operand& to, const Operand& a, std::uint64_t length) {
    vector(VectorOp::move, element, to, a, Operand(), length);
  }
  /// In a microthread, 1 to 8, beside what follows; starting it takes no time of the main thread.
  void beside(std::uint8_t thread, VectorOp op, Element element, const Operand& to,
              const Operand& a, std::uint64_t length);
  /// The last word of the instruction before carries these commands to switches.
  void switch_after(SwitchCommands commands) { steps_.back().vector.switches = commands; }
  /// The main thread goes on when that microthread is idle.
  void wait_for(std::uint8_t thread);
  /// Started by a loop whose overhead the caller has written.
  void bare(VectorOp op, Element element, const Operand& to, const Operand& a, const Operand& b,
            std::uint64_t length);

  void scalar(std::uint32_t cycles) {
    if (cycles != 0) steps_.push_back(work(cycles));
  }

  /// A core that runs these steps once, from the beginning.
  CoreProgram program() const;
  bool empty() const { return steps_.empty(); }

  const std::vector<Step>& steps() const { return steps_; }

 private:
  unsigned vec_issue_;
  std::vector<Step> steps_;
};

/// `count` elements at `address` for each of the next `repeat` elements the same.
inline Operand each_for(std::uint32_t address, std::uint64_t repeat) {
  Operand operand = in_memory(address, 0);
  operand.inner = static_cast<std::uint32_t>(repeat);
  operand.outer = 1;
  return operand;
}

}  // namespace lacuna::wse
