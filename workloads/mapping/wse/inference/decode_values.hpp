// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "workloads/mapping/wse/inference/decode_layer.hpp"

namespace lacuna::wse {

/// Numbers of a model's layer, drawn from a seed, and what a plain computation in double precision
/// makes of them.
class DecodeValues {
 public:
  DecodeValues(const DecodeShape& shape, std::uint64_t seed) : shape_(shape), seed_(seed) {}
  virtual ~DecodeValues() = default;

  /// The memory of each core of `program`, which is that of a DecodeLayer; all sequences have the
  /// same numbers.
  void fill(TaskProgram& program) const;

  /// The hidden vector after the parts that the block has, once.
  std::vector<double> reference() const;

  /// The hidden vector in the cores of a column after a run.
  std::vector<double> found(const std::vector<std::vector<std::uint8_t>>& memory,
                            std::uint32_t column, std::uint32_t sequence = 0) const;

  enum class Tensor : std::uint8_t {
    x,
    q,
    k,
    v,
    o,
    up,
    gate,
    down,
    gain,
    ffn_gain,
    q_gain,
    k_gain,
    router
  };

  /// A number of the layer. Zero outside the tensor: padding.
  double at(Tensor tensor, std::uint32_t input, std::uint32_t output,
            std::uint32_t expert = 0) const;

  /// By which a pair of features is rotated at a position.
  double angle_at(std::uint32_t position, std::uint32_t pair) const;

 protected:
  /// A number of the hidden vector, for which this was drawn; and a key, rotated, or value of an
  /// earlier position.
  virtual double hidden(std::uint32_t /*feature*/, double drawn) const { return drawn; }
  virtual double cached(bool value, std::uint32_t head, std::uint32_t position,
                        std::uint32_t feature) const;
  /// Key and value of the position that reference() decodes, head by head.
  virtual void made(const std::vector<double>& /*key*/,
                    const std::vector<double>& /*value*/) const {}

  const DecodeShape& shape() const { return shape_; }
  std::vector<double> attention(const std::vector<double>& x) const;
  /// The chosen experts and their shares, the best first.
  std::vector<std::pair<std::uint32_t, double>> routed(const std::vector<double>& z) const;
  std::vector<double> normalised(const std::vector<double>& x, Tensor gain) const;

 private:
  bool is_zero(Tensor tensor, std::uint32_t input, std::uint32_t output) const;
  struct Extent;
  Extent extent_of(Tensor tensor) const;
  double weight(Matrix matrix, std::uint32_t input, std::uint32_t feature,
                std::uint32_t expert) const;
  struct CoreImage;
  void put_vectors(CoreImage& image) const;
  void put_matrix(CoreImage& image, std::uint32_t address, Matrix matrix,
                  std::uint32_t expert) const;
  void put_weights(CoreImage& image) const;
  void put_rotations(CoreImage& image) const;
  void put_cache(CoreImage& image) const;
  double angle(std::uint32_t pair) const { return angle_at(shape_.block().context - 1, pair); }
  double draw(std::uint64_t what, std::uint64_t i, std::uint64_t j) const;
  struct NewPosition;
  std::vector<double> projected(const std::vector<double>& z, Tensor tensor,
                                std::uint32_t head) const;
  std::vector<double> rotated(std::vector<double> v, Tensor gain) const;
  std::vector<std::uint32_t> positions_seen() const;
  void add_head(std::uint32_t head, const NewPosition& now, const std::vector<std::uint32_t>& seen,
                std::vector<double>& out) const;
  std::vector<double> feed_forward(const std::vector<double>& x) const;
  void add_gated(const std::vector<double>& z, std::uint32_t expert, double share,
                 std::vector<double>& out) const;

  const DecodeShape shape_;
  std::uint64_t seed_;
};

}  // namespace lacuna::wse
