// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/inference/pod_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/system/fabric.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/system/training_params.hpp"

namespace lacuna {

using system::Home;

namespace {

double number(const Machine& chip, const char* path) {
  const ParamBase* const parameter = chip.parameters().find(path);
  if (parameter == nullptr) {
    throw RequestError(fmt::format("--model runs on wafers, IPUs and systems of IPUs; {} has no {}",
                                   chip.name(), path));
  }
  return std::stod(parameter->value_text());
}

void add(JouleRange& sum, const JouleRange& part, double times) {
  for (const Corner corner : kCorners) sum.at(corner) += part.at(corner) * times;
}

std::uint64_t bytes_of_kib(double kib) {
  return static_cast<std::uint64_t>(std::llround(kib * 1024));
}

}  // namespace

std::string PodCut::text() const {
  return fmt::format("{} x {} chips, layers {}", tensor, layers.size(), fmt::join(layers, "-"));
}

const TileAccount& PodPass::fullest() const {
  return *std::max_element(
      memory.begin(), memory.end(),
      [](const TileAccount& a, const TileAccount& b) { return a.all() < b.all(); });
}

PodModel::PodModel(PodSetup setup)
    : setup_(std::move(setup)), kinds_(kinds_of_layers(setup_.model)) {
  const system::SystemParams& system = setup_.system.params;
  chip_ =
      std::move(make_machines(setup_.kinds, {system.chip.value()}, setup_.system.chip_settings)[0]);
  const auto tiles = static_cast<unsigned>(number(*chip_, "ipu.tiles"));
  const unsigned io = setup_.params.io_tiles;
  if (io + 2 > tiles) {
    throw ParameterError(fmt::format("inference.io_tiles = {}: the chip has {} tiles", io, tiles));
  }
  tiles_ = tiles - io;
  chip_->set("ipu.tiles", fmt::format("{}", tiles_), "inference.io_tiles");
  chip_->check();
  clock_ghz_ = number(*chip_, "clock");
  kind_of_.resize(setup_.model.layers);
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    for (const std::uint32_t layer : kinds_[kind].layers) kind_of_[layer] = kind;
  }
}

std::string PodModel::place() const {
  return setup_.alone ? setup_.system.params.chip.value() : setup_.system.name;
}

/// Tensor and pipeline that may be: heads are dealt to chips whole, layers to stages.
std::vector<std::pair<unsigned, unsigned>> PodModel::shapes() const {
  const unsigned chips = setup_.alone ? 1 : setup_.system.params.chips();
  const ModelShape& model = setup_.model;
  const unsigned given = setup_.params.tensor;
  const unsigned stages = setup_.params.pipeline;
  const auto refuse = [&](const std::string& why) {
    throw RequestError(fmt::format("inference.tensor x pipeline = {} x {} on {}: {}", given, stages,
                                   place(), why));
  };
  if (given != 0 && model.kv_heads % given != 0) {
    refuse(fmt::format("the {} key and value heads of {} are not dealt evenly to {} chips",
                       model.kv_heads, model.name, given));
  }
  if (stages > model.layers)
    refuse(fmt::format("{} has {}", model.name, counted(model.layers, "layer")));
  if (std::max(given, 1U) * std::max(stages, 1U) > chips) {
    refuse(fmt::format("it has {} chip{}", chips, chips == 1 ? "" : "s"));
  }
  std::vector<std::pair<unsigned, unsigned>> shapes;
  for (unsigned tensor = 1; tensor <= std::min(chips, model.kv_heads); ++tensor) {
    if (model.kv_heads % tensor != 0 || (given != 0 && tensor != given)) continue;
    if (given == 0 && tensor > 1 && model.qk_norm == QkNorm::width) continue;
    if (stages != 0 && tensor * stages > chips) continue;
    shapes.emplace_back(tensor, stages != 0 ? stages : std::min(chips / tensor, model.layers));
  }
  return shapes;
}

/// The list of inference.layers.
PodCut PodModel::listed(unsigned tensor) const {
  PodCut cut;
  cut.tensor = tensor;
  cut.layers = system::parse_counts("inference.layers", setup_.params.layers);
  const unsigned sum = std::accumulate(cut.layers.begin(), cut.layers.end(), 0U);
  if (sum != setup_.model.layers) {
    throw ParameterError(fmt::format("inference.layers = {}: found {}; {} has {}",
                                     setup_.params.layers.value(), counted(sum, "layer"),
                                     setup_.model.name, setup_.model.layers));
  }
  return cut;
}

/// Layers in order, so that the fullest chip has least: the least bytes that all stages keep to.
PodCut PodModel::dealt(unsigned tensor, unsigned stages, const PodParts& parts) const {
  const auto bytes = [&](std::size_t layer) {
    const PodParts::Kind& kind = parts.kinds[kind_of_[layer]];
    return (setup_.params.weights == Home::sram ? kind.attention.stored + kind.ffn.stored : 0) +
           (setup_.params.cache == Home::sram ? kind.cache : 0);
  };
  const std::size_t layers = kind_of_.size();
  // the layers of each stage if none has more than `most`; fewer stages than there are: too little
  const auto deal = [&](std::uint64_t most) {
    std::vector<unsigned> dealt;
    std::size_t next = 0;
    for (unsigned stage = 0; stage < stages; ++stage) {
      std::uint64_t sum = stage == 0 ? parts.embedding.stored : 0;
      if (stage + 1 == stages) sum += parts.head.stored;
      const std::size_t begin = next;
      // those behind want a layer each
      while (next < layers && layers - next > stages - 1 - stage &&
             (next == begin || sum + bytes(next) <= most)) {
        sum += bytes(next++);
      }
      dealt.push_back(static_cast<unsigned>(next - begin));
    }
    return std::make_pair(next == layers, dealt);
  };
  const auto fullest = [&](const std::vector<unsigned>& dealt) {
    std::uint64_t most = 0;
    std::size_t next = 0;
    for (std::size_t stage = 0; stage < dealt.size(); ++stage) {
      std::uint64_t sum = stage == 0 ? parts.embedding.stored : 0;
      if (stage + 1 == dealt.size()) sum += parts.head.stored;
      for (unsigned i = 0; i < dealt[stage]; ++i) sum += bytes(next++);
      most = std::max(most, sum);
    }
    return most;
  };
  std::uint64_t low = 0;
  std::uint64_t high = parts.embedding.stored + parts.head.stored;
  for (std::size_t layer = 0; layer < layers; ++layer) high += bytes(layer);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto [whole, some] = deal(middle);
    if (whole && fullest(some) <= middle) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return {tensor, deal(low).second};
}

std::vector<TileAccount> PodModel::account(const PodCut& cut, const PodParts& parts) const {
  const auto share = [&](std::uint64_t bytes) { return share_of_tile(bytes, tiles_); };
  const bool streams_weights = setup_.params.weights == Home::streaming;
  const bool streams_cache = setup_.params.cache == Home::streaming;
  const unsigned waiting = setup_.params.io_tiles > 0 ? 2 : 1;  // layers of what is streamed
  const bool tied = setup_.model.tied && cut.layers.size() == 1;
  std::vector<TileAccount> accounts;
  std::size_t layer = 0;
  for (std::size_t stage = 0; stage < cut.layers.size(); ++stage) {
    TileAccount sum;
    sum.code = bytes_of_kib(setup_.params.code_kib) + bytes_of_kib(setup_.params.buffer_kib);
    sum.has = bytes_of_kib(number(*chip_, "tile.memory.kib"));
    std::uint64_t streamed_weights = 0;
    std::uint64_t streamed_cache = 0;
    const auto at_work = [&](const PodPart& part) {
      sum.values = std::max(sum.values, share(part.live) + share(parts.hidden_bytes));
      sum.working = std::max(sum.working, part.working);
    };
    for (unsigned i = 0; i < cut.layers[stage]; ++i) {
      const PodParts::Kind& kind = parts.kinds[kind_of_[layer++]];
      const std::uint64_t weights = share(kind.attention.stored) + share(kind.ffn.stored);
      if (streams_weights) {
        streamed_weights = std::max(streamed_weights, waiting * weights);
      } else {
        sum.weights += weights;
      }
      if (streams_cache) {
        streamed_cache = std::max(streamed_cache, waiting * share(kind.cache));
      } else {
        sum.cache += share(kind.cache);
      }
      at_work(kind.attention);
      at_work(kind.ffn);
    }
    sum.weights += streamed_weights;
    sum.cache += streamed_cache;
    if (stage == 0) {
      sum.weights += share(parts.embedding.stored);
      at_work(parts.embedding);
    }
    if (stage + 1 == cut.layers.size()) {
      if (!tied) sum.weights += share(parts.head.stored);
      at_work(parts.head);
    }
    accounts.push_back(sum);
  }
  return accounts;
}

PodPass PodModel::pass(const PassRequest& request) {
  std::optional<PodPass> best;
  std::optional<PodPass> nearest;  // of those that do not fit
  std::string reason;
  const auto consider = [&](PodPass tried, const std::string& why) {
    if (nearest && nearest->fullest().all() <= tried.fullest().all()) return;
    nearest = std::move(tried);
    reason = why;
  };
  std::vector<std::pair<unsigned, unsigned>> all = shapes();
  if (kept_) all = {{kept_->tensor, static_cast<unsigned>(kept_->layers.size())}};
  for (const auto& [tensor, stages] : all) {
    PodPass tried;
    tried.parts = parts_of(kinds_, request, tensor);
    if (kept_) {
      tried.cut = *kept_;
    } else if (!setup_.params.layers.value().empty()) {
      tried.cut = listed(tensor);
      if (setup_.params.pipeline != 0 && tried.cut.layers.size() != stages) {
        throw ParameterError(
            fmt::format("inference.layers = {}: these are {} stages, pipeline = {}",
                        setup_.params.layers.value(), tried.cut.layers.size(), stages));
      }
      if (tried.cut.chips() > setup_.system.params.chips()) continue;
    } else {
      tried.cut = dealt(tensor, stages, tried.parts);
    }
    tried.memory = account(tried.cut, tried.parts);
    if (!tried.fullest().fits()) {
      consider(tried, "");
      continue;
    }
    try {
      tried.parts = simulated_parts(kinds_, request, tensor, *chip_, tiles_, setup_.times);
    } catch (const OutOfMemoryError& error) {
      consider(tried, error.what());
      continue;
    }
    tried.memory = account(tried.cut, tried.parts);
    if (!tried.fullest().fits()) {
      consider(tried, "");
      continue;
    }
    time(tried, request);
    if (!best || tried.seconds < best->seconds) best = std::move(tried);
  }
  if (best) return *std::move(best);
  if (!nearest) {
    throw RequestError(fmt::format("inference.layers = {}: {} has too few chips",
                                   setup_.params.layers.value(), place()));
  }
  refuse(request, nearest->cut, nearest->parts, reason);
}

void PodModel::refuse(const PassRequest& request, const PodCut& cut, const PodParts& parts,
                      const std::string& reason) const {
  PodPass pass;
  pass.memory = account(cut, parts);
  const TileAccount& most = pass.fullest();
  std::string text =
      fmt::format("{}, {} of {} positions, on {} ({}): ", setup_.model.name,
                  request.slots == 1 ? "a sequence" : fmt::format("{} sequences", request.slots),
                  request.capacity, place(), cut.text());
  if (!reason.empty()) throw OutOfMemoryError(text + reason);
  text += fmt::format(
      "the fullest tile needs {} B and has {} B: weights {}, cache {}, values {}, working {}, code "
      "and buffers {}",
      most.all(), most.has, most.weights, most.cache, most.values, most.working, most.code);
  const double positions = positions_that_fit(cut, parts, request);
  if (request.decode && positions >= 1) {
    const bool simulated = most.working != 0;
    text += fmt::format(simulated ? "; the nearest that fits: {} positions"
                                  : "; before its rows are planned, whose working memory comes "
                                    "on top: no more than {} positions can fit",
                        positions);
    throw OutOfMemoryError(text);
  }
  const bool in_turn =
      std::any_of(cut.layers.begin(), cut.layers.end(), [](unsigned layers) { return layers > 1; });
  if (!in_turn) {
    text +=
        "; each chip has one layer at most, so that less of it takes more chips: a system "
        "with inference.tensor";
  } else if (setup_.params.weights == Home::sram) {
    text += "; inference.weights=streaming keeps those of a layer at a time";
  } else if (setup_.params.cache == Home::sram) {
    text += "; inference.cache=streaming keeps that of a layer at a time";
  }
  throw OutOfMemoryError(text);
}

namespace {

/// The layers of each stage as runs of kinds.
std::vector<std::vector<system::LayerRun>> runs_of(const PodCut& cut,
                                                   const std::vector<std::size_t>& kind_of) {
  std::vector<std::vector<system::LayerRun>> stages;
  std::size_t layer = 0;
  for (const unsigned count : cut.layers) {
    std::vector<system::LayerRun> runs;
    for (unsigned i = 0; i < count; ++i) {
      const std::size_t kind = kind_of[layer++];
      if (runs.empty() || runs.back().kind != kind) runs.push_back({kind, 0});
      ++runs.back().count;
    }
    stages.push_back(std::move(runs));
  }
  return stages;
}

}  // namespace

void PodModel::time(PodPass& pass, const PassRequest& request) const {
  const bool streams_weights = setup_.params.weights == Home::streaming;
  const bool streams_cache = setup_.params.cache == Home::streaming;
  system::InferencePass program;
  program.tensor = pass.cut.tensor;
  program.stages = runs_of(pass.cut, kind_of_);
  for (const PodParts::Kind& kind : pass.parts.kinds) {
    system::SharedLayer layer;
    layer.attention = kind.attention.cost;
    layer.ffn = kind.ffn.cost;
    if (streams_weights) layer.load_bytes += kind.attention.stored + kind.ffn.stored;
    // of a prompt nothing was there before
    if (streams_cache && request.decode) layer.load_bytes += kind.cache - kind.fresh;
    if (streams_cache) layer.store_bytes += kind.fresh;
    program.kinds.push_back(layer);
  }
  program.embedding = pass.parts.embedding.cost;
  program.head = pass.parts.head.cost;
  program.hidden_bytes = pass.parts.hidden_bytes;
  program.choice_bytes = std::uint64_t{8} * request.batch;  // a logit and its token
  program.token_bytes = std::uint64_t{4} * request.batch;
  program.in_background = setup_.params.io_tiles > 0;
  program.clock_ghz = clock_ghz_;
  program.alone = setup_.alone;
  const system::SystemParams& params = setup_.system.params;
  const system::Fabric fabric(params);
  system::SystemExecution execution;
  execution.engine = setup_.engine;
  execution.event_log = pages_ != nullptr;
  pass.program = system::pass_program(params, program);
  pass.run = run_program(params, fabric, pass.program, execution);
  pass.seconds = static_cast<double>(pass.run.ns) * 1e-9;
  for (unsigned chip = 0; chip < pass.cut.chips(); ++chip) {
    for (std::size_t use = 0; use < system::kUses; ++use) {
      pass.stack.at(use) += pass.run.chips[chip][use];
    }
  }
  pass.energy = energy(pass, fabric, pass.run);
  execution.event_log = false;
  const system::ProgramResult turn =
      run_program(params, fabric, system::turn_program(params, program), execution);
  pass.turn_seconds = static_cast<double>(turn.ns) * 1e-9;
  pass.turn_energy = energy(pass, fabric, turn);
}

/// Operations of all chips, and what is drawn beside them while they last.
EnergyAccount PodModel::energy(const PodPass& pass, const system::Fabric& fabric,
                               const system::ProgramResult& run) const {
  EnergyAccount account;
  const double chips = pass.cut.tensor;
  for (const std::size_t kind : kind_of_) {
    add(account.range, pass.parts.kinds[kind].attention.cost.joules, chips);
    add(account.range, pass.parts.kinds[kind].ffn.cost.joules, chips);
  }
  add(account.range, pass.parts.embedding.cost.joules, chips);
  add(account.range, pass.parts.head.cost.joules, chips);
  account.work = {"chips", "operations on chips", account.range};
  const JouleRange idle = lacuna::idle_watts(*chip_, setup_.pricing);
  if (!setup_.alone) {
    account.beside = energy_beside(setup_.system.params, fabric, run, idle);
    return account;
  }
  system::SystemParams params = setup_.system.params;
  params.machine_w = 0;
  params.hosts_w = 0;
  system::ProgramResult one = run;
  one.chips.resize(1);
  account.beside = energy_beside(params, fabric, one, idle);
  return account;
}

JouleRange PodModel::idle_watts() const {
  const system::SystemParams& params = setup_.system.params;
  JouleRange watts;
  add(watts, lacuna::idle_watts(*chip_, setup_.pricing), setup_.alone ? 1 : params.chips());
  if (setup_.alone) return watts;
  const double standing = params.machine_w * params.machines + params.hosts_w;
  add(watts, without_range(standing), 1);
  return watts;
}

}  // namespace lacuna
