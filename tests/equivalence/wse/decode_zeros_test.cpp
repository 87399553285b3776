// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "models/sparsity/activation_mask.hpp"
#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "tests/support/wse/decode_bench.hpp"
#include "tests/support/wse/following_values.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"
#include "workloads/mapping/wse/inference/weight_forms.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna::wse {
namespace {

NonZeros some(std::uint32_t rows, const char* density, std::uint64_t seed) {
  return NonZeros(bernoulli_mask(rows, 1, parse_density(density), seed));
}

NonZeros pattern(const char* text, std::uint32_t rows, std::uint32_t cols, std::uint64_t seed) {
  return NonZeros(generate_mask(parse_pattern(text), rows, cols, seed));
}

NonZeros& of(std::array<NonZeros, kProjections>& all, Projection what) {
  return all.at(static_cast<std::size_t>(what));
}

/// Zeros of values are those of a head's features in all heads of its group.
NonZeros grouped(const DecoderModel& m, const char* density, std::uint64_t seed) {
  const NonZeros drawn = some(m.head_dim, density, seed);
  Mask mask;
  mask.rows = m.heads * m.head_dim;
  mask.cols = 1;
  mask.offsets.push_back(0);
  for (std::uint32_t i = 0; i < mask.rows; ++i) {
    if (drawn.at(i % m.head_dim, 0)) mask.columns.push_back(0);
    mask.offsets.push_back(mask.columns.size());
  }
  return NonZeros(mask);
}

std::shared_ptr<DecodeZeros> zeros_of_inputs(const DecoderModel& m, std::uint64_t seed) {
  auto zeros = std::make_shared<DecodeZeros>();
  zeros->skip = true;
  of(zeros->inputs, Projection::qkv) = some(m.width, "0.6", seed);
  of(zeros->inputs, Projection::o) = grouped(m, "0.5", seed + 1);
  of(zeros->inputs, Projection::up) = some(m.width, "0.7", seed + 2);
  of(zeros->inputs, Projection::down) = some(m.ffn, "0.2", seed + 3);
  return zeros;
}

std::shared_ptr<DecodeZeros> zeros_of_weights(const DecoderModel& m, const DecodeBlock& block,
                                              const char* text) {
  auto zeros = std::make_shared<DecodeZeros>();
  const std::uint32_t q = m.heads * m.head_dim;
  of(zeros->weights, Projection::qkv) = pattern(text, q + 2 * m.kv_heads * m.head_dim, m.width, 1);
  of(zeros->weights, Projection::o) = pattern(text, m.width, q, 2);
  of(zeros->weights, Projection::up) = pattern(text, 2 * m.ffn, m.width, 3);
  of(zeros->weights, Projection::down) = pattern(text, m.width, m.ffn, 4);
  find_fullest_tiles(DecodeShape(m, block), *zeros);
  return zeros;
}

/// Cycles of a product of a core, sums in single precision.
Cycle gemv_cycles(const SparseGemv& job, const InferenceParams& params = {}) {
  const CodeCosts costs;
  TaskBuilder builder(1, 1);
  SharedRoutines routines(builder);
  CoreCode code(costs, params, routines);
  write_sparse_gemv(code, job, Element::fp32);
  builder.core(0, builder.add(std::move(code).finish()));
  return run_tasks(std::move(builder).finish()).cycles;
}

constexpr Cycle kClear = 7 + 1;

TEST(SparseGemv, ATestedZeroCostsItsTestAlone) {
  // Two outputs in single precision are cleared: one descriptor, 1 + 4 + 2, and one beat. Of
  // each input: a load, 2, the comparison, 2, and a branch: not taken 3, taken 6. One that is not
  // zero has an address, 4, two descriptors that are loaded and used, 1 + 1 + 4 + 2, and a
  // beat of two products. Its weights are at 0, its sums at 4 modulo 8: they are read together.
  const auto cycles = [](const std::vector<bool>& zero) {
    SparseGemv job;
    job.dense = {0, 16, 36, 3, 2};
    job.tests = true;
    job.zero = zero;
    return gemv_cycles(job);
  };
  constexpr Cycle kZero = 2 + 2 + 6;
  EXPECT_EQ(cycles({true, true, true}), kClear + 3 * kZero);
  EXPECT_EQ(cycles({false, true, true}), kClear + (2 + 2 + 3 + 4 + 8 + 1) + 2 * kZero);
  // behind it descriptors stand: where the weights are is written, 4, and the dispatch is all, 4
  EXPECT_EQ(cycles({false, true, false}),
            kClear + (2 + 2 + 3 + 4 + 8 + 1) + kZero + (2 + 2 + 3 + 4 + 4 + 1));
}

TEST(SparseGemv, AListOfWholeInputsStaysInAMappedLoop) {
  // Of four inputs two are there. Where the loop is entered is looked up: 2 and a branch, 6. Each
  // has its number and its value, 2 each; the first the address of the weights, 4, and the set-up
  // of two descriptors, 8, the next the dispatch, 4: sums stay, weights move on by themselves. Its
  // weights are at 4, as its sums are modulo 8: the beat takes a cycle more.
  SparseGemv job;
  job.dense = {0, 16, 36, 4, 2};
  job.listed = true;
  job.runs = {{}, {{0, 2}}, {}, {{0, 2}}};
  EXPECT_EQ(gemv_cycles(job), kClear + 8 + (4 + 4 + 8 + 1) + (4 + 4 + 2));
  // with tests of values, 2 and a branch that is not taken, 3, where the weights are is written
  job.tests = true;
  job.zero = {false, false, false, false};
  EXPECT_EQ(gemv_cycles(job), kClear + 8 + (4 + 5 + 4 + 8 + 1) + (4 + 5 + 4 + 4 + 2));
  job.tests = false;
  // an engine without mapped loops: an edge, 5, and all of the set-up for each
  InferenceParams loads;
  loads.set("moving_descriptors", "false");
  EXPECT_EQ(gemv_cycles(job, loads), kClear + 2 * (5 + 4 + 4 + 8 + 1) + 1);
}

TEST(SparseGemv, OfARunWhatTheListSaysIsWrittenInADescriptorThatStands) {
  // Of each input the edge of its loop, 5, its number of runs and its value, 2 each; of a run an
  // edge, 5, its word, 2, where its outputs are and how many, 4 each; the first run of all the
  // set-up, 8, others the dispatch, 4. A beat each, of the second run, whose weight is at 2 and
  // sum at 44, a cycle more. That there is none is a test, 8.
  SparseGemv job;
  job.dense = {0, 16, 36, 3, 4};
  job.listed = true;
  job.whole = false;
  job.runs = {{{0, 1}, {2, 1}}, {}, {{1, 1}}};
  EXPECT_EQ(gemv_cycles(job),
            kClear + 1 + 3 * 9 + 8 + (5 + 2 + 8 + 8 + 1) + 2 * (5 + 2 + 8 + 4 + 1) + 1);
}

/// Zeros of `down`, 64 x 64, but where `keeps` says so of an output and an input; measured.
DecodeZeros kept_of_down(const DecodeShape& shape,
                         const std::function<bool(unsigned, unsigned)>& keeps) {
  Mask mask;
  mask.rows = mask.cols = 64;
  mask.offsets.push_back(0);
  for (std::uint32_t output = 0; output < 64; ++output) {
    for (std::uint32_t input = 0; input < 64; ++input) {
      if (keeps(output, input)) mask.columns.push_back(input);
    }
    mask.offsets.push_back(mask.columns.size());
  }
  DecodeZeros zeros;
  of(zeros.weights, Projection::down) = NonZeros(mask);
  find_fullest_tiles(shape, zeros);
  return zeros;
}

/// Tiles of `down` of 8 inputs and 8 outputs on 8 x 8 cores, with the inputs that `keeps` says.
DecodeZeros of_down(const DecodeShape& shape, const std::function<bool(unsigned, unsigned)>& keeps,
                    const char* form) {
  DecodeZeros zeros = kept_of_down(shape, keeps);
  const DecodeBench bench;
  const Datapath datapath;
  InferenceParams params;
  params.set("weight_form", form);
  choose_forms(shape, {bench.costs, params, datapath}, zeros);
  return zeros;
}

TEST(WeightForms, AMatrixIsListedWhereThatIsSooner) {
  // Dense: 2 + 4 + 10 and 7 times 2 + 4, and beats. A list of all: entered, 8, and 2 more for
  // each; of every second input for all outputs, 8 + 18 + 3 * 8 and half of the beats. Every
  // second output: 4 runs of an input, at least 5 + 2 + 8 + 4 each.
  const DecodeShape shape(grouped_model(64, 16, 64), small_block(8, 8, 12));
  const auto dense = [&](const std::function<bool(unsigned, unsigned)>& keeps, const char* form) {
    return of_down(shape, keeps, form).dense.at(static_cast<std::size_t>(Matrix::down));
  };
  const auto all = [](unsigned, unsigned) { return true; };
  const auto inputs = [](unsigned, unsigned input) { return input % 2 == 0; };
  const auto outputs = [](unsigned output, unsigned) { return output % 2 == 0; };
  EXPECT_TRUE(dense(all, "auto"));
  EXPECT_FALSE(dense(inputs, "auto"));
  EXPECT_TRUE(dense(outputs, "auto"));
  // a core that has all its inputs decides for those that have one of them
  EXPECT_TRUE(dense([](unsigned, unsigned input) { return input % 8 == 0 || input < 8; }, "auto"));
  EXPECT_FALSE(dense([](unsigned, unsigned input) { return input % 8 == 0; }, "auto"));
  EXPECT_FALSE(dense(outputs, "listed"));
  EXPECT_TRUE(dense(inputs, "dense"));
}

TEST(WeightForms, WithTheirZerosWeightsGiveTheSameResult) {
  const DecoderModel model = grouped_model(64, 16, 64);
  DecodeBlock block = small_block(8, 8, 12);
  auto zeros = zeros_of_weights(model, block, "unstructured:0.5");
  zeros->dense.at(static_cast<std::size_t>(Matrix::k)) = true;
  zeros->dense.at(static_cast<std::size_t>(Matrix::up)) = true;
  block.zeros = zeros;
  EXPECT_LT(DecodeBench().error(DecodeShape(model, block)), 2 * kHalves);
  // what is stored so takes the room of the whole tile
  const DecodeSpace space(DecodeShape(model, block));
  EXPECT_EQ(space.up_bytes, 2U * 8 * 16);
  // and is read so where inputs are tested
  zeros->inputs = zeros_of_inputs(model, 3)->inputs;
  zeros->skip = true;
  EXPECT_LT(DecodeBench().error(DecodeShape(model, block)), 2 * kHalves);
}

TEST(DecodeZeros, AreLeftOutWithoutChangingTheResult) {
  const DecoderModel model = small_model();
  for (const std::uint64_t seed : {1U, 2U}) {
    DecodeBlock block = small_block(8, 8, 12);
    block.zeros = zeros_of_inputs(model, seed);
    EXPECT_LT(DecodeBench().error(DecodeShape(model, block)), 2 * kHalves) << seed;
  }
}

/// With zeros that the numbers do not have something is left out that counts.
TEST(DecodeZeros, OfOtherNumbersChangeIt) {
  const DecoderModel model = small_model();
  DecodeBlock block = small_block(8, 8, 12);
  block.attention = false;
  const DecodeShape plain(model, block);
  block.zeros = zeros_of_inputs(model, 1);
  TaskProgram program = DecodeLayer(DecodeShape(model, block), {}, {}).plan();
  const DecodeValues values(plain, 7);
  values.fill(program);
  EXPECT_GT(DecodeBench::error(plain, run_tasks(program), values, values.reference()), 0.1);
}

TEST(DecodeZeros, TheFullestColumnDecides) {
  // 8 inputs of `down` in each of 8 columns; if all are zero but those of one column, what this
  // column takes is what the phase takes when none is zero
  const DecoderModel model = grouped_model(64, 16, 64);
  DecodeBlock block = small_block(8, 8, 12);
  block.attention = false;
  const auto down = [&](std::uint32_t columns) {
    Mask mask;
    mask.rows = model.ffn;
    mask.cols = 1;
    mask.offsets.push_back(0);
    for (std::uint32_t i = 0; i < mask.rows; ++i) {
      if (i / 8 < columns) mask.columns.push_back(0);
      mask.offsets.push_back(mask.columns.size());
    }
    auto zeros = std::make_shared<DecodeZeros>();
    zeros->skip = true;
    of(zeros->inputs, Projection::down) = NonZeros(mask);
    block.zeros = zeros;
    return run_tasks(DecodeLayer(DecodeShape(model, block), {}, {}).plan()).cycles;
  };
  const Cycle none = down(0);
  const Cycle one = down(1);
  const Cycle all = down(8);
  EXPECT_LT(none, one);
  EXPECT_LE(one, all);
  // the others take part in the sums along x earlier, at most 8 cores of less than 10 cycles each
  EXPECT_GE(one + 80, all);
  // an instruction left out saves at least its address and set-up, less the longer branch: 11
  EXPECT_GE(all - none, 8U * 11);
}

// Two sequences: what one of them has is in its own product alone, which comes first or second.
TEST(DecodeZeros, EachSequenceHasItsOwn) {
  const DecoderModel model = grouped_model(64, 16, 64);
  DecodeBlock block = small_block(8, 8, 12);
  block.attention = false;
  block.batch = 2;
  const auto down = [&](const std::vector<std::uint32_t>& sequences) {
    Mask mask;
    mask.rows = model.ffn;
    mask.cols = 2;
    mask.offsets.push_back(0);
    for (std::uint32_t i = 0; i < mask.rows; ++i) {
      mask.columns.insert(mask.columns.end(), sequences.begin(), sequences.end());
      mask.offsets.push_back(mask.columns.size());
    }
    auto zeros = std::make_shared<DecodeZeros>();
    zeros->skip = true;
    of(zeros->inputs, Projection::down) = NonZeros(mask);
    block.zeros = zeros;
    return run_tasks(DecodeLayer(DecodeShape(model, block), {}, {}).plan()).cycles;
  };
  const Cycle none = down({});
  const Cycle first = down({0});
  const Cycle second = down({1});
  const Cycle both = down({0, 1});
  // of 8 inputs each is at least an address and set-up, less the longer branch: 11
  EXPECT_GE(first, none + 8 * 11);
  EXPECT_GE(second, none + 8 * 11);
  EXPECT_EQ(both - first, second - none);
}

TEST(DecodeZeros, WeightsThatAreStoredAsListsGiveTheSameResult) {
  const DecoderModel model = grouped_model(64, 16, 64);
  DecodeBlock block = small_block(8, 8, 12);
  for (const char* const text : {"unstructured:0.5", "2:4", "rows:0.3", "dense"}) {
    block.zeros = zeros_of_weights(model, block, text);
    EXPECT_LT(DecodeBench().error(DecodeShape(model, block)), 2 * kHalves) << text;
  }
}

TEST(DecodeZeros, WeightsAndInputsTogether) {
  const DecoderModel model = grouped_model(64, 16, 64);
  DecodeBlock block = small_block(8, 8, 12);
  auto zeros = zeros_of_weights(model, block, "unstructured:0.5");
  const auto inputs = zeros_of_inputs(model, 3);
  zeros->inputs = inputs->inputs;
  zeros->skip = true;
  block.zeros = zeros;
  EXPECT_LT(DecodeBench().error(DecodeShape(model, block)), 2 * kHalves);
}

/// All experts have the same zeros, of weights and of inputs, over all columns or apart.
TEST(DecodeZeros, OfExpertsAreLeftOutWithoutChangingTheResult) {
  DecoderModel model = grouped_model(64, 16, 32);
  model.experts = {4, 2};
  for (const bool apart : {false, true}) {
    DecodeBlock block = small_block(8, 8, 12);
    block.experts_apart = apart;
    auto zeros = zeros_of_weights(model, block, "2:4");
    zeros->inputs = zeros_of_inputs(model, 3)->inputs;
    zeros->skip = true;
    block.zeros = zeros;
    block.routes = FollowingValues(DecodeShape(model, block), 7).reference_routes();
    // tokens take little from experts, so that weights of another one are within 2 * kHalves
    EXPECT_LT(DecodeBench().error(DecodeShape(model, block)), kHalves / 4) << apart;
    const DecodeBench bench;
    const DecodeLayer layer(DecodeShape(model, block), bench.costs, bench.params);
    const TaskProgram program = layer.plan();
    const TaskOutcome event = run_tasks(program);
    EXPECT_EQ(difference(event, run_tasks(program, Engine::clocked)), "") << apart;
    const Datapath datapath;
    EXPECT_EQ(event.stamps, run_tasks(layer.plan(&datapath)).stamps) << apart;
  }
}

TEST(DecodeZeros, BytesOfSparseWeights) {
  // 16 x 16 cores; down: 4 of 64 inputs and 4 of 64 outputs each. Dense 16 halves. A pattern that
  // keeps the first half of the inputs for all outputs: cores of the first 8 columns have all 4,
  // with 4 numbers: 20 halves. Every second output: two runs of one for each input: 8 values, 4
  // counts, 8 runs of two halves.
  const DecoderModel model = grouped_model(64, 32, 64);
  const DecodeBlock block = small_block(16, 16, 12);
  const DecodeShape shape(model, block);
  const auto size = [&](const auto& keeps) {
    const DecodeZeros zeros = kept_of_down(shape, keeps);
    return zeros.sizes.at(static_cast<std::size_t>(Matrix::down));
  };
  const SparseTileSize half = size([](std::uint32_t, std::uint32_t input) { return input < 32; });
  EXPECT_TRUE(half.whole);
  EXPECT_EQ(half.halves(4), 20U);
  const SparseTileSize even =
      size([](std::uint32_t output, std::uint32_t) { return output % 2 == 0; });
  EXPECT_FALSE(even.whole);
  EXPECT_EQ(even.halves(4), 8U + 4 + 2 * 8);
}

TEST(DecodeZeros, EnginesAgreeAndPiecesOfCodeTakeAsLong) {
  const DecoderModel model = grouped_model(64, 16, 64);
  const CodeCosts costs;
  const InferenceParams params;
  const Datapath datapath;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    DecodeBlock block = small_block(8, 6, 11);
    block.receives = true;
    block.batch = 1;
    auto zeros = seed == 3 ? std::make_shared<DecodeZeros>()
                           : zeros_of_weights(model, block, seed == 1 ? "2:4" : "bernoulli:0.3");
    zeros->inputs = zeros_of_inputs(model, seed)->inputs;
    zeros->skip = seed != 2;
    zeros->compact = true;
    zeros->hidden = some(model.width, "0.2", seed);
    block.zeros = zeros;
    const DecodeLayer layer(DecodeShape(model, block), costs, params);
    const TaskProgram program = layer.plan();
    const TaskOutcome event = run_tasks(program);
    EXPECT_EQ(difference(event, run_tasks(program, Engine::clocked)), "") << seed;
    EXPECT_EQ(difference(event, run_tasks(program, Engine::event, 5)), "") << seed;
    const TaskOutcome pieces = run_tasks(layer.plan(&datapath));
    EXPECT_EQ(event.stamps, pieces.stamps) << seed;
    EXPECT_EQ(event.cycles, pieces.cycles) << seed;
    EXPECT_EQ(difference(run_tasks(program, Engine::event, 5, 7),
                         run_tasks(program, Engine::clocked, 6, 7)),
              "")
        << seed;
  }
}

TEST(DecodePositions, AWindowAndWhatIsLeftGiveTheResultOfAPlainComputation) {
  const DecoderModel model = small_model();
  DecodeBlock block = small_block(8, 8, 29);
  block.ffn = false;
  block.sees.window = 11;
  const DecodeShape windowed(model, block);
  // positions 18 to 28 on 8 rows: 18 in row 2; 3 rows, 2 to 4, have two
  EXPECT_EQ(windowed.slots(), 2U);
  EXPECT_EQ(windowed.positions(2), (std::vector<std::uint32_t>{18, 26}));
  EXPECT_EQ(windowed.live(5), 1U);
  EXPECT_LT(DecodeBench().error(windowed), kHalves);
  block.sees.window = 0;
  block.sees.kept = 9;
  const DecodeShape kept(model, block);
  std::uint32_t all = 0;
  for (std::uint32_t row = 0; row < 8; ++row) all += kept.live(row);
  EXPECT_EQ(all, 9U);
  EXPECT_EQ(kept.positions(28 % 8).back(), 28U);
  EXPECT_LT(DecodeBench().error(kept), kHalves);
}

}  // namespace
}  // namespace lacuna::wse
