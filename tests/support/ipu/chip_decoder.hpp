// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tests/support/ipu/chip_rows.hpp"
#include "tests/support/wse/plain_decoder.hpp"

namespace lacuna::ipu {

/// Layers of a decoder as rows on a chip, each of which takes what others left. What is between
/// them is the order of numbers alone; which expert is the largest is read off the chip.
class ChipDecoder {
 public:
  using Numbers = ChipRows::Numbers;
  using Tensor = test::PlainDecoder::Tensor;

  ChipDecoder(const wse::DecoderModel& model, std::uint32_t layers, std::uint32_t capacity,
              test::PlainDecoder::Numbers numbers, unsigned tiles)
      : m_(model),
        numbers_(std::move(numbers)),
        chip_(tiles),
        keys_(layers, Numbers(std::size_t{capacity} * kv(), 0)),
        values_(keys_) {}

  /// The hidden vectors of the next tokens, behind each other, after all layers.
  Numbers next(Numbers x) {
    tokens_ = static_cast<std::uint32_t>(x.size()) / m_.width;
    for (layer_ = 0; layer_ < keys_.size(); ++layer_) {
      x = chip_.elements("add", {x, attention(norm(x, Tensor::gain, m_.width))});
      x = chip_.elements("add", {x, experts(norm(x, Tensor::ffn_gain, m_.width))});
    }
    position_ += tokens_;
    return x;
  }

 private:
  std::uint32_t kv() const { return m_.kv_heads * m_.head_dim; }
  std::uint32_t group() const { return m_.heads / m_.kv_heads; }

  /// Columns become rows.
  static Numbers turned(const Numbers& x, std::size_t columns) {
    const std::size_t rows = x.size() / columns;
    Numbers y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) y[i % columns * rows + i / columns] = x[i];
    return y;
  }

  Numbers norm(const Numbers& x, Tensor tensor, std::uint32_t width) {
    Numbers gain;
    for (std::uint32_t i = 0; i < width; ++i) gain.push_back(numbers_(layer_, tensor, i, 0, 0));
    return chip_.rms_norm(width, x, gain);
  }

  /// Tokens behind each other, before and after.
  Numbers times(const Numbers& x, Tensor tensor, std::uint32_t inputs, std::uint32_t outputs,
                std::uint32_t expert = 0) {
    Numbers w;
    for (std::uint32_t j = 0; j < outputs; ++j) {
      for (std::uint32_t i = 0; i < inputs; ++i) {
        w.push_back(numbers_(layer_, tensor, i, j, expert));
      }
    }
    const auto tokens = static_cast<std::uint32_t>(x.size()) / inputs;
    return turned(chip_.product(outputs, inputs, tokens, {w}, {turned(x, inputs)}), tokens);
  }

  Numbers rotated(const Numbers& x, std::uint32_t heads) {
    Numbers cos;
    Numbers sin;
    for (std::uint32_t token = 0; token < tokens_; ++token) {
      for (std::uint32_t i = 0; i < heads * m_.head_dim; ++i) {
        const std::uint32_t pair = i % m_.head_dim / 2;
        const double angle = (position_ + token) * std::pow(10000.0, -2.0 * pair / m_.head_dim);
        cos.push_back(std::cos(angle));
        sin.push_back(i % 2 == 0 ? -std::sin(angle) : std::sin(angle));
      }
    }
    return chip_.elements("rope", {x, cos, sin});
  }

  Numbers attention(const Numbers& z) {
    const std::uint32_t dim = m_.head_dim;
    Numbers q = times(z, Tensor::q, m_.width, m_.heads * dim);
    Numbers k = times(z, Tensor::k, m_.width, kv());
    const Numbers v = times(z, Tensor::v, m_.width, kv());
    q = rotated(norm(q, Tensor::q_gain, dim), m_.heads);
    k = rotated(norm(k, Tensor::k_gain, dim), m_.kv_heads);
    std::vector<std::uint32_t> places;
    for (std::uint32_t i = 0; i < tokens_; ++i) places.push_back(position_ + i);
    keys_[layer_] = chip_.scatter(kv(), keys_[layer_], k, places);
    values_[layer_] = chip_.scatter(kv(), values_[layer_], v, places);
    return times(mixed(q), Tensor::o, m_.heads * dim, m_.width);
  }

  /// A head of the cache, by position and feature.
  Numbers cached(const Numbers& all, std::uint32_t head) const {
    Numbers out;
    for (std::uint32_t p = 0; p < position_ + tokens_; ++p) {
      for (std::uint32_t i = 0; i < m_.head_dim; ++i) {
        out.push_back(all[std::size_t{p} * kv() + head * m_.head_dim + i]);
      }
    }
    return out;
  }

  /// Rows of scores are those of a query head of a token, the tokens of each head behind each
  /// other.
  Numbers mixed(const Numbers& q) {
    const std::uint32_t dim = m_.head_dim;
    const std::uint32_t seen = position_ + tokens_;
    std::vector<Numbers> queries(m_.kv_heads);
    std::vector<Numbers> keys;
    std::vector<Numbers> values;
    for (std::uint32_t head = 0; head < m_.heads; ++head) {
      for (std::uint32_t token = 0; token < tokens_; ++token) {
        for (std::uint32_t i = 0; i < dim; ++i) {
          queries[head / group()].push_back(q[(token * m_.heads + head) * dim + i]);
        }
      }
    }
    for (std::uint32_t head = 0; head < m_.kv_heads; ++head) {
      keys.push_back(turned(cached(keys_[layer_], head), dim));
      values.push_back(cached(values_[layer_], head));
    }
    const std::uint32_t rows = group() * tokens_;
    Numbers scores = chip_.product(rows, dim, seen, queries, keys);
    scores = chip_.softmax(seen, masked(chip_.elements("scale", {scores}), seen));
    std::vector<Numbers> shares(m_.kv_heads);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      shares[i / (std::size_t{rows} * seen)].push_back(scores[i]);
    }
    const Numbers out = chip_.product(rows, seen, dim, shares, values);
    Numbers all(out.size());
    for (std::uint32_t i = 0; i < out.size(); ++i) {
      const std::uint32_t head = i / (tokens_ * dim);
      const std::uint32_t token = i / dim % tokens_;
      all[(token * m_.heads + head) * dim + i % dim] = out[i];
    }
    return all;
  }

  /// A token does not see those behind it. The scale of the row is that of heads of 64.
  Numbers masked(const Numbers& scores, std::uint32_t seen) {
    const double rest = 8 / std::sqrt(static_cast<double>(m_.head_dim));
    const Numbers scaled =
        rest == 1 ? scores : chip_.elements("mul", {scores, Numbers(scores.size(), rest)});
    if (tokens_ == 1) return scaled;
    Numbers mask;
    for (std::uint32_t i = 0; i < scores.size(); ++i) {
      mask.push_back(i % seen > position_ + i / seen % tokens_ ? -30000 : 0);
    }
    return chip_.elements("add", {scaled, mask});
  }

  /// The experts of each token, the best first: where the largest number has gone.
  std::vector<std::vector<std::uint32_t>> chosen(const Numbers& logits) {
    const std::uint32_t count = m_.experts.count;
    Numbers shares = chip_.softmax(count, logits);
    std::vector<std::vector<std::uint32_t>> all(tokens_);
    for (std::uint32_t choice = 0; choice < m_.experts.chosen; ++choice) {
      Numbers left = chip_.take_max(count, shares);
      for (std::uint32_t i = 0; i < left.size(); ++i) {
        if (left[i] != shares[i]) all[i / count].push_back(i % count);
      }
      shares = std::move(left);
    }
    return all;
  }

  Numbers gated(const Numbers& z, std::uint32_t expert) {
    const Numbers up = times(z, Tensor::up, m_.width, m_.ffn, expert);
    const Numbers gate = times(z, Tensor::gate, m_.width, m_.ffn, expert);
    return times(chip_.elements("swiglu", {gate, up}), Tensor::down, m_.ffn, m_.width, expert);
  }

  /// The tokens of an expert are gathered, and added to those of the result with their shares.
  Numbers experts(const Numbers& z) {
    if (m_.experts.count == 0) return gated(z, 0);
    const Numbers logits = times(z, Tensor::router, m_.width, m_.experts.count);
    const std::vector<std::vector<std::uint32_t>> routes = chosen(logits);
    Numbers largest;
    for (std::uint32_t token = 0; token < tokens_; ++token) {
      for (const std::uint32_t e : routes[token]) {
        largest.push_back(logits[token * m_.experts.count + e]);
      }
    }
    const Numbers shares = chip_.softmax(m_.experts.chosen, largest);
    Numbers out(z.size(), 0);
    for (std::uint32_t e = 0; e < m_.experts.count; ++e) {
      std::vector<std::uint32_t> tokens;
      Numbers share;
      for (std::uint32_t token = 0; token < tokens_; ++token) {
        for (std::uint32_t j = 0; j < m_.experts.chosen; ++j) {
          if (routes[token][j] != e) continue;
          tokens.push_back(token);
          share.insert(share.end(), m_.width, shares[token * m_.experts.chosen + j]);
        }
      }
      if (tokens.empty()) continue;
      const Numbers one = gated(chip_.gather(m_.width, z, tokens), e);
      out = chip_.scatter(m_.width, out, chip_.elements("mul", {one, share}), tokens);
    }
    return out;
  }

  wse::DecoderModel m_;
  test::PlainDecoder::Numbers numbers_;
  ChipRows chip_;
  std::vector<Numbers> keys_;  // by layer: positions, all heads of each
  std::vector<Numbers> values_;
  std::uint32_t position_ = 0;
  std::uint32_t tokens_ = 0;
  std::uint32_t layer_ = 0;
};

}  // namespace lacuna::ipu
