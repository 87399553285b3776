// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "workloads/mapping/wse/inference/decode_values.hpp"

namespace lacuna::test {

/// Layers of a decoder, one token after the other, in double precision: as a textbook has them.
class PlainDecoder {
 public:
  using Tensor = wse::DecodeValues::Tensor;
  using Vector = std::vector<double>;
  /// A number of a layer, by input and output, of experts by their number.
  using Numbers = std::function<double(std::uint32_t layer, Tensor tensor, std::uint32_t input,
                                       std::uint32_t output, std::uint32_t expert)>;

  PlainDecoder(const wse::DecoderModel& model, std::uint32_t layers, Numbers numbers)
      : m_(model), numbers_(std::move(numbers)), keys_(layers), values_(layers) {}

  /// The hidden vector of the next token after all layers.
  Vector next(Vector x) {
    for (layer_ = 0; layer_ < keys_.size(); ++layer_) {
      add(x, attention(normalised(x, Tensor::gain)));
      add(x, feed_forward(normalised(x, Tensor::ffn_gain)));
    }
    return x;
  }

  /// Of a token, all heads one after the other.
  const Vector& keys(std::uint32_t layer, std::size_t token) const { return keys_[layer][token]; }
  const Vector& values(std::uint32_t layer, std::size_t token) const {
    return values_[layer][token];
  }
  /// Experts that the last token took in a layer, the best first.
  const std::vector<std::uint32_t>& routes(std::uint32_t layer) const { return routes_.at(layer); }

 private:
  double at(Tensor tensor, std::uint32_t input, std::uint32_t output,
            std::uint32_t expert = 0) const {
    return numbers_(layer_, tensor, input, output, expert);
  }

  static void add(Vector& x, const Vector& y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }

  Vector normalised(const Vector& x, Tensor gain) const {
    double squares = 0;
    for (const double value : x) squares += value * value;
    Vector z;
    for (std::uint32_t i = 0; i < x.size(); ++i) {
      z.push_back(x[i] / std::sqrt(squares / static_cast<double>(x.size()) + 1e-6) *
                  at(gain, i, 0));
    }
    return z;
  }

  Vector times(const Vector& x, Tensor tensor, std::uint32_t outputs,
               std::uint32_t expert = 0) const {
    Vector y(outputs, 0);
    for (std::uint32_t i = 0; i < x.size(); ++i) {
      for (std::uint32_t j = 0; j < outputs; ++j) y[j] += x[i] * at(tensor, i, j, expert);
    }
    return y;
  }

  /// Each head by itself.
  Vector turned(const Vector& all, Tensor gain) const {
    const double position = static_cast<double>(keys_[layer_].size());
    Vector out;
    for (std::size_t first = 0; first < all.size(); first += m_.head_dim) {
      Vector head(all.begin() + static_cast<std::ptrdiff_t>(first),
                  all.begin() + static_cast<std::ptrdiff_t>(first + m_.head_dim));
      if (m_.qk_norm) head = normalised(head, gain);
      for (std::uint32_t i = 0; i < m_.head_dim; i += 2) {
        const double angle = position * std::pow(10000.0, -1.0 * i / m_.head_dim);
        out.push_back(head[i] * std::cos(angle) - head[i + 1] * std::sin(angle));
        out.push_back(head[i] * std::sin(angle) + head[i + 1] * std::cos(angle));
      }
    }
    return out;
  }

  Vector attention(const Vector& z) {
    const std::uint32_t dim = m_.head_dim;
    const Vector q = turned(times(z, Tensor::q, m_.heads * dim), Tensor::q_gain);
    const Vector k = turned(times(z, Tensor::k, m_.kv_heads * dim), Tensor::k_gain);
    keys_[layer_].push_back(k);
    values_[layer_].push_back(times(z, Tensor::v, m_.kv_heads * dim));
    Vector mixed(m_.heads * dim, 0);
    for (std::uint32_t head = 0; head < m_.heads; ++head) {
      const std::uint32_t kv = head / (m_.heads / m_.kv_heads) * dim;
      Vector shares;
      double sum = 0;
      for (const Vector& key : keys_[layer_]) {
        double score = 0;
        for (std::uint32_t i = 0; i < dim; ++i) score += q[head * dim + i] * key[kv + i];
        shares.push_back(std::exp(score / std::sqrt(static_cast<double>(dim))));
        sum += shares.back();
      }
      for (std::size_t token = 0; token < shares.size(); ++token) {
        for (std::uint32_t i = 0; i < dim; ++i) {
          mixed[head * dim + i] += shares[token] / sum * values_[layer_][token][kv + i];
        }
      }
    }
    return times(mixed, Tensor::o, m_.width);
  }

  Vector gated(const Vector& z, std::uint32_t expert) const {
    const Vector up = times(z, Tensor::up, m_.ffn, expert);
    Vector inner = times(z, Tensor::gate, m_.ffn, expert);
    for (std::uint32_t i = 0; i < m_.ffn; ++i) inner[i] *= up[i] / (1 + std::exp(-inner[i]));
    return times(inner, Tensor::down, m_.width, expert);
  }

  Vector feed_forward(const Vector& z) {
    if (m_.experts.count == 0) return gated(z, 0);
    const Vector logits = times(z, Tensor::router, m_.experts.count);
    std::vector<std::uint32_t> order;
    for (std::uint32_t e = 0; e < m_.experts.count; ++e) order.push_back(e);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return logits[a] > logits[b]; });
    order.resize(m_.experts.chosen);
    double sum = 0;
    for (const std::uint32_t e : order) sum += std::exp(logits[e]);
    Vector out(m_.width, 0);
    for (const std::uint32_t e : order) {
      const Vector one = gated(z, e);
      for (std::uint32_t i = 0; i < m_.width; ++i) out[i] += std::exp(logits[e]) / sum * one[i];
    }
    routes_.resize(keys_.size());
    routes_[layer_] = order;
    return out;
  }

  wse::DecoderModel m_;
  Numbers numbers_;
  std::vector<std::vector<Vector>> keys_;  // by layer and token
  std::vector<std::vector<Vector>> values_;
  std::vector<std::vector<std::uint32_t>> routes_;
  std::uint32_t layer_ = 0;
};

}  // namespace lacuna::test
