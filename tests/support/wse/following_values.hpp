// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/common/fp16.hpp"
#include "workloads/mapping/wse/inference/decode_values.hpp"

namespace lacuna::wse {

/// Keys, rotated, and values of the positions so far, by position and feature.
struct DecodeHistory {
  std::vector<std::vector<double>> keys;
  std::vector<std::vector<double>> values;
};

/// Numbers of a layer whose tokens follow each other.
class FollowingValues : public DecodeValues {
 public:
  using DecodeValues::DecodeValues;

  /// A hidden vector in place of the drawn one, and positions in place of drawn ones, to which
  /// reference() adds its own. Positions that are not there are zero.
  void follow(std::vector<double> x, DecodeHistory* history) {
    x_ = std::move(x);
    history_ = history;
  }

  /// The experts that the token takes in reference(), the best first.
  std::vector<std::uint32_t> reference_routes() const {
    FollowingValues copy = *this;
    DecodeHistory history;
    if (history_ != nullptr) {
      history = *history_;
      copy.history_ = &history;
    }
    std::vector<double> x;
    for (std::uint32_t i = 0; i < shape().model().width; ++i) x.push_back(at(Tensor::x, i, 0));
    if (shape().block().attention) x = copy.attention(x);
    std::vector<std::uint32_t> routes;
    for (const auto& [expert, share] : routed(normalised(x, Tensor::ffn_gain))) {
      routes.push_back(expert);
    }
    return routes;
  }

 private:
  double hidden(std::uint32_t feature, double drawn) const override {
    return x_.empty() ? drawn : to_float(to_half(static_cast<float>(x_[feature])));
  }

  double cached(bool value, std::uint32_t head, std::uint32_t position,
                std::uint32_t feature) const override {
    if (history_ == nullptr) return DecodeValues::cached(value, head, position, feature);
    const std::uint32_t dim = shape().model().head_dim;
    const auto& positions = value ? history_->values : history_->keys;
    if (feature >= dim || position >= positions.size()) return 0;
    return positions[position].at(head * dim + feature);
  }

  void made(const std::vector<double>& key, const std::vector<double>& value) const override {
    if (history_ == nullptr) return;
    const std::size_t position = shape().block().context - 1;
    const auto add = [&](std::vector<std::vector<double>>& to, const std::vector<double>& more) {
      if (to.size() <= position) to.resize(position + 1);
      to[position].insert(to[position].end(), more.begin(), more.end());
    };
    add(history_->keys, key);
    add(history_->values, value);
  }

  std::vector<double> x_;
  DecodeHistory* history_ = nullptr;
};

}  // namespace lacuna::wse
