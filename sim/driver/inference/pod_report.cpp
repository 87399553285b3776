// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/base/largest.hpp"
#include "sim/driver/inference/pod_model.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna {

using system::Held;
using system::MemoryAccount;

namespace {

/// Where the time of the chips that have a part of the model goes, in per cent.
ModelTable stack_table(const PodPass& pass) {
  ModelTable table{"time_stack", "where the time of the chips goes", {{"of all", "%"}}, {}};
  for (const auto& [use, percent] : shares_of(pass.run.stack(pass.cut.chips()))) {
    table.rows.push_back({use_name(use), {percent}});
  }
  return table;
}

ModelTable memory_table(const PodPass& pass) {
  ModelTable table{"memory", "fullest tile of stage", {}, {}};
  table.columns = {{"layers", ""}};
  table.add_columns({"weights", "cache", "values", "working", "code", "all", "has"}, "B");
  for (const MemoryAccount& stage : pass.memory) {
    const system::MemoryUse& use = stage.use;
    auto& [name, values] = table.rows.emplace_back();
    name = fmt::format("{}", stage.chip);
    for (const std::uint64_t number :
         {std::uint64_t{pass.cut.layers[stage.chip]}, use.of(Held::weights), use.of(Held::cache),
          use.of(Held::activations), use.of(Held::working),
          use.of(Held::code) + use.of(Held::buffers), use.total(), stage.capacity}) {
      values.push_back(static_cast<double>(number));
    }
  }
  return table;
}

/// Rows of the first kind of layers, and of the ends.
ModelTable row_table(const PodPass& pass, double clock_ghz) {
  ModelTable table{"phases", "row, on each chip", {{"time", "us"}, {"energy", "uJ"}}, {}};
  const auto add = [&](const PodPart& part, const char* of) {
    for (const PodRow& row : part.rows) {
      const double us = static_cast<double>(row.cost.cycles) / (clock_ghz * 1e3);
      table.rows.push_back({of + row.name, {us, row.cost.joules.nominal * 1e6}});
    }
  };
  add(pass.parts.embedding, "embedding ");
  add(pass.parts.kinds[0].attention, "");
  add(pass.parts.kinds[0].ffn, "");
  add(pass.parts.head, "head ");
  return table;
}

/// What of weights and inputs is left.
void add_zeros(const PodPass& pass, const PassRequest& request, ModelReport& report) {
  if (request.weights.name != "dense") {
    const std::string weights = pattern_label(request.weights);
    report.remark += "\nZeros: weights: " + weights;
    std::vector<std::string> kept;
    for (const PodPart* const part : {&pass.parts.kinds[0].attention, &pass.parts.kinds[0].ffn}) {
      for (const PodRow& row : part->rows) {
        if (!row.as_density.empty()) kept.push_back(row.name + " as " + row.as_density);
      }
    }
    if (!kept.empty()) {
      report.remark += fmt::format("; more are kept as numbers where that is sooner over: {}",
                                   fmt::join(kept, ", "));
    }
    report.facts.emplace_back("weights", '"' + weights + '"');
  }
  if (!request.inputs.empty()) {
    std::vector<std::string> inputs;
    for (const auto& [row, left] : request.inputs) {
      inputs.push_back(fmt::format("{}=bernoulli:{}", row, left.text()));
    }
    const std::string all_inputs = fmt::format("{}", fmt::join(inputs, " "));
    report.remark += "\nZeros: inputs of rows: " + all_inputs;
    report.facts.emplace_back("activations", '"' + all_inputs + '"');
  }
}

}  // namespace

ModelReport PodModel::report(const PodPass& pass, const PassRequest& request) const {
  ModelReport report;
  report.machine = place();
  report.kind = "ipu";
  report.model = setup_.model.name;
  report.remark =
      "Composed: each distinct row is simulated on a chip, all of its tiles, and taken for all "
      "chips and layers that have it;\nwhat chips exchange is simulated, pass by pass.";
  report.facts = {{"batch", fmt::format("{}", request.batch)},
                  {"layers_of_stages", fmt::format("[{}]", fmt::join(pass.cut.layers, ", "))}};
  report.words(false, true);
  add_zeros(pass, request, report);
  const double tokens = static_cast<double>(request.batch) * request.tokens;
  report.number("chips", pass.cut.chips());
  report.number("tensor", pass.cut.tensor, "chips");
  report.number("pipeline", static_cast<double>(pass.cut.layers.size()), "stages");
  report.number("step_time", pass.seconds(), "s");
  report.number("tokens_per_s", tokens / pass.seconds(), "1/s");
  report.joules("joules_per_token", pass.energy.total(), tokens);
  report.number("power", pass.energy.total().nominal / pass.seconds(), "W");
  report.number("turn_time", pass.turn.seconds(), "s");
  report.number("pipelined_tokens_per_s", tokens / pass.turn.seconds(), "1/s");
  report.joules("pipelined_joules_per_token", pass.turn.energy.total(), tokens);
  double all = 0;
  double weights = 0;
  double cache = 0;
  for (const PodPart* const part : {&pass.parts.kinds[0].attention, &pass.parts.kinds[0].ffn}) {
    for (const PodRow& row : part->rows) {
      const auto cycles = static_cast<double>(row.cost.cycles);
      all += cycles;
      weights += row.of == PodRow::Of::weights ? cycles : 0;
      cache += row.of == PodRow::Of::cache ? cycles : 0;
    }
  }
  report.number("of_layer_in_weights", 100 * weights / all, "%");
  report.number("of_layer_in_cache", 100 * cache / all, "%");
  if (request.decode) {
    report.number("positions_that_fit",
                  most_positions(request, request.capacity,
                                 std::max(setup_.model.positions, request.capacity) + 1));
  }
  report.number("memory_of_fullest_tile", static_cast<double>(pass.fullest().use.total()), "B");
  if (pass.streaming.bytes > 0) {
    report.number("streaming_memory", static_cast<double>(pass.streaming.bytes), "B per machine");
  }
  report.tables = {row_table(pass, clock_ghz_), stack_table(pass), memory_table(pass)};
  ModelTable energy{
      "energy", "energy of a pass", {{"energy", "J"}, {"low", "J"}, {"high", "J"}}, {}};
  for (const SystemEnergyPart& part : pass.energy.parts) {
    energy.rows.push_back({part.key, {part.joules.nominal, part.joules.low, part.joules.high}});
  }
  report.tables.push_back(energy);
  return report;
}

ModelReport PodModel::report_of(bool decode, std::uint32_t positions, std::uint32_t batch) {
  PassRequest request;
  request.decode = decode;
  request.batch = request.slots = batch;
  request.context = request.capacity = positions;
  if (!decode) request.tokens = positions;
  request.weights = setup_.weights;
  request.inputs = setup_.inputs;
  const PodPass made = pass(request);
  ModelReport all = report(made, request);
  if (pages_ != nullptr) add_pages(made, request);
  all.what = decode ? "decode" : "prefill";
  all.facts.insert(all.facts.begin(),
                   {decode ? "context" : "tokens", fmt::format("{}", positions)});
  all.title =
      decode ? fmt::format("{}, sequences: {}, context {}", setup_.model.name, batch, positions)
             : fmt::format("{}, a prompt of {} tokens, sequences: {}", setup_.model.name, positions,
                           batch);
  all.title += fmt::format(", on {}: {}", place(), made.cut.text());
  return all;
}

}  // namespace lacuna
