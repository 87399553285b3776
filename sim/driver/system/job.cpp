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
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/machines/system/store_system.hpp"
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

bool begins(const std::string& text, const std::string& with) {
  return text.compare(0, with.size(), with) == 0;
}

std::vector<std::string> yaml_stems(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

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
      throw RequestError(
          fmt::format("{}: found chip = '{}'; a model is trained on an IPU, such as gc200 or bow; "
                      "rows of a trace "
                      "run on any machine",
                      job.system.name, job.system.params.chip.value()));
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

/// The costs of all parts that `chip` has in some phase.
class PartPricer {
 public:
  PartPricer(const TrainingJob& job, const ModelParts& model) : job_(job), model_(model) {}

  /// What is known without simulating anything.
  PartCost sizes(const PartRows& rows) const {
    PartCost cost;
    const std::string& optimizer = job_.training.optimizer;
    cost.trained = system::trained_numbers(rows.update, model_.trace, optimizer);
    cost.table = system::trained_numbers(table_rows(rows.update), model_.trace, optimizer);
    const std::uint64_t boundary = model_.boundary_bytes;
    const std::uint64_t held =
        boundary /
        (job_.training.share_sequence ? job_.training.tensor : job_.training.tensor_columns);
    cost.live = system::live_bytes(rows, held, held);
    return cost;
  }

  PartCost cost(const Machine& chip, const PartRows& rows) {
    PartCost cost = sizes(rows);
    cost.forward = sum(chip, rows.forward);
    cost.backward = sum(chip, rows.backward);
    std::vector<LayerOp> update = rows.update;
    for (LayerOp& op : update) {
      const std::uint32_t share = job_.training.rts_state;
      if (op.pattern.name == "dense") op.m = (op.m + share - 1) / share;
    }
    cost.update = sum(chip, update);
    cost.table_update = sum(chip, table_rows(update));
    return cost;
  }

 private:
  static std::vector<LayerOp> table_rows(const std::vector<LayerOp>& update) {
    std::vector<LayerOp> rows;
    std::copy_if(update.begin(), update.end(), std::back_inserter(rows), system::is_table);
    return rows;
  }

  ChipCost sum(const Machine& chip, const std::vector<LayerOp>& rows) {
    ChipCost total;
    for (const LayerOp& op : rows) {
      total.add(job_.times.cost(chip, op, model_.trace), op.repeat);
    }
    return total;
  }

  const TrainingJob& job_;
  const ModelParts& model_;
};

bool has(const std::vector<Stages>& phases, unsigned chip, Part part, bool tied) {
  for (const Stages& stages : phases) {
    for (const system::Stage& stage : stages) {
      if (stage.chip != chip) continue;
      if (part == Part::attention && stage.attention > 0) return true;
      if (part == Part::ffn && stage.ffn > 0) return true;
      if (part == Part::embedding && (stage.embedding || (stage.head && tied))) return true;
      if (part == Part::head && stage.head) return true;
    }
  }
  return false;
}

/// The costs of all parts that a chip has in some phase; without `simulate` their sizes alone.
system::ChipCosts chip_costs(const TrainingJob& job, const ModelParts& model,
                             const std::vector<Stages>& phases, const JobChips& chips,
                             bool simulate) {
  system::ChipCosts costs(job.training.pipeline);
  PartPricer pricer(job, model);
  for (unsigned chip = 0; chip < job.training.pipeline; ++chip) {
    for (std::size_t i = 0; i < kParts; ++i) {
      if (!has(phases, chip, static_cast<Part>(i), model.tied)) continue;
      const PartRows& rows = model.parts[i];
      costs[chip][i] = simulate ? pricer.cost(chips.of(chip), rows) : pricer.sizes(rows);
    }
  }
  return costs;
}

/// The cycles in which a chip adds 2^20 numbers to as many.
Cycle add_cycles(const TrainingJob& job, const Machine& chip, const ModelParts& model) {
  LayerOp op;
  op.id = "add";
  op.op = "eltwise";
  op.fn = "add";
  op.m = op.n = 1024;
  op.dtype = model.value_bytes > 2 ? DType::fp32 : DType::fp16;
  return job.times.cost(chip, op, model.trace).cycles;
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string each; stream >> each;) words.push_back(each);
  return words;
}

/// A name in the description of a training step is known, or RequestError says where it stands.
void check_name(const Setting& setting) {
  if (setting.path == "model") {
    try {
      find_model_shape(setting.value);
    } catch (const RequestError& error) {
      throw RequestError(fmt::format("{} ({})", error.what(), setting.origin));
    }
  } else if (setting.path == "system" && !is_system(setting.value)) {
    throw RequestError(fmt::format("system: {} ({})", no_system(setting.value), setting.origin));
  }
}

void check_chips(const TrainingJob& job) {
  const std::uint64_t needed = job.training.chips();
  if (needed <= job.system.params.chips()) return;
  throw RequestError(
      fmt::format("{}: tensor x pipeline x replicas = {} x {} x {} = {} chips; it has {}",
                  job.system.name, job.training.tensor.value(), job.training.pipeline.value(),
                  job.training.replicas.value(), needed, job.system.params.chips()));
}

}  // namespace

std::vector<std::string> shipped_trainings() {
  const fs::path config = config_folder();
  // beside sim/config in the source tree, beside config in an installation
  const std::vector<fs::path> places = {config.parent_path().parent_path() / "traces" / "systems",
                                        config.parent_path() / "traces" / "systems"};
  for (const fs::path& folder : places) {
    std::vector<std::string> files;
    for (const std::string& stem : yaml_stems(folder)) {
      files.push_back((folder / (stem + ".yaml")).string());
    }
    if (!files.empty()) return files;
  }
  return {};
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
    if (!begins(setting.path, kTrainingPrefix)) continue;
    training.set(setting.path.substr(kTrainingPrefix.size()), setting.value, setting.origin);
  }
  training.check();
}

unsigned layers_of(const TrainingParams& training) {
  const unsigned own = find_model_shape(training.model).layers;
  return training.model_layers > 0 ? training.model_layers.value() : own;
}

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
  WorkloadTrace trace = generate_workload(training.model, settings);
  for (LayerOp& op : trace.ops) {
    const bool product = op.op == "gemm" || op.op == "bmm";
    if (product && op.pattern.name == "dense") op.partials = training.partials;
  }
  return trace;
}

std::string misfit(const TrainingResult& result) {
  const system::MemoryAccount* worst = nullptr;
  for (const system::MemoryAccount& account : result.memory) {
    if (account.fits()) continue;
    if (worst == nullptr || account.use.total() > worst->use.total()) worst = &account;
  }
  if (worst != nullptr) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < system::kHeld; ++i) {
      parts.push_back(
          fmt::format("{} {}", held_name(static_cast<system::Held>(i)), worst->use.bytes[i]));
    }
    return fmt::format("chip {} of a replica needs {} B in phase {} and has {} B: {}", worst->chip,
                       worst->use.total(), worst->phase, worst->capacity, fmt::join(parts, ", "));
  }
  const system::StreamingAccount& streaming = result.streaming;
  if (streaming.bytes > streaming.capacity) {
    return fmt::format("the streaming memory of a machine needs {} B and has {} B", streaming.bytes,
                       streaming.capacity);
  }
  return "";
}

namespace {

system::PartCuts cuts_of(const TrainingParams& training) {
  return {training.tensor,        training.accumulation > 1, training.attention_parts,
          training.head_parts,    training.gradient_parts,   training.share_sequence,
          training.tensor_columns};
}

/// A model cut as a job says.
struct Layout {
  explicit Layout(const TrainingJob& job)
      : layers(layers_of(job.training)),
        model(system::model_parts(model_trace(job.training, 1, false), layers,
                                  cuts_of(job.training))) {}

  unsigned layers;
  ModelParts model;
};

system::TrainingStep step_of(const TrainingJob& job, const Layout& layout, const JobChips& chips,
                             const TrainingResult& result) {
  return {job.system.params,
          job.training,
          layout.model,
          result.phases,
          result.costs,
          result.clock_ghz,
          0,
          chips.tiles()};
}

/// The memory of a layout, from its sizes alone.
TrainingResult account(const TrainingJob& job, const Layout& layout, const JobChips& chips) {
  TrainingResult result;
  result.phases = stages_of(job.training, layout.layers);
  result.clock_ghz = chips.number("clock");
  result.costs = chip_costs(job, layout.model, result.phases, chips, false);
  const system::TrainingStep step = step_of(job, layout, chips, result);
  system::TrainingMemory memory = training_memory(step, chips.tile_bytes() * step.tiles);
  result.memory = std::move(memory.chips);
  result.streaming = memory.streaming;
  for (const Stages& stages : result.phases) {
    for (unsigned place = 0; place < job.training.pipeline; ++place) {
      for (const system::UpdatedPart& part : updated_parts(step, stages, place)) {
        if (part.is_copy) continue;
        result.parameters += part.trained.elements * part.times * job.training.tensor;
      }
    }
  }
  return result;
}

/// The rows of one chip: of a file, or made.
WorkloadTrace rows_of(const TrainingParams& training) {
  const std::string& rows = training.rows;
  if (rows.rfind(kRowsOfFile, 0) == 0) return read_trace(rows.substr(std::strlen(kRowsOfFile)));
  const std::vector<std::string> words = split_words(training.rows);
  Pairs settings;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const Setting setting = parse_setting(words[i]);
    settings.emplace_back(setting.path, setting.value);
  }
  if (words.empty()) throw ParameterError("rows: names no generator, such as kge");
  return generate_workload(words[0], settings);
}

/// A loop over the rows of one chip of several, with what they exchange.
TrainingResult run_rows(const TrainingJob& job) {
  const TrainingParams& training = job.training;
  const WorkloadTrace trace = rows_of(training);
  const JobChips chips(job);
  const Machine& chip = chips.of(0);
  if (chip.kind() != std::string("ipu") && !job.system.own_barrier) {
    throw RequestError(fmt::format(
        "{}: {} = {} is the barrier of the tiles of an IPU; say how long all cores of {} take to "
        "meet, which is not published: --set {}=NS",
        job.system.name, kBarrierOfTiles, job.system.params.sync.chip_ns.value(),
        job.system.params.chip.value(), kBarrierOfTiles));
  }
  TrainingResult result;
  result.clock_ghz = chips.number("clock");
  std::vector<ChipCost> costs;
  std::uint64_t units = 0;
  for (const LayerOp& op : trace.ops) {
    ChipCost& cost = costs.emplace_back();
    if (system::is_between(op)) continue;
    cost.add(job.times.cost(chip, only_touched(op, trace), trace), op.repeat);
    units = std::max(units, cost.units);
  }
  const JouleRange idle = units == 0 ? idle_watts(chip, job.pricing)
                                     : idle_watts(chip, job.pricing, units, result.clock_ghz);
  run_step(job.system.params,
           row_program(job.system.params, trace.ops, costs, training.replicas,
                       training.accumulation, result.clock_ghz),
           {idle, chips.watts().always}, job.execution, result);
  return result;
}

}  // namespace

TrainingResult simulate_training(const TrainingJob& job) {
  check_chips(job);
  const TrainingParams& training = job.training;
  if (!training.rows.value().empty()) return run_rows(job);
  const Layout layout(job);
  const JobChips chips(job);
  TrainingResult result = account(job, layout, chips);
  result.costs = chip_costs(job, layout.model, result.phases, chips, true);
  system::TrainingStep step = step_of(job, layout, chips, result);
  step.add_cycles = add_cycles(job, chips.of(0), layout.model);
  run_step(job.system.params, training_program(step), chips.watts(), job.execution, result);
  return result;
}

TrainingResult account_training(const TrainingJob& job) {
  check_chips(job);
  return account(job, Layout(job), JobChips(job));
}

}  // namespace lacuna
