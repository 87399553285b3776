// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/program/task_program.hpp"
#include "workloads/mapping/wse/layers/layout.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::wse {

/// What a core holds of a tensor.
struct TensorShare {
  std::uint32_t features = 0;
  std::uint64_t tokens = 0;  // of all matrices of its slot
  std::uint64_t elements() const { return features * tokens; }
};

/// Where an element lies: its core (row-major in the rectangle), its place among the elements of
/// that core, and its feature and token there, of so many tokens.
struct TensorPlace {
  std::size_t core = 0;
  std::uint64_t index = 0;
  std::uint64_t feature = 0;
  std::uint64_t token = 0;
  std::uint64_t tokens = 0;
};

/// An m x n x batch tensor on the rectangle. One matrix is activations: its m features are dealt to
/// columns, its n tokens to rows. Many are scores of attention: the n entries of a row are dealt to
/// the columns of a slot, the m rows to its rows, which is also how a single matrix of scores lies.
/// Elements are counted row-major, matrix after matrix.
class LayerTensor {
 public:
  LayerTensor(const WaferParams& wafer, std::uint32_t m, std::uint32_t n, std::uint32_t batch,
              std::uint32_t unit = 1, bool scores = false)
      : wafer_columns_(wafer.columns),
        wafer_rows_(wafer.rows),
        m_(m),
        n_(n),
        m_is_feature_(batch == 1 && !scores),
        layout_(wafer, m_is_feature_ ? m : n, m_is_feature_ ? n : m, batch, unit) {}

  bool m_is_feature() const { return m_is_feature_; }
  const LayerLayout& layout() const { return layout_; }
  std::uint64_t most_elements() const {
    return std::uint64_t{layout_.most_features()} * layout_.most_tokens();
  }
  WaferMemory empty_memory(std::uint64_t bytes) const {
    return WaferMemory(std::size_t{wafer_columns_} * wafer_rows_,
                       std::vector<std::uint8_t>(bytes, 0));
  }

  TensorShare share(std::uint32_t slot, std::uint32_t row, std::uint32_t column) const {
    return {layout_.features(column), std::uint64_t{layout_.tokens(row)} * layout_.instances(slot)};
  }

  /// visit(row, column, share) for each core that holds something, at its place in the rectangle.
  template <class Visit>
  void for_each_core(const Visit& visit) const {
    for (std::uint32_t slot = 0; slot < layout_.slots(); ++slot) {
      for (std::uint32_t r = 0; r < layout_.rows(); ++r) {
        for (std::uint32_t c = 0; c < layout_.columns(); ++c) {
          visit(layout_.slot_row(slot) + r, layout_.slot_column(slot) + c, share(slot, r, c));
        }
      }
    }
  }

  /// visit(element, place)
  template <class Visit>
  void for_each_element(const Visit& visit) const {
    for (std::uint32_t slot = 0; slot < layout_.slots(); ++slot) {
      for (std::uint32_t r = 0; r < layout_.rows(); ++r) {
        for (std::uint32_t c = 0; c < layout_.columns(); ++c) visit_core(slot, r, c, visit);
      }
    }
  }

  /// The element of the neighbouring feature, with which a feature forms a pair.
  std::uint64_t partner(std::uint64_t element) const {
    const std::uint64_t stride = m_is_feature_ ? n_ : 1;
    const std::uint64_t feature = m_is_feature_ ? element / n_ : element % n_;
    return feature % 2 == 0 ? element + stride : element - stride;
  }

 private:
  template <class Visit>
  void visit_core(std::uint32_t slot, std::uint32_t r, std::uint32_t c, const Visit& visit) const {
    const TensorShare mine = share(slot, r, c);
    TensorPlace at;
    at.core =
        std::size_t{layout_.slot_row(slot) + r} * wafer_columns_ + layout_.slot_column(slot) + c;
    at.tokens = mine.tokens;
    for (at.feature = 0; at.feature < mine.features; ++at.feature) {
      for (at.token = 0; at.token < mine.tokens; ++at.token) {
        at.index = at.feature * mine.tokens + at.token;
        visit(element(slot, r, c, at), at);
      }
    }
  }

  std::uint64_t element(std::uint32_t slot, std::uint32_t r, std::uint32_t c,
                        const TensorPlace& at) const {
    const std::uint64_t matrix = slot + at.token / layout_.tokens(r) * layout_.slots();
    const std::uint64_t feature = layout_.first_feature(c) + at.feature;
    const std::uint64_t token = layout_.first_token(r) + at.token % layout_.tokens(r);
    const std::uint64_t i = m_is_feature_ ? feature : token;
    const std::uint64_t j = m_is_feature_ ? token : feature;
    return (matrix * m_ + i) * n_ + j;
  }

  std::uint32_t wafer_columns_;
  std::uint32_t wafer_rows_;
  std::uint32_t m_;
  std::uint32_t n_;
  bool m_is_feature_;
  LayerLayout layout_;
};

/// Element `index` of a vector at `address`.
void store(std::vector<std::uint8_t>& memory, std::uint32_t address, std::uint64_t index,
           DType type, double value);
double load(const std::vector<std::uint8_t>& memory, std::uint32_t address, std::uint64_t index,
            DType type);

/// UnsupportedError unless the operation is of fp16 or fp32.
void check_layer_type(const LayerOp& op);

}  // namespace lacuna::wse
