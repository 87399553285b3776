// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/schedule/workload_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "models/sparsity/mask_statistics.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/files/trace_file.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "workloads/generate/settings.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

ScheduleKind find_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const ScheduleKindRow& row : schedule_kinds()) {
    if (row.name == name) return row.kind;
    names.emplace_back(row.name);
  }
  const std::string hint = nearest(name, names);
  throw refused("there is no schedule '{}'; known: {}{}", name, fmt::join(names, ", "),
                hint.empty() ? "" : fmt::format("; did you mean '{}'?", hint));
}

Decimal fraction(const Settings& settings, const std::string& key, Decimal otherwise) {
  const std::string* text = settings.text(key);
  return text == nullptr ? otherwise : parse_density(*text, "--" + key);
}

/// Refuses settings that other kinds of schedule alone have a use for.
void check_kind(const Settings& settings, ScheduleKind kind) {
  using Kind = ScheduleKind;
  static const std::vector<std::pair<const char*, std::vector<Kind>>> own = {
      {"first-density", {Kind::gradual}},
      {"ratio", {Kind::dynamic_bert}},
      {"fine-tuning", {Kind::spdf}},
      {"global", {Kind::gradual, Kind::iterative}}};
  for (const auto& [key, kinds] : own) {
    if (settings.text(key) == nullptr) continue;
    if (contains(kinds, kind)) continue;
    std::vector<std::string> names;
    for (const ScheduleKindRow& row : schedule_kinds()) {
      if (contains(kinds, row.kind)) {
        names.emplace_back(row.name);
      }
    }
    throw refused("--{}: goes with {} alone", key, fmt::join(names, " and "));
  }
}

// The prunable weights of the layers of the request.
std::vector<ScheduleMatrix> matrices_of(const ScheduleRequest& request) {
  const ModelShape& model = *request.model;
  const std::uint32_t q = model.query_width();
  const std::uint32_t kv = model.kv_width();
  std::vector<ScheduleMatrix> matrices;
  for (std::uint32_t l = 0; l < request.layers; ++l) {
    const auto add = [&](const char* name, std::uint32_t rows, std::uint32_t cols,
                         WeightRole role) {
      matrices.push_back({fmt::format("l{}.{}", l, name), rows, cols, role});
    };
    add("q", q, model.width, WeightRole::qkv);
    add("k", kv, model.width, WeightRole::qkv);
    add("v", kv, model.width, WeightRole::qkv);
    add("o", model.width, q, WeightRole::out);
    if (model.gated) add("gate", model.ffn, model.width, WeightRole::ffn1);
    add("ffn1", model.ffn, model.width, WeightRole::ffn1);
    add("ffn2", model.width, model.ffn, WeightRole::ffn2);
  }
  return matrices;
}

LayerOp product(const std::string& id, Phase phase, const std::string& op, std::uint32_t m,
                std::uint32_t k, std::uint32_t n) {
  LayerOp row;
  row.id = id;
  row.phase = phase;
  row.op = op;
  row.m = m;
  row.k = k;
  row.n = n;
  return row;
}

PatternSpec reference(const std::string& id, bool transposed) {
  PatternSpec spec;
  spec.name = "ref";
  spec.args = {{"of", id}};
  if (transposed) spec.args.emplace_back("transpose", "1");
  return spec;
}

/// The products of one step with the weights of `files`, or with dense ones if there are none.
WorkloadTrace step_of(const ScheduleRequest& request, const std::vector<std::string>& files) {
  WorkloadTrace trace;
  const std::vector<ScheduleMatrix> matrices = matrices_of(request);
  const std::uint32_t columns = request.sequences * request.tokens;
  const std::uint32_t block = request.options.block;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const ScheduleMatrix& matrix = matrices[i];
    const bool sparse = !files.empty();
    LayerOp forward =
        product("fwd." + matrix.name, Phase::fwd, "gemm", matrix.rows, matrix.cols, columns);
    if (sparse) {
      forward.pattern.name = "file";
      forward.pattern.file = files[i];
      forward.pattern.block_rows = forward.pattern.block_cols = block;
      forward.pattern.args = {{"unit", block == 1 ? "element" : "block"}};
    }
    const std::string id = forward.id;
    trace.ops.push_back(std::move(forward));
    if (!request.training) continue;
    LayerOp dx = product("bwd." + matrix.name + "_dx", Phase::bwd, "gemm", matrix.cols, matrix.rows,
                         columns);
    LayerOp dw = product("bwd." + matrix.name + "_dw", Phase::bwd, sparse ? "sddmm" : "bmm",
                         matrix.rows, columns, matrix.cols);
    if (sparse) {
      dx.pattern = reference(id, true);
      dw.pattern = reference(id, false);
    } else {
      dw.fn = "dot";
    }
    trace.ops.push_back(std::move(dx));
    trace.ops.push_back(std::move(dw));
  }
  return trace;
}

// 3 (2 N nnz + 4 B T^2 d L): forward and backward, attention dense. As in the publications, the
// head counts in models that generate text, in proportion to the layers, and not in BERT.
double step_flop(const ScheduleRequest& request, double kept) {
  const double sequences = request.sequences;
  const double tokens = request.tokens;
  const double attention = 4 * sequences * tokens * tokens * request.model->width * request.layers;
  const bool generates = request.model->family != ModelFamily::bert;
  const double share = static_cast<double>(request.layers) / request.model->layers;
  const double head =
      generates ? static_cast<double>(request.model->vocabulary) * request.model->width * share : 0;
  return 3 * (2 * sequences * tokens * (kept + head) + attention);
}

// The grid of blocks as a matrix of its own.
Mask grid_of(const Mask& mask) {
  Mask grid = mask;
  grid.rows = mask.grid_rows();
  grid.cols = mask.grid_cols();
  grid.block_rows = grid.block_cols = 1;
  return grid;
}

double mean_imbalance(const std::vector<Mask>& masks) {
  double sum = 0;
  for (const Mask& mask : masks) sum += imbalance(mask, 16, 16).value_or(1);
  return masks.empty() ? 1 : sum / static_cast<double>(masks.size());
}

}  // namespace

const std::vector<std::pair<const char*, const char*>>& schedule_keys() {
  static const std::vector<std::pair<const char*, const char*>> all = {
      {"model", "whose layers; default bert-base"},
      {"layers", "so many of them; default 1"},
      {"density", "of the weights, at the end if it changes; default 0.1"},
      {"first-density", "gmp: at the beginning; default 0.3"},
      {"ratio", "dynamic: of the kept blocks, moved at first; default 0.5"},
      {"block", "side of the blocks, or several: 1,4,8,16; default 1"},
      {"global",
       "gmp, imp: 1 for one threshold over all matrices, whose densities emerge; default 0"},
      {"fine-tuning", "spdf: share of the steps, all dense; default 0.05"},
      {"updates", "of the pattern; default as published"},
      {"steps", "of training in all; default as published"},
      {"samples", "phases that are written and simulated, evenly spread; default 10"},
      {"sequences", "at once; default 1"},
      {"tokens", "of each; default 128"},
      {"part", "weights (forward products, the default) or training (backward products too)"}};
  return all;
}

ScheduleRequest read_schedule(const std::string& kind, const Pairs& pairs, std::uint64_t seed) {
  const Settings settings(pairs);
  ScheduleRequest request;
  request.options.kind = find_kind(kind);
  check_kind(settings, request.options.kind);
  const std::string* model = settings.text("model");
  request.model = &find_model_shape(model == nullptr ? "bert-base" : *model);
  if (request.model->family == ModelFamily::group_bert) {
    throw RequestError("--model: found a GroupBERT; allowed: a model of plain layers");
  }
  if (request.model->experts.count != 0) {
    throw RequestError("--model: found experts; allowed: a model of dense layers");
  }
  request.options.density = fraction(settings, "density", {1, 1});
  request.options.first_density = fraction(settings, "first-density", {3, 1});
  if (request.options.kind == ScheduleKind::gradual &&
      request.options.first_density.value() < request.options.density.value()) {
    throw refused("--first-density: found {}; allowed: at least the density, {}",
                  request.options.first_density.text(), request.options.density.text());
  }
  request.options.ratio = fraction(settings, "ratio", {5, 1});
  request.options.fine_tuning = fraction(settings, "fine-tuning", {5, 2});
  settings.flag("global", request.options.global);
  request.options.seed = seed;
  settings.integer("block", 1, request.options.block);
  const auto count = [&](const char* key, std::uint64_t& value) {
    std::uint32_t read = 0;
    settings.integer(key, 1, read);
    if (read != 0) value = read;
  };
  count("updates", request.options.updates);
  count("steps", request.options.steps);
  count("samples", request.samples);
  settings.integer("layers", 1, request.layers);
  settings.integer("sequences", 1, request.sequences);
  settings.integer("tokens", 1, request.tokens);
  if (request.layers > request.model->layers || request.tokens > request.model->positions) {
    throw refused("{}: found {} and {}; allowed: at most {} and {}", request.model->name,
                  counted(request.layers, "layer"), counted(request.tokens, "token"),
                  request.model->layers, request.model->positions);
  }
  request.training = settings.choice("part", {"weights", "training"}, 0) == 1;
  return request;
}

WorkloadTrace dense_step(const ScheduleRequest& request) {
  WorkloadTrace trace = step_of(request, {});
  trace.name = "dense";
  return trace;
}

double dense_step_flop(const ScheduleRequest& request) {
  double weights = 0;
  for (const ScheduleMatrix& matrix : matrices_of(request)) {
    weights += static_cast<double>(matrix.rows) * matrix.cols;
  }
  return step_flop(request, weights);
}

std::vector<SchedulePoint> write_schedule(const ScheduleRequest& request, const std::string& folder,
                                          const std::string& command) {
  const std::vector<ScheduleMatrix> matrices = matrices_of(request);
  std::uint64_t phases = 0;
  walk_schedule({}, request.options,
                [&](const SchedulePhase&, const std::vector<Mask>&) { ++phases; });
  const std::uint64_t samples = std::min(request.samples, phases);
  // Phase p is sample s if it is the last with p * samples / phases == s.
  const auto sample_of = [&](std::uint64_t p) { return p * samples / phases; };
  std::vector<SchedulePoint> points;
  std::uint64_t waiting = 0;
  std::uint64_t waiting_updates = 0;
  fs::create_directories(fs::path(folder) / "masks");
  walk_schedule(
      matrices, request.options, [&](const SchedulePhase& phase, const std::vector<Mask>& masks) {
        HeldSignals::check();
        SchedulePoint point;
        point.phase = phase;
        point.imbalance = mean_imbalance(masks);
        double kept = 0;
        for (const Mask& mask : masks) kept += static_cast<double>(mask.nnz());
        point.flop = phase.dense ? dense_step_flop(request) : step_flop(request, kept);
        if (request.options.kind == ScheduleKind::rigl && phase.index > 0) {
          // The step of the update makes the dense gradient: once 2 N for what is not kept.
          point.flop += (dense_step_flop(request) - point.flop) / 3 /
                        static_cast<double>(std::max<std::uint64_t>(phase.steps, 1));
        }
        waiting += phase.steps;
        waiting_updates += phase.index > 0 ? 1 : 0;
        const bool last = phase.index + 1 == phases;
        if (last || sample_of(phase.index) != sample_of(phase.index + 1)) {
          const std::string name = fmt::format("u{:04}", phase.index);
          std::vector<std::string> files;
          const bool all_kept = point.phase.density == 1;  // a program for dense weights runs it
          for (std::size_t i = 0; i < masks.size() && !all_kept; ++i) {
            HeldSignals::check();
            files.push_back(
                (fs::path(folder) / "masks" / fmt::format("{}.{}.smtx", name, matrices[i].name))
                    .string());
            write_whole_file(files.back(), format_smtx(grid_of(masks[i])));
          }
          point.path = (fs::path(folder) / (name + ".csv")).string();
          write_trace_file(point.path, step_of(request, files), {command});
          point.steps = waiting;
          point.updates = waiting_updates;
          waiting = waiting_updates = 0;
        }
        points.push_back(std::move(point));
      });
  write_trace_file((fs::path(folder) / "dense.csv").string(), dense_step(request), {command});
  return points;
}

}  // namespace lacuna
