// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/ipu/chip_params.hpp"
#include "models/ipu/program.hpp"

namespace lacuna::ipu {

/// A loop as a compiler or a programmer writes it for a worker: what is issued in each turn, a
/// letter a bundle.
///   l, L, P  load of 16 or 32 bits, of 64, of 128     s, S  store of 32 or 64 bits
///   a        arithmetic                               b     decrement and branch
/// A turn moves `bytes`; where the loop is a `rpt`, there is no `b`.
struct LoopKernel {
  const char* name;
  const char* turn;
  unsigned bytes;
  unsigned elements;
  const char* why;
};

/// The loop of this name; null if there is none. Names: "triad naive fp32", "triad vector fp32",
/// "triad assembly fp32", "triad naive fp16", "triad vector fp16", "read assembly", "pack".
const LoopKernel* find_loop(const std::string& name);

/// `turns` turns of a loop on each of `workers` workers, on tiles 0 and 1. `fixed` clocks of the
/// supervisor come before the launch.
Program loop_program(const ChipParams& chip, const LoopKernel& loop, std::uint32_t turns,
                     unsigned workers, std::uint32_t fixed = 0);

/// A call of the copy routine that moves `bytes` on tiles 0 and 1, as products use it.
Program copy_program(const ChipParams& chip, std::uint64_t bytes);

}  // namespace lacuna::ipu
