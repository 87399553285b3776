// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "models/wse/task_counters.hpp"

namespace lacuna::wse {

inline constexpr std::uint32_t kNoRelay = ~std::uint32_t{0};

/// The next thing that the main thread of a core does: beats one after the other, each of which
/// takes a word, sends one, or does both or neither.
struct RelayOp {
  std::uint32_t beats = 0;
  std::uint32_t extra = 0;       // cycles of a beat beyond the first,
  std::uint32_t extra_last = 0;  // and of the last beat
  bool takes = false;
  bool sends = false;
};

/// A core that runs one list of instructions, takes words from at most one neighbour and sends to
/// at most one.
struct RelayCore {
  std::vector<RelayOp> ops;
  TaskCounters counters;        // what it counts whatever happens around it
  std::uint32_t to = kNoRelay;  // core
  Color color{};                // of the words it sends,
  unsigned port = 0;            // which leave its router there
  std::uint32_t sent = 0;       // words
  unsigned out_depth = 0;       // of the queues
  unsigned in_depth = 0;
};

/// Such cores, of which no two send to the same one.
struct RelayProgram {
  std::vector<RelayCore> cores;
};

/// `program` as such a program; nullopt if it is none, or if a beat moves more than a word.
std::optional<RelayProgram> find_relays(const TaskParams& params, const TaskProgram& program);

}  // namespace lacuna::wse
