// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/tree_training.hpp"

#include <fmt/format.h>

#include <array>

#include "sim/base/contains.hpp"
#include "sim/base/refused.hpp"
#include "sim/machines/system/store_system.hpp"
#include "workloads/mapping/system/live_memory.hpp"
#include "workloads/mapping/system/model_parts.hpp"

namespace lacuna {

using system::TrainingParams;

namespace {

/// The words of a description that say what is trained, and on how much at once; all others say
/// how chips joined by links share it.
constexpr std::array<const char*, 24> kWordsOfTrees = {"system",
                                                       "source",
                                                       "published_system",
                                                       "published_workload",
                                                       "model",
                                                       "model_layers",
                                                       "tokens",
                                                       "packing",
                                                       "predictions",
                                                       "pattern",
                                                       "mode",
                                                       "dtype",
                                                       "partials",
                                                       "recipe",
                                                       "optimizer",
                                                       "train_steps",
                                                       "rows",
                                                       "micro_batch",
                                                       "replicas",
                                                       "accumulation",
                                                       "activations",
                                                       "state",
                                                       "code_kib",
                                                       "buffer_kib"};

/// What of a description says what is trained, the rest as if it were not said.
TrainingParams on_tree_alone(const TrainingParams& training) {
  TrainingParams alone;
  training.for_each([&](const std::string& path, const ParamBase& each) {
    if (contains(kWordsOfTrees, path)) alone.set(path, each.value_text());
  });
  return alone;
}

/// Refuses what has no meaning where weights stream through every chip.
void check_tree(const TrainingParams& training, const std::string& system, unsigned chips) {
  const auto refuse = [&](const char* word, const std::string& found, const char* why) {
    throw refused("training.{}: found '{}' on {}; {}", word, found, system, why);
  };
  if (!training.rows.value().empty()) {
    refuse("rows", training.rows, "rows of each chip of a tree are given with --trace");
  }
  if (training.mode.value() != "auto" && training.mode.value() != "streamed") {
    refuse("mode", training.mode, "weights come from the store: auto, or streamed");
  }
  if (training.activations == system::Activations::offloaded) {
    refuse("activations", training.activations.value_text(),
           "the store has no place for activations: stored or recomputed");
  }
  if (training.accumulation > 1) {
    refuse("accumulation", training.accumulation.value_text(),
           "the store updates a layer when its gradients are there: what a chip does before an "
           "update it does at once, as micro_batch");
  }
  if (training.replicas != chips) {
    throw refused(
        "training.replicas = {}: {} has {} chips, each of which is a replica; --set "
        "training.replicas={}, with micro_batch sequences on each",
        training.replicas.value(), system, chips, chips);
  }
}

/// The rows of one chip in a step, related as they follow each other on it.
WorkloadTrace rows_on_tree(const SystemJob& job, const Machine& system, MaskStore& masks) {
  const TrainingParams& training = job.training;
  const bool again = training.activations == system::Activations::recomputed;
  WorkloadTrace trace = model_trace(training, layers_of(training), again);
  trace.name = training.model;
  system.relate(
      trace, [&](const LayerOp& op) { return masks.mask(op, trace, job.seed); }, job.seed);
  return trace;
}

/// What a chip takes for them. Rows of an optimizer are the store's.
RowCosts costs_on_chip(const SystemJob& job, const Machine& system, const WorkloadTrace& trace) {
  RowCosts costs;
  for (const LayerOp& op : trace.ops) {
    costs.emplace_back().density = system::kept_share(op, trace);
    if (op.op != "optim") costs.back().add(job.times.cost(system, op, trace), op.repeat);
  }
  return costs;
}

}  // namespace

TrainingParams spread_over_tree(const TrainingParams& training, unsigned chips) {
  const std::uint64_t batch =
      std::uint64_t{training.micro_batch} * training.accumulation * training.replicas;
  if (batch % chips != 0) {
    throw refused("a batch of {} sequences does not come out even over {} chips", batch, chips);
  }
  TrainingParams spread = on_tree_alone(training);
  spread.replicas = chips;
  spread.accumulation = 1;
  spread.micro_batch = static_cast<unsigned>(batch / chips);
  return spread;
}

void refuse_layout_on_tree(const TrainingParams& training, const std::string& system) {
  training.for_each([&](const std::string& path, const ParamBase& each) {
    if (contains(kWordsOfTrees, path) || each.value_text() == each.initial_text()) return;
    throw refused(
        "training.{}: found '{}' on {}, whose chips each do the whole model on their part of the "
        "batch while weights stream through: how chips share a model has no meaning there; --set "
        "training.{}={}",
        path, each.value_text(), system, path,
        each.initial_text().empty() ? "''" : each.initial_text());
  });
}

WaferSystemRun train_on_tree(const SystemJob& job, const Machine& system) {
  check_tree(job.training, system.name(), as_store_system(system)->own().chips());
  MaskStore masks(job.seed);
  const WorkloadTrace trace = rows_on_tree(job, system, masks);
  std::vector<double> densities;
  for (const LayerOp& op : trace.ops) densities.push_back(system::kept_share(op, trace));
  check_wafer_accounts(system, trace, densities);
  return run_wafer_system(system, trace, costs_on_chip(job, system, trace), job.execution,
                          job.pricing);
}

}  // namespace lacuna
