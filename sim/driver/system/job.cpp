// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/machines/system/store_system.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/generate/generator_table.hpp"
#include "workloads/generate/model_shape.hpp"
#include "workloads/mapping/system/live_memory.hpp"
#include "workloads/mapping/system/row_program.hpp"
#include "workloads/trace/op_cost.hpp"
#include "workloads/trace/trace_reader.hpp"

namespace lacuna {

namespace fs = std::filesystem;

using system::ChipCost;
using system::kParts;
using system::ModelParts;
using system::Part;
using system::PartCost;
using system::PartRows;
using system::Stages;
using system::TrainingParams;

namespace {

const std::string kTrainingPrefix = "training.";

/// The chips of a job as machines; those that plan alike are one.
class JobChips : public SystemChips {
 public:
  explicit JobChips(const TrainingJob& job)
      : SystemChips(job.kinds, job.pricing, job.system, job.training.io_tiles, "io_tiles") {
    shares_ = system::parse_shares("available_memory", job.training.available_memory);
    if (shares_.size() > 1 && shares_.size() != job.training.pipeline) {
      throw ParameterError(fmt::format("available_memory has {} numbers for pipeline = {} stages",
                                       shares_.size(), job.training.pipeline.value()));
    }
    const bool trains = job.training.rows.value().empty();
    if (trains && chip().kind() != std::string("ipu")) {
      throw refused(
          "{}: found chip = '{}'; a model is trained on an IPU, such as gc200 or bow; "
          "rows of a trace "
          "run on any machine",
          job.system.name, job.system.params.chip.value());
    }
  }

  /// That of a place of a replica.
  const Machine& of(unsigned place) const {
    if (shares_.empty()) return chip();
    const double share = shares_[shares_.size() == 1 ? 0 : place];
    return chip("planner.available_memory", fmt::format("{}", share), "available_memory");
  }

 private:
  std::vector<double> shares_;
};

/// A name in the description of a training step is known, or RequestError says where it stands.
void check_name(const Setting& setting) {
  if (setting.path == "model") {
    try {
      find_model_shape(setting.value);
    } catch (const RequestError& error) {
      throw refused("{} ({})", error.what(), setting.origin);
    }
  } else if (setting.path == "system" && !is_system(setting.value)) {
    throw refused("system: {} ({})", no_system(setting.value), setting.origin);
  }
}

void check_chips(const TrainingJob& job) {
  const std::uint64_t needed = job.training.chips();
  if (needed <= job.system.params.chips()) return;
  throw refused("{}: tensor x pipeline x replicas = {} x {} x {} = {} chips; it has {}",
                job.system.name, job.training.tensor.value(), job.training.pipeline.value(),
                job.training.replicas.value(), needed, job.system.params.chips());
}

}  // namespace

std::vector<std::string> shipped_trainings() {
  std::vector<std::string> files;
  for (const fs::path& file : shipped_files("systems", ".yaml")) files.push_back(file.string());
  return files;
}

TrainingParams read_training(const std::string& file, const std::vector<std::string>& settings) {
  TrainingParams training;
  for (const Setting& setting : load_leaves(file)) {
    training.set(setting.path, setting.value, setting.origin);
    check_name(setting);
  }
  set_training(training, settings);
  return training;
}

void set_training(TrainingParams& training, const std::vector<std::string>& settings) {
  for (const std::string& text : settings) {
    const Setting setting = parse_setting(text);
    if (!starts_with(setting.path, kTrainingPrefix)) continue;
    training.set(setting.path.substr(kTrainingPrefix.size()), setting.value, "--set " + text);
  }
  training.check();
}

unsigned layers_of(const TrainingParams& training) {
  const unsigned own = find_model_shape(training.model).layers;
  return training.model_layers > 0 ? training.model_layers.value() : own;
}

namespace {

/// What is wrong is said of the words of a training, not of the options of `lacuna trace make`.
WorkloadTrace rows_of_model(const std::string& model, const Pairs& settings) {
  try {
    return generate_workload(model, settings);
  } catch (const RequestError& error) {
    const std::string said = error.what();
    if (!starts_with(said, "--")) throw;
    throw RequestError(kTrainingPrefix + said.substr(2));
  }
}

}  // namespace

WorkloadTrace model_trace(const TrainingParams& training, unsigned layers, bool recompute) {
  Pairs settings = {{"part", "training"},
                    {"layers", fmt::format("{}", layers)},
                    {"embedding", "1"},
                    {"heads", "1"},
                    {"sequences", fmt::format("{}", training.micro_batch.value())},
                    {"tokens", fmt::format("{}", training.tokens.value())},
                    {"recipe", training.recipe},
                    {"optimizer", training.optimizer},
                    {"dtype", training.dtype}};
  if (training.predictions > 0) {
    settings.emplace_back("predictions", fmt::format("{}", training.predictions.value()));
  }
  if (recompute) settings.emplace_back("recompute", "1");
  if (!training.pattern.value().empty()) {
    settings.emplace_back("pattern", training.pattern);
    settings.emplace_back("mode", training.mode);
  }
  WorkloadTrace trace = rows_of_model(training.model, settings);
  for (LayerOp& op : trace.ops) {
    const bool product = op.op == "gemm" || op.op == "bmm";
    if (product && op.pattern.name == "dense") op.partials = training.partials;
  }
  return trace;
}

std::string misfit(const TrainingResult& result) {
  const system::MemoryAccount& worst = result.fullest();
  if (!worst.fits()) {
    return fmt::format("chip {} of a replica {}, in phase {}", worst.chip, worst.text(),
                       worst.phase);
  }
  return result.streaming.fits() ? "" : result.streaming.text();
}

namespace {

/// A model that is trained, cut over the chips of a job.
class ModelTraining {
 public:
  explicit ModelTraining(const TrainingJob& job)
      : job_(job),
        training_(job.training),
        chips_(job),
        model_(system::model_parts(
            model_trace(training_, 1, false), layers_of(training_),
            {training_.tensor, training_.accumulation > 1, training_.attention_parts,
             training_.head_parts, training_.gradient_parts, training_.share_sequence,
             training_.tensor_columns})) {}

  /// Its memory, from sizes alone.
  TrainingResult account() const {
    TrainingResult result;
    result.phases = stages_of(training_, model_.layers);
    result.clock_ghz = chips_.number("clock");
    result.costs = costs(result.phases, false);
    const system::TrainingStep step = step_of(result);
    system::TrainingMemory memory = training_memory(step, chips_.memory_bytes());
    result.memory = std::move(memory.chips);
    result.streaming = memory.streaming;
    for (const Stages& stages : result.phases) {
      for (unsigned place = 0; place < training_.pipeline; ++place) {
        for (const system::UpdatedPart& part : updated_parts(step, stages, place)) {
          if (part.is_copy) continue;
          result.parameters += part.trained.elements * part.times * training_.tensor;
        }
      }
    }
    return result;
  }

  /// The step, with the rows of all parts simulated.
  TrainingResult simulate() const {
    TrainingResult result = account();
    result.costs = costs(result.phases, true);
    system::TrainingStep step = step_of(result);
    step.add_cycles = add_cycles();
    run_step(job_.system.params, training_program(step), chips_.watts(), job_.execution, result);
    return result;
  }

 private:
  system::TrainingStep step_of(const TrainingResult& result) const {
    return {job_.system.params, training_,        model_, result.phases,
            result.costs,       result.clock_ghz, 0,      chips_.tiles()};
  }

  /// Whether a chip has the part in any of its stages, the table of a tied head with it.
  bool has(const std::vector<Stages>& phases, unsigned chip, std::size_t part) const {
    return any_of(phases, [&](const Stages& stages) {
      return any_of(stages, [&](const system::Stage& stage) {
        const system::OfParts<bool> here = {{stage.embedding || (stage.head && model_.tied),
                                             stage.attention > 0, stage.ffn > 0, stage.head}};
        return stage.chip == chip && here[part];
      });
    });
  }

  /// The costs of all parts that a chip has in some phase; without `simulate` their sizes alone.
  system::ChipCosts costs(const std::vector<Stages>& phases, bool simulate) const {
    system::ChipCosts costs(training_.pipeline);
    for (unsigned chip = 0; chip < training_.pipeline; ++chip) {
      for (std::size_t part = 0; part < kParts; ++part) {
        if (!has(phases, chip, part)) continue;
        costs[chip][part] = sizes(model_.parts[part]);
        if (simulate) add_cost(chips_.of(chip), model_.parts[part], costs[chip][part]);
      }
    }
    return costs;
  }

  /// What is known without simulating anything.
  PartCost sizes(const PartRows& rows) const {
    PartCost cost;
    const std::string& optimizer = training_.optimizer;
    cost.trained = system::trained_numbers(rows.update, model_.trace, optimizer);
    cost.table = system::trained_numbers(table_rows(rows.update), model_.trace, optimizer);
    const std::uint64_t held =
        model_.boundary_bytes /
        (training_.share_sequence ? training_.tensor : training_.tensor_columns);
    cost.live = system::live_bytes(rows, held, held);
    return cost;
  }

  void add_cost(const Machine& chip, const PartRows& rows, PartCost& cost) const {
    cost.forward = sum(chip, rows.forward);
    cost.backward = sum(chip, rows.backward);
    std::vector<LayerOp> update = rows.update;
    for (LayerOp& op : update) {
      if (op.pattern.name != "dense") continue;
      op.m = static_cast<std::uint32_t>(ceil_div(op.m, training_.rts_state));
    }
    cost.update = sum(chip, update);
    cost.table_update = sum(chip, table_rows(update));
  }

  static std::vector<LayerOp> table_rows(std::vector<LayerOp> update) {
    erase_where(update, [](const LayerOp& op) { return !system::is_table(op); });
    return update;
  }

  ChipCost sum(const Machine& chip, const std::vector<LayerOp>& rows) const {
    ChipCost total;
    for (const LayerOp& op : rows) {
      total.add(job_.times.cost(chip, op, model_.trace), op.repeat);
    }
    return total;
  }

  /// The cycles in which a chip adds 2^20 numbers to as many.
  Cycle add_cycles() const {
    LayerOp op;
    op.id = "add";
    op.op = "eltwise";
    op.fn = "add";
    op.m = op.n = 1024;
    op.dtype = model_.value_bytes > 2 ? DType::fp32 : DType::fp16;
    return job_.times.cost(chips_.of(0), op, model_.trace).cycles;
  }

  const TrainingJob& job_;
  const TrainingParams& training_;
  JobChips chips_;
  ModelParts model_;
};

/// The rows of one chip: of a file, or made.
WorkloadTrace rows_of(const TrainingParams& training) {
  const std::string& rows = training.rows;
  if (starts_with(rows, kRowsOfFile)) return read_trace(rows.substr(std::strlen(kRowsOfFile)));
  std::istringstream words(rows);
  std::string generator;
  if (!(words >> generator)) throw ParameterError("rows: names no generator, such as kge");
  Pairs settings;
  for (std::string word; words >> word;) {
    const Setting setting = parse_setting(word);
    settings.emplace_back(setting.path, setting.value);
  }
  return generate_workload(generator, settings);
}

/// A loop over the rows of one chip of several, with what they exchange.
TrainingResult run_rows(const TrainingJob& job) {
  const TrainingParams& training = job.training;
  const WorkloadTrace trace = rows_of(training);
  const JobChips chips(job);
  const Machine& chip = chips.of(0);
  if (chip.kind() != std::string("ipu") && !job.system.own_barrier) {
    throw refused(
        "{}: {} = {} is the barrier of the tiles of an IPU; say how long all cores of {} take to "
        "meet, which is not published: --set {}=NS",
        job.system.name, kBarrierOfTiles, job.system.params.sync.chip_ns.value(),
        job.system.params.chip.value(), kBarrierOfTiles);
  }
  TrainingResult result;
  result.clock_ghz = chips.number("clock");
  const system::RowLoop loop{training.replicas, training.accumulation, result.clock_ghz,
                             chips.code_bytes(training.code_kib),
                             chips.code_bytes(training.buffer_kib)};
  result.memory = memory_of(system::row_entries(trace.ops, loop), 1, chips.memory_bytes()).chips;
  if (!result.fullest().fits()) {
    throw OutOfMemoryError(
        fmt::format("each chip of {} {}; fewer sequences at once need less, and rows that are done "
                    "again (trace "
                    "make --recompute) keep less",
                    job.system.name, result.fullest().text()));
  }
  std::vector<ChipCost> costs;
  for (const LayerOp& op : trace.ops) {
    ChipCost& cost = costs.emplace_back();
    if (system::is_between(op)) continue;
    cost.add(job.times.cost(chip, only_touched(op, trace), trace), op.repeat);
  }
  run_step(job.system.params, row_program(job.system.params, trace.ops, costs, loop), chips.watts(),
           job.execution, result);
  return result;
}

}  // namespace

TrainingResult simulate_training(const TrainingJob& job) {
  check_chips(job);
  if (!job.training.rows.value().empty()) return run_rows(job);
  return ModelTraining(job).simulate();
}

TrainingResult account_training(const TrainingJob& job) {
  check_chips(job);
  return ModelTraining(job).account();
}

}  // namespace lacuna
