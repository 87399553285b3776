// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <utility>

#include "models/system/event_kinds.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/driver/result/trust.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/system/chip_view.hpp"
#include "sim/driver/system/idle.hpp"

namespace lacuna {

using system::TrainingParams;
using system::Use;

namespace {

/// Whether the system is one of the pods as its preset has it.
bool is_preset(const SystemMachine& machine) {
  if (!contains(system_names(), machine.name)) return false;
  const SystemMachine plain = make_system(machine.name, {});
  return machine.chip_settings == plain.chip_settings &&
         settings_text(machine.params) == settings_text(plain.params);
}

std::string trust_text(const std::optional<TrustErrors>& errors) {
  if (!errors) {
    return "step_time: not validated here; what is measured are trainings of BERT-Large on 16 to "
           "256 chips of a pod as it is, with layouts and recipes within the published ones "
           "(lacuna "
           "describe trust)\n";
  }
  return fmt::format(
      "step_time is what the model takes. step_time_low to step_time_high is where nine of ten "
      "measured steps would lie, which need not hold it: on {} points of {}, {}, that the model "
      "has "
      "not seen, at {}, its time was {:+.1f} to {:+.1f} % off{}\n",
      errors->points, errors->family, errors->regime, errors->commit, 100 * errors->p5,
      100 * errors->p95, errors->moved ? "; measured before this model" : "");
}

/// True if every word that changes what is run is that of a measured training, or a number between
/// those of measured ones.
bool is_within(const TrainingParams& training, const std::vector<TrainingParams>& measured) {
  constexpr std::array<const char*, 6> kOthers = {
      "system",     "source", "published_system", "published_workload", "updates_per_iteration",
      "train_steps"};
  bool within = !measured.empty();
  training.for_each([&](const std::string& path, const ParamBase& each) {
    if (contains(kOthers, path)) return;
    bool same = false;
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const TrainingParams& other : measured) {
      const std::string text = other.find(path)->value_text();
      same = same || text == each.value_text();
      if (!std::isdigit(static_cast<unsigned char>(text[0]))) continue;
      low = std::min(low, std::stod(text));
      high = std::max(high, std::stod(text));
    }
    const bool counts = *each.unit() != '\0' && !same && low < high;
    const double value = counts ? std::stod(each.value_text()) : 0;
    within = within && (same || (counts && value >= low && value <= high));
  });
  return within;
}

/// The trainings of this model whose times are published.
std::vector<TrainingParams> measured_trainings(const std::string& model) {
  std::vector<TrainingParams> measured;
  for (const std::string& file : shipped_trainings()) {
    TrainingParams training = read_training(file, {});
    if (training.published_system.value().empty() || training.model.value() != model) continue;
    if (training.rows.value().empty()) measured.push_back(std::move(training));
  }
  return measured;
}

}  // namespace

std::optional<TrustErrors> errors_of(const SystemMachine& machine, const TrainingParams& training) {
  if (training.model.value() != "bert-large" || !training.rows.value().empty()) return std::nullopt;
  if (!is_preset(machine) || !is_within(training, measured_trainings(training.model))) {
    return std::nullopt;
  }
  const Trust trust(config_folder());
  const TrustErrors* const errors =
      trust.find("pods", "BERT-Large weight update", "16 to 256 chips");
  if (errors == nullptr) return std::nullopt;
  return *errors;
}

namespace {

/// The numbers of stages, and what each of them takes of a micro-batch.
NamedTable stages_table(const TrainingResult& result) {
  NamedTable table{"stages",
                   {"phase", "stage", "chip", "attention", "ffn", "embedding", "head",
                    "forward_cycles", "recompute_cycles", "backward_cycles"},
                   {}};
  for (std::size_t phase = 0; phase < result.phases.size(); ++phase) {
    for (std::size_t s = 0; s < result.phases[phase].size(); ++s) {
      const system::Stage& stage = result.phases[phase][s];
      const auto& costs = result.costs[stage.chip];
      table.row(phase, s, stage.chip, stage.attention, stage.ffn, int{stage.embedding},
                int{stage.head}, forward_cost(costs, stage).cycles,
                recompute_cost(costs, stage).cycles, backward_cost(costs, stage).cycles);
    }
  }
  return table;
}

NamedTable resources_table(const SystemMachine& machine, const TrainingResult& result) {
  const system::Fabric fabric(machine.params);
  NamedTable table{"resources", {"resource", "bytes", "busy_ns"}, {}};
  for (std::size_t i = 0; i < fabric.resources().size(); ++i) {
    if (result.run.bytes[i] == 0) continue;
    table.row(fabric.resources()[i].name, result.run.bytes[i], result.run.busy_ns[i]);
  }
  return table;
}

/// What carries words between chips, in the lanes of a picture.
struct CarrierLane {
  const char* name;
  Use use;  // whose colour it has
  std::vector<system::ResourceKind> kinds;
};

const std::vector<CarrierLane>& carrier_lanes() {
  using system::ResourceKind;
  static const std::vector<CarrierLane> lanes = {
      {"links",
       Use::links,
       {ResourceKind::pair, ResourceKind::cross, ResourceKind::up, ResourceKind::down}},
      {"gateways", Use::all_reduce, {ResourceKind::gateway}},
      {"streaming memory", Use::streaming, {ResourceKind::ddr}},
      {"host", Use::host, {ResourceKind::host}}};
  return lanes;
}

/// Chips of one replica, which stands for all, and what is carried in the system.
class SpanMaker {
 public:
  SpanMaker(const system::Fabric& fabric, std::size_t chips) : fabric_(fabric), chips_(chips) {}

  /// A run of a segment that begins `at`.
  void add(const system::SegmentResult& segment, Cycle at, std::vector<SystemBar>& bars) const {
    for (const ChipHistory::Span& span :
         chip_spans(segment.events, static_cast<std::uint32_t>(chips_))) {
      bars.push_back({use_name(static_cast<Use>(span.use)), span.chip, span.use, at + span.begin,
                      at + span.end});
    }
    const std::vector<CarrierLane>& lanes = carrier_lanes();
    std::vector<Busy> busy(lanes.size());
    for (const Event& event : segment.events) {
      if (event.unit < fabric_.chips()) continue;
      const auto kind = fabric_.resources()[event.unit - fabric_.chips()].kind;
      for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        if (contains(lanes[lane].kinds, kind)) carry(event, at, lane, busy[lane], bars);
      }
    }
  }

 private:
  /// A lane while events are read: how many carry, since when, and where its last bar is.
  struct Busy {
    unsigned carrying = 0;
    Cycle first = 0;
    std::optional<std::size_t> bar = {};
  };

  /// A lane is busy as long as anything of it carries.
  void carry(const Event& event, Cycle at, std::size_t lane, Busy& busy,
             std::vector<SystemBar>& bars) const {
    if (event.kind == system::kCarryFirst) {
      if (busy.carrying++ == 0) busy.first = event.cycle;
      return;
    }
    if (--busy.carrying > 0) return;
    const Cycle end = at + event.cycle + 1;
    if (busy.bar && bars[*busy.bar].to >= at + busy.first) {
      bars[*busy.bar].to = end;
      return;
    }
    const CarrierLane& of = carrier_lanes()[lane];
    busy.bar = bars.size();
    bars.push_back(
        {of.name, chips_ + lane, static_cast<std::size_t>(of.use), at + busy.first, end});
  }

  const system::Fabric& fabric_;
  std::size_t chips_;
};

/// Of segments run many times in a row the first two and the last are in the timeline; the figure
/// has the first two alone, one after the other, and not the host's.
SystemSpans spans_of(const SystemMachine& machine, const TrainingParams& training,
                     const TrainingResult& result) {
  SystemSpans spans{"first replica", "chips of a replica; of equal steps the first two"};
  spans.kinds = coloured(system::kUsesOfLinks);
  const std::size_t chips = std::size_t{training.pipeline} * training.tensor;
  for (std::size_t chip = 0; chip < chips; ++chip) {
    spans.tracks.push_back(fmt::format("chip {}", chip));
  }
  for (const CarrierLane& lane : carrier_lanes()) spans.tracks.emplace_back(lane.name);
  for (unsigned place = 0; place < training.pipeline; ++place) {
    spans.memories.push_back(fmt::format("memory of place {}", place));
  }
  spans.memories.emplace_back("streaming memory of a replica");
  for (const std::string& name : spans.memories) spans.curves.push_back({name, "MB", {}});
  spans.curves.push_back({"power of the system", "W", {}});
  const system::StreamingBank replica(training.pipeline, training.tensor);
  const auto memory = memory_over(result.program, training.pipeline, {replica});
  const system::Fabric fabric(machine.params);
  const SpanMaker maker(fabric, chips);
  Cycle at = 0;
  Cycle drawn = 0;
  for (std::size_t i = 0; i < result.program.order.size(); ++i) {
    const system::Repeat& repeat = result.program.order[i];
    const system::SegmentResult& segment = result.run.segments[repeat.segment];
    const std::string& name = result.program.segments[repeat.segment].name;
    std::vector<double> levels;
    for (const system::MemoryUse& use : memory[i]) levels.push_back(in_mb(use.total()));
    for (std::size_t m = 0; m < levels.size(); ++m) {
      spans.curves[m].values.emplace_back(at, levels[m]);
    }
    spans.curves.back().values.emplace_back(at, result.watts[i]);
    const std::uint64_t shown = std::min<std::uint64_t>(repeat.times, 2);
    for (std::uint64_t run = 0; run < shown; ++run) {
      maker.add(segment, at + run * segment.ns, spans.bars);
      if (name == "host") continue;
      maker.add(segment, drawn, spans.drawn);
      spans.levels.push_back({drawn, drawn + segment.ns, levels});
      drawn += segment.ns;
    }
    const Cycle end = at + repeat.times * segment.ns;
    if (repeat.times > shown) maker.add(segment, end - segment.ns, spans.bars);
    if (repeat.times > shown + 1) {
      const std::string left_out = fmt::format("{} more: {}", repeat.times - shown - 1, name);
      spans.bars.push_back(
          {left_out, spans.tracks.size(), 0, at + shown * segment.ns, end - segment.ns});
    }
    at = end;
  }
  return spans;
}

bool is_trace(const TrainingParams& training) {
  return starts_with(training.rows.value(), kRowsOfFile);
}

std::string heading_of(const SystemMachine& machine, const TrainingParams& training,
                       const std::string& name) {
  const std::string text = fmt::format(
      "{} ({} chips {} in {} machines), {}: {}\n\n", machine.name, machine.params.chips(),
      machine.params.chip.value(), machine.params.machines.value(), name,
      is_trace(training) ? "the rows of a trace" : "one weight update");
  if (!training.rows.value().empty()) {
    return text + fmt::format("{} on {} chips, {} times",
                              is_trace(training) ? "each row" : training.rows.value(),
                              training.replicas.value(), training.accumulation.value());
  }
  return text + fmt::format("{} on t x p x r = {} x {} x {} chips, micro-batch {}, accumulation {}",
                            training.model.value(), training.tensor.value(),
                            training.pipeline.value(), training.replicas.value(),
                            training.micro_batch.value(), training.accumulation.value());
}

/// Rows have no tokens, and those of a trace no sequences.
StepCounts step_counts(const SystemMachine& machine, const TrainingParams& training,
                       const TrainingResult& result) {
  StepCounts counts = counts_of(training, result.seconds(), result.flop);
  counts.machines = machine.params.machines;
  if (!training.rows.value().empty()) counts.tokens = 0;
  if (is_trace(training)) counts.sequences = 0;
  return counts;
}

std::vector<NamedQuantity> own_metrics(const TrainingParams& training,
                                       const TrainingResult& result) {
  std::vector<NamedQuantity> own;
  if (training.rows.value().empty()) {
    const auto bytes = static_cast<double>(result.streaming.bytes);
    own.push_back({"streaming_memory", bytes, "B per machine"});
  }
  if (training.pattern_every > 0) {
    const double patterns = seconds_of(result.program, result.run, "pattern update");
    own.push_back({"pattern_update", patterns * training.pattern_every, "s"});
    own.push_back({"pattern_update_share", patterns / result.seconds(), "of step_time"});
  }
  return own;
}

}  // namespace

SystemRecord record_of_run(const std::string& system, const std::string& work,
                           const StepCounts& counts, const system::RunResult& run,
                           system::Uses uses, const EnergyAccount& energy,
                           const std::vector<NamedQuantity>& own) {
  SystemRecord record;
  record.title = fmt::format("{}, {}", system, work);
  record.metrics = step_metrics(counts, energy, own);
  record.run = run;
  record.uses = uses;
  record.energy = energy;
  record.scaling = {system, static_cast<std::uint64_t>(counts.chips), counts.seconds,
                    counts.sequences > 0 ? counts.sequences : counts.chips, energy.total().nominal};
  return record;
}

SystemRecord record_of(const SystemMachine& machine, const TrainingParams& training,
                       const TrainingResult& result, const SystemWishes& wishes) {
  SystemRecord record =
      record_of_run(machine.name, training.model, step_counts(machine, training, result),
                    result.run, system::kUsesOfLinks, result.energy, own_metrics(training, result));
  const std::optional<TrustErrors> errors = errors_of(machine, training);
  if (errors) {
    const double seconds = result.seconds();
    record.metrics.insert(record.metrics.begin() + 1,
                          {{"step_time_low", seconds / (1 + errors->p95), "s"},
                           {"step_time_high", seconds / (1 + errors->p5), "s"}});
  }
  record.heading = heading_of(machine, training, wishes.name);
  record.trust = trust_text(errors);
  record.drawn_chips = std::size_t{training.pipeline} * training.tensor;
  record.memory = result.memory;
  record.standing = {{"hosts (hosts_w)", machine.params.hosts_w},
                     {"machines beside their chips (machine_w)", machine.params.machine_w}};
  const char* const stages = "Stages of the pipeline, for one micro-batch";
  record.tables = {{training.rows.value().empty() ? stages : "", stages_table(result)},
                   {"", resources_table(machine, result)}};
  if (wishes.drawn) record.spans = spans_of(machine, training, result);
  if (wishes.viewed) record.series = training_series(training, result);
  record.scaling.each = training.global_batch();
  record.scaling.trust = errors;
  record.scaling.replicas = training.replicas.value_text();
  record.scaling.accumulation = training.accumulation.value_text();
  record.idle = idle_parts(machine.params, result.run.bytes, wishes.settings);
  return record;
}

}  // namespace lacuna
