// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/mapping/wse/inference/core_code.hpp"
#include "workloads/mapping/wse/inference/line_sums.hpp"
#include "workloads/mapping/wse/inference/prefill_shape.hpp"

namespace lacuna::wse {

/// What a layer does with a chunk of a prompt, one part after the other. Those from `score` to
/// `fold` are done for each chunk of keys, the chunk's own included.
enum class PrefillPart : std::uint8_t {
  norm,
  qkv,
  qk_norm,
  rope,
  value_skew,  // values move into the order in which their product takes them
  score,
  softmax,
  pv,
  fold,
  context,  // its own chunk's: scores are masked, and what is folded is divided by its weights
  o_proj,
  residual,
  ffn_norm,
  up_gate,
  silu,
  down,
  ffn_residual,
};
const char* word(PrefillPart part);
constexpr bool of_each_chunk(PrefillPart part) {
  return part >= PrefillPart::score && part <= PrefillPart::fold;
}

/// What differs between published kernels.
struct PrefillStyle {
  bool scalar_functions = false;  // exponential and SiLU in scalar loops of special functions
};

/// A product of tiles on a square: those of one operand go round a ring along x and those of the
/// other along y, no step longer than two hops, while those that are there are multiplied.
struct TileProduct {
  std::uint32_t inputs = 1;
  std::uint32_t outputs = 1;
  std::uint32_t tokens = 1;
  std::uint32_t steps = 1;
};

/// Programs of the parts, without values. Cores that do the same are there once: of a product of
/// tiles a square of `fold` x `fold` cores takes as many steps as the whole one would, of scores
/// and their product with values `fold` columns of one band; of norms and sums a column, which has
/// all its cores; what needs no other core is one.
class PrefillParts {
 public:
  PrefillParts(const PrefillShape& shape, const CodeCosts& costs, const InferenceParams& params,
               const PrefillStyle& style, std::uint32_t fold);

  /// The programs of a part, one after the other.
  std::vector<TaskProgram> plan(PrefillPart part) const;

  /// The products of tiles of a part; none of others.
  std::vector<TileProduct> products_of(PrefillPart part) const;

  TaskProgram plan_product(const TileProduct& job) const;
  /// `halves` of each core shifted along y by up to so many places, as the first product of a
  /// column needs it.
  TaskProgram plan_skew(std::uint32_t halves, std::uint32_t shifts) const;
  /// Of so many columns; what joins cores of a row is a ring, of which the shortest with a step of
  /// two hops will do.
  TaskProgram plan_scores(std::uint32_t columns = 3) const;
  TaskProgram plan_values() const;

 private:
  using Code = void (PrefillParts::*)(CoreCode& code) const;
  TaskProgram alone(Code write) const;
  TaskProgram plan_norm() const;
  TaskProgram plan_head_norms() const;
  TaskProgram plan_softmax() const;

  Operand each_token(std::uint32_t address) const;
  Operand each_feature(std::uint32_t address) const;
  void rope(CoreCode& code) const;
  void fold_in(CoreCode& code) const;
  void finish_context(CoreCode& code) const;
  void residual(CoreCode& code) const;
  void silu(CoreCode& code) const;
  LineSums column() const;
  LineSums band() const;
  void square_sums(CoreCode& code, std::uint32_t to, std::uint32_t numbers, std::uint32_t features,
                   Element from) const;
  void multiply(CoreCode& code, const TileProduct& job, std::uint32_t here) const;
  void score(CoreCode& code, std::uint32_t here) const;
  void weigh(CoreCode& code, std::uint32_t here, std::uint32_t block) const;
  void send_to_root(CoreCode& code, std::uint32_t row, std::uint32_t root,
                    std::uint32_t kept) const;

  const PrefillShape shape_;
  const CodeCosts& costs_;
  const InferenceParams& params_;
  const PrefillStyle style_;
  const PrefillSpace space_;
  const Element sum_;
  const std::uint32_t fold_;
};

}  // namespace lacuna::wse
