// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/generator_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "workloads/generate/transformer.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

using Part = TransformerOptions::Part;

constexpr std::uint64_t kMostSide = 0x7fffffff;

[[noreturn]] void fail(const std::string& key, const std::string& found, const std::string& allowed,
                       const std::string& hint = "") {
  throw RequestError(fmt::format("{}={}: found '{}'; allowed: {}{}", key, found, found, allowed,
                                 hint.empty() ? "" : fmt::format("; did you mean '{}'?", hint)));
}

class Settings {
 public:
  explicit Settings(const Pairs& pairs) : pairs_(pairs) {}

  void integer(const std::string& key, std::uint64_t least, std::uint32_t& value) const {
    const std::string* text = find_value(pairs_, key);
    std::uint64_t read = 0;
    if (text == nullptr) return;
    if (parse_integer(*text, least, kMostSide, read) != IntegerError::none) {
      fail(key, *text, fmt::format("an integer in [{}, {}]", least, kMostSide));
    }
    value = static_cast<std::uint32_t>(read);
  }

  void flag(const std::string& key, bool& value) const {
    std::uint32_t read = value ? 1 : 0;
    integer(key, 0, read);
    if (read > 1) fail(key, fmt::format("{}", read), "0, 1");
    value = read == 1;
  }

  std::size_t choice(const std::string& key, const std::vector<std::string>& words,
                     std::size_t otherwise) const {
    const std::string* text = find_value(pairs_, key);
    if (text == nullptr) return otherwise;
    const auto found = std::find(words.begin(), words.end(), *text);
    if (found == words.end()) {
      fail(key, *text, fmt::format("{}", fmt::join(words, ", ")), nearest(*text, words, 2));
    }
    return static_cast<std::size_t>(found - words.begin());
  }

  const std::string* text(const std::string& key) const { return find_value(pairs_, key); }

 private:
  const Pairs& pairs_;
};

void set_common(const Settings& settings, DType& dtype, Mode& mode, PatternSpec& pattern) {
  if (const std::string* text = settings.text("dtype")) dtype = parse_dtype(*text, "dtype");
  if (const std::string* text = settings.text("mode")) mode = parse_mode(*text, "mode");
  PatternOptions options;
  if (const std::string* text = settings.text("pattern")) options.pattern = *text;
  if (const std::string* text = settings.text("density")) options.density = *text;
  if (const std::string* text = settings.text("block")) options.block = *text;
  if (const auto spec = make_pattern(options)) pattern = *spec;
}

WorkloadTrace make_gemm(const Settings& settings) {
  const std::string* shape = settings.text("shape");
  if (shape == nullptr) fail("shape", "", "MxKxN, three integers");
  WorkloadTrace trace = gemm_workload(parse_gemm(*shape, "shape"));
  PatternSpec pattern;
  set_common(settings, trace.ops[0].dtype, trace.ops[0].mode, pattern);
  return pattern.name == "dense" ? trace : with_pattern(std::move(trace), pattern, "pattern");
}

WorkloadTrace make_model(const ModelShape& shape, const Settings& settings) {
  TransformerOptions options;
  constexpr std::uint32_t kUsual = 512;
  options.tokens = std::min(kUsual, shape.positions);
  options.part =
      static_cast<Part>(settings.choice("part", {"weights", "forward", "training", "decode"}, 1));
  settings.integer("sequences", 1, options.sequences);
  settings.integer("tokens", 1, options.tokens);
  settings.integer("context", 1, options.context);
  settings.integer("layers", 1, options.layers);
  settings.integer("predictions", 1, options.predictions);
  settings.integer("replicas", 1, options.replicas);
  settings.flag("causal", options.causal);
  settings.flag("embedding", options.embedding);
  settings.flag("heads", options.heads);
  settings.flag("recompute", options.recompute);
  const std::vector<std::string> optimizers = {"sgd", "sgdm", "adam", "adamw", "lamb"};
  options.optimizer = optimizers[settings.choice("optimizer", optimizers, 3)];
  set_common(settings, options.dtype, options.mode, options.pattern);
  return make_transformer(shape, options);
}

std::vector<std::string> keys_of(bool gemm) {
  if (gemm) return {"shape", "dtype", "mode", "pattern", "density", "block"};
  std::vector<std::string> keys;
  for (const GeneratorKey& key : generator_keys()) {
    if (key.name != "shape") keys.push_back(key.name);
  }
  return keys;
}

}  // namespace

const std::vector<GeneratorKey>& generator_keys() {
  static const std::vector<GeneratorKey> kKeys = {
      {"shape", "MxKxN", "gemm: its three dimensions"},
      {"part", "weights, forward, training, decode", "which rows; default forward"},
      {"sequences", "integer", "sequences at once; default 1"},
      {"tokens", "integer", "tokens of each; default 512 or what the model takes"},
      {"context", "integer", "decode: tokens already in the cache"},
      {"layers", "integer", "the first so many layers; default all"},
      {"causal", "0, 1", "skip what a causal mask hides; default 0"},
      {"embedding", "0, 1", "rows before the first layer; default 0"},
      {"heads", "0, 1", "rows after the last layer; default 0"},
      {"predictions", "integer", "BERT head: masked positions of a sequence"},
      {"recompute", "0, 1", "training: forward rows again before backward; default 0"},
      {"replicas", "integer", "training: gradients are reduced over so many; default 1"},
      {"optimizer", "sgd, sgdm, adam, adamw, lamb", "training: default adamw"},
      {"dtype", "fp32, fp16, bf16, fp8, int8", "of operands; default fp16"},
      {"mode", "auto, static, dynamic, streamed", "of sparse rows; default auto"},
      {"pattern", "as --pattern", "of every prunable weight; default dense"},
      {"density", "decimal in [0, 1]", "of the pattern"},
      {"block", "b or RxC", "of the pattern"},
  };
  return kKeys;
}

const std::vector<Generator>& generators() {
  static const std::vector<Generator> kGenerators = [] {
    std::vector<Generator> all = {{"gemm", "one product", keys_of(true)}};
    for (const ModelShape& shape : model_shapes()) {
      all.push_back(
          {shape.name,
           fmt::format("{} layers, width {}; {}", shape.layers, shape.width, shape.source),
           keys_of(false)});
    }
    return all;
  }();
  return kGenerators;
}

WorkloadTrace generate_workload(const std::string& name, const Pairs& settings) {
  std::vector<std::string> names;
  const Generator* chosen = nullptr;
  for (const Generator& generator : generators()) {
    names.push_back(generator.name);
    if (generator.name == name) chosen = &generator;
  }
  if (chosen == nullptr) {
    const std::string hint = nearest(name, names, 3);
    throw RequestError(fmt::format("there is no workload '{}'; known: {}{}", name,
                                   fmt::join(names, ", "),
                                   hint.empty() ? "" : fmt::format("; did you mean '{}'?", hint)));
  }
  for (const auto& [key, value] : settings) {
    if (std::find(chosen->keys.begin(), chosen->keys.end(), key) == chosen->keys.end()) {
      const std::string hint = nearest(key, chosen->keys, 2);
      throw RequestError(fmt::format(
          "{}: there is no setting '{}'; known: {}{}", name, key, fmt::join(chosen->keys, ", "),
          hint.empty() ? "" : fmt::format("; did you mean '{}'?", hint)));
    }
    if (find_value(settings, key) != &value) {
      throw RequestError(fmt::format("{}: the setting '{}' is given twice", name, key));
    }
  }
  const Settings read(settings);
  return name == "gemm" ? make_gemm(read) : make_model(find_model_shape(name), read);
}

}  // namespace lacuna
