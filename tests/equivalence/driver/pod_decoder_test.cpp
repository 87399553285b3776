// SPDX-License-Identifier: Apache-2.0
#include "tests/support/driver/pod_decoder.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/support/wse/small_decoder.hpp"

namespace lacuna::test {
namespace {

// Halves have 11 bits; of some hundred roundings of numbers below 4 the sum stays under 2^-7.
// All that goes from row to row is halves, as on one chip.
constexpr double kHalves = 1.0 / 128;
constexpr std::uint32_t kLayers = 2;
constexpr std::uint32_t kPrompt = 6;
constexpr std::uint32_t kSteps = 4;

/// Heads of 64, whose root is the scale of the rows.
wse::DecoderModel decoder() {
  wse::DecoderModel model = wse::grouped_model(44, 64, 34);
  model.experts = {4, 2};
  return model;
}

ModelShape shape_of(const wse::DecoderModel& model) {
  ModelShape shape = find_model_shape("qwen3-30b-a3b");
  shape.layers = kLayers;
  shape.width = model.width;
  shape.heads = model.heads;
  shape.kv_heads = model.kv_heads;
  shape.head_dim = shape.rotated = model.head_dim;
  shape.vocabulary = 64;
  shape.positions = kPrompt + kSteps;
  shape.experts.count = model.experts.count;
  shape.experts.chosen = model.experts.chosen;
  shape.experts.ffn = model.ffn;
  return shape;
}

/// A prompt, then steps of one token, against the textbook's.
void expect_plain(unsigned tensor, const std::vector<unsigned>& stages) {
  const wse::DecoderModel model = decoder();
  PlainDecoder reference = plain(model, kLayers);
  system::InferencePass cut;
  cut.tensor = tensor;
  cut.kinds.resize(1);
  for (const unsigned layers : stages) cut.stages.push_back({{0, layers}});
  PodDecoder pod(shape_of(model), cut, kPrompt + kSteps, all_numbers(model, kLayers), 8);
  for (std::uint32_t first = 0; first < kPrompt + kSteps;) {
    const std::uint32_t count = first == 0 ? kPrompt : 1;
    std::vector<double> tokens;
    for (std::uint32_t i = first; i < first + count; ++i) {
      const std::vector<double> one = token(model, i);
      tokens.insert(tokens.end(), one.begin(), one.end());
    }
    const std::vector<double> found = pod.next(tokens);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto begin = found.begin() + static_cast<std::ptrdiff_t>(i * model.width);
      EXPECT_LT(
          relative_error({begin, begin + model.width}, reference.next(token(model, first + i))),
          3 * kHalves)
          << "token " << first + i << ", tensor " << tensor;
    }
    first += count;
  }
}

// Two chips share each matrix, and two stages have a layer each: what is timed as a pass gives the
// numbers of the model, row by row in both engines.
TEST(PodDecoder, APassOfSharedMatricesAndStagesHasTheNumbersOfAPlainComputation) {
  expect_plain(2, {1, 1});
}

TEST(PodDecoder, SoHaveStagesAlone) { expect_plain(1, {1, 1}); }

TEST(PodDecoder, SoHaveSharedMatricesAlone) { expect_plain(2, {2}); }

}  // namespace
}  // namespace lacuna::test
