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

/// How long a barrier of the tiles of a chip takes.
constexpr const char* kBarrier = "sync.chip_ns";

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

double number(const Machine& machine, const char* path) {
  const ParamBase* const parameter = machine.parameters().find(path);
  if (parameter == nullptr) {
    throw RequestError(fmt::format("{}: a chip of a system needs the parameter {}; IPUs have it",
                                   machine.name(), path));
  }
  return std::stod(parameter->value_text());
}

/// The chips of a replica as machines: those that plan alike are one.
class ChipMachines {
 public:
  explicit ChipMachines(const TrainingJob& job) : job_(job) {
    const std::string list = job.training.available_memory;
    shares_ = system::parse_shares("available_memory", list);
    if (shares_.size() > 1 && shares_.size() != job.training.pipeline) {
      throw ParameterError(fmt::format("available_memory has {} numbers for pipeline = {} stages",
                                       shares_.size(), job.training.pipeline.value()));
    }
  }

  const Machine& of(unsigned chip) {
    const std::string share =
        shares_.empty() ? "" : fmt::format("{}", shares_[shares_.size() == 1 ? 0 : chip]);
    std::unique_ptr<Machine>& kept = made_[share];
    if (kept != nullptr) return *kept;
    std::vector<std::string> settings = job_.system.chip_settings;
    kept = std::move(make_machines(job_.kinds, {job_.system.params.chip}, settings)[0]);
    const bool trains = job_.training.rows.value().empty();
    if (trains && kept->kind() != std::string("ipu")) {
      throw RequestError(
          fmt::format("{}: found chip = '{}'; a model is trained on an IPU, such as gc200 or bow; "
                      "rows of a trace "
                      "run on any machine",
                      job_.system.name, job_.system.params.chip.value()));
    }
    if (!share.empty()) kept->set("planner.available_memory", share, "available_memory");
    if (job_.training.io_tiles > 0) {
      whole_w_ = idle_watts(*kept, job_.pricing);
      const auto tiles = static_cast<unsigned>(number(*kept, "ipu.tiles"));
      if (tiles < job_.training.io_tiles + 2) {
        throw ParameterError(fmt::format("io_tiles = {}: the chip has {} tiles",
                                         job_.training.io_tiles.value(), tiles));
      }
      kept->set("ipu.tiles", fmt::format("{}", tiles - job_.training.io_tiles), "io_tiles");
      kept->check();
    }
    return *kept;
  }

  /// Of a chip that waits, and of the tiles that are set apart.
  system::StandingWatts watts() {
    const JouleRange waiting = idle_watts(of(0), job_.pricing);
    if (job_.training.io_tiles == 0) return {waiting, {}};
    JouleRange apart = whole_w_;
    apart.add(waiting, -1);
    return {waiting, apart};
  }

 private:
  const TrainingJob& job_;
  std::vector<double> shares_;
  std::map<std::string, std::unique_ptr<Machine>> made_;
  JouleRange whole_w_;  // of a chip with all of its tiles
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
      const ChipCost cost = job_.times.cost(chip, op, model_.trace);
      for (std::uint32_t i = 0; i < op.repeat; ++i) total += cost;
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
                             const std::vector<Stages>& phases, ChipMachines& machines,
                             bool simulate) {
  system::ChipCosts costs(job.training.pipeline);
  PartPricer pricer(job, model);
  for (unsigned chip = 0; chip < job.training.pipeline; ++chip) {
    for (std::size_t i = 0; i < kParts; ++i) {
      if (!has(phases, chip, static_cast<Part>(i), model.tied)) continue;
      const PartRows& rows = model.parts[i];
      costs[chip][i] = simulate ? pricer.cost(machines.of(chip), rows) : pricer.sizes(rows);
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

std::string no_system(const std::string& name) {
  const std::vector<std::string> names = system_names();
  return fmt::format("'{}' is no system of chips; systems are {}, or a file{}", name,
                     fmt::join(names, ", "), hint_of(name, names));
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

bool is_system(const std::string& name) {
  const std::vector<std::string> names = system_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  const bool file = name.find('/') != std::string::npos || fs::path(name).extension() == ".yaml";
  return file && load_preset(name).kind == kSystemKind;
}

bool is_linked_system(const std::string& name) {
  return is_system(name) && network_of(load_preset(name)) == kLinksNetwork;
}

SystemMachine make_system(const std::string& name, const std::vector<std::string>& settings) {
  SystemMachine made;
  if (!is_system(name)) throw RequestError("--machine: " + no_system(name));
  const Preset loaded = load_preset(name);
  if (network_of(loaded) != kLinksNetwork) {
    throw RequestError(
        fmt::format("'{}' has chips that share a store of weights, which all go through the link "
                    "of each chip for every token that --model makes; a chip by itself holds them "
                    "(--machine wse2), as do systems joined by links. A model is trained there "
                    "with --system-config",
                    name));
  }
  made.name = loaded.name;
  std::string chip_file;
  const auto take = [&](const Setting& setting) {
    const std::string file = setting.origin.substr(0, setting.origin.find(':'));
    if (setting.path == "chip") {
      chip_file = file;
      made.own_barrier = false;
    }
    if (setting.path == kBarrier) made.own_barrier = file == "--set" || file == chip_file;
    if (setting.path == kNetworkKey && setting.origin != "--set") return;
    if (begins(setting.path, kChipPrefix)) {
      made.chip_settings.push_back(setting.path.substr(std::strlen(kChipPrefix)) + "=" +
                                   setting.value);
    } else {
      made.params.set(setting.path, setting.value, setting.origin);
    }
  };
  for (const Setting& setting : loaded.settings) take(setting);
  std::set<std::string> given;
  for (const std::string& text : settings) {
    const Setting setting = parse_setting(text);
    if (!given.insert(setting.path).second) {
      throw ParameterError(
          fmt::format("--set: '{}' is given twice for {}", setting.path, made.name));
    }
    if (!begins(setting.path, kTrainingPrefix)) take(setting);
  }
  made.params.check();
  return made;
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
  for (const system::MemoryAccount& account : result.memory.chips) {
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
  const system::StreamingAccount& streaming = result.memory.streaming;
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

system::TrainingStep step_of(const TrainingJob& job, const Layout& layout,
                             const TrainingResult& result) {
  return {job.system.params, job.training, layout.model,
          result.phases,     result.costs, result.clock_ghz};
}

/// Of the tiles that work.
system::ChipMemory memory_of_chip(const Machine& chip) {
  const auto tiles = static_cast<unsigned>(number(chip, "ipu.tiles"));
  const double kib = number(chip, "tile.memory.kib");
  return {static_cast<std::uint64_t>(kib * 1024) * tiles, tiles};
}

/// The memory of a layout, from its sizes alone.
TrainingResult account(const TrainingJob& job, const Layout& layout) {
  TrainingResult result;
  ChipMachines machines(job);
  const Machine& chip = machines.of(0);
  result.phases = stages_of(job.training, layout.layers);
  result.clock_ghz = number(chip, "clock");
  result.costs = chip_costs(job, layout.model, result.phases, machines, false);
  const system::TrainingStep step = step_of(job, layout, result);
  result.memory = training_memory(step, memory_of_chip(chip));
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

/// Runs the program of `result`, and reads what it came to off it.
void run(const TrainingJob& job, const system::StandingWatts& watts, TrainingResult& result) {
  const system::SystemParams& params = job.system.params;
  const system::Fabric fabric(params);
  result.run = run_program(params, fabric, result.program, job.execution);
  const system::ProgramWork work = work_of(result.program);
  result.flop = work.flop;
  result.watts = watts_over(params, fabric, result.program, result.run, watts);
  result.energy = energy_account(work.joules, drawn_beside(params, fabric, result.run, watts));
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
  ChipMachines machines(job);
  const Machine& chip = machines.of(0);
  if (chip.kind() != std::string("ipu") && !job.system.own_barrier) {
    throw RequestError(fmt::format(
        "{}: {} = {} is the barrier of the tiles of an IPU; say how long all cores of {} take to "
        "meet, which is not published: --set {}=NS",
        job.system.name, kBarrier, job.system.params.sync.chip_ns.value(),
        job.system.params.chip.value(), kBarrier));
  }
  TrainingResult result;
  result.clock_ghz = number(chip, "clock");
  std::vector<ChipCost> costs;
  for (const LayerOp& op : trace.ops) {
    ChipCost cost;
    if (!system::is_between(op)) {
      const ChipCost once = job.times.cost(chip, only_touched(op, trace), trace);
      for (std::uint32_t i = 0; i < op.repeat; ++i) cost += once;
    }
    costs.push_back(cost);
  }
  result.program = row_program(job.system.params, trace.ops, costs, training.replicas,
                               training.accumulation, result.clock_ghz);
  const std::uint64_t units = job.times.units();
  const JouleRange idle = units == 0 ? idle_watts(chip, job.pricing)
                                     : idle_watts(chip, job.pricing, units, result.clock_ghz);
  run(job, {idle, machines.watts().always}, result);
  return result;
}

}  // namespace

TrainingResult simulate_training(const TrainingJob& job) {
  check_chips(job);
  const TrainingParams& training = job.training;
  if (!training.rows.value().empty()) return run_rows(job);
  const Layout layout(job);
  TrainingResult result = account(job, layout);
  ChipMachines machines(job);
  result.costs = chip_costs(job, layout.model, result.phases, machines, true);
  system::TrainingStep step = step_of(job, layout, result);
  step.add_cycles = add_cycles(job, machines.of(0), layout.model);
  result.program = training_program(step);
  run(job, machines.watts(), result);
  return result;
}

TrainingResult account_training(const TrainingJob& job) {
  check_chips(job);
  return account(job, Layout(job));
}

}  // namespace lacuna
