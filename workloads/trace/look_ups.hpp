// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// For each expert its tokens, ascending.
using TokensOfExperts = std::vector<std::vector<std::uint32_t>>;

/// Each of `tokens` tokens draws `chosen` different ones of `experts` experts, by the `routing`
/// "uniform" all alike, by "zipf:EXPONENT" the r-th most popular as likely as r^-exponent; which
/// that is differs by layer. Weights are rounded to multiples of 2^-32.
TokensOfExperts draw_experts(const std::string& routing, std::uint64_t seed, std::uint32_t layer,
                             std::uint32_t experts, std::uint32_t chosen, std::uint32_t tokens);

/// Deals tokens, in an order drawn from the seed, to experts of which only the counts are known.
/// These add up to a multiple of `tokens`, and none is larger; each token has different experts.
TokensOfExperts deal_experts(const std::vector<std::uint32_t>& counts, std::uint64_t seed,
                             std::uint32_t layer, std::uint32_t tokens);

/// The row of the table that each look-up of an `embed` row is for, below k: n * batch of them. As
/// args say: `index=uniform` (the default) or `zipf:EXPONENT`, drawn from the seed; or
/// `index=routing`, the tokens of all experts one after the other, of which the row looks up those
/// of its round.
std::vector<std::uint32_t> look_ups(const LayerOp& op, std::uint64_t seed);

/// What is wrong with the args of a row with `index=routing`; empty if nothing is.
std::string wrong_routing(const LayerOp& op);

}  // namespace lacuna
