// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/prefill_shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/counted.hpp"
#include "sim/base/error.hpp"
#include "workloads/mapping/wse/core_space.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"

namespace lacuna::wse {

PrefillShape::PrefillShape(const DecoderModel& model, const PrefillBlock& block)
    : LayerCut(model), block_(block) {
  cut(piecewise(model.width), piecewise(model.ffn), block.rows, block.rows);
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

TileFeatures PrefillShape::tile(Projection what, std::uint32_t row, const InputPiece& piece) const {
  const Matrix matrix = matrix_of(what);
  const std::uint32_t inputs_here = inputs(what) / tile_pieces();
  TileFeatures tile;
  for (std::uint32_t i = 0; i < inputs_here; ++i) {
    tile.inputs.push_back(input_of(matrix, piece.row, piece.number * inputs_here + i));
  }
  const auto add = [&](Matrix each) {
    for (std::uint32_t i = 0; i < LayerCut::outputs(each); ++i) {
      tile.outputs.push_back(output_of(each, row, i));
    }
  };
  add(matrix);
  if (what != Projection::qkv) return tile;
  add(Matrix::k);
  add(Matrix::v);
  return tile;
}

bool PrefillShape::any_tile(Matrix matrix, const TileTest& is) const {
  if (stored_with(matrix) != matrix) return false;
  for (std::uint32_t row = 0; row < block_.rows; ++row) {
    for (InputPiece piece; piece.row < block_.rows; ++piece.row) {
      for (piece.number = 0; piece.number < tile_pieces(); ++piece.number) {
        if (is(tile(projection_of(matrix), row, piece))) return true;
      }
    }
  }
  return false;
}

const DecodeZeros* PrefillShape::zeros_of(Projection what) const {
  const DecodeZeros* zeros = block_.zeros.get();
  return zeros != nullptr && zeros->act_on(matrix_of(what)) ? zeros : nullptr;
}

std::uint64_t PrefillShape::tile_halves(Projection what) const {
  const std::uint32_t inputs_here = inputs(what) / tile_pieces();
  const DecodeZeros* zeros = zeros_of(what);
  const Matrix matrix = matrix_of(what);
  const bool listed = zeros != nullptr && zeros->sparse(matrix);
  return listed ? zeros->size_of(matrix).halves(inputs_here)
                : std::uint64_t{inputs_here} * outputs(what);
}

namespace {

/// Halves of a core's weights of a product: as many as if the inputs of its own row were all of
/// them, but for what is in more rows than columns.
std::uint64_t weights_of(const PrefillShape& shape, Projection what) {
  return shape.weight_pieces() * shape.tile_halves(what);
}

/// The same of the widest part of one that is not fused.
std::uint64_t moving_of(const PrefillShape& shape, Projection what) {
  if (shape.block().fused || shape.outputs(what) == shape.d()) return weights_of(shape, what);
  const std::uint64_t widest = what == Projection::qkv ? shape.q() : shape.f();
  const std::uint64_t inputs = shape.inputs(what) / shape.tile_pieces();
  return inputs * shape.weight_pieces() * widest;
}

/// What stays in its place: weights, gains, and the banks of keys and values.
void take_kept(const PrefillShape& shape, CoreSpace& space, PrefillSpace& at) {
  const PrefillBlock& block = shape.block();
  const std::uint64_t d = shape.d();
  const std::uint64_t k = shape.k();
  const std::uint64_t attention = block.attention ? 1 : 0;
  const std::uint64_t ffn = block.ffn ? 1 : 0;
  const std::uint64_t experts = shape.experts();
  const std::uint64_t of_router = shape.model().experts.count * ffn * d;
  const std::uint64_t qkv = attention * weights_of(shape, Projection::qkv);
  const std::uint64_t o = attention * weights_of(shape, Projection::o);
  const std::uint64_t up = weights_of(shape, Projection::up);
  const std::uint64_t down = weights_of(shape, Projection::down);
  at.weight_bytes =
      std::uint64_t{2} * block.layers *
      (qkv + o + attention * (d + 2 * k) + ffn * (experts * (up + down) + d) + of_router);
  at.weight_bytes += block.others();
  at.cache_bytes = attention * 4 * k * shape.pitch() * block.chunks * block.layers;
  const auto whole = [](std::uint64_t bytes) {
    return static_cast<std::uint32_t>((bytes + 7) / 8 * 8);
  };
  at.wqkv = space.take(qkv, 2);
  at.wo = space.take(o, 2);
  at.up_bytes = whole(2 * up);
  at.down_bytes = whole(2 * down);
  at.wup = space.take(ffn * experts * at.up_bytes, 1);
  at.wdown = space.take(ffn * experts * at.down_bytes, 1);
  at.wrouter = space.take(of_router, 2);
  at.gain = space.take(d, 2);
  at.ffn_gain = space.take(d, 2);
  at.bank_bytes = whole(2 * k * shape.pitch());
  at.k_bank = space.take(attention * block.chunks * at.bank_bytes, 1);
  at.v_bank = space.take(attention * block.chunks * at.bank_bytes, 1);
}

/// What goes round: it takes the place of the layer's own, and one more.
void take_moving(const PrefillShape& shape, CoreSpace& space, PrefillSpace& at) {
  const PrefillBlock& block = shape.block();
  const std::uint64_t d = shape.d();
  const std::uint64_t q = shape.q();
  const std::uint64_t f = shape.f();
  const std::uint64_t t = shape.pitch();
  const std::uint64_t attention = block.attention ? 1 : 0;
  const std::uint64_t ffn = block.ffn ? 1 : 0;
  at.incoming = space.take(
      std::max({attention * moving_of(shape, Projection::qkv),
                attention * moving_of(shape, Projection::o), ffn * moving_of(shape, Projection::up),
                ffn * moving_of(shape, Projection::down)}),
      2);
  const std::uint64_t longest = std::max({d, attention * q, ffn * shape.experts() * f}) * t;
  for (std::uint32_t& tile : at.tile) tile = space.take(longest, 2);
  for (std::uint32_t& keys : at.keys) keys = space.take(shape.k() * t, 2);
  const std::uint64_t kept = std::uint64_t{shape.group()} * shape.held() * shape.t() * t;
  for (std::uint32_t& held : at.held) held = space.take(kept, 2);
}

}  // namespace

PrefillSpace::PrefillSpace(const PrefillShape& shape) {
  const std::uint64_t d = shape.d();
  const std::uint64_t q = shape.q();
  const std::uint64_t k = shape.k();
  const std::uint64_t f = shape.f();
  const std::uint64_t t = shape.pitch();
  const std::uint64_t heads = shape.group();
  const unsigned sum = bytes_of(shape.sum());
  const DecoderExperts& experts = shape.model().experts;
  CoreSpace space;
  take_kept(shape, space, *this);
  const std::uint64_t kept_in_place = space.bytes();
  take_moving(shape, space, *this);
  const std::uint64_t kept = heads * shape.held() * shape.t() * t;
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
  out = space.take(std::max({q + 2 * k, d, 2 * f * shape.experts()}) * t, sum, Half8::upper);
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
  const std::uint64_t routed = shape.block().ffn ? experts.count : 0;
  logits = space.take(routed * t, sum);
  mark = space.take(routed * t, sum);
  shares = space.take(routed * t, sum);
  best = space.take(experts.chosen * t, sum);
  weight = space.take(experts.chosen * t, sum);
  image_bytes = space.bytes();
  buffer_bytes = image_bytes - kept_in_place;
}

void require_memory(const PrefillShape& shape, const InferenceParams& params, std::uint64_t bytes) {
  const PrefillSpace space(shape);
  const std::uint64_t code = shape.block().code_bytes(params);
  const std::uint64_t all = space.weight_bytes + space.cache_bytes + space.buffer_bytes + code;
  if (all <= bytes) return;
  throw OutOfMemoryError(fmt::format(
      "{} of a prompt in chunks of {} on {} x {} cores {} {} bytes of a core: weights {}, "
      "keys and values of {} {}, buffers {}, code {}; it has {}",
      counted(shape.block().layers, "layer"), shape.block().tokens, shape.block().columns,
      shape.block().rows, shape.block().layers == 1 ? "needs" : "need", all, space.weight_bytes,
      counted(shape.block().chunks, "chunk"), space.cache_bytes, space.buffer_bytes, code, bytes));
}

}  // namespace lacuna::wse
