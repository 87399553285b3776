// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/model/decode_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/result/result_model.hpp"

namespace lacuna {

using wse::Projection;

namespace {

constexpr std::uint64_t kMostZeros = 1U << 24U;

/// LAYERS:PRODUCT=WORDS.
struct Said {
  std::vector<std::uint32_t> layers;  // none: all that nothing is said of alone
  std::string product;
  std::string words;
};

/// "0-3,7": numbers of layers and ranges of them.
std::vector<std::uint32_t> layers_of(const char* option, const std::string& text) {
  constexpr std::uint64_t kMostLayers = 4095;
  std::vector<std::uint32_t> layers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    const std::size_t dash = part.find('-');
    const auto number = [&](const std::string& digits) {
      const std::string where = fmt::format("{} {}: a layer", option, text);
      return static_cast<std::uint32_t>(check_count(where, digits, 0, kMostLayers));
    };
    const std::uint32_t first = number(part.substr(0, dash));
    const std::uint32_t last = dash == std::string::npos ? first : number(part.substr(dash + 1));
    if (last < first) {
      throw refused("{}: found layers {}, allowed is FIRST-LAST", option, part);
    }
    for (std::uint32_t layer = first; layer <= last; ++layer) layers.push_back(layer);
    at = comma + 1;
  }
  return layers;
}

Said said_of(const char* option, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::size_t product = colon < equals ? colon + 1 : 0;
  if (equals == std::string::npos || equals == product || equals + 1 == text.size()) {
    throw refused("{}: found '{}', allowed is PRODUCT={} or LAYERS:PRODUCT=...", option, text,
                  std::string(option) == "--weights" ? "PATTERN" : "ZEROS");
  }
  Said said;
  if (product != 0) said.layers = layers_of(option, text.substr(0, colon));
  said.product = text.substr(product, equals - product);
  said.words = text.substr(equals + 1);
  return said;
}

std::vector<std::string> products() {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < wse::kProjections; ++i) {
    words.emplace_back(word(static_cast<Projection>(i)));
  }
  return words;
}

std::size_t number_of(const std::string& product) {
  for (std::size_t i = 0; i < wse::kProjections; ++i) {
    if (product == word(static_cast<Projection>(i))) return i;
  }
  return wse::kProjections;
}

template <typename T>
void set_once(const char* option, const std::string& product, std::optional<T>& place, T value) {
  if (place) throw refused("{}: '{}' is given twice", option, product);
  place = std::move(value);
}

/// Once for all layers, or for each that is said.
void set_zeros_of(const Said& said, DecodeSparsity& sparsity,
                  const std::function<void(LayerSparsity&, const std::string&)>& set) {
  if (said.layers.empty()) set(sparsity, said.product);
  for (const std::uint32_t layer : said.layers) {
    set(sparsity.layers[layer], fmt::format("{}:{}", layer, said.product));
  }
}

void set_activations(const Options& options, DecodeSparsity& sparsity) {
  constexpr const char* kOption = "--activations";
  std::vector<std::string> allowed = products();
  allowed.emplace_back("hidden");
  for (const std::string& text : options.activations) {
    const Said said = said_of(kOption, text);
    check_word(kOption, said.product, allowed);
    const auto zeros = parse_inputs(said.words, fmt::format("{} {}", kOption, said.product));
    if (said.product == "hidden") {
      if (!said.layers.empty()) {
        throw refused(
            "{}: found '{}'; the hidden vector between blocks has one density, allowed is hidden=",
            kOption, text);
      }
      set_once(kOption, said.product, sparsity.hidden, zeros);
      continue;
    }
    set_zeros_of(said, sparsity, [&](LayerSparsity& of, const std::string& name) {
      set_once(kOption, name, of.inputs.at(number_of(said.product)), zeros);
    });
  }
}

}  // namespace

DecodeSparsity activations_of(const Options& options) {
  DecodeSparsity said;
  set_activations(options, said);
  return said;
}

void set_weights(const Options& options, DecodeSparsity& sparsity) {
  constexpr const char* kOption = "--weights";
  std::vector<std::string> allowed = products();
  allowed.emplace_back("all");
  for (const std::string& text : options.weights) {
    const Said said = said_of(kOption, text);
    check_word(kOption, said.product, allowed);
    const auto weights = parse_weights(said.words, fmt::format("{} {}", kOption, said.product));
    set_zeros_of(said, sparsity, [&](LayerSparsity& of, const std::string&) {
      for (std::size_t i = 0; i < wse::kProjections; ++i) {
        if (said.product != "all" && i != number_of(said.product)) continue;
        set_once(kOption, word(static_cast<Projection>(i)), of.weights.at(i), weights);
      }
    });
  }
}

namespace {

bool skips(const WseParams& params, wse::LlmSkip what) {
  const wse::LlmSkip skip = params.llm.skip;
  return skip == what || skip == wse::LlmSkip::both;
}

/// What was said, by name.
Pairs said(const Options& options, const DecodePlacement& placement, const WseParams& params) {
  Pairs all;
  if (asks_for_zeros(options)) all.emplace_back("skip", params.llm.skip.value_text());
  for (const std::string& text : options.activations) all.emplace_back("activations", text);
  for (const std::string& text : options.weights) all.emplace_back("weights", text);
  if (placement.sees.window != 0) all.emplace_back("window", *options.window);
  if (placement.sees.kept != 0) all.emplace_back("kept", *options.kept);
  if (options.experts) all.emplace_back("experts", *options.experts);
  if (asks_for_zeros(options)) all.emplace_back("seed", fmt::format("{}", placement.sparsity.seed));
  return all;
}

}  // namespace

bool asks_for_zeros(const Options& options) {
  return !options.activations.empty() || !options.weights.empty() || options.window ||
         options.kept || options.experts;
}

void set_zeros(const Options& options, DecodePlacement& placement) {
  DecodeSparsity& sparsity = placement.sparsity;
  set_activations(options, sparsity);
  set_weights(options, sparsity);
  const auto count = [](const char* option, const std::string& text) {
    return static_cast<std::uint32_t>(check_count(option, text, 1, kMostZeros));
  };
  if (options.seed) sparsity.seed = check_count("--seed", *options.seed, 0, ~std::uint64_t{0});
  if (options.window) placement.sees.window = count("--window", *options.window);
  if (options.kept) placement.sees.kept = count("--kept", *options.kept);
  if (options.window && options.kept) {
    throw RequestError("--window and --kept: only one of them may say what a token sees");
  }
  if (options.experts) {
    placement.experts_apart =
        check_word("--experts", *options.experts, {"spread", "apart"}) == "apart";
  }
}

void check_zeros(const Options& options, const ModelShape& model, const WseParams& params) {
  if (options.experts && model.experts.count == 0) {
    throw refused("--experts: model '{}' has no experts", model.name);
  }
  if (options.seed && model.experts.count == 0 && options.activations.empty() &&
      options.weights.empty() && !options.kept) {
    throw RequestError("--seed: nothing of this request is drawn");
  }
  bool of_products = false;
  bool of_hidden = false;
  for (const std::string& text : options.activations) {
    (text.rfind("hidden=", 0) == 0 ? of_hidden : of_products) = true;
  }
  DecodeSparsity said;
  set_activations(options, said);
  set_weights(options, said);
  if (!said.layers.empty() && said.layers.rbegin()->first >= model.layers) {
    throw refused("zeros of layer {}: allowed are 0 to {} of model '{}'",
                  said.layers.rbegin()->first, model.layers - 1, model.name);
  }
  if (skips(params, wse::LlmSkip::act) && !of_products) {
    throw RequestError(
        "llm.skip: act needs zeros of inputs, as in --activations down=bernoulli:0.1");
  }
  if (skips(params, wse::LlmSkip::traffic) && !of_hidden) {
    throw RequestError(
        "llm.skip: traffic needs zeros between blocks, as in --activations hidden=bernoulli:0.1");
  }
}

std::string zeros_as_text(const Options& options, const DecodePlacement& placement,
                          const WseParams& params) {
  std::vector<std::string> all;
  for (const auto& [name, value] : said(options, placement, params)) {
    all.push_back(name + ": " + value);
  }
  if (all.empty()) return "";
  return fmt::format(
      "Zeros: {}.\nOf layers with the same words one is drawn and stands for all; the fullest core "
      "decides.\n",
      fmt::join(all, "; "));
}

std::string zeros_as_json(const Options& options, const DecodePlacement& placement,
                          const WseParams& params) {
  std::vector<std::string> all;
  for (const auto& [name, value] : said(options, placement, params)) {
    all.push_back(json_text(name + " " + value));
  }
  return all.empty() ? "" : fmt::format("[{}]", fmt::join(all, ", "));
}

}  // namespace lacuna
