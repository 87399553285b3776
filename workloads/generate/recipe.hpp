// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Which numbers training keeps in which type.
enum class Recipe {
  plain,         // every row in the dtype of the trace, state of the optimizer in fp32
  conventional,  // norms and softmax in fp32, fp32 master weights that are cast for each step
  ipu_mixed,     // fp16 weights without master copy, stochastic rounding; norms and moments fp32
  unit_scaling,  // fp8 products, e4m3 forward and e5m2 gradients, with a multiply after each
};

/// How many of rows x cols elements a pattern keeps, by its rule and without a seed. (For
/// `bernoulli`, whose number is chance, as many as it should.)
std::uint64_t kept_by_rule(const PatternSpec& spec, std::uint32_t rows, std::uint32_t cols);

/// Sets the types of a training trace as `recipe` says. Rows for casts of a master copy are not
/// added here. unit_scaling adds a row after each product, which later rows then read.
void apply_recipe(WorkloadTrace& trace, Recipe recipe);

}  // namespace lacuna
