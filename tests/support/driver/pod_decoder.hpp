// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/common/fp16.hpp"
#include "sim/driver/inference/model_rows.hpp"
#include "tests/support/ipu/chip_rows.hpp"
#include "tests/support/wse/plain_decoder.hpp"
#include "workloads/mapping/system/inference_program.hpp"

namespace lacuna::test {

/// Layers of a decoder with experts on the chips of a pod: the rows of its passes, as they are
/// timed, each on every chip that has it with that chip's share of numbers, in the order in which
/// the program of the pass has layers, sums and hand-overs.
///
/// What is beside the rows: the order of numbers between them, sums over chips, the mask of a
/// prompt, which has a number for each pair, and the shares of experts, which are numbers here and
/// a constant in the rows.
class PodDecoder {
 public:
  using Numbers = ipu::ChipRows::Numbers;
  using Tensor = PlainDecoder::Tensor;

  PodDecoder(ModelShape shape, system::InferencePass cut, std::uint32_t capacity,
             PlainDecoder::Numbers numbers, unsigned tiles)
      : m_(std::move(shape)),
        kind_(kinds_of_layers(m_).at(0)),
        cut_(std::move(cut)),
        numbers_(std::move(numbers)),
        chip_(tiles) {
    request_.capacity = capacity;
    const Numbers empty(std::size_t{capacity} * m_.kv_width() / cut_.tensor, 0);
    keys_.assign(m_.layers, std::vector<Numbers>(cut_.tensor, empty));
    values_ = keys_;
  }

  /// The hidden vectors of the next tokens, behind each other, after all layers.
  Numbers next(Numbers x) {
    tokens_ = static_cast<std::uint32_t>(x.size()) / m_.width;
    request_.decode = tokens_ == 1;
    request_.tokens = tokens_;
    request_.context = position_ + tokens_;
    cut_.hidden_bytes = 2 * x.size();
    hidden_ = std::move(x);
    layer_ = 0;
    const system::Program program = system::pass_program(system::SystemParams(), cut_);
    unsigned stage = 0;
    std::size_t sum = 0;  // transfers of one sum, which the embedding is followed by
    for (const system::Repeat& repeat : program.order) {
      const system::Segment& segment = program.segments[repeat.segment];
      if (segment.name == "hand-over") expect_moves(segment, stage++, cut_.tensor);
      if (segment.name == "embedding") sum = segment.transfers.size();
      if (segment.name != "layer") continue;
      EXPECT_EQ(segment.transfers.size(), 2 * sum) << "a block without its sum";
      expect_moves(segment, stage, 0);
      for (std::uint64_t i = 0; i < repeat.times; ++i, ++layer_) run_layer();
    }
    EXPECT_EQ(layer_, m_.layers);
    position_ += tokens_;
    return hidden_;
  }

 private:
  using Part = system::Part;

  std::uint32_t heads() const { return m_.heads / cut_.tensor; }  // of a chip
  std::uint32_t kv() const { return m_.kv_width() / cut_.tensor; }
  std::uint32_t seen() const { return position_ + tokens_; }

  /// What chips send is from those of this stage, `further` on.
  void expect_moves(const system::Segment& segment, unsigned stage, unsigned further) const {
    const std::uint32_t first = stage * cut_.tensor;
    EXPECT_EQ(segment.transfers.empty(), cut_.tensor == 1 && further == 0) << segment.name;
    for (const system::Transfer& each : segment.transfers) {
      EXPECT_EQ(each.from / cut_.tensor * cut_.tensor, first) << segment.name;
      EXPECT_EQ(each.to / cut_.tensor * cut_.tensor, first + further) << segment.name;
    }
  }

  void run_layer() {
    for (const Part part : {Part::attention, Part::ffn}) {
      Numbers sum(hidden_.size(), 0);
      for (unsigned chip = 0; chip < cut_.tensor; ++chip) {
        share_ = chip;
        const Numbers one = part == Part::attention ? attention() : experts();
        for (std::size_t i = 0; i < sum.size(); ++i) {
          sum[i] = to_float(to_half(static_cast<float>(sum[i] + one.at(i))));
        }
      }
      hidden_ = std::move(sum);
    }
  }

  std::vector<LayerOp> rows(Part part) const {
    return pass_rows(kind_, request_, cut_.tensor).of(part).forward;
  }
  static std::string name_of(const LayerOp& op) { return op.layer.substr(op.layer.find('.') + 1); }

  /// Columns become rows.
  static Numbers turned(const Numbers& x, std::size_t columns) {
    const std::size_t rows = x.size() / columns;
    Numbers y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) y[i % columns * rows + i / columns] = x[i];
    return y;
  }

  Numbers norm(const LayerOp& op, const Numbers& x, Tensor tensor) {
    Numbers gain;
    for (std::uint32_t i = 0; i < op.m; ++i) gain.push_back(numbers_(layer_, tensor, i, 0, 0));
    EXPECT_EQ(x.size(), std::size_t{op.m} * op.n) << op.id;
    return chip_.any_row(op, {{0, x}, {2, gain}});
  }

  /// Tokens behind each other, before and after; of the matrix the share of this chip.
  Numbers times(const LayerOp& op, const Numbers& x, Tensor tensor, bool by_inputs,
                std::uint32_t expert = 0) {
    Numbers w;
    for (std::uint32_t j = 0; j < op.m; ++j) {
      for (std::uint32_t i = 0; i < op.k; ++i) {
        const std::uint32_t in = i + (by_inputs ? share_ * op.k : 0);
        const std::uint32_t out = j + (by_inputs || tensor == Tensor::router ? 0 : share_ * op.m);
        w.push_back(numbers_(layer_, tensor, in, out, expert));
      }
    }
    EXPECT_EQ(x.size(), std::size_t{op.k} * op.n) << op.id;
    return turned(chip_.any_row(op, {{0, w}, {1, turned(x, op.k)}}), op.n);
  }

  Numbers rotated(const LayerOp& op, const Numbers& x) {
    Numbers cos;
    Numbers sin;
    for (std::uint32_t token = 0; token < op.n; ++token) {
      for (std::uint32_t i = 0; i < op.m; ++i) {
        const std::uint32_t pair = i % m_.head_width() / 2;
        const double angle = (position_ + token) * std::pow(10000.0, -2.0 * pair / m_.head_width());
        cos.push_back(std::cos(angle));
        sin.push_back(i % 2 == 0 ? -std::sin(angle) : std::sin(angle));
      }
    }
    return chip_.any_row(op, {{0, x}, {1, cos}, {2, sin}});
  }

  /// New rows of a cache, by position: written into it, or, of a prompt, copied there.
  void append(const LayerOp& op, const Numbers& made, Numbers& cache) {
    if (op.op == "embed") {
      cache = chip_.any_row(op, {{1, cache}, {2, made}, {3, {static_cast<double>(position_)}}});
      return;
    }
    const Numbers copied = chip_.any_row(op, {{0, made}});
    std::copy(copied.begin(), copied.end(),
              cache.begin() + static_cast<std::ptrdiff_t>(std::size_t{position_} * kv()));
  }

  /// Heads of a chip, each of its numbers by token and feature, or of the cache by position.
  static Numbers by_head(const Numbers& x, std::uint32_t heads, std::uint32_t tokens,
                         std::uint32_t dim) {
    Numbers out;
    for (std::uint32_t head = 0; head < heads; ++head) {
      for (std::uint32_t token = 0; token < tokens; ++token) {
        const auto first = std::next(x.begin(), (std::ptrdiff_t{token} * heads + head) * dim);
        out.insert(out.end(), first, first + dim);
      }
    }
    return out;
  }

  /// An instance for each key and value head; `turn`: of its second operand, by rows.
  Numbers products(const LayerOp& op, const Numbers& w, const Numbers& x, bool turn) {
    std::map<std::uint64_t, Numbers> operands;
    for (std::uint32_t i = 0; i < op.batch; ++i) {
      const auto part = [&](const Numbers& all) {
        const auto size = static_cast<std::ptrdiff_t>(all.size() / op.batch);
        return Numbers(all.begin() + i * size, all.begin() + (i + 1) * size);
      };
      operands[2 * i] = part(w);
      operands[2 * i + 1] = turn ? turned(part(x), op.k) : part(x);
    }
    return chip_.any_row(op, operands);
  }

  /// A token does not see those behind it.
  Numbers masked(const LayerOp& op, const Numbers& scores) {
    const Numbers scaled = chip_.any_row(op, {{0, scores}, {3, Numbers(op.n, 0)}});
    if (tokens_ == 1) return scaled;
    Numbers mask;
    for (std::uint32_t i = 0; i < scores.size(); ++i) {
      mask.push_back(i % seen() > position_ + i / seen() % tokens_ ? -30000 : 0);
    }
    return chip_.elements("add", {scaled, mask});
  }

  /// The block's result and, on the first chip, what it is added to.
  Numbers added(const LayerOp& op, const Numbers& x) {
    return chip_.any_row(op, {{0, x}, {1, share_ == 0 ? hidden_ : Numbers(x.size(), 0)}});
  }

  Numbers attention() {
    const std::uint32_t dim = m_.head_width();
    const std::uint32_t kv_heads = m_.kv_heads / cut_.tensor;
    Numbers& keys = keys_[layer_][share_];
    Numbers& values = values_[layer_][share_];
    const auto cached = [&](const Numbers& all) {
      const auto first = all.begin();
      return by_head({first, std::next(first, std::ptrdiff_t{seen()} * kv())}, kv_heads, seen(),
                     dim);
    };
    std::map<std::string, Numbers> v;
    for (const LayerOp& op : rows(Part::attention)) {
      const std::string name = name_of(op);
      Numbers& y = v[name];
      if (name == "ln1") y = norm(op, hidden_, Tensor::gain);
      if (name == "q") y = times(op, v["ln1"], Tensor::q, false);
      if (name == "k") y = times(op, v["ln1"], Tensor::k, false);
      if (name == "v") y = times(op, v["ln1"], Tensor::v, false);
      if (name == "q_norm") y = norm(op, v["q"], Tensor::q_gain);
      if (name == "k_norm") y = norm(op, v["k"], Tensor::k_gain);
      if (name == "q_rope") y = rotated(op, v["q_norm"]);
      if (name == "k_rope") y = rotated(op, v["k_norm"]);
      if (name == "k_append") append(op, v["k_rope"], keys);
      if (name == "v_append") append(op, v["v"], values);
      if (name == "scores") {
        y = products(op, by_head(v["q_rope"], heads(), tokens_, dim), cached(keys), true);
      }
      if (name == "scale") y = masked(op, v["scores"]);
      if (name == "softmax") y = chip_.any_row(op, {{0, v["scale"]}});
      if (name == "ctx") y = products(op, v["softmax"], cached(values), false);
      // heads of a token are its inputs
      if (name == "o") y = times(op, by_head(v["ctx"], tokens_, heads(), dim), Tensor::o, true);
      if (name == "o_add") return added(op, v["o"]);
    }
    ADD_FAILURE() << "no row o_add";
    return {};
  }

  /// A token that an expert takes, and its share of that token's result.
  struct Copy {
    std::uint32_t expert = 0;
    std::uint32_t token = 0;
    double share = 0;
  };

  /// By expert: the largest of each token, whose numbers are taken out one after the other.
  std::vector<Copy> chosen(const LayerOp& op, const Numbers& route) {
    const std::uint32_t count = m_.experts.count;
    std::vector<Copy> all;
    Numbers left = route;
    LayerOp once = op;
    once.repeat = 1;
    for (std::uint32_t choice = 0; choice < op.repeat; ++choice) {
      const Numbers rest = chip_.any_row(once, {{0, left}});
      for (std::uint32_t i = 0; i < rest.size(); ++i) {
        if (rest[i] != left[i]) all.push_back({i % count, i / count, route[i]});
      }
      left = rest;
    }
    EXPECT_EQ(all.size(), std::size_t{tokens_} * m_.experts.chosen);
    Numbers sum(tokens_, 0);
    for (const Copy& each : all) sum[each.token] += each.share;
    for (Copy& each : all) each.share /= sum[each.token];
    std::stable_sort(all.begin(), all.end(),
                     [](const Copy& a, const Copy& b) { return a.expert < b.expert; });
    return all;
  }

  /// The rows of a pass in which experts get these tokens.
  std::vector<LayerOp> rows_for(const std::vector<Copy>& copies) {
    request_.routing.counts.clear();
    for (const Copy& each : copies) ++request_.routing.counts[Routing::kAllLayers][each.expert];
    std::vector<LayerOp> all = rows(Part::ffn);
    request_.routing = {};
    return all;
  }

  Numbers experts() {
    std::vector<Copy> copies;
    Numbers z;
    Numbers route;
    for (const LayerOp& op : rows(Part::ffn)) {
      const std::string name = name_of(op);
      if (name == "ln2") z = norm(op, hidden_, Tensor::ffn_gain);
      if (name == "router") route = times(op, z, Tensor::router, false);
      if (name == "route") route = chip_.any_row(op, {{0, route}});
      if (name != "choose") continue;
      copies = chosen(op, route);
      break;
    }
    return block_of_experts(z, copies);
  }

  /// `size` of the copies, from `first` on, as row numbers; and numbers of each.
  static Numbers places(const std::vector<Copy>& copies, std::size_t first, std::size_t size) {
    Numbers tokens;
    for (std::size_t i = first; i < first + size; ++i) tokens.push_back(copies.at(i).token);
    return tokens;
  }
  Numbers part(const Numbers& all, std::size_t first, std::size_t size) const {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * m_.width);
    return {begin, begin + static_cast<std::ptrdiff_t>(size * m_.width)};
  }

  /// Results of copies, from `first` on, times their shares.
  Numbers weighed(const Numbers& x, const std::vector<Copy>& copies, std::size_t first) {
    Numbers shares;
    for (std::size_t i = 0; i < x.size(); ++i) {
      shares.push_back(copies.at(first + i / m_.width).share);
    }
    return chip_.elements("mul", {x, shares});
  }

  /// Copies of tokens in the order of their experts go through these, back and are added up.
  Numbers block_of_experts(const Numbers& z, const std::vector<Copy>& copies) {
    std::map<std::string, Numbers> v;
    Numbers taken;
    Numbers made;
    Numbers sum(hidden_.size(), 0);
    std::size_t fetched = 0;
    std::size_t returned = 0;
    std::size_t next = 0;  // copy of the expert whose rows come
    const auto weighed = [&](const Numbers& x, std::size_t first) {
      return this->weighed(x, copies, first);
    };
    for (const LayerOp& op : rows_for(copies)) {
      const std::string name = name_of(op);
      const std::string kind = name.substr(name.find('.') + 1);
      const std::uint32_t expert = next < copies.size() ? copies[next].expert : 0;
      const auto inputs = [&] { return tokens_ == 1 ? z : part(taken, next, op.n); };
      if (name.rfind("dispatch", 0) == 0) {
        const Numbers got = chip_.any_row(op, {{1, z}, {3, places(copies, fetched, op.n)}});
        taken.insert(taken.end(), got.begin(), got.end());
        fetched += op.n;
      }
      if (kind == "gate") {
        EXPECT_EQ(name, "e" + std::to_string(expert) + ".gate");
        v[kind] = times(op, inputs(), Tensor::gate, false, expert);
      }
      if (kind == "up") v[kind] = times(op, inputs(), Tensor::up, false, expert);
      if (kind == "act") v[kind] = chip_.any_row(op, {{0, v["gate"]}, {1, v["up"]}});
      if (kind == "ffn2") {
        const Numbers one = times(op, v["act"], Tensor::down, true, expert);
        made.insert(made.end(), one.begin(), one.end());
        next += op.n;
      }
      if (name.rfind("combine", 0) == 0 && op.op == "embed") {
        if (returned == 0) made = weighed(made, 0);
        sum = chip_.any_row(
            op, {{1, sum}, {2, part(made, returned, op.n)}, {3, places(copies, returned, op.n)}});
        returned += op.n;
      }
      if (name.rfind("combine", 0) == 0 && op.op != "embed") {
        if (returned == 0) sum = weighed(part(made, returned++, 1), 0);
        sum = chip_.any_row(op, {{0, sum}, {1, weighed(part(made, returned, 1), returned)}});
        ++returned;
      }
      if (name == "f_add") {
        EXPECT_EQ(returned, copies.size());
        return added(op, sum);
      }
    }
    ADD_FAILURE() << "no row f_add";
    return {};
  }

  ModelShape m_;
  LayerKind kind_;
  system::InferencePass cut_;
  PlainDecoder::Numbers numbers_;
  ipu::ChipRows chip_;
  PassRequest request_;
  std::vector<std::vector<Numbers>> keys_;  // by layer and chip: positions, all heads of each
  std::vector<std::vector<Numbers>> values_;
  Numbers hidden_;
  std::uint32_t position_ = 0;
  std::uint32_t tokens_ = 0;
  std::uint32_t layer_ = 0;
  unsigned share_ = 0;  // the chip of those of a stage
};

}  // namespace lacuna::test
