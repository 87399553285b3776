// SPDX-License-Identifier: Apache-2.0
// What tests of operands on their way between layouts reckon with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

/// Hops of words along lines: those of a line that go one way from one core to several, some of
/// them beyond the next, all pass routers as far as the farthest, as a stream; others go as far as
/// each has to.
class LineHops {
 public:
  void add(std::uint32_t line, std::uint32_t from, std::uint32_t to) {
    if (from != to) ways_[{line, to > from}].emplace_back(from, to);
  }

  std::uint64_t sum() const {
    std::uint64_t sum = 0;
    for (const auto& [way, words] : ways_) {
      const auto& [first, to] = words.front();
      (void)to;
      std::uint64_t each = 0;
      std::uint64_t farthest = 0;
      bool from_one = true;
      for (const auto& [a, b] : words) {
        each += apart(a, b);
        farthest = std::max<std::uint64_t>(farthest, apart(a, b));
        from_one = from_one && a == first;
      }
      sum += from_one && farthest > 1 ? farthest * words.size() : each;
    }
    return sum;
  }

 private:
  std::map<std::pair<std::uint32_t, bool>, std::vector<std::pair<std::uint32_t, std::uint32_t>>>
      ways_;
};

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
