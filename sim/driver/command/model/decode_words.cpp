// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/model/decode_words.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "sim/base/error.hpp"

namespace lacuna {

using wse::Projection;

namespace {

constexpr std::uint64_t kMostZeros = 1U << 24U;

/// The two sides of PRODUCT=WORDS.
std::pair<std::string, std::string> both_sides(const char* option, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw RequestError(fmt::format("{}: found '{}', allowed is PRODUCT={}", option, text,
                                   std::string(option) == "--weights" ? "PATTERN" : "ZEROS"));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
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
  if (place) throw RequestError(fmt::format("{}: '{}' is given twice", option, product));
  place = std::move(value);
}

void set_activations(const Options& options, DecodeSparsity& sparsity) {
  constexpr const char* kOption = "--activations";
  std::vector<std::string> allowed = products();
  allowed.emplace_back("hidden");
  for (const std::string& text : options.activations) {
    const auto [product, zeros] = both_sides(kOption, text);
    check_word(kOption, product, allowed);
    auto& place = product == "hidden" ? sparsity.hidden : sparsity.inputs.at(number_of(product));
    set_once(kOption, product, place, parse_inputs(zeros, fmt::format("{} {}", kOption, product)));
  }
}

}  // namespace

void set_weights(const Options& options, DecodeSparsity& sparsity) {
  constexpr const char* kOption = "--weights";
  std::vector<std::string> allowed = products();
  allowed.emplace_back("all");
  for (const std::string& text : options.weights) {
    const auto [product, pattern] = both_sides(kOption, text);
    check_word(kOption, product, allowed);
    const auto weights = parse_weights(pattern, fmt::format("{} {}", kOption, product));
    for (std::size_t i = 0; i < wse::kProjections; ++i) {
      if (product != "all" && i != number_of(product)) continue;
      set_once(kOption, word(static_cast<Projection>(i)), sparsity.weights.at(i), weights);
    }
  }
}

namespace {

bool skips(const WseParams& params, wse::LlmSkip what) {
  const wse::LlmSkip skip = params.llm.skip;
  return skip == what || skip == wse::LlmSkip::both;
}

/// As a string of JSON.
std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    constexpr unsigned char kSpace = 0x20;
    const auto code = static_cast<unsigned char>(c);
    if (code < kSpace) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

/// What was said, by name.
std::vector<std::pair<std::string, std::string>> said(const Options& options,
                                                      const DecodePlacement& placement,
                                                      const WseParams& params) {
  std::vector<std::pair<std::string, std::string>> all;
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
    throw RequestError(fmt::format("--experts: model '{}' has no experts", model.name));
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
  std::string text;
  for (const auto& [name, value] : said(options, placement, params)) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name, value);
  }
  if (text.empty()) return text;
  return fmt::format(
      "Zeros: {}.\nOne layer is drawn and stands for all; the fullest core decides.\n", text);
}

std::string zeros_as_json(const Options& options, const DecodePlacement& placement,
                          const WseParams& params) {
  std::string text;
  for (const auto& [name, value] : said(options, placement, params)) {
    text +=
        fmt::format("{}{}", text.empty() ? "" : ", ", json_text(fmt::format("{} {}", name, value)));
  }
  return text.empty() ? text : fmt::format(",\n  \"zeros\": [{}]", text);
}

}  // namespace lacuna
