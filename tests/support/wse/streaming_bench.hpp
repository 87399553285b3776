// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// A weight-streaming product in its smallest terms: who keeps which row, and how many weights
/// of each row go to each column.
struct StreamingScenario {
  HardwareParams params;
  std::uint32_t columns = 2;
  std::vector<std::uint32_t> tokens;        // of each row of cores
  std::vector<std::uint32_t> final_column;  // by step
  std::vector<std::uint32_t> counts;        // by step and column
  std::uint32_t lookahead = 2;
  std::uint32_t simd = 4;
  BeatTime beats_that_add;
  StreamForm form = StreamForm::indexed;
  std::uint32_t stalls = 0;
  std::uint32_t held = 0;  // not 0: a core keeps up to so many non-zeros of each feature
  Rate rate;
  std::uint64_t scan_seed = 0;  // of the cycles in which the sender looks for a word; 0: one each
  std::uint64_t zero_seed = 0;  // of the zeros that receivers drop; 0: none are sent
  Reduce reduce = Reduce::ring;
  std::uint32_t entry = 0;
  bool int8 = false;  // four values in a packed word, not two
  BeatTime first_beats;
  std::uint32_t reduce_cycles = 1;
  std::uint32_t gather_cycles = 1;
  /// Groups of columns; then final_column is by step and group, and counts by step and column.
  std::uint32_t groups = 1;
  std::uint32_t buses = 0;  // of a group and direction, on which they exchange results; 0: none
  RowOrder bus_order = RowOrder::ring;
  bool interleaved = false;  // columns of equal place are neighbours
  bool copies = false;       // groups have the same stream, which routers of a row more copy
  std::uint32_t send_cycles = 1;
  std::uint32_t take_cycles = 1;
  unsigned input_queues = 8;  // of a core: how many columns a tree may have
};

/// How long the senders of a program look for each word and command: 1 to 4 cycles, now and then
/// more than the small numbers of an engine hold. As Program::scan_cycles.
std::vector<std::vector<std::uint16_t>> random_scan(std::uint64_t seed, const Program& program);

/// Zeros before the words and commands of a program's streams: up to 3, now and then more than the
/// small numbers of an engine hold. As StreamingKernel::zeros.
std::vector<std::vector<std::uint32_t>> random_zeros(std::uint64_t seed, const Program& program);

Program make_program(const StreamingScenario& scenario);

/// One stream fills FIFOs of so many words; of such a one no filter that takes time is modelled.
void share_stream(std::uint32_t fifo, Program& program);

/// "V@7 C@15 r@18 ..." of one core: vector instructions that become active, commands, beats of
/// the microthread.
std::string trace_of(const WaferOutcome& outcome, UnitId unit);

}  // namespace lacuna::wse
