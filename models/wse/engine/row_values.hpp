// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "models/wse/pe/core_values.hpp"
#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// The numbers of one row of cores that stream, beside lanes that count its words: told in the
/// order in which things happen, it does with the numbers what they do. A word of partial sums that
/// was sent for a step is the next that its receiver takes for that step.
class RowValues {
 public:
  /// Of row `row` of `program`, which carries values and outlives this.
  RowValues(const Program& program, std::uint32_t row);

  /// The core of `column` starts the instructions of its next word,
  void start(std::uint32_t column);
  /// closes its row of sums,
  void close(std::uint32_t column);
  /// begins its next reduction,
  void load(std::uint32_t column);
  /// and does a beat of it of so many words.
  void reduce(std::uint32_t column, std::uint32_t words);

  const std::vector<float>& result(std::uint32_t column) const {
    return cores_[column].values.result();
  }

 private:
  /// Words that a core has sent for a step.
  struct Sent {
    std::uint32_t step = 0;
    std::size_t taken = 0;
    std::vector<std::uint32_t> words;
  };
  struct Core {
    explicit Core(CoreValues at_first) : values(std::move(at_first)) {}

    CoreValues values;
    std::uint32_t closed = 0;    // rows of sums
    std::uint32_t position = 0;  // weights of the present one so far
    std::size_t word = 0;        // of the stream
    bool fresh = true;
    std::vector<std::uint8_t> filled;   // by buffer
    std::uint32_t step = 0;             // being reduced
    std::uint32_t words_left = 0;       // of the instruction
    std::vector<std::uint16_t> inputs;  // columns whose sums it has yet to take, in order
    std::size_t next_input = 0;
    bool keeps = false;
    std::deque<Sent> sent;
  };

  void multiply_add(Core& core, std::uint32_t feature, float value) const;
  std::uint32_t take(std::uint16_t from, std::uint32_t step);

  const StreamingKernel& kernel_;
  std::uint32_t tokens_;
  std::vector<Core> cores_;  // by column
};

}  // namespace lacuna::wse
