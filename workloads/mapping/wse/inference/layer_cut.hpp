// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "models/wse/program/task_program.hpp"
#include "workloads/mapping/wse/inference/decode_zeros.hpp"
#include "workloads/mapping/wse/inference/params.hpp"

namespace lacuna::wse {

/// Experts in place of the feed-forward part: gated blocks of which a token takes the `chosen` ones
/// with the largest logits, weighted by a softmax over these.
struct DecoderExperts {
  std::uint32_t count = 0;  // 0: none
  std::uint32_t chosen = 0;
};

/// A layer of a decoder: sizes as the model has them.
struct DecoderModel {
  std::uint32_t width = 0;  // d
  std::uint32_t heads = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t head_dim = 0;
  std::uint32_t ffn = 0;
  bool qk_norm = false;    // of each head, before rotation
  bool wide_sums = true;   // products of halves add up in single precision
  DecoderExperts experts;  // of inner width `ffn`
};

/// A block of cores, and what of layers it has.
struct LayerBlock {
  std::uint32_t columns = 1;
  std::uint32_t rows = 1;
  std::uint32_t layers = 1;  // whose weights, keys and values its cores hold
  // what the weights of the others of these layers have more bytes than this one's, or fewer;
  // attention's and those of the feed-forward part
  std::int64_t others_attention = 0;
  std::int64_t others_ffn = 0;
  bool attention = true;  // parts of layers that its cores have
  bool ffn = true;
  std::shared_ptr<const DecodeZeros> zeros;  // none: nothing is left out

  bool has(Matrix matrix) const { return projection_of(matrix) < Projection::up ? attention : ffn; }
  /// Bytes of the others' weights beside as many of this one.
  std::uint64_t others() const {
    return static_cast<std::uint64_t>((attention ? others_attention : 0) + (ffn ? others_ffn : 0));
  }
  std::uint64_t code_bytes(const InferenceParams& params) const {
    return (attention ? params.attention_code : 0U) + (ffn ? params.ffn_code : 0U);
  }
};

/// A layer cut for the cores of a block: the hidden vector along one side, heads and inner widths
/// along the same or the other. What does not divide is padded.
class LayerCut {
 public:
  virtual ~LayerCut() = default;

  const DecoderModel& model() const { return model_; }

  /// Features of a core: of the hidden vector, of an inner width, of one head in the cores of one
  /// key and value head, and of all query heads of that.
  std::uint32_t d() const { return d_; }
  std::uint32_t f() const { return f_; }
  std::uint32_t k() const { return ceil(model_.head_dim, band()); }
  std::uint32_t q() const { return group() * k(); }
  /// Query heads of a key and value head.
  std::uint32_t group() const { return model_.heads / model_.kv_heads; }
  /// Cores of a key and value head.
  std::uint32_t band() const { return heads_over_ / model_.kv_heads; }
  Element sum() const { return model_.wide_sums ? Element::fp32 : Element::fp16; }

  /// The feature that is number `i` of a core of the line, or kPadding.
  static constexpr std::uint32_t kPadding = ~0U;
  std::uint32_t hidden_feature(std::uint32_t core, std::uint32_t i) const {
    return inside(core * d_ + i, model_.width);
  }
  std::uint32_t inner_feature(std::uint32_t core, std::uint32_t i) const {
    return inside(core % inner_over_ * f_ + i, model_.ffn);
  }
  std::uint32_t query_feature(std::uint32_t core, std::uint32_t i) const {
    return of_head(core, core / band() * group() + i / k(), i % k());
  }
  std::uint32_t key_feature(std::uint32_t core, std::uint32_t i) const {
    return of_head(core, core / band(), i);
  }
  std::uint32_t outputs(Matrix matrix) const;

  /// The matrix whose lists this one is a part of: itself, if it is stored by itself.
  virtual Matrix stored_with(Matrix matrix) const { return matrix; }

  /// Whether any tile is, of those of a matrix that a core multiplies at once.
  using TileTest = std::function<bool(const TileFeatures&)>;
  virtual bool any_tile(Matrix matrix, const TileTest& is) const = 0;

  static std::uint32_t ceil(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

 protected:
  explicit LayerCut(const DecoderModel& model) : model_(model) {}
  LayerCut(const LayerCut&) = default;
  LayerCut& operator=(const LayerCut&) = default;

  /// Features of the hidden vector and of an inner width; cores over which heads, and an inner
  /// width, lie.
  void cut(std::uint32_t d, std::uint32_t f, std::uint32_t heads_over, std::uint32_t inner_over) {
    d_ = d;
    f_ = f;
    heads_over_ = heads_over;
    inner_over_ = inner_over;
  }

  /// Features of the projection: those of inputs and outputs number `i` of a core.
  std::uint32_t input_of(Matrix matrix, std::uint32_t core, std::uint32_t i) const;
  std::uint32_t output_of(Matrix matrix, std::uint32_t core, std::uint32_t i) const;

 private:
  static std::uint32_t inside(std::uint32_t feature, std::uint32_t all) {
    return feature < all ? feature : kPadding;
  }
  std::uint32_t of_head(std::uint32_t core, std::uint32_t head, std::uint32_t i) const {
    const std::uint32_t at = core % band() * k() + i;
    return at < model_.head_dim ? head * model_.head_dim + at : kPadding;
  }

  DecoderModel model_;
  std::uint32_t d_ = 0;
  std::uint32_t f_ = 0;
  std::uint32_t heads_over_ = 1;
  std::uint32_t inner_over_ = 1;
};

/// Sizes of the fullest tile of each sparse matrix.
void find_fullest_tiles(const LayerCut& shape, DecodeZeros& zeros);

}  // namespace lacuna::wse
