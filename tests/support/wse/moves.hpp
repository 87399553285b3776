// SPDX-License-Identifier: Apache-2.0
// What tests of operands on their way between layouts reckon with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "sim/machines/machine.hpp"
#include "workloads/mapping/wse/layers/move.hpp"

namespace lacuna {

inline std::uint64_t apart(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

inline OperandSource activations(std::uint32_t features, std::uint32_t tokens) {
  OperandSource source;
  source.kind = OperandSource::Kind::activations;
  source.features = features;
  source.tokens = tokens;
  return source;
}

inline std::unique_ptr<Machine> machine(std::uint32_t columns, std::uint32_t rows) {
  auto made = make_wse_machine("wse");
  made->set("wafer.columns", std::to_string(columns), "test");
  made->set("wafer.rows", std::to_string(rows), "test");
  return made;
}

/// Links that words of a phase took.
inline std::uint64_t hops(const OpResult& result, const std::string& phase) {
  for (const PhaseTraffic& each : result.phases) {
    if (each.name == phase) return each.fabric_bytes / 4;
  }
  return 0;
}

/// Where an even share of `count` over `cores` puts element `i`.
inline std::uint32_t even(std::uint32_t i, std::uint32_t count, std::uint32_t cores) {
  const std::uint32_t used = std::min(count, cores);
  std::uint32_t core = 0;
  for (std::uint32_t end = 0; core < used; ++core) {
    end += count / used + (core < count % used ? 1 : 0);
    if (i < end) break;
  }
  return core;
}

/// In how many pieces of ceil(count / pieces) element `i` is.
inline std::uint32_t piece(std::uint32_t i, std::uint32_t count, std::uint32_t pieces) {
  return i / ((count + pieces - 1) / pieces);
}

}  // namespace lacuna
