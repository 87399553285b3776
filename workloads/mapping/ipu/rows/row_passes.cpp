// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/rows/row_passes.hpp"

#include <map>
#include <string>
#include <utility>

namespace lacuna::ipu {

// Instructions of each vector and pass. A product and a sum with one of its operands are one
// instruction (f16v4mix, f32v2axpy), counted as a product.
//   softmax       max | x - max, exp, sum | times 1 / sum
//   its backward  y dy, sum | dy - s, times y
//   take_max      max | a comparison, and what it lets through
//   layernorm     sum, squares summed | (x - mean) / dev, times gamma, plus beta
//   its backward  z, g = gamma dy, sum of g, of g z | gamma dy, the three terms
//                 columns: sum of dy; z, sum of dy z
//   rmsnorm       squares summed twice as wide | times 1 / rms, times gamma
const RowPasses& row_passes(const RowFunction& function) {
  static const std::map<std::pair<std::string, Phase>, RowPasses> kPasses = {
      {{"softmax", Phase::fwd},
       {{make_pass(1, 0, 0, 1, 0), make_pass(1, 0, 1, 2, 0, 1), make_pass(1, 0, 1, 0, 1)}, {}}},
      {{"softmax", Phase::bwd}, {{make_pass(2, 0, 0, 1, 1), make_pass(2, 0, 1, 1, 1)}, {}}},
      {{"take_max", Phase::fwd}, {{make_pass(1, 0, 0, 1, 0), make_pass(1, 0, 1, 2, 0)}, {}}},
      {{"layernorm", Phase::fwd}, {{make_pass(1, 0, 0, 1, 1), make_pass(1, 2, 1, 1, 2)}, {}}},
      {{"layernorm", Phase::bwd},
       {{make_pass(2, 1, 0, 1, 3), make_pass(2, 1, 1, 1, 3)}, make_pass(2, 0, 0, 1, 2)}},
      {{"rmsnorm", Phase::fwd}, {{make_pass(1, 0, 0, 1, 1), make_pass(1, 1, 1, 0, 2)}, {}}},
      {{"rmsnorm", Phase::bwd},
       {{make_pass(2, 1, 0, 0, 2), make_pass(2, 1, 1, 0, 3)}, make_pass(2, 0, 0, 0, 2)}},
      {{"bias", Phase::bwd}, {{}, make_pass(1, 0, 0, 1, 0)}},
      {{"bias_add", Phase::bwd}, {{}, make_pass(1, 0, 0, 1, 0)}},
      {{"bias_gelu", Phase::bwd}, {{make_pass(2, 1, 1, 5, 8, 1)}, make_pass(1, 0, 0, 1, 0)}},
  };
  return kPasses.at({function.op, function.phase});
}

}  // namespace lacuna::ipu
