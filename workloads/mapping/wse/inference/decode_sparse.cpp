// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "workloads/mapping/wse/inference/decode_layer.hpp"

// Products of a decode layer that leave zeros out, and experts.

namespace lacuna::wse {

/// What a core's zeros depend on beside its part in sums.
std::string DecodeLayer::role_of_zeros(const Place& place) const {
  const DecodeZeros* zeros = shape_.block().zeros.get();
  std::string text;
  if (shape_.block().experts_apart)
    text += fmt::format(" e{}", place.column / shape_.expert_columns());
  if (zeros == nullptr) return text;
  const auto tests = [&](Matrix a, bool has_a, Matrix b, bool has_b) {
    return (has_a && zeros->tests(a)) || (has_b && zeros->tests(b));
  };
  const bool attention = shape_.block().attention;
  const bool ffn = shape_.block().ffn;
  const bool all = zeros->any_lists();
  const bool lists = shape_.block().receives && zeros->compact;
  if (all || lists || tests(Matrix::q, attention, Matrix::up, ffn))
    text += fmt::format(" y{}", place.row);
  if (all || tests(Matrix::o, attention, Matrix::down, ffn)) {
    text += fmt::format(" x{}", place.column);
  }
  return text;
}

void DecodeLayer::product(CoreCode& code, const Place& place, Matrix matrix, const LocalGemv& job,
                          std::uint32_t sequence) const {
  const DecodeZeros* zeros = shape_.block().zeros.get();
  if (zeros == nullptr || !zeros->act_on(matrix)) return write_gemv(code, job, sum_);
  SparseGemv sparse;
  sparse.dense = job;
  const TileFeatures tile = shape_.tile({matrix, place.row, place.column});
  sparse.take(*zeros, matrix, tile);
  for (std::uint32_t i = 0; sparse.tests && i < job.inputs; ++i) {
    sparse.zero.push_back(!zeros->inputs_of(matrix).at(tile.inputs[i], sequence));
  }
  const auto write = [&] { write_sparse_gemv(code, sparse, sum_); };
  if (place.pieces == nullptr) {
    write();
  } else {
    code.as_one_piece(*place.pieces, write);
  }
}

/// A product for each sequence, whose results lie `apart`.
void DecodeLayer::products_of(CoreCode& code, const Place& place, Matrix matrix, LocalGemv job,
                              std::uint32_t apart) const {
  for (std::uint32_t s = 0; s < batch(); ++s) {
    product(code, place, matrix, job, s);
    job.x += 2 * job.inputs;
    job.y += bytes_of(sum_) * apart;
  }
}

/// Every core has the logits of all experts and finds the best of them by itself.
void DecodeLayer::choose_experts(CoreCode& code, const Place& place) const {
  const std::uint32_t experts = shape_.model().experts.count;
  const unsigned bytes = bytes_of(sum_);
  const std::uint32_t d = shape_.d();
  for (std::uint32_t s = 0; s < batch(); ++s) {
    write_gemv(
        code,
        {space_.wrouter, space_.z + 2 * d * s, space_.logits + bytes * experts * s, d, experts},
        sum_);
  }
  sum_y(code, place, {space_.logits, batch() * experts, sum_});
  for (std::uint32_t s = 0; s < batch(); ++s) choose(code, s);
}

/// One after the other: the largest logit, a vector that is 1 at its place and 0 elsewhere, from
/// that the number of the expert, and the logit out of the way. Then a softmax over what was found.
void DecodeLayer::choose(CoreCode& code, std::uint32_t sequence) const {
  constexpr float kLeast = -65504;
  constexpr float kSharp = 1U << 20U;  // logits apart by less than its inverse are not told apart
  const std::uint32_t experts = shape_.model().experts.count;
  const std::uint32_t choices = shape_.model().experts.chosen;
  const unsigned bytes = bytes_of(sum_);
  const Operand logits = in_memory(space_.logits + bytes * experts * sequence);
  const Operand mark = in_memory(space_.mark);
  const std::uint32_t first = share_of({sequence, 0}) - space_.shares;
  for (std::uint32_t j = 0; j < choices; ++j) {
    const std::uint32_t best = space_.best + first + bytes * j;
    const std::uint32_t whose = space_.chosen + first + bytes * j;
    code.number_op(VectorOp::move, sum_, best, number(kLeast));
    code.step(VectorOp::max, sum_, in_memory(best, 0), logits, in_memory(best, 0), experts);
    code.step(VectorOp::sub, sum_, mark, logits, cell(best), experts);
    code.vector(VectorOp::mul, sum_, mark, mark, number(kSharp), experts);
    code.vector(VectorOp::add, sum_, mark, mark, number(1), experts);
    code.vector(VectorOp::max, sum_, mark, mark, number(0), experts);
    code.number_op(VectorOp::move, sum_, whose, number(0));
    code.vector(VectorOp::fma, sum_, in_memory(whose, 0), mark, in_memory(space_.numbers), experts);
    if (j + 1 < choices) {
      code.vector(VectorOp::fma, sum_, logits, mark, number(kLeast), experts);
    }
  }
  const Operand shares = in_memory(space_.shares + first);
  code.step(VectorOp::sub, sum_, mark, in_memory(space_.best + first), cell(space_.best + first),
            choices);
  write_exp(code, space_.shares + first, space_.mark, choices, sum_);
  code.number_op(VectorOp::move, sum_, space_.stats, number(0));
  const Operand all = in_memory(space_.stats, 0);
  code.vector(VectorOp::add, sum_, all, shares, all, choices);
  code.vector(VectorOp::divide, sum_, in_memory(space_.stats), number(1), in_memory(space_.stats),
              1);
  code.step(VectorOp::mul, sum_, shares, shares, cell(space_.stats), choices);
}

std::uint32_t DecodeLayer::share_of(const Choice& choice) const {
  return space_.shares +
         bytes_of(sum_) * (choice.sequence * shape_.model().experts.chosen + choice.number);
}

/// Choices of which the cores of a column have weights.
std::vector<DecodeLayer::Choice> DecodeLayer::choices_of(std::uint32_t column) const {
  std::vector<Choice> choices;
  for (std::uint32_t s = 0; s < batch(); ++s) {
    for (std::uint32_t j = 0; j < shape_.model().experts.chosen; ++j) {
      const bool here =
          !shape_.block().experts_apart || shape_.route(s, j) == column / shape_.expert_columns();
      if (here) choices.push_back({s, j});
    }
  }
  return choices;
}

/// The number of the expert, times the bytes of one.
void DecodeLayer::address_of_expert(CoreCode& code) {
  code.scalar(code.costs().scalar.load + code.costs().scalar.imul);
}

/// The gated blocks of the chosen experts, up to their sums along x. Which one a token takes is
/// known to the program beforehand: it sets the addresses of the weights, and of their lists; all
/// experts have the same zeros.
void DecodeLayer::experts(CoreCode& code, const Place& place) const {
  const std::uint32_t d = shape_.d();
  const std::uint32_t f = shape_.f();
  const unsigned bytes = bytes_of(sum_);
  const bool apart = shape_.block().experts_apart;
  const std::vector<Choice> choices = choices_of(place.column);
  // is it the core's own?
  const std::uint32_t all = batch() * shape_.model().experts.chosen;
  for (std::uint32_t i = 0; apart && i < all; ++i) {
    code.scalar(costs_.scalar.load);
    code.test();
  }
  const auto expert = [&](const Choice& choice) {
    return apart ? 0 : shape_.route(choice.sequence, choice.number);
  };
  const auto number = [](std::size_t i) { return static_cast<std::uint32_t>(i); };
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const auto w = space_.wup + number(expert(choices[i]) * space_.up_bytes);
    if (!apart) address_of_expert(code);
    const std::uint32_t z = space_.z + 2 * d * choices[i].sequence;
    product(code, place, Matrix::up, {w, z, space_.inner + bytes * 2 * f * number(i), d, 2 * f},
            choices[i].sequence);
  }
  if (!choices.empty()) sum_y(code, place, {space_.inner, number(choices.size()) * 2 * f, sum_});
  mark(code, place);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    gated_unit(code, number(i), share_of(choices[i]));
  }
  code.rewrite(x_.colors());
  mark(code, place);
  code.move(sum_, in_memory(space_.out), wse::number(0), batch() * d);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const auto w = space_.wdown + number(expert(choices[i]) * space_.down_bytes);
    if (!apart) address_of_expert(code);
    const std::uint32_t out = space_.out + bytes * d * choices[i].sequence;
    product(code, place, Matrix::down, {w, space_.inner16 + 2 * f * number(i), out, f, d, true},
            choices[i].sequence);
  }
}

}  // namespace lacuna::wse
