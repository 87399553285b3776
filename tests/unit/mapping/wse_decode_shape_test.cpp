// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/base/error.hpp"
#include "workloads/mapping/wse/inference/decode_shape.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"

namespace lacuna::wse {
namespace {

using testing::HasSubstr;

/// Qwen3-4B as published on blocks of 256 x 256.
DecoderModel large_model() { return {2560, 32, 8, 128, 9728, true, true, {}}; }

DecodeBlock block_of(std::uint32_t context, bool attention, bool ffn) {
  DecodeBlock block;
  block.columns = block.rows = 256;
  block.context = context;
  block.attention = attention;
  block.ffn = ffn;
  return block;
}

TEST(DecodeShape, PartsOfACore) {
  const DecodeShape shape(large_model(), block_of(2048, true, true));
  EXPECT_EQ(shape.d(), 10U);
  EXPECT_EQ(shape.q(), 16U);
  EXPECT_EQ(shape.k(), 4U);
  EXPECT_EQ(shape.f(), 38U);
  EXPECT_EQ(shape.band(), 32U);
  EXPECT_EQ(shape.slots(), 8U);
  // position 2047 in row 255; with one more it is the ninth of row 0
  EXPECT_EQ(shape.writer(), 255U);
  const DecodeShape next(large_model(), block_of(2049, true, true));
  EXPECT_EQ(next.live(0), 9U);
  EXPECT_EQ(next.live(1), 8U);
  EXPECT_EQ(next.writer(), 0U);
}

TEST(DecodeShape, MemoryOfAttention) {
  DecodeBlock block = block_of(8192, true, false);
  block.layers = 9;
  const DecodeShape shape(large_model(), block);
  const DecodeSpace space(shape);
  // a layer: (160 + 40 + 40 + 160) halves, a gain of 10 in 24 bytes, two of 4 in single precision;
  // a cache of 32 positions of 4 keys and 4 values
  EXPECT_EQ(space.weight_bytes, 9U * (800 + 24 + 16 + 16));
  EXPECT_EQ(space.cache_bytes, 9U * 512);
  EXPECT_NO_THROW(require_memory(shape, {}, 48 * 1024));
}

TEST(DecodeShape, WhatDoesNotFitIsRefusedWithTheBytesAndWhatWould) {
  DecodeBlock block = block_of(2048, true, true);
  block.layers = 5;
  const DecodeShape shape(large_model(), block);
  try {
    require_memory(shape, {}, 48 * 1024);
    FAIL();
  } catch (const OutOfMemoryError& error) {
    EXPECT_THAT(error.what(), HasSubstr("5 layers on 256 x 256 cores need"));
    EXPECT_THAT(error.what(),
                HasSubstr("it has 49152; no number of positions fits; 4 layers would"));
  }
  // not one layer of a large model, until its blocks are high enough
  block.layers = 2;
  const DecoderModel wide{16384, 32, 8, 512, 32768, true, true, {}};
  try {
    require_memory({wide, block}, {}, 48 * 1024);
    FAIL();
  } catch (const OutOfMemoryError& error) {
    const std::string text = error.what();
    const std::size_t at = text.find("one layer would fit 256 x ");
    ASSERT_NE(at, std::string::npos) << text;
    block.layers = 1;
    block.rows = static_cast<std::uint32_t>(std::stoul(text.substr(at + 26)));
    EXPECT_NO_THROW(require_memory({wide, block}, {}, 48 * 1024));
    block.rows /= 2;
    try {
      require_memory({wide, block}, {}, 48 * 1024);
      FAIL();
    } catch (const OutOfMemoryError& one) {
      EXPECT_THAT(one.what(), HasSubstr("1 layer on 256 x"));
      EXPECT_THAT(one.what(), HasSubstr(" cores needs "));
    }
  }
  block.rows = 256;
  // with room for some positions their number is said: it fits, and another row's worth does not
  block.layers = 4;
  block.context = 200000;
  try {
    require_memory({large_model(), block}, {}, 48 * 1024);
    FAIL();
  } catch (const OutOfMemoryError& error) {
    const std::string text = error.what();
    const std::size_t end = text.find(" positions would fit");
    ASSERT_NE(end, std::string::npos) << text;
    const std::size_t begin = text.rfind(' ', end - 1) + 1;
    block.context = static_cast<std::uint32_t>(std::stoul(text.substr(begin, end - begin)));
    EXPECT_NO_THROW(require_memory({large_model(), block}, {}, 48 * 1024));
    block.context += 1;
    EXPECT_THROW(require_memory({large_model(), block}, {}, 48 * 1024), OutOfMemoryError);
  }
}

TEST(DecodeShape, HeadsAreWholeNumbersOfColumns) {
  DecodeBlock block = block_of(64, true, true);
  block.columns = 100;
  EXPECT_THROW(DecodeShape(large_model(), block), UnsupportedError);
}

/// How far the exponential is off at most, of numbers not above 0.
double error_of_exponential(unsigned degree, unsigned squarings) {
  double most = 0;
  for (double x = -20; x <= 0; x += 0.01) {
    const double z = std::ldexp(x, -static_cast<int>(squarings));
    double term = 1;
    double sum = 1;
    for (unsigned i = 1; i <= degree; ++i) sum += term *= z / i;
    for (unsigned i = 0; i < squarings; ++i) sum *= sum;
    most = std::max(most, std::abs(sum - std::exp(x)));
  }
  return most;
}

TEST(DecodeFunctions, TheExponentialIsTheShortestThatRoundsAsHalvesDo) {
  const InferenceParams params;
  constexpr double kRounding = 1.0 / 2048;
  EXPECT_LT(error_of_exponential(params.exp_degree, params.exp_squarings), kRounding);
  EXPECT_GT(error_of_exponential(params.exp_degree - 1, params.exp_squarings), kRounding);
  EXPECT_GT(error_of_exponential(params.exp_degree, params.exp_squarings - 1), kRounding);
}

TEST(DecodeShape, ExponentialsAreThoseOfTheCacheOrOfThePlacement) {
  DecodeBlock block = block_of(512, true, false);
  const auto places = [&] { return DecodeShape(large_model(), block).exponentials(); };
  EXPECT_EQ(places(), 2U);
  block.exponentials = 32;
  EXPECT_EQ(places(), 32U);
  EXPECT_EQ(DecodeShape(large_model(), block).slots(), 2U);  // of the cache itself
  block.context = 16384;
  EXPECT_EQ(places(), 64U);
  // a length that is said, and what bounds it
  block.capacity = 20480;
  EXPECT_EQ(places(), 80U);
  block.sees.window = 1024;
  EXPECT_EQ(places(), 4U);
  // longer than the context a window bounds them too, but there are no more than without it
  block.capacity = 0;
  block.context = 512;
  EXPECT_EQ(places(), 4U);
  block.sees.window = 16384;
  EXPECT_EQ(places(), 32U);
}

TEST(DecodeFunctions, ThePolynomialOfTheSigmoidIsNear) {
  const std::vector<double> c = sigmoid_coefficients(3);
  ASSERT_EQ(c.size(), 4U);
  for (double x = -kSigmoidRange; x <= kSigmoidRange; x += 0.125) {
    const double z = x * x;
    const double found = 0.5 + x * (c[0] + z * (c[1] + z * (c[2] + z * c[3])));
    EXPECT_NEAR(found, 1 / (1 + std::exp(-x)), 0.005) << x;
  }
}

}  // namespace
}  // namespace lacuna::wse
