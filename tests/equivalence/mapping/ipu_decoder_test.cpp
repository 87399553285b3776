// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/ipu/chip_decoder.hpp"
#include "tests/support/wse/small_decoder.hpp"

namespace lacuna::ipu {
namespace {

using test::model_with_experts;
using test::PlainDecoder;
using test::relative_error;
using test::token;

// Halves have 11 bits; of some hundred roundings of numbers below 4 the sum stays under 2^-7. Here
// all that goes from row to row is halves.
constexpr double kHalves = 1.0 / 128;

void expect_near(const std::vector<double>& found, std::uint32_t width, PlainDecoder& reference,
                 const std::vector<std::vector<double>>& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto first = found.begin() + static_cast<std::ptrdiff_t>(i * width);
    const std::vector<double> one(first, first + width);
    EXPECT_LT(relative_error(one, reference.next(tokens[i])), 3 * kHalves) << i;
  }
}

// The model of the wafer's test: two layers, a prompt of eight tokens, then four steps, each row of
// which runs on the chip with what the rows before have left.
TEST(IpuDecoder, APromptAndFourStepsAreThoseOfAPlainComputation) {
  constexpr std::uint32_t kLayers = 2;
  constexpr std::uint32_t kPrompt = 8;
  const wse::DecoderModel model = model_with_experts();
  PlainDecoder reference = test::plain(model, kLayers);
  ChipDecoder chip(model, kLayers, kPrompt + 4, test::all_numbers(model, kLayers), 8);
  std::vector<std::vector<double>> tokens;
  std::vector<double> all;
  for (std::uint32_t i = 0; i < kPrompt; ++i) {
    tokens.push_back(token(model, i));
    all.insert(all.end(), tokens[i].begin(), tokens[i].end());
  }
  expect_near(chip.next(all), model.width, reference, tokens);
  for (std::uint32_t i = kPrompt; i < kPrompt + 4; ++i) {
    expect_near(chip.next(token(model, i)), model.width, reference, {token(model, i)});
  }
}

}  // namespace
}  // namespace lacuna::ipu
