// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/decode_shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"

namespace lacuna::wse {

DecodeShape::DecodeShape(const DecoderModel& model, const DecodeBlock& block)
    : model_(model), block_(block) {
  if (!block.attention) return;
  if (block.columns % model.kv_heads != 0) {
    throw UnsupportedError(
        fmt::format("{} columns are no whole number for each of {} key and value heads",
                    block.columns, model.kv_heads));
  }
  if (k() % 2 != 0) {
    throw UnsupportedError(fmt::format(
        "{} features of a head in each of {} columns: they are rotated in pairs", k(), band()));
  }
}

std::uint32_t DecodeShape::slots() const {
  return ceil(std::max(block_.context, block_.capacity), block_.rows);
}

DecodeSpace::DecodeSpace(const DecodeShape& shape) {
  const std::uint32_t d = shape.d();
  const std::uint32_t q = shape.q();
  const std::uint32_t k = shape.k();
  const std::uint32_t f = shape.f();
  const std::uint32_t heads = shape.group();
  const std::uint32_t slots = shape.slots();
  const std::uint64_t layers = shape.block().layers;
  const std::uint64_t batch = shape.block().batch;
  const bool wide = shape.model().wide_sums;
  const unsigned sum = wide ? 4 : 2;
  CoreSpace space;
  if (shape.block().attention) {
    wq = space.take(std::uint64_t{d} * q, 2);
    wk = space.take(std::uint64_t{d} * k, 2);
    wv = space.take(std::uint64_t{d} * k, 2);
    wo = space.take(std::uint64_t{q} * d, 2);
    gain = space.take(d, 2);
    q_gain = space.take(shape.model().qk_norm ? k : 0, sum);
    k_gain = space.take(shape.model().qk_norm ? k : 0, sum);
  }
  if (shape.block().ffn) {
    wup = space.take(std::uint64_t{d} * 2 * f, 2);
    wdown = space.take(std::uint64_t{f} * d, 2);
    ffn_gain = space.take(d, 2);
  }
  weight_bytes = space.bytes() * layers;
  std::uint64_t before = space.bytes();
  if (shape.block().attention) {
    k_cache = space.take(batch * k * slots, 2);
    v_cache = space.take(batch * slots * k, 2);
  }
  cache_bytes = (space.bytes() - before) * layers;
  before = space.bytes();
  // sums four bytes behind a multiple of eight: they are read together with weights
  const auto sums = [&](std::uint64_t elements) {
    return space.take(batch * elements, sum, Half8::upper);
  };
  const auto halves = [&](std::uint64_t elements, std::uint32_t same) {
    return wide ? space.take(batch * elements, 2) : same;
  };
  x = space.take(batch * d, 2);
  z = space.take(batch * d, 2);
  stats = space.take(batch * (heads + 1), sum);
  stats16 = halves(heads + 1, stats);
  out = sums(d);
  out16 = halves(d, out);
  if (shape.block().attention) {
    qkv = sums(q + 2 * k);
    qkv16 = halves(q + 2 * k, qkv);
    cos = space.take(q / 2, sum);
    sin = space.take(q / 2, sum);
    rotated = space.take(2 * q, sum);
    scores = sums(std::uint64_t{heads} * slots);
    probabilities = halves(std::uint64_t{heads} * slots, scores);
    work = space.take(batch * heads * slots, sum);
    context = sums(q);
    context16 = halves(q, context);
  }
  if (shape.block().ffn) {
    inner = sums(2 * f);
    inner16 = halves(f, inner);
    silu = space.take(3 * f, sum);
  }
  buffer_bytes = space.bytes() - before;
  image_bytes = space.bytes();
}

std::uint64_t DecodeSpace::code_bytes(const DecodeShape& shape,
                                      const InferenceParams& params) const {
  return (shape.block().attention ? params.attention_code : 0U) +
         (shape.block().ffn ? params.ffn_code : 0U);
}

void require_decode_memory(const DecodeShape& shape, const InferenceParams& params,
                           std::uint64_t bytes) {
  const auto all = [&](const DecodeSpace& space, const DecodeShape& of) {
    return space.weight_bytes + space.cache_bytes + space.buffer_bytes +
           space.code_bytes(of, params);
  };
  const DecodeSpace space(shape);
  if (all(space, shape) <= bytes) return;
  std::string fits = "no number of positions fits";
  DecodeBlock less = shape.block();
  less.capacity = 0;
  less.context = 1;
  const auto holds = [&](std::uint32_t context) {
    less.context = context;
    const DecodeShape smaller(shape.model(), less);
    return all(DecodeSpace(smaller), smaller) <= bytes;
  };
  if (holds(1)) {
    std::uint32_t low = 1;
    std::uint32_t high = shape.slots() * shape.block().rows;
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      (holds(middle) ? low : high) = middle;
    }
    fits = fmt::format("{} positions would fit", low);
  }
  throw OutOfMemoryError(fmt::format(
      "{} layers on {} x {} cores need {} bytes of a core: weights {}, cache {} for {} positions, "
      "buffers {}, code {}; it has {}; {}",
      shape.block().layers, shape.block().columns, shape.block().rows, all(space, shape),
      space.weight_bytes, space.cache_bytes, shape.slots() * shape.block().rows, space.buffer_bytes,
      space.code_bytes(shape, params), bytes, fits));
}

}  // namespace lacuna::wse
