// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "models/common/fp16.hpp"
#include "tests/support/wse/decode_bench.hpp"
#include "tests/support/wse/plain_decoder.hpp"

namespace lacuna::test {

/// Two query heads for each of two key and value heads, four experts of which a token takes two.
inline wse::DecoderModel model_with_experts() {
  wse::DecoderModel model = wse::grouped_model(44, 16, 34);
  model.experts = {4, 2};
  return model;
}

/// Tokens of any size, as halves hold them.
inline std::vector<double> token(const wse::DecoderModel& model, std::uint32_t number) {
  std::vector<double> x;
  for (std::uint32_t i = 0; i < model.width; ++i) {
    x.push_back(to_float(to_half(static_cast<float>(std::sin(1.0 + 3 * i + 7 * number)))));
  }
  return x;
}

inline wse::DecodeValues numbers_of(const wse::DecoderModel& model, std::uint32_t layer) {
  return {wse::DecodeShape(model, wse::small_block(model.kv_heads, 1, 1)), 11 + layer};
}

inline PlainDecoder::Numbers all_numbers(const wse::DecoderModel& model, std::uint32_t layers) {
  std::vector<wse::DecodeValues> numbers;
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    numbers.push_back(numbers_of(model, layer));
  }
  return [numbers](std::uint32_t layer, PlainDecoder::Tensor tensor, std::uint32_t input,
                   std::uint32_t output, std::uint32_t expert) {
    return numbers[layer].at(tensor, input, output, expert);
  };
}

inline PlainDecoder plain(const wse::DecoderModel& model, std::uint32_t layers) {
  return {model, layers, all_numbers(model, layers)};
}

/// The largest difference, over the largest number.
inline double relative_error(const std::vector<double>& found,
                             const std::vector<double>& expected) {
  double most = 0;
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    most = std::max(most, std::abs(found.at(i) - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return most / largest;
}

}  // namespace lacuna::test
