// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/generator_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/texts.hpp"
#include "workloads/generate/kge.hpp"
#include "workloads/generate/module_rules.hpp"
#include "workloads/generate/routing.hpp"
#include "workloads/generate/settings.hpp"
#include "workloads/generate/suites.hpp"
#include "workloads/generate/transformer.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna {
namespace {

using Part = TransformerOptions::Part;

WorkloadTrace make_gemm(const Settings& settings) {
  const std::string* shape = settings.text("shape");
  if (shape == nullptr) refuse_setting("shape", "", "MxKxN, three integers");
  WorkloadTrace trace = gemm_workload(parse_gemm(*shape, "--shape"));
  settings.types(trace.ops[0].dtype, trace.ops[0].mode);
  const PatternSpec pattern = settings.pattern();
  return pattern.name == "dense" ? trace : with_pattern(std::move(trace), pattern, "--pattern");
}

PatternSpec attention_of(const Settings& settings) {
  const std::string* text = settings.text("attention");
  if (text == nullptr || *text == "full") return {};
  return make_pattern({*text, {}, {}, {}}, "--attention").value_or(PatternSpec{});
}

void read_training(const Settings& settings, TransformerOptions& options) {
  settings.integer("replicas", 1, options.replicas);
  settings.flag("recompute", options.recompute);
  const std::vector<std::string>& optimizers = find_op_kind("optim")->functions;
  options.optimizer = optimizers[settings.choice("optimizer", optimizers, 3)];
  options.recipe = static_cast<Recipe>(
      settings.choice("recipe", {"plain", "conventional", "ipu-mixed", "unit-scaling"}, 0));
  settings.flag("loss-scaling", options.loss_scaling);
}

void read_routing(const Settings& settings, TransformerOptions& options) {
  std::uint32_t seed = 1;
  settings.integer("routing-seed", 0, seed);
  const std::string* text = settings.text("routing");
  options.routing_given = text != nullptr || settings.text("routing-seed") != nullptr;
  options.routing = parse_routing(text == nullptr ? "uniform" : *text, seed);
}

/// Settings that change nothing of a part are not read over.
void refuse_of_other_parts(Part part, const Settings& settings) {
  const auto refuse = [&](const char* key, const char* allowed) {
    const std::string* text = settings.text(key);
    if (text != nullptr && *text != "false") refuse_setting(key, *text, allowed);
  };
  if (part != Part::decode) refuse("context", "nothing but with part decode");
  if (part == Part::decode) refuse("tokens", "nothing with part decode, of one token each");
  if (part == Part::weights) {
    for (const char* key : {"causal", "attention"}) {
      refuse(key, "nothing with part weights, which has no rows of attention");
    }
  }
  if (part == Part::training) return;
  for (const char* key : {"replicas", "recompute", "optimizer"}) {
    refuse(key, "nothing but with part training");
  }
}

/// What the model, or another setting, has nothing for.
void refuse_contradictions(const ModelShape& shape, const TransformerOptions& options) {
  const bool encoder = shape.family == ModelFamily::bert || shape.family == ModelFamily::group_bert;
  if (encoder && options.part == Part::decode) {
    refuse_setting("part", "decode",
                   fmt::format("weights, forward or training: {} is an encoder, which makes no "
                               "token after another",
                               shape.name));
  }
  if (options.predictions > options.tokens) {
    refuse_setting("predictions", std::to_string(options.predictions),
                   fmt::format("at most the {} tokens of a sequence", options.tokens));
  }
  if (options.recipe == Recipe::ipu_mixed && options.dtype != DType::fp16) {
    refuse_setting("dtype", word(options.dtype), "fp16, the type of weights in recipe ipu-mixed");
  }
}

/// WHERE=PATTERN, or a recipe with rules for the weights of the model.
void add_rules(const std::string& text, const ModelShape& shape, std::uint32_t layers,
               TransformerOptions& options) {
  std::error_code error;
  if (text.find('=') != std::string::npos || !std::filesystem::is_regular_file(text, error)) {
    options.rules.push_back(parse_rule(text));
    return;
  }
  for (const ModuleRule& rule : read_recipe(text)) {
    for (PatternRule& each : rules_of(rule, shape, layers, "--sparse " + text)) {
      options.rules.push_back(std::move(each));
    }
  }
}

WorkloadTrace make_model(const ModelShape& shape, const Settings& settings,
                         const std::vector<PatternRule>& rules = {}) {
  TransformerOptions options;
  constexpr std::uint32_t kUsual = 512;
  options.tokens = std::min(kUsual, shape.positions);
  options.part =
      static_cast<Part>(settings.choice("part", {"weights", "forward", "training", "decode"}, 1));
  if (options.part == Part::decode) options.tokens = 1;
  refuse_of_other_parts(options.part, settings);
  settings.integer("sequences", 1, options.sequences);
  settings.integer("tokens", 1, options.tokens);
  settings.integer("context", 1, options.context);
  settings.integer("layers", 1, options.layers);
  settings.integer("predictions", 1, options.predictions);
  settings.flag("causal", options.causal);
  settings.flag("embedding", options.embedding);
  settings.flag("heads", options.heads);
  settings.flag("same-mask", options.same_mask);
  read_training(settings, options);
  options.attention = attention_of(settings);
  options.attention_given = settings.text("attention") != nullptr;
  read_routing(settings, options);
  settings.types(options.dtype, options.mode);
  options.pattern = settings.pattern();
  options.share_density = settings.choice("layerwise", {"uniform", "er"}, 0) == 1;
  options.rules = rules;
  const std::uint32_t layers = options.layers == 0 ? shape.layers : options.layers;
  for (const std::string& rule : settings.all("sparse")) add_rules(rule, shape, layers, options);
  refuse_contradictions(shape, options);
  return make_transformer(shape, options);
}

// The names of the shapes of a family, or of those that begin with the word of a series.
std::vector<std::string> sizes_of(const std::string& family) {
  const std::vector<std::string> series = model_series();
  const bool is_series = contains(series, family);
  std::vector<std::string> sizes;
  for (const ModelShape& shape : model_shapes()) {
    const auto starts = [&](const std::string& word) { return starts_with(shape.name, word); };
    const bool own = std::any_of(series.begin(), series.end(), starts);
    const bool fits =
        is_series ? starts(family + "-") : !own && family_name(shape.family) == family;
    if (fits) sizes.push_back(shape.name);
  }
  return sizes;
}

// The shape that a family name and the setting `size` mean: "bert" and "base" are "bert-base".
const ModelShape* shape_of(const std::string& name, const Settings& settings) {
  if (const ModelShape* shape = find_named(model_shapes(), name)) return shape;
  const std::vector<std::string> sizes = sizes_of(name);
  if (sizes.empty()) return nullptr;
  const std::string* size = settings.text("size");
  for (const std::string& full : sizes) {
    if (size == nullptr) break;
    if (*size == full || name + "-" + *size == full || name + *size == full) {
      return &find_model_shape(full);
    }
  }
  const std::string found = size == nullptr ? "" : *size;
  refuse_setting("size", found, listed(sizes), found.empty() ? "" : nearest(found, sizes));
}

std::vector<std::string> keys_of_models(bool family) {
  std::vector<std::string> keys;
  if (family) keys.emplace_back("size");
  for (const GeneratorKey& key : generator_keys()) {
    if (key.of_models && key.name != "size") keys.push_back(key.name);
  }
  return keys;
}

void check_settings(const Generator& generator, const Pairs& settings) {
  for (const auto& [key, value] : settings) {
    if (!contains(generator.keys, key)) {
      refuse_request("{}: there is no setting '{}'; known: {}{}", generator.name, key,
                     fmt::join(generator.keys, ", "), hint_of(key, generator.keys));
    }
    if (key != "sparse" && find_value(settings, key) != &value) {
      refuse_request("{}: the setting '{}' is given twice", generator.name, key);
    }
  }
}

const Generator& find_generator(const std::string& name) {
  return named_in(generators(), name, "there is no workload '{}'; known: {}{}");
}

}  // namespace

namespace {

/// Of models: which rows, and what they compute.
std::vector<GeneratorKey> model_keys() {
  return {
      {"size", "a size", "of a family: base, large, ..."},
      {"part", "weights, forward, training, decode", "which rows; default forward"},
      {"sequences", "integer", "sequences at once; default 1"},
      {"tokens", "integer", "tokens of each; default 512 or what the model takes"},
      {"context", "integer", "decode: positions attended to, the own one too"},
      {"layers", "integer", "the first so many layers; default all"},
      {"embedding", "0, 1", "rows before the first layer", true},
      {"heads", "0, 1", "rows after the last layer", true},
      {"predictions", "integer", "BERT head: masked positions of a sequence"},
      {"causal", "0, 1", "skip what a causal mask hides", true},
      {"attention", "full, or a pattern",
       "scores that are computed, such as window:w=64, longformer:w=64:global=4, "
       "bigbird16:random=3, fixed:stride=64:c=16; default full"},
      {"routing", "uniform, zipf:EXPONENT, file:PATH",
       "experts: which tokens take which, drawn, or tokens of each expert of a file; default "
       "uniform"},
      {"routing-seed", "integer", "experts: seed of the routing; default 1"},
      {"recompute", "0, 1", "training: forward rows again before backward", true},
      {"replicas", "integer", "training: gradients are reduced over so many; default 1"},
      {"optimizer", "sgd, sgdm, adam, adamw, lamb", "training: default adamw"},
      {"recipe", "plain, conventional, ipu-mixed, unit-scaling",
       "training: types of numbers; default plain"},
      {"loss-scaling", "0, 1", "training: rows that scale, unscale and check", true},
  };
}

/// Of any rows: types, and the pattern of weights.
std::vector<GeneratorKey> weight_keys() {
  return {
      {"dtype", "fp32, fp16, bf16, fp8, int8", "of operands; default fp16"},
      {"mode", "auto, static, dynamic, streamed",
       "of sparse rows, or of dense ones if none is sparse; default auto"},
      {"residency", "auto, streamed, resident", "where weights live; default auto"},
      {"pattern", "as in a trace", "of every prunable weight; default dense"},
      {"density", "decimal in [0, 1]", "of the pattern"},
      {"block", "b or RxC", "of the pattern"},
      {"nm", "N:M", "N of every M weights are kept"},
      {"sparse", "WHERE=PATTERN, or FILE",
       "pattern of the weights whose name matches as a file's does in a shell, such as "
       "'*.ffn1=block16:0.1' or 'l[01].*=dense', or a recipe of a pruning tool; may be "
       "repeated, the last that matches wins"},
      {"layerwise", "uniform, er",
       "er: unlike matrices share the density as Erdos-Renyi; default uniform"},
      {"same-mask", "0, 1", "all layers have the masks of the first", true},
      {"global", "a folder",
       "pattern magnitude: one threshold over all matrices, whose densities emerge; their masks "
       "are "
       "written there"},
  };
}

/// Of single families.
std::vector<GeneratorKey> family_keys() {
  return {
      {"shape", "MxKxN", "gemm: its three dimensions"},
      {"n", "integer", "popsparse: columns of X; default 1024"},
      {"score", "transe, distmult, rotate, complex", "kge: the scoring function; default transe"},
      {"width", "integer", "kge: numbers of an embedding, two for a complex one"},
      {"entities", "integer", "kge: entities in all"},
      {"relations", "integer", "kge: types of relations"},
      {"shards", "integer", "kge: chips that share the entities; default 1"},
      {"positives", "integer", "kge: triples of a pair of head and tail shard"},
      {"negatives", "integer", "kge: negatives of each triple from each shard; default 1"},
      {"corrupt", "tails, both", "kge: which ends are replaced; default both, half and half"},
  };
}

}  // namespace

const std::vector<GeneratorKey>& generator_keys() {
  static const std::vector<GeneratorKey> kKeys = [] {
    std::vector<GeneratorKey> all = model_keys();
    for (const GeneratorKey& key : weight_keys()) all.push_back(key);
    for (GeneratorKey& key : all) key.of_models = true;
    for (const GeneratorKey& key : family_keys()) all.push_back(key);
    return all;
  }();
  return kKeys;
}

const std::vector<Generator>& generators() {
  static const std::vector<Generator> kGenerators = [] {
    std::vector<Generator> all = {
        {"gemm",
         "one product",
         {"shape", "dtype", "mode", "residency", "pattern", "density", "block", "nm"}},
        {"popsparse",
         "sparse products of the grid of the PopSparse benchmark",
         {"n", "dtype", "mode", "residency"}},
        {"blas", "AXPY, DOT, GEMV, GEMM, and SpMM at five densities", {"dtype"}},
        {"kge",
         "a training step of knowledge-graph embeddings, sharded over chips",
         {"score", "width", "entities", "relations", "shards", "positives", "negatives", "corrupt",
          "dtype", "optimizer"}}};
    std::vector<std::string> families = {"bert", "gpt", "opt", "llama", "groupbert"};
    for (const std::string& series : model_series()) families.push_back(series);
    for (const std::string& family : families) {
      all.push_back({family, "of the size given", keys_of_models(true)});
    }
    for (const ModelShape& shape : model_shapes()) {
      all.push_back(
          {shape.name,
           fmt::format("{} layers, width {}; {}", shape.layers, shape.width, shape.source),
           keys_of_models(false)});
    }
    return all;
  }();
  return kGenerators;
}

WorkloadTrace generate_workload(const std::string& name, const Pairs& settings) {
  const Generator& generator = find_generator(name);
  check_settings(generator, settings);
  const Settings read(settings);
  WorkloadTrace trace = name == "gemm"        ? make_gemm(read)
                        : name == "popsparse" ? make_popsparse(read)
                        : name == "blas"      ? make_blas(read)
                        : name == "kge"       ? make_kge(read)
                                              : make_model(*shape_of(name, read), read);
  read.settle_weights(trace);
  return trace;
}

WorkloadTrace generate_model(const ModelShape& shape, const Pairs& settings,
                             const std::vector<PatternRule>& rules) {
  check_settings({shape.name, "", keys_of_models(false)}, settings);
  const Settings read(settings);
  WorkloadTrace trace = make_model(shape, read, rules);
  read.settle_weights(trace);
  return trace;
}

}  // namespace lacuna
