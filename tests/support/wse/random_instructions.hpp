// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "tests/support/wse/draw.hpp"

namespace lacuna::wse {

/// Bytes of a core's memory in random programs: halves in the first KiB, then single precision,
/// then small integers, 32 and 16 bits wide.
inline constexpr std::uint32_t kRandomMemory = 4096;
inline constexpr std::uint32_t kRandomIntegers = 2048;
inline constexpr std::uint32_t kRandomIntegerBytes = 512;

std::vector<std::uint8_t> random_memory(Draw& draw);

/// Words that an instruction sends on the fabric (or puts into a FIFO), and takes of each stream.
std::uint32_t words_sent(const Instruction& what, const TaskParams& params);
std::uint32_t words_taken(const Instruction& what, const TaskParams& params);

/// An instruction on memory and numbers alone.
Instruction random_local(Draw& draw, std::uint32_t most = 24);

/// One that sends `length` elements on `color`.
Instruction random_send(Draw& draw, Color color, std::uint32_t length);

/// One that takes exactly `words` words from `from`, a stream.
Instruction random_take(Draw& draw, const Operand& from, std::uint32_t words,
                        const TaskParams& params);

/// One that takes so many words from `from` and sends results on `color`.
Instruction random_pass(Draw& draw, const Operand& from, std::uint32_t words, Color color,
                        const TaskParams& params);

/// One that sends `length` integers, the upper half of each of which is a small index or `id`.
Instruction send_integers(Draw& draw, Color color, std::uint32_t length);
Instruction send_control(Color color, std::uint8_t id, std::uint32_t length);

/// A step of a task that does not depend on others: code, an instruction on memory, or a call of
/// one of so many routines.
Step random_step(Draw& draw, std::uint32_t routines);

}  // namespace lacuna::wse
