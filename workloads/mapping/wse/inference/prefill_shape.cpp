// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/prefill_shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"
#include "workloads/mapping/wse/layers/code.hpp"

namespace lacuna::wse {

PrefillShape::PrefillShape(const DecoderModel& model, const PrefillBlock& block)
    : model_(model), block_(block) {
  if (block.side % model.kv_heads != 0) {
    throw UnsupportedError(
        fmt::format("{} rows are no whole number for each of {} key and value heads", block.side,
                    model.kv_heads));
  }
  if (k() % 2 != 0 && model.kv_heads > 1) {
    throw UnsupportedError(fmt::format(
        "{} features of a head in each of {} rows: they are rotated in pairs", k(), band()));
  }
}

PrefillSpace::PrefillSpace(const PrefillShape& shape) {
  const std::uint64_t d = shape.d();
  const std::uint64_t q = shape.q();
  const std::uint64_t k = shape.k();
  const std::uint64_t f = shape.f();
  const std::uint64_t t = shape.pitch();
  const std::uint64_t heads = shape.group();
  const PrefillBlock& block = shape.block();
  const unsigned sum = bytes_of(shape.sum());
  CoreSpace space;
  const std::uint64_t attention = block.attention ? 1 : 0;
  const std::uint64_t ffn = block.ffn ? 1 : 0;
  const std::uint64_t of_layer =
      attention * (2 * d * q + 2 * d * k + d + 2 * k) + ffn * (3 * d * f + d);
  // what moves takes the place of the layer's own, and one more
  const std::uint64_t inputs = block.fused ? q + 2 * k : q;
  const std::uint64_t inner = block.fused ? 2 * f : f;
  const std::uint64_t widest = d * std::max({attention * inputs, attention * q, ffn * inner});
  const std::uint64_t longest = std::max({d, attention * q, ffn * f}) * t;
  weight_bytes = 2 * of_layer * block.layers;
  cache_bytes = attention * 4 * k * t * block.chunks * block.layers;
  for (std::uint32_t& at : weights) at = space.take(widest, 2);
  for (std::uint32_t& at : tile) at = space.take(longest, 2);
  for (std::uint32_t& at : keys) at = space.take(k * t, 2);
  const std::uint64_t kept = heads * shape.held() * t * t;
  for (std::uint32_t& at : held) at = space.take(kept, 2);
  x = space.take(d * t, 2);
  z = space.take(d * t, 2);
  gain = space.take(d, 2);
  head_gain = space.take(k, sum);
  stats = space.take(3 * (heads + 1) * t, sum);
  stats16 = space.take((heads + 1) * t, 2);
  // sums four bytes behind a multiple of eight: they are read together with weights
  out = space.take(std::max({q + 2 * k, d, 2 * f}) * t, sum, Half8::upper);
  qkv16 = space.take((q + 2 * k) * t, 2);
  cos = space.take((q + 1) / 2 * t, sum);
  sin = space.take((q + 1) / 2 * t, sum);
  rotated = space.take(2 * q * t, sum);
  partial = space.take(heads * t * t, sum, Half8::upper);
  scores = space.take(kept, sum, Half8::upper);
  mask = space.take(t * t, sum);
  work = space.take(kept, sum);
  context = space.take(q * t, sum, Half8::upper);
  folded = space.take(q * t, sum);
  silu = space.take(3 * f * t, sum);
  // of the first tile of weights, the layer's own
  buffer_bytes = space.bytes() - 2 * widest;
}

void require_prefill_memory(const PrefillShape& shape, const InferenceParams& params,
                            std::uint64_t bytes) {
  const PrefillSpace space(shape);
  const std::uint64_t code = (shape.block().attention ? params.attention_code : 0U) +
                             (shape.block().ffn ? params.ffn_code : 0U);
  const std::uint64_t all = space.weight_bytes + space.cache_bytes + space.buffer_bytes + code;
  if (all <= bytes) return;
  throw OutOfMemoryError(fmt::format(
      "{} layers of a prompt in chunks of {} on {} x {} cores need {} bytes of a core: weights {}, "
      "keys and values of {} chunks {}, buffers {}, code {}; it has {}",
      shape.block().layers, shape.block().tokens, shape.block().side, shape.block().side, all,
      space.weight_bytes, shape.block().chunks, space.cache_bytes, space.buffer_bytes, code,
      bytes));
}

}  // namespace lacuna::wse
