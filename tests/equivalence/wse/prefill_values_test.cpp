// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/prefill_values.hpp"

#include <gtest/gtest.h>

#include "models/common/fp16.hpp"
#include "tests/support/wse/plain_decoder.hpp"
#include "tests/support/wse/prefill_bench.hpp"

namespace lacuna::wse {
namespace {

using test::PlainDecoder;

/// Tokens of any size, as halves hold them.
std::vector<double> token(const DecoderModel& model, std::uint32_t number) {
  std::vector<double> x;
  for (std::uint32_t i = 0; i < model.width; ++i) {
    x.push_back(to_float(to_half(static_cast<float>(std::sin(1.0 + 3 * i + 7 * number)))));
  }
  return x;
}

DecodeValues numbers_of(const DecoderModel& model, std::uint32_t layer) {
  return {DecodeShape(model, small_block(model.kv_heads, 1, 1)), 11 + layer};
}

PlainDecoder plain(const DecoderModel& model, std::uint32_t layers) {
  return {model, layers,
          [model](std::uint32_t layer, PlainDecoder::Tensor tensor, std::uint32_t input,
                  std::uint32_t output, std::uint32_t expert) {
            return numbers_of(model, layer).at(tensor, input, output, expert);
          }};
}

PrefillBlock block_of(std::uint32_t columns, std::uint32_t rows, std::uint32_t tokens,
                      std::uint32_t chunks) {
  PrefillBlock block;
  block.columns = columns;
  block.rows = rows;
  block.tokens = tokens;
  block.chunks = chunks;
  return block;
}

/// Of a layer and as many chunks as the block keeps: the largest error of any token.
double error(const DecoderModel& model, const PrefillBlock& block, bool both_engines = false) {
  const DecodeValues numbers = numbers_of(model, 0);
  PrefillBench bench({model, block}, numbers, both_engines);
  PlainDecoder reference = plain(model, 1);
  double most = 0;
  for (std::uint32_t chunk = 0; chunk < block.chunks; ++chunk) {
    std::vector<std::vector<double>> hidden;
    for (std::uint32_t i = 0; i < block.tokens; ++i) {
      hidden.push_back(token(model, chunk * block.tokens + i));
    }
    const std::vector<std::vector<double>> found = bench.next(hidden);
    for (std::uint32_t i = 0; i < block.tokens; ++i) {
      most = std::max(most, relative_error(found[i], reference.next(hidden[i])));
    }
  }
  return most;
}

TEST(PrefillValues, OfAChunkAreThoseOfAPlainComputation) {
  const DecoderModel model = grouped_model(44, 16, 70);
  EXPECT_LT(error(model, block_of(8, 8, 8, 1), true), 2 * kHalves);
}

TEST(PrefillValues, OfLaterChunksSeeAllBeforeAndNothingBehind) {
  const DecoderModel model = grouped_model(44, 16, 70);
  EXPECT_LT(error(model, block_of(8, 8, 8, 3)), 2 * kHalves);
  EXPECT_LT(error(model, block_of(8, 8, 16, 2), true), 2 * kHalves);
}

}  // namespace
}  // namespace lacuna::wse
