// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "models/wse/task_counters.hpp"

namespace lacuna::wse::oracle {

bool is_half(Element element);         // of what is read
bool is_half_result(Element element);  // of what is written

/// Words that so many elements take on the fabric or in a FIFO.
std::uint32_t words_for(bool half, std::uint32_t elements);

/// The most elements that an instruction does in an issue slot, if it may handle so many words.
std::uint32_t beat_width(const Instruction& what, const TaskParams& params, unsigned fabric_words);

/// Those of the beat that begins with element `first`.
std::uint32_t beat_elements(const Instruction& what, const TaskParams& params,
                            unsigned fabric_words, std::uint32_t first);

/// Cycles of a beat beyond its first.
struct Extra {
  std::uint32_t conflict = 0;
  std::uint32_t residual = 0;
  std::uint32_t special = 0;
};

/// Of the beat with elements [first, first + count), in a task that `word` started; a whole beat
/// has `width`.
Extra extra_cycles(const Instruction& what, const TaskParams& params, std::uint32_t word,
                   std::uint32_t first, std::uint32_t count, std::uint32_t width);

/// Cycles of the ports for elements [first, end), which read and write so many bits each.
std::uint64_t port_cycles(std::uint64_t read, std::uint64_t write, const MemoryPorts& ports,
                          std::uint32_t first, std::uint32_t end);

/// What the beat counts, but for cycles and words.
void count_beat(const Instruction& what, std::uint32_t count, TaskCounters& counters);

/// Address of element `i`.
std::uint32_t address(const Operand& operand, bool half, std::uint32_t i, std::uint32_t word);

/// What an operation makes of an element; `old` is what was there.
float result_of(const Instruction& what, float old, float a, float b);

/// Elements as bits of a word: `place` 1 is the upper half.
float from_bits(std::uint32_t word, unsigned place, bool half, bool integer);
std::uint32_t to_bits(float value, bool half, bool integer);

bool is_integer_type(Element element);

}  // namespace lacuna::wse::oracle
