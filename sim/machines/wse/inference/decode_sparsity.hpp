// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/sparsity/pattern_spec.hpp"
#include "workloads/mapping/wse/inference/decode_shape.hpp"
#include "workloads/mapping/wse/inference/prefill_shape.hpp"
#include "workloads/mapping/wse/inference/weight_forms.hpp"

namespace lacuna {

struct Mask;

/// Zeros of a layer, as a request says them.
struct LayerSparsity {
  /// Zeros of the inputs of a product: "bernoulli" or "channel" with a density, or "file".
  struct Inputs {
    std::string text;  // as it was said
    std::string name;
    Decimal density;
    std::string file;
  };
  /// A pattern over outputs x inputs, or a file of such a mask; with `tiles` one row of it for all
  /// outputs of a core.
  struct Weights {
    std::string text;
    PatternSpec pattern;
    bool tiles = false;
    std::string file;
  };

  std::array<std::optional<Inputs>, wse::kProjections> inputs;
  std::array<std::optional<Weights>, wse::kProjections> weights;
};

/// Zeros of the layers of a model; what is equal is drawn once.
struct DecodeSparsity : LayerSparsity {
  std::optional<Inputs> hidden;  // between blocks
  std::uint64_t seed = 1;
  std::map<std::uint32_t, LayerSparsity> layers;  // what is said of one alone goes before the rest

  bool any() const;
  /// Of this layer, as if all had its zeros.
  DecodeSparsity of_layer(std::uint32_t layer) const;
};

/// Layers that have the same zeros.
struct EqualLayers {
  DecodeSparsity sparsity;
  std::vector<std::uint32_t> layers;
};
/// Of so many layers, in the order of the first of each.
std::vector<EqualLayers> equal_layers(const DecodeSparsity& sparsity, std::uint32_t layers);

/// What tells the zeros of a mask from others.
std::uint64_t zeros_digest(const Mask& mask);

/// "0-3, 7" of numbers that rise.
std::string ranges_text(const std::vector<std::uint32_t>& numbers);

/// "bernoulli:0.1", "channel:0.1" or "file:PATH" of a matrix features x sequences. RequestError
/// names `option`.
DecodeSparsity::Inputs parse_inputs(const std::string& text, const std::string& option);

/// A pattern in the words of --pattern, or "file:PATH" of a mask; "@RxC" behind it for blocks of R
/// outputs and C inputs, "tile:" before it if the outputs of a core share it.
DecodeSparsity::Weights parse_weights(const std::string& text, const std::string& option);

/// Draws, or reads, the zeros for a block as `shape` has it, measures the tiles of its cores, and
/// says how they have them. RequestError if a mask has another shape. Null if there are none.
std::shared_ptr<wse::DecodeZeros> make_zeros(const DecodeSparsity& sparsity,
                                             const wse::DecodeShape& shape,
                                             const wse::CodeTimes& times);

/// The same for a chunk of a prompt: of activations each token has its own.
std::shared_ptr<wse::DecodeZeros> make_zeros(const DecodeSparsity& sparsity,
                                             const wse::PrefillShape& shape,
                                             const wse::CodeTimes& times);

/// The same zeros, all weights as lists, for cores that hold nothing else: null if they are, or if
/// llm.weight_form says how they are.
std::shared_ptr<const wse::DecodeZeros> as_lists(
    const std::shared_ptr<const wse::DecodeZeros>& zeros, const wse::InferenceParams& params);

/// Matrices that cores have with their zeros, "q, up".
std::string dense_names(const wse::DecodeZeros& zeros);

/// The same of kinds of layers; of several with the numbers of those that have any.
template <typename Kind>
std::string dense_names(const std::vector<Kind>& kinds) {
  std::string all;
  for (const Kind& kind : kinds) {
    std::string names = kind.block.zeros == nullptr ? "" : dense_names(*kind.block.zeros);
    if (names.empty()) continue;
    if (kinds.size() == 1) return names;
    all += (all.empty() ? "layers " : "; layers ") + ranges_text(kind.numbers) + ": " + names;
  }
  return all;
}

/// Gives kinds of layers the zeros that as_lists() says, where it says any; whether that was so.
template <typename Kind>
bool list_all(std::vector<Kind>& kinds, const wse::InferenceParams& params) {
  bool any = false;
  for (Kind& kind : kinds) {
    const auto lists = as_lists(kind.block.zeros, params);
    if (lists == nullptr) continue;
    kind.block.zeros = lists;
    any = true;
  }
  return any;
}

/// The experts that each of `sequences` takes, drawn uniformly.
std::vector<std::uint32_t> draw_routes(const wse::DecoderExperts& experts, std::uint32_t sequences,
                                       std::uint64_t seed);

}  // namespace lacuna
