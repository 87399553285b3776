// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Which experts the tokens of a layer choose. No weights are simulated, so the choice is data:
/// drawn from a seed, or tokens of each expert that were counted elsewhere.
struct Routing {
  std::string drawn = "uniform";  // or "zipf:EXPONENT", see draw_experts()
  std::uint64_t seed = 1;
  std::string file;  // of counts
  /// By layer; empty: they are drawn. The layer kAllLayers stands for every one. Then by expert.
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> counts;

  static constexpr std::uint32_t kAllLayers = 0xffffffff;
};

/// "uniform", "zipf:EXPONENT", or "file:PATH" of a CSV file with the columns expert and tokens, and
/// layer if layers differ. RequestError or TraceError if it is none.
Routing parse_routing(const std::string& text, std::uint64_t seed);

/// Tokens that each of `experts` has to work on, if each of `tokens` tokens takes `chosen`
/// different ones: they add up to tokens * chosen, and none is larger than `tokens`. RequestError
/// if counts of a file do not.
std::vector<std::uint32_t> tokens_of_experts(const Routing& routing, std::uint32_t layer,
                                             std::uint32_t experts, std::uint32_t chosen,
                                             std::uint32_t tokens);

/// Makes `row`, which takes tokens to experts with these counts or their results back, look up the
/// tokens that were drawn for them.
void set_routing(const Routing& routing, std::uint32_t layer, std::uint32_t chosen,
                 const std::vector<std::uint32_t>& counts, LayerOp& row);

}  // namespace lacuna
