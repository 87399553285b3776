// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/inference/decode_sparsity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "models/sparsity/activation_mask.hpp"
#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "sim/base/mix.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/ranges.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {

using wse::DecodeShape;
using wse::DecodeZeros;
using wse::NonZeros;
using wse::PrefillShape;
using wse::Projection;

std::uint64_t zeros_digest(const Mask& mask) {
  std::uint64_t all = mix(mask.columns.size());
  for (const std::uint64_t offset : mask.offsets) all = mix(all ^ offset);
  for (const std::uint32_t column : mask.columns) all = mix(all ^ column);
  return all;
}

namespace {

/// Features of the inputs and of the outputs of a product.
std::pair<std::uint32_t, std::uint32_t> features(const wse::DecoderModel& m, Projection what) {
  const std::uint32_t q = m.heads * m.head_dim;
  const std::uint32_t kv = m.kv_heads * m.head_dim;
  switch (what) {
    case Projection::qkv:
      return {m.width, q + 2 * kv};
    case Projection::o:
      return {q, m.width};
    case Projection::up:
      return {m.width, 2 * m.ffn};
    case Projection::down:
      return {m.ffn, m.width};
  }
  return {0, 0};
}

Mask inputs_mask(const DecodeSparsity::Inputs& inputs, const char* what, std::uint32_t rows,
                 std::uint32_t sequences, const char* columns, std::uint64_t seed) {
  if (inputs.name == "bernoulli") return bernoulli_mask(rows, sequences, inputs.density, seed);
  if (inputs.name == "channel") return channel_mask(rows, sequences, inputs.density, seed);
  Mask mask = read_pattern_file(inputs.file).mask.elements();
  if (mask.rows != rows || mask.cols != sequences) {
    throw RequestError(
        fmt::format("--activations {}={}: found a matrix of {} x {}, allowed is {} features x {} "
                    "{}",
                    what, inputs.text, mask.rows, mask.cols, rows, sequences, columns));
  }
  return mask;
}

/// The core, along the axis of the outputs, that has an output.
template <typename Shape>
std::uint32_t tile_of(const Shape& shape, Projection what, std::uint32_t output) {
  const wse::DecoderModel& m = shape.model();
  const std::uint32_t q = m.heads * m.head_dim;
  if (what == Projection::o || what == Projection::down) return output / shape.d();
  if (what == Projection::up) return output % m.ffn / shape.f();
  std::uint32_t head = output / m.head_dim / shape.group();
  if (output >= q) head = (output - q) / m.head_dim % m.kv_heads;
  return head * shape.band() + output % m.head_dim / shape.k();
}

/// Cores along that axis: of a prompt all outputs lie along y.
std::uint32_t tiles_of(const DecodeShape& shape, Projection what) {
  const bool along_y = what == Projection::o || what == Projection::down;
  return along_y ? shape.block().rows : shape.block().columns;
}
std::uint32_t tiles_of(const PrefillShape& shape, Projection) { return shape.block().rows; }

template <typename Shape>
Mask weights_mask(const DecodeSparsity::Weights& weights, const Shape& shape, Projection what,
                  std::uint64_t seed) {
  const auto [inputs, outputs] = features(shape.model(), what);
  const std::uint32_t tiles = tiles_of(shape, what);
  const std::uint32_t rows = weights.tiles ? tiles : outputs;
  if (!weights.file.empty()) {
    Mask mask = read_pattern_file(weights.file).mask.elements();
    if (mask.rows == outputs && mask.cols == inputs) return mask;
    throw RequestError(
        fmt::format("--weights {}={}: found a matrix of {} x {}, allowed is {} outputs x {} inputs",
                    word(what), weights.text, mask.rows, mask.cols, outputs, inputs));
  }
  const std::vector<PatternDiagnostic> problems = check_pattern(weights.pattern, rows, inputs);
  if (!problems.empty()) {
    throw RequestError(
        fmt::format("--weights {}={}: {} of {} outputs x {} inputs: found '{}', "
                    "allowed is {}",
                    word(what), weights.text, problems[0].cell, rows, inputs, problems[0].found,
                    problems[0].allowed));
  }
  Mask drawn = generate_mask(weights.pattern, rows, inputs, seed);
  if (!weights.tiles) return drawn;
  drawn = drawn.elements();
  Mask all;
  all.rows = outputs;
  all.cols = inputs;
  all.offsets.push_back(0);
  for (std::uint32_t output = 0; output < outputs; ++output) {
    const std::uint32_t tile = tile_of(shape, what, output);
    const auto begin = drawn.columns.begin();
    all.columns.insert(all.columns.end(), begin + static_cast<std::ptrdiff_t>(drawn.offsets[tile]),
                       begin + static_cast<std::ptrdiff_t>(drawn.offsets[tile + std::size_t{1}]));
    all.offsets.push_back(all.columns.size());
  }
  return all;
}

}  // namespace

bool DecodeSparsity::any() const {
  const auto given = [](const auto& of) { return of.has_value(); };
  return hidden || !layers.empty() || any_of(inputs, given) || any_of(weights, given);
}

DecodeSparsity DecodeSparsity::of_layer(std::uint32_t layer) const {
  DecodeSparsity all = *this;
  all.layers.clear();
  const auto own = layers.find(layer);
  if (own == layers.end()) return all;
  for (std::size_t i = 0; i < wse::kProjections; ++i) {
    if (own->second.inputs[i]) all.inputs[i] = own->second.inputs[i];
    if (own->second.weights[i]) all.weights[i] = own->second.weights[i];
  }
  return all;
}

std::vector<EqualLayers> equal_layers(const DecodeSparsity& sparsity, std::uint32_t layers) {
  std::vector<EqualLayers> equal;
  std::map<std::string, std::size_t> known;
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    DecodeSparsity of = sparsity.of_layer(layer);
    std::string text;
    for (std::size_t i = 0; i < wse::kProjections; ++i) {
      text += fmt::format("{}|{}|", of.inputs[i] ? of.inputs[i]->text : "",
                          of.weights[i] ? of.weights[i]->text : "");
    }
    const auto [place, fresh] = known.emplace(std::move(text), equal.size());
    if (fresh) equal.push_back({std::move(of), {}});
    equal[place->second].layers.push_back(layer);
  }
  return equal;
}

std::string ranges_text(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (last != i) text += fmt::format("-{}", numbers[last]);
    i = last + 1;
  }
  return text;
}

DecodeSparsity::Inputs parse_inputs(const std::string& text, const std::string& option) {
  const std::size_t colon = text.find(':');
  DecodeSparsity::Inputs inputs;
  inputs.text = text;
  inputs.name = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool drawn = inputs.name == "bernoulli" || inputs.name == "channel";
  if (!drawn && inputs.name != "file") {
    throw RequestError(
        fmt::format("{}: found '{}', allowed are bernoulli:DENSITY, channel:DENSITY and file:PATH",
                    option, text));
  }
  if (rest.empty()) {
    throw RequestError(fmt::format("{}: '{}' lacks {}", option, text,
                                   drawn ? "a density, as in bernoulli:0.1" : "a path"));
  }
  if (drawn) {
    inputs.density = parse_density(rest, option);
  } else {
    inputs.file = rest;
  }
  return inputs;
}

DecodeSparsity::Weights parse_weights(const std::string& text, const std::string& option) {
  constexpr const char* kTile = "tile:";
  DecodeSparsity::Weights weights;
  weights.text = text;
  std::string rest = text;
  constexpr const char* kFile = "file:";
  if (rest.rfind(kFile, 0) == 0) {
    weights.file = rest.substr(std::string(kFile).size());
    if (weights.file.empty()) {
      throw RequestError(fmt::format("{}: '{}' lacks a path", option, text));
    }
    return weights;
  }
  if (rest.rfind(kTile, 0) == 0) {
    weights.tiles = true;
    rest = rest.substr(std::string(kTile).size());
  }
  const std::size_t at = rest.rfind('@');
  const std::string block = at == std::string::npos ? "" : rest.substr(at + 1);
  weights.pattern = parse_pattern(rest.substr(0, at), option);
  if (at == std::string::npos) return weights;
  const auto side = [&](const std::string& digits) {
    const auto value = parse_integer(digits, 1, ~std::uint32_t{0});
    if (!value) {
      throw RequestError(
          fmt::format("{}: found the block '{}', allowed are two numbers such as 8x1, outputs "
                      "and inputs",
                      option, block));
    }
    return static_cast<std::uint32_t>(*value);
  };
  const std::size_t cross = block.find('x');
  weights.pattern.block_rows = side(block.substr(0, cross));
  weights.pattern.block_cols = side(cross == std::string::npos ? "" : block.substr(cross + 1));
  return weights;
}

namespace {

/// Zeros of activations that have so many columns, `columns` in words.
template <typename Shape>
std::shared_ptr<DecodeZeros> drawn_zeros(const DecodeSparsity& sparsity, const Shape& shape,
                                         std::uint32_t sequences, const char* columns,
                                         const wse::CodeTimes& times) {
  if (!sparsity.any()) return nullptr;
  auto zeros = std::make_shared<DecodeZeros>();
  const wse::LlmSkip skip = times.params.skip;
  zeros->skip = skip == wse::LlmSkip::act || skip == wse::LlmSkip::both;
  zeros->compact = skip == wse::LlmSkip::traffic || skip == wse::LlmSkip::both;
  zeros->name = fmt::format("{} {}", sparsity.seed, static_cast<unsigned>(skip));
  const auto inputs_of = [&](const DecodeSparsity::Inputs& inputs, const char* what,
                             std::uint32_t rows, std::uint64_t salt) {
    const Mask mask =
        inputs_mask(inputs, what, rows, sequences, columns, mix(sparsity.seed ^ mix(salt)));
    zeros->name += fmt::format(" {}={}#{}", what, inputs.text, zeros_digest(mask));
    return NonZeros(mask);
  };
  for (std::size_t i = 0; i < wse::kProjections; ++i) {
    const auto what = static_cast<Projection>(i);
    if (sparsity.inputs[i]) {
      const std::uint32_t inputs = features(shape.model(), what).first;
      zeros->inputs[i] = inputs_of(*sparsity.inputs[i], word(what), inputs, i);
    }
    if (sparsity.weights[i]) {
      const std::uint64_t seed = mix(sparsity.seed ^ mix(wse::kProjections + i));
      const Mask mask = weights_mask(*sparsity.weights[i], shape, what, seed);
      zeros->weights[i] = NonZeros(mask);
      zeros->name += fmt::format(" w:{}={}", word(what), sparsity.weights[i]->text);
      if (!sparsity.weights[i]->file.empty()) zeros->name += fmt::format("#{}", zeros_digest(mask));
    }
  }
  if (sparsity.hidden) {
    zeros->hidden =
        inputs_of(*sparsity.hidden, "hidden", shape.model().width, 2 * wse::kProjections);
  }
  find_fullest_tiles(shape, *zeros);
  choose_forms(shape, times, *zeros);
  return zeros;
}

}  // namespace

std::shared_ptr<DecodeZeros> make_zeros(const DecodeSparsity& sparsity, const DecodeShape& shape,
                                        const wse::CodeTimes& times) {
  return drawn_zeros(sparsity, shape, shape.block().batch, "sequences", times);
}

std::shared_ptr<DecodeZeros> make_zeros(const DecodeSparsity& sparsity, const PrefillShape& shape,
                                        const wse::CodeTimes& times) {
  return drawn_zeros(sparsity, shape, shape.block().tokens, "tokens of a chunk", times);
}

std::shared_ptr<const DecodeZeros> as_lists(const std::shared_ptr<const DecodeZeros>& zeros,
                                            const wse::InferenceParams& params) {
  const bool any = zeros != nullptr && !dense_names(*zeros).empty();
  if (!any || params.weight_form != wse::WeightForm::sooner) return nullptr;
  auto lists = std::make_shared<DecodeZeros>(*zeros);
  lists->dense = {};
  lists->name += " lists";
  return lists;
}

std::string dense_names(const DecodeZeros& zeros) {
  std::string names;
  for (std::size_t i = 0; i < wse::kMatrices; ++i) {
    if (!zeros.dense[i]) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", word(static_cast<wse::Matrix>(i)));
  }
  return names;
}

std::vector<std::uint32_t> draw_routes(const wse::DecoderExperts& experts, std::uint32_t sequences,
                                       std::uint64_t seed) {
  std::vector<std::uint32_t> routes;
  for (std::uint32_t s = 0; s < sequences; ++s) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> drawn;
    for (std::uint32_t e = 0; e < experts.count; ++e) {
      drawn.emplace_back(mix(seed ^ mix((std::uint64_t{s} << 32U) | e)), e);
    }
    sort_all(drawn);
    for (std::uint32_t j = 0; j < experts.chosen; ++j) routes.push_back(drawn[j].second);
  }
  return routes;
}

}  // namespace lacuna
