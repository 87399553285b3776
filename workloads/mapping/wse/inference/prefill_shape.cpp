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
  const std::uint32_t columns = block.columns;
  const std::uint32_t rows = block.rows;
  if (columns % rows != 0 && rows % columns != 0) {
    throw UnsupportedError(fmt::format(
        "a prompt on {} x {} cores: one side is no multiple of the other", columns, rows));
  }
  if (rows % model.kv_heads != 0) {
    throw UnsupportedError(fmt::format(
        "{} rows are no whole number for each of {} key and value heads", rows, model.kv_heads));
  }
  if (k() % 2 != 0 && model.kv_heads > 1) {
    throw UnsupportedError(fmt::format(
        "{} features of a head in each of {} rows: they are rotated in pairs", k(), band()));
  }
  if (q() % tile_pieces() != 0) {
    throw UnsupportedError(
        fmt::format("{} features of queries in each of {} rows are no {} equal pieces, of which {} "
                    "columns take one by one",
                    q(), rows, tile_pieces(), columns));
  }
  if (columns % band() != 0) {
    throw UnsupportedError(fmt::format(
        "{} columns of keys are no whole number for each of {} rows of a head", columns, band()));
  }
  if (block.chunks > 1 && block.tokens % columns != 0) {
    throw UnsupportedError(
        fmt::format("chunks of {} tokens on {} columns: later chunks would see keys of padding",
                    block.tokens, columns));
  }
}

PrefillSpace::PrefillSpace(const PrefillShape& shape) {
  const std::uint64_t d = shape.d();
  const std::uint64_t q = shape.q();
  const std::uint64_t k = shape.k();
  const std::uint64_t f = shape.f();
  const std::uint64_t t = shape.pitch();
  const std::uint64_t heads = shape.group();
  const std::uint64_t experts = shape.experts();
  const PrefillBlock& block = shape.block();
  const unsigned sum = bytes_of(shape.sum());
  const std::uint64_t attention = block.attention ? 1 : 0;
  const std::uint64_t ffn = block.ffn ? 1 : 0;
  // a core has as much of a product's weights as if the inputs of its own row were all of them, but
  // for what is in more rows than columns
  const auto tile_of = [&](std::uint64_t inputs, std::uint64_t outputs) {
    return inputs / shape.tile_pieces() * shape.weight_pieces() * outputs;
  };
  const std::uint64_t routed = shape.model().experts.count * ffn;
  const std::uint64_t of_layer = attention * (tile_of(d, q + 2 * k) + tile_of(q, d) + d + 2 * k) +
                                 ffn * (experts * (tile_of(d, 2 * f) + tile_of(f, d)) + d) +
                                 routed * d;
  weight_bytes = 2 * of_layer * block.layers;
  cache_bytes = attention * 4 * k * t * block.chunks * block.layers;

  CoreSpace space;
  wqkv = space.take(attention * tile_of(d, q + 2 * k), 2);
  wo = space.take(attention * tile_of(q, d), 2);
  up_bytes = static_cast<std::uint32_t>((2 * tile_of(d, 2 * f) + 7) / 8 * 8);
  down_bytes = static_cast<std::uint32_t>((2 * tile_of(f, d) + 7) / 8 * 8);
  wup = space.take(ffn * experts * up_bytes, 1);
  wdown = space.take(ffn * experts * down_bytes, 1);
  wrouter = space.take(routed * d, 2);
  gain = space.take(d, 2);
  ffn_gain = space.take(d, 2);
  bank_bytes = static_cast<std::uint32_t>((2 * k * t + 7) / 8 * 8);
  k_bank = space.take(attention * block.chunks * bank_bytes, 1);
  v_bank = space.take(attention * block.chunks * bank_bytes, 1);
  const std::uint64_t kept_in_place = space.bytes();

  // what moves takes the place of the layer's own, and one more
  const std::uint64_t inputs = block.fused ? q + 2 * k : q;
  const std::uint64_t inner = block.fused ? 2 * f : f;
  const std::uint64_t widest = std::max({attention * tile_of(d, inputs), attention * tile_of(q, d),
                                         ffn * tile_of(d, inner), ffn * tile_of(f, d)});
  incoming = space.take(widest, 2);
  const std::uint64_t longest = std::max({d, attention * q, ffn * experts * f}) * t;
  for (std::uint32_t& at : tile) at = space.take(longest, 2);
  for (std::uint32_t& at : keys) at = space.take(k * t, 2);
  const std::uint64_t kept = heads * shape.held() * shape.t() * t;
  for (std::uint32_t& at : held) at = space.take(kept, 2);
  x = space.take(d * t, 2);
  z = space.take(d * t, 2);
  q_gain = space.take(k, sum);
  k_gain = space.take(k, sum);
  const std::uint64_t of_heads = heads * t;
  stats = space.take((heads + 1) * t, sum);
  stats16 = space.take((heads + 1) * t, 2);
  maxima = space.take(2 * of_heads, sum);
  sums = space.take(2 * of_heads, sum);
  both = space.take(of_heads, sum);
  scaled = space.take(2 * of_heads, sum);
  // sums four bytes behind a multiple of eight: they are read together with weights
  out = space.take(std::max({q + 2 * k, d, experts * 2 * f}) * t, sum, Half8::upper);
  qkv16 = space.take(q * t, 2);
  cos = space.take((q + 1) / 2 * t, sum);
  sin = space.take((q + 1) / 2 * t, sum);
  rotated = space.take(2 * q * t, sum);
  partial = space.take(heads * shape.t() * t, sum, Half8::upper);
  scores = space.take(kept, sum, Half8::upper);
  mask = space.take(kept / heads, sum);
  work = space.take(kept, sum);
  context = space.take(q * t, sum, Half8::upper);
  folded = space.take(q * t, sum);
  silu = space.take(3 * f * t, sum);
  logits = space.take(routed * t, sum);
  mark = space.take(routed * t, sum);
  shares = space.take(routed * t, sum);
  best = space.take(shape.model().experts.chosen * t, sum);
  weight = space.take(shape.model().experts.chosen * t, sum);
  image_bytes = space.bytes();
  buffer_bytes = image_bytes - kept_in_place;
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
      shape.block().layers, shape.block().tokens, shape.block().columns, shape.block().rows, all,
      space.weight_bytes, shape.block().chunks, space.cache_bytes, space.buffer_bytes, code,
      bytes));
}

}  // namespace lacuna::wse
