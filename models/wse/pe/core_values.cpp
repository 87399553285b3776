// SPDX-License-Identifier: Apache-2.0
#include "models/wse/pe/core_values.hpp"

#include <utility>

namespace lacuna::wse {
/// A 32-bit word of the ring.
std::uint32_t CoreValues::word_of(float sum) const {
  return format_.integer ? static_cast<std::uint32_t>(static_cast<std::int32_t>(sum))
                         : detail::bits_of(sum);
}

float CoreValues::sum_of(std::uint32_t word) const {
  return format_.integer ? static_cast<float>(static_cast<std::int32_t>(word))
                         : detail::float_of(word);
}

CoreValues::CoreValues(Format format, std::uint32_t tokens, std::uint32_t buffers,
                       std::vector<float> activations)
    : format_(format),
      tokens_(tokens),
      activations_(std::move(activations)),
      psums_(std::size_t{tokens} * buffers) {}

void CoreValues::multiply_add(std::uint32_t buffer, std::uint32_t index, float weight,
                              bool overwrite) {
  const float* const x = activations_.data() + std::size_t{index} * tokens_;
  float* const sum = psums_.data() + std::size_t{buffer} * tokens_;
  for (std::uint32_t t = 0; t < tokens_; ++t) {
    // A product is exact in double; the sum is taken in double and rounded once.
    const double product = static_cast<double>(x[t]) * weight;
    const auto total = static_cast<float>(overwrite ? product : product + sum[t]);
    sum[t] = format_.psum_fp32 ? total : to_float(to_half(total));
  }
}

void CoreValues::clear(std::uint32_t buffer) {
  for (std::uint32_t t = 0; t < tokens_; ++t) psums_[std::size_t{buffer} * tokens_ + t] = 0;
}

std::uint32_t CoreValues::add(std::uint32_t buffer, std::uint32_t incoming, std::uint32_t first,
                              std::uint32_t count) const {
  const float* const sum = psums_.data() + std::size_t{buffer} * tokens_ + first;
  if (format_.ring_fp32) return word_of(sum_of(incoming) + sum[0]);
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Half in = static_cast<Half>(incoming >> (16U * i) & 0xffffU);
    word |= static_cast<std::uint32_t>(to_half(to_float(in) + sum[i])) << (16U * i);
  }
  return word;
}

void CoreValues::gather(std::uint32_t buffer, std::uint32_t incoming, std::uint32_t first,
                        std::uint32_t count) {
  float* const sum = psums_.data() + std::size_t{buffer} * tokens_ + first;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Half half = static_cast<Half>(incoming >> (16U * i) & 0xffffU);
    const float total = (format_.ring_fp32 ? sum_of(incoming) : to_float(half)) + sum[i];
    sum[i] = format_.psum_fp32 ? total : to_float(to_half(total));
  }
}

void CoreValues::keep(std::uint32_t word, std::uint32_t count) {
  if (format_.ring_fp32) {
    const float sum = sum_of(word);
    result_.push_back(format_.fp32 || format_.integer ? sum : to_float(to_half(sum)));
    return;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    result_.push_back(to_float(static_cast<Half>(word >> (16U * i) & 0xffffU)));
  }
}

}  // namespace lacuna::wse
