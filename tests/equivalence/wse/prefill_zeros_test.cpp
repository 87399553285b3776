// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "models/sparsity/activation_mask.hpp"
#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "tests/support/wse/prefill_bench.hpp"
#include "tests/support/wse/small_decoder.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna::wse {
namespace {

using test::PlainDecoder;
using test::relative_error;
using test::token;

constexpr std::size_t at(Projection what) { return static_cast<std::size_t>(what); }

PrefillBlock prompt_block(std::uint32_t columns, std::uint32_t rows, std::uint32_t tokens) {
  PrefillBlock block;
  block.columns = columns;
  block.rows = rows;
  block.tokens = tokens;
  return block;
}

/// Channels that are zero in all tokens, the same in each of `groups` parts of so many features.
NonZeros channels(std::uint32_t features, std::uint32_t groups, std::uint32_t tokens,
                  const char* density, std::uint64_t seed) {
  const NonZeros drawn(bernoulli_mask(features, 1, parse_density(density), seed));
  Mask mask;
  mask.rows = features * groups;
  mask.cols = tokens;
  mask.offsets.push_back(0);
  for (std::uint32_t i = 0; i < mask.rows; ++i) {
    for (std::uint32_t j = 0; drawn.at(i % features, 0) && j < tokens; ++j) {
      mask.columns.push_back(j);
    }
    mask.offsets.push_back(mask.columns.size());
  }
  return NonZeros(mask);
}

/// Zeros of activations: single ones of what comes in, whole channels of the others.
void add_inputs(const DecoderModel& m, std::uint32_t tokens, std::uint64_t seed,
                DecodeZeros& zeros) {
  zeros.skip = true;
  zeros.inputs[at(Projection::qkv)] =
      NonZeros(bernoulli_mask(m.width, tokens, parse_density("0.5"), seed));
  zeros.inputs[at(Projection::o)] = channels(m.head_dim, m.heads, tokens, "0.5", seed + 1);
  zeros.inputs[at(Projection::up)] = channels(m.width, 1, tokens, "0.7", seed + 2);
  zeros.inputs[at(Projection::down)] = channels(m.ffn, 1, tokens, "0.2", seed + 3);
}

NonZeros prefill_pattern(const char* text, std::uint32_t outputs, std::uint32_t inputs,
                         std::uint64_t seed) {
  return NonZeros(generate_mask(parse_pattern(text), outputs, inputs, seed));
}

void add_weights(const DecoderModel& m, const char* text, DecodeZeros& zeros) {
  const std::uint32_t q = m.heads * m.head_dim;
  zeros.weights[at(Projection::qkv)] =
      prefill_pattern(text, q + 2 * m.kv_heads * m.head_dim, m.width, 1);
  zeros.weights[at(Projection::o)] = prefill_pattern(text, m.width, q, 2);
  zeros.weights[at(Projection::up)] = prefill_pattern(text, 2 * m.ffn, m.width, 3);
  zeros.weights[at(Projection::down)] = prefill_pattern(text, m.width, m.ffn, 4);
}

/// The block with zeros of activations, of weights in a pattern, or both.
PrefillShape with_zeros(const DecoderModel& m, PrefillBlock block, bool inputs, const char* text) {
  auto zeros = std::make_shared<DecodeZeros>();
  if (inputs) add_inputs(m, block.tokens, 7, *zeros);
  if (text != nullptr) add_weights(m, text, *zeros);
  find_fullest_tiles(PrefillShape(m, block), *zeros);
  block.zeros = zeros;
  return {m, block};
}

/// Sides that patterns of fours divide; 8 rows have padding of inner features.
DecoderModel even_model() { return grouped_model(72, 16, 68); }

/// The largest error of a layer of a chunk against a plain computation with these zeros.
double difference(const PrefillShape& shape, const std::shared_ptr<const DecodeZeros>& of_numbers,
                  bool both_engines = false) {
  const DecoderModel& m = shape.model();
  DecodeBlock plain = small_block(m.kv_heads, 1, 1);
  if (of_numbers != nullptr) {
    // what comes in has zeros of each token, so that gains have none
    auto zeros = std::make_shared<DecodeZeros>(*of_numbers);
    zeros->inputs[at(Projection::qkv)] = {};
    plain.zeros = zeros;
  }
  const DecodeValues numbers({m, plain}, 11);
  PrefillBench bench(shape, numbers, both_engines);
  PlainDecoder reference(
      m, 1,
      [&](std::uint32_t, PlainDecoder::Tensor tensor, std::uint32_t input, std::uint32_t output,
          std::uint32_t expert) { return numbers.at(tensor, input, output, expert); });
  std::vector<std::vector<double>> hidden;
  for (std::uint32_t i = 0; i < shape.block().tokens; ++i) {
    hidden.push_back(token(m, i));
    const NonZeros& kept = shape.block().zeros->inputs[at(Projection::qkv)];
    for (std::uint32_t j = 0; kept.given() && j < m.width; ++j) {
      if (!kept.at(j, i)) hidden.back()[j] = 0;
    }
  }
  const std::vector<std::vector<double>> found = bench.next(hidden);
  double most = 0;
  for (std::uint32_t i = 0; i < hidden.size(); ++i) {
    most = std::max(most, relative_error(found[i], reference.next(hidden[i])));
  }
  return most;
}

double difference(const PrefillShape& shape, bool both_engines = false) {
  return difference(shape, shape.block().zeros, both_engines);
}

TEST(PrefillZeros, AreLeftOutWithoutChangingTheResult) {
  const DecoderModel model = even_model();
  for (const char* const text : {"2:4", "bernoulli:0.3", "unstructured:0.6", "block4:0.5"}) {
    EXPECT_LT(difference(with_zeros(model, prompt_block(8, 8, 8), false, text)), 2 * kHalves)
        << text;
  }
  EXPECT_LT(difference(with_zeros(model, prompt_block(8, 8, 8), true, nullptr), true), 2 * kHalves);
  EXPECT_LT(difference(with_zeros(model, prompt_block(8, 8, 8), true, "bernoulli:0.4"), true),
            2 * kHalves);
}

// An input is left out if it is zero in all tokens of a core. Of a wide block a core has several
// tiles of activations, of a high one of weights; of a chunk that is not full some have no tokens.
TEST(PrefillZeros, OfSeveralTokensAndOnBlocksThatAreNoSquare) {
  const DecoderModel model = even_model();
  EXPECT_LT(difference(with_zeros(model, prompt_block(8, 8, 16), true, "2:4")), 2 * kHalves);
  EXPECT_LT(difference(with_zeros(model, prompt_block(8, 8, 5), true, "2:4")), 2 * kHalves);
  EXPECT_LT(difference(with_zeros(model, prompt_block(16, 8, 16), true, "bernoulli:0.3")),
            2 * kHalves);
  EXPECT_LT(difference(with_zeros(model, prompt_block(4, 8, 8), true, "bernoulli:0.3")),
            2 * kHalves);
}

/// With zeros that the numbers do not have something is left out that counts.
TEST(PrefillZeros, OfOtherNumbersChangeIt) {
  const DecoderModel model = even_model();
  EXPECT_GT(difference(with_zeros(model, prompt_block(8, 8, 8), true, nullptr), nullptr), 0.1);
  EXPECT_GT(difference(with_zeros(model, prompt_block(8, 8, 8), false, "2:4"), nullptr), 0.1);
}

/// All outputs of an input, or none, in every tile.
TEST(PrefillZeros, WholeInputsAreListedByTheirNumber) {
  const DecoderModel model = even_model();
  PrefillBlock block = prompt_block(8, 8, 8);
  auto zeros = std::make_shared<DecodeZeros>();
  Mask mask;
  mask.rows = model.width;
  mask.cols = model.ffn;
  mask.offsets.push_back(0);
  for (std::uint32_t output = 0; output < mask.rows; ++output) {
    for (std::uint32_t input = 0; input < mask.cols; input += 2) mask.columns.push_back(input);
    mask.offsets.push_back(mask.columns.size());
  }
  zeros->weights[at(Projection::down)] = NonZeros(mask);
  find_fullest_tiles(PrefillShape(model, block), *zeros);
  EXPECT_TRUE(zeros->sizes[static_cast<std::size_t>(Matrix::down)].whole);
  block.zeros = zeros;
  const PrefillShape shape(model, block);
  // of every other one of f inputs, d weights and its number
  const std::uint32_t inputs = (shape.f() + 1) / 2;
  EXPECT_EQ(shape.tile_halves(Projection::down), inputs * shape.d() + inputs);
  EXPECT_LT(difference(shape), 2 * kHalves);
}

Cycle cycles_of(const SparseTile& job) {
  const CodeCosts costs;
  const InferenceParams params;
  TaskBuilder builder(1, 1);
  SharedRoutines routines(builder);
  CoreCode code(costs, params, routines);
  write_sparse_tile(code, job, Element::fp32);
  builder.core(0, builder.add(std::move(code).finish()));
  return run_tasks(std::move(builder).finish()).cycles;
}

// The test of the step is 2 + 6. Where the sums and the activations are, 4 each, and a load of the
// weight, 2; two descriptors and the way behind other code, 1 + 1 + 4 + 2, and a beat. The second
// output has a load, 2, the dispatch, 4, and a beat; sums are at 4 modulo 8 and activations at 0:
// they are read together. Each token that is tested: a load, 2, the comparison, 2, and a branch.
// Behind the first it is taken, 6, if that is not zero, behind the second if that is.
TEST(SparseTile, TestsTokensUntilOneIsNotZero) {
  SparseTile job;
  job.weights = 0;
  job.activations = 16;
  job.sums = 36;
  job.tokens = 2;
  job.pitch = 4;
  job.inputs = 1;
  job.outputs = 2;
  job.tests = true;
  job.zeros = {2};
  constexpr Cycle kStep = 8;
  constexpr Cycle kMultiply = 4 + 4 + 2 + 8 + 1 + 2 + 4 + 1;
  constexpr Cycle kTested = 2 + 2;
  EXPECT_EQ(cycles_of(job), kStep + (kTested + 3) + (kTested + 6));
  job.zeros = {0};
  EXPECT_EQ(cycles_of(job), kStep + (kTested + 6) + kMultiply);
  job.zeros = {1};
  EXPECT_EQ(cycles_of(job), kStep + 2 * (kTested + 3) + kMultiply);
  job.tests = false;
  EXPECT_EQ(cycles_of(job), kStep + kMultiply);
}

// Two inputs of two outputs. The first has none: a loop's edge, 5, how many runs it has, 2, and the
// end of the loop over them, 2 + 6. The second has one, of the second output: the same 5 + 2; of
// its run the loop's edge, 5, the word that says where its outputs are, 2, then as above. The
// input is at 2 modulo 8, so 4 apart from no sum: each beat takes a cycle more.
TEST(SparseTile, PaysForEachRunOfOutputs) {
  SparseTile job;
  job.activations = 16;
  job.sums = 36;
  job.inputs = 2;
  job.outputs = 2;
  job.listed = true;
  job.whole = false;
  job.runs = {{}, {{1, 1}}};
  EXPECT_EQ(cycles_of(job), 8U + (5 + 2 + 8) + (5 + 2) + (5 + 2 + 4 + 4 + 2 + 8 + 1 + 1));
  // a second run of it: where its outputs are is written, 4, that of the input stands, and behind
  // the weight, 2, descriptors stand, 4
  job.outputs = 4;
  job.runs = {{}, {{1, 1}, {3, 1}}};
  EXPECT_EQ(cycles_of(job), 8U + (5 + 2 + 8) + (5 + 2) + (5 + 2 + 4 + 4 + 2 + 8 + 1 + 1) +
                                (5 + 2 + 4 + 2 + 4 + 1 + 1));
  // of inputs that are listed whole the first is not there; where their loop is entered is looked
  // up, 2 + 6, and none has an edge. The second has both outputs, a descriptor that moves on for
  // the second, 2 + 4, and a beat; no word for a run
  job.outputs = 2;
  job.whole = true;
  job.runs = {{}, {{0, 2}}};
  EXPECT_EQ(cycles_of(job), 8U + 8 + 2 + (4 + 4 + 2 + 8 + 1 + 1) + (2 + 4 + 1 + 1));
  // a zero that is tested, 2 + 2 and the branch, 6: the next weights lie behind its own, a load
  job.tests = true;
  job.zeros = {0, 1};
  EXPECT_EQ(cycles_of(job), 8U + 8 + 2 + (2 + 2 + 6) + 2);
}

// Microthreads move words between beats of either: a piece of code takes the same slots.
TEST(PrefillZeros, EnginesAgreeAndPiecesOfCodeTakeAsLong) {
  const DecoderModel model = grouped_model(64, 32, 64);
  const CodeCosts costs;
  const InferenceParams params;
  const Datapath datapath;
  using Case = std::pair<std::uint32_t, const char*>;
  for (const auto& [tokens, text] : {Case(8, "2:4"), Case(8, nullptr), Case(16, "bernoulli:0.3")}) {
    const PrefillShape shape = with_zeros(model, prompt_block(8, 8, tokens), true, text);
    const PrefillParts parts(shape, costs, params, {}, 4);
    PrefillParts pieces(shape, costs, params, {}, 4);
    pieces.use_pieces(datapath);
    for (const PrefillPart part : {PrefillPart::qkv, PrefillPart::o_proj, PrefillPart::down}) {
      const TaskProgram program = parts.plan(part).at(1);
      EXPECT_EQ(program.columns * program.rows, 64U);
      const TaskOutcome event = run_tasks(program);
      EXPECT_EQ(difference(event, run_tasks(program, Engine::clocked)), "") << word(part);
      const TaskProgram piece = pieces.plan(part).at(1);
      EXPECT_EQ(event.cycles, run_tasks(piece).cycles) << word(part) << " " << tokens;
      if (text != nullptr) continue;
      EXPECT_EQ(event.cycles, run_tasks(piece, Engine::clocked).cycles) << word(part);
    }
  }
}

TEST(PrefillZeros, WhatHasNoProgramIsRefused) {
  const DecoderModel model = small_model();
  PrefillBlock block = prompt_block(8, 8, 8);
  block.fused = false;
  EXPECT_THROW(PrefillParts(with_zeros(model, block, true, nullptr), {}, {}, {}, 4),
               UnsupportedError);
}

/// All experts have the same zeros, and are met in an order of their own.
TEST(PrefillZeros, OfExpertsAreLeftOutWithoutChangingTheResult) {
  DecoderModel model = even_model();
  model.experts = {4, 2};
  EXPECT_LT(difference(with_zeros(model, prompt_block(8, 8, 8), true, "2:4"), true), 2 * kHalves);
  EXPECT_LT(difference(with_zeros(model, prompt_block(8, 8, 16), false, "bernoulli:0.3")),
            2 * kHalves);
}

}  // namespace
}  // namespace lacuna::wse
