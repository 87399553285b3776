// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "models/wse/task_counters.hpp"

namespace lacuna::wse {

/// Words of the fabric that hold `elements` elements of so many bytes.
constexpr std::uint32_t words_of(unsigned bytes, std::uint32_t elements) {
  return bytes == 2 ? (elements + 1) / 2 : elements;
}

/// The most elements that one issue slot does, by operation and type, strides and the fabric.
/// `rows`: strides of what is read cost the port (mem.row_bytes), not elements.
std::uint32_t elements_per_beat(const Instruction& instruction, const SimdParams& simd,
                                unsigned fabric_words, bool rows = false);

/// Cycles of an issue slot beyond the first.
struct BeatStalls {
  std::uint32_t bank = 0;      // two reads in the same bank, or more bytes than the ports carry
  std::uint32_t residual = 0;  // of multiply-accumulates in place, see mem.fma32_stalls
  std::uint32_t special = 0;   // operations that take more than a cycle for each element
  std::uint32_t all() const { return bank + residual + special; }
};

/// The instruction as the datapath sees it: its width and what its beats cost.
class BeatCost {
 public:
  BeatCost() = default;
  BeatCost(const Instruction& instruction, const SimdParams& simd, const MemoryParams& mem,
           unsigned fabric_words, std::uint32_t word);

  std::uint32_t width() const { return width_; }

  /// Elements of the beat that begins with element `first` of `length`.
  std::uint32_t elements(std::uint32_t first, std::uint32_t length) const {
    const std::uint32_t most = std::min(width_, length - first);
    return row_ == 0 ? most : std::min(most, row_ - first % row_);
  }

  /// Beats of elements [first, end), where a beat ends.
  std::uint32_t beats(std::uint32_t first, std::uint32_t end) const;

  /// True if all beats but the last have as many elements.
  bool even() const { return row_ == 0; }

  /// The stalls of the beat that does elements [first, first + count).
  BeatStalls stalls(std::uint32_t first, std::uint32_t count) const;

  /// Of all beats from element `first` on, together.
  BeatStalls stalls_from(std::uint32_t first, std::uint32_t length) const;

  /// 64-bit accesses to memory for `count` elements.
  std::uint32_t reads(std::uint32_t count) const;
  std::uint32_t writes(std::uint32_t count) const;
  unsigned read_bytes() const { return read_bytes_; }  // of one element
  unsigned write_bytes() const { return write_bytes_; }

 private:
  std::uint32_t bank_stalls(std::uint32_t first, std::uint32_t count) const;
  bool reads_meet(std::uint32_t first, std::uint32_t count) const;
  bool write_meets_read(std::uint32_t first) const;
  bool constant() const;

  MemoryPorts ports_;
  std::uint32_t width_ = 1;
  std::uint32_t word_ = 0;  // that started the task
  unsigned sources_ = 0;    // that are read from memory in every beat
  std::uint32_t row_ = 0;   // elements of an inner dimension that beats do not cross; 0: none
  bool writes_ = false;
  bool in_place_ = false;  // it reads what it writes, its first source
  Operand first_;
  Operand second_;
  unsigned first_bytes_ = 0;
  unsigned second_bytes_ = 0;
  unsigned read_bytes_ = 0;       // of one element, all sources
  std::uint32_t port_bytes_ = 0;  // that its reads take of the port
  unsigned write_bytes_ = 0;
  std::uint32_t residual_ = 0;  // stalls in 16 elements
  std::uint32_t special_ = 0;
  std::uint32_t register_ = 0;  // further cycles of each element, one waiting for the last
};

/// What a core counts of a beat with so many elements, or of `beats` like it.
void count_elements(const Instruction& instruction, const BeatCost& cost, std::uint32_t elements,
                    std::uint64_t beats, TaskCounters& counters);
inline void count_elements(const Instruction& instruction, const BeatCost& cost,
                           std::uint32_t elements, TaskCounters& counters) {
  count_elements(instruction, cost, elements, 1, counters);
}

/// Of elements [first, end), access by access as their beats make them, so that whoever skips over
/// cycles counts the same. Scalar code touches nothing.
void count_accesses(const Instruction& instruction, const BeatCost& cost, std::uint32_t first,
                    std::uint32_t end, TaskCounters& counters);

/// The address of element `i` of an operand in memory, in a task that `word` started.
std::uint32_t address_of(const Operand& operand, unsigned bytes, std::uint32_t i,
                         std::uint32_t word);

/// The result for one element; `old` is what was at its place. Rounded to the type of the result.
float compute(VectorOp op, Element element, float old, float a, float b);

/// One element in memory or in a word. Integers are kept as floats that hold them exactly.
float load_element(const std::vector<std::uint8_t>& memory, std::uint32_t address, bool wide,
                   bool integer);
void store_element(std::vector<std::uint8_t>& memory, std::uint32_t address, bool wide,
                   bool integer, float value);
float unpack(std::uint32_t word, unsigned place, bool wide, bool integer);
std::uint32_t pack(std::uint32_t word, unsigned place, bool wide, bool integer, float value);

constexpr bool is_integer(Element element) {
  return element == Element::int16 || element == Element::int32;
}

}  // namespace lacuna::wse
