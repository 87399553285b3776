// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>
#include <set>

#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/driver/result/trust.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

using system::kUses;
using system::TrainingParams;
using system::Use;

namespace {

using Align = TextTable::Align;

/// Replicas are alike: the first stands for all.
std::size_t shown_chips(const TrainingParams& training) {
  return std::size_t{training.pipeline} * training.tensor;
}

double share(const TrainingResult& result, Use use) {
  const system::TimeStack stack = result.run.stack();
  const double all =
      static_cast<double>(result.run.ns) * static_cast<double>(result.run.chips.size());
  return static_cast<double>(stack[static_cast<std::size_t>(use)]) / all;
}

std::string what_of(const system::Stage& stage) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (stage.embedding) add("embedding");
  if (stage.attention > 0) add(fmt::format("{} attention", stage.attention));
  if (stage.ffn > 0) add(fmt::format("{} ffn", stage.ffn));
  if (stage.head) add("head");
  return text;
}

std::string ms(const TrainingResult& result, const system::ChipCost& cost) {
  return fmt::format("{:.3f}", static_cast<double>(cost.cycles) / (result.clock_ghz * 1e6));
}

std::string stages_table(const TrainingResult& result) {
  TextTable table;
  table.column("phase", "");
  table.column("stage", "");
  table.column("chip", "");
  table.column("what", "", Align::left);
  table.column("forward", "ms");
  table.column("again", "ms");
  table.column("backward", "ms");
  for (std::size_t phase = 0; phase < result.phases.size(); ++phase) {
    for (std::size_t s = 0; s < result.phases[phase].size(); ++s) {
      const system::Stage& stage = result.phases[phase][s];
      const auto& costs = result.costs[stage.chip];
      table.row({fmt::format("{}", phase), fmt::format("{}", s), fmt::format("{}", stage.chip),
                 what_of(stage), ms(result, forward_cost(costs, stage)),
                 ms(result, recompute_cost(costs, stage)),
                 ms(result, backward_cost(costs, stage))});
    }
  }
  return table.text();
}

std::string mb(std::uint64_t bytes) {
  return fmt::format("{:.1f}", static_cast<double>(bytes) * 1e-6);
}

std::string memory_text(const TrainingResult& result) {
  TextTable table;
  for (const char* const name : {"phase", "chip"}) table.column(name, "");
  for (std::size_t i = 0; i < system::kHeld; ++i) {
    table.column(held_name(static_cast<system::Held>(i)), "MB");
  }
  for (const char* const name : {"sum", "chip has"}) table.column(name, "MB");
  for (const system::MemoryAccount& a : result.memory.chips) {
    std::vector<std::string> cells = {fmt::format("{}", a.phase), fmt::format("{}", a.chip)};
    for (const std::uint64_t bytes : a.use.bytes) cells.push_back(mb(bytes));
    cells.insert(cells.end(), {mb(a.use.total()), mb(a.capacity)});
    table.row(cells);
  }
  return table.text();
}

std::string stack_table(const TrainingResult& result) {
  TextTable table;
  table.column("where the time of the chips went", "", Align::left);
  table.column("of all", "%");
  table.column("a chip's mean", "ms");
  for (std::size_t i = 0; i < kUses; ++i) {
    const double part = share(result, static_cast<Use>(i));
    if (part == 0) continue;
    table.row({use_name(static_cast<Use>(i)), fmt::format("{:.2f}", 100 * part),
               four_digits(part * result.seconds() * 1e3)});
  }
  return table.text();
}

/// Whether the system is one of the pods as its preset has it.
bool is_preset(const SystemMachine& machine) {
  const std::vector<std::string> names = system_names();
  if (std::find(names.begin(), names.end(), machine.name) == names.end()) return false;
  const auto text_of = [](const SystemMachine& system) {
    std::string text;
    for (const ParameterValue& value : values_of(system.params)) text += value.value + '\n';
    return text;
  };
  const SystemMachine plain = make_system(machine.name, {});
  return machine.chip_settings == plain.chip_settings && text_of(machine) == text_of(plain);
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

}  // namespace

namespace {

/// Whether a word of a description changes what is run.
bool acts(const std::string& word) {
  static const std::set<std::string> others = {
      "system",     "source", "published_system", "published_workload", "updates_per_iteration",
      "train_steps"};
  return others.count(word) == 0;
}

/// True if every word is that of a measured training, or a number between those of measured ones.
bool is_within(const TrainingParams& training, const std::vector<TrainingParams>& measured) {
  bool within = !measured.empty();
  training.for_each([&](const std::string& path, const ParamBase& each) {
    if (!acts(path)) return;
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

bool is_trace(const TrainingParams& training) {
  return training.rows.value().rfind(kRowsOfFile, 0) == 0;
}

/// Rows have no tokens, and those of a trace no sequences.
void leave_out_what_rows_have_not(const TrainingParams& training,
                                  std::vector<SystemMetric>& metrics) {
  if (training.rows.value().empty()) return;
  std::vector<std::string> names = {"tokens_per_s", "streaming_memory"};
  if (is_trace(training)) {
    names.insert(names.end(), {"global_batch", "sequences_per_s", "energy_per_sequence"});
  }
  const auto is_named = [&](const SystemMetric& metric) {
    return std::find(names.begin(), names.end(), metric.name) != names.end();
  };
  metrics.erase(std::remove_if(metrics.begin(), metrics.end(), is_named), metrics.end());
}

}  // namespace

std::vector<SystemMetric> system_metrics(const SystemMachine& machine,
                                         const TrainingParams& training,
                                         const TrainingResult& result) {
  const double seconds = result.seconds();
  const double joules = result.energy.total().nominal;
  std::vector<SystemMetric> metrics = {{"step_time", seconds, "s"},
                                       {"chips", static_cast<double>(training.chips()), ""}};
  const auto append = [&](const std::vector<SystemMetric>& more) {
    metrics.insert(metrics.end(), more.begin(), more.end());
  };
  append(rate_metrics(training, {seconds, static_cast<double>(training.chips()), result.flop}));
  append(energy_metrics(result.energy, 1, seconds));
  metrics.push_back({"power_per_machine", joules / seconds / machine.params.machines, "W"});
  metrics.push_back(energy_per_sequence(training, joules));
  metrics.push_back(
      {"streaming_memory", static_cast<double>(result.memory.streaming.bytes), "B per machine"});
  leave_out_what_rows_have_not(training, metrics);
  if (const auto errors = errors_of(machine, training)) {
    metrics.insert(metrics.begin() + 1, {{"step_time_low", seconds / (1 + errors->p95), "s"},
                                         {"step_time_high", seconds / (1 + errors->p5), "s"}});
  }
  if (training.pattern_every > 0) {
    const double patterns = seconds_of(result.program, result.run, "pattern update");
    metrics.push_back({"pattern_update", patterns * training.pattern_every, "s"});
    metrics.push_back({"pattern_update_share", patterns / seconds, "of step_time"});
  }
  append(whole_training(training, seconds));
  append(part_metrics(result.energy, 1));
  return metrics;
}

std::string system_text(const SystemMachine& machine, const std::string& name,
                        const TrainingParams& training, const TrainingResult& result) {
  const bool rows = !training.rows.value().empty();
  const char* const what = is_trace(training) ? "the rows of a trace" : "one weight update";
  std::string text = fmt::format("{} ({} chips {} in {} machines), {}: {}\n\n", machine.name,
                                 machine.params.chips(), machine.params.chip.value(),
                                 machine.params.machines.value(), name, what);
  if (rows) {
    text += fmt::format("{} on {} chips, {} times\n\n",
                        is_trace(training) ? "each row" : training.rows.value(),
                        training.replicas.value(), training.accumulation.value());
  } else {
    text += fmt::format("{} on t x p x r = {} x {} x {} chips, micro-batch {}, accumulation {}\n\n",
                        training.model.value(), training.tensor.value(), training.pipeline.value(),
                        training.replicas.value(), training.micro_batch.value(),
                        training.accumulation.value());
  }
  text += quantities_text(system_metrics(machine, training, result)) +
          trust_text(errors_of(machine, training)) + "\n" + stack_table(result);
  if (!rows) {
    text += "\nStages of the pipeline, for one micro-batch\n\n" + stages_table(result);
    text += "\nMemory of a chip of each stage\n\n" + memory_text(result);
  }
  text += "\n" +
          energy_text(is_trace(training) ? "energy" : "energy of a weight update", result.energy);
  text += not_counted({{"hosts (hosts_w)", machine.params.hosts_w},
                       {"machines beside their chips (machine_w)", machine.params.machine_w}});
  return text;
}

std::vector<MemoryOfPlace> memory_places(const TrainingResult& result) {
  std::vector<MemoryOfPlace> places;
  for (const system::MemoryAccount& a : result.memory.chips) {
    MemoryOfPlace place{fmt::format("{}", a.phase), fmt::format("{}", a.chip), {}, a.capacity};
    for (std::size_t i = 0; i < system::kHeld; ++i) {
      place.parts.emplace_back(held_name(static_cast<system::Held>(i)), a.use.bytes[i]);
    }
    places.push_back(std::move(place));
  }
  return places;
}

namespace {

NamedTable time_stack(const TrainingResult& result) {
  std::vector<const char*> uses;
  for (std::size_t i = 0; i < kUses; ++i) uses.push_back(use_name(static_cast<Use>(i)));
  std::vector<std::vector<std::uint64_t>> ns;
  for (const system::TimeStack& chip : result.run.chips) ns.emplace_back(chip.begin(), chip.end());
  return time_stack_table("time_stack", uses, ns);
}

std::string stages_csv(const TrainingResult& result) {
  std::string text = csv_line({"phase", "stage", "chip", "attention", "ffn", "embedding", "head",
                               "forward_cycles", "recompute_cycles", "backward_cycles"});
  for (std::size_t phase = 0; phase < result.phases.size(); ++phase) {
    for (std::size_t s = 0; s < result.phases[phase].size(); ++s) {
      const system::Stage& stage = result.phases[phase][s];
      const auto& costs = result.costs[stage.chip];
      std::vector<std::string> cells;
      for (const std::uint64_t value :
           {std::uint64_t{phase}, std::uint64_t{s}, std::uint64_t{stage.chip},
            std::uint64_t{stage.attention}, std::uint64_t{stage.ffn},
            std::uint64_t{stage.embedding ? 1U : 0U}, std::uint64_t{stage.head ? 1U : 0U},
            forward_cost(costs, stage).cycles, recompute_cost(costs, stage).cycles,
            backward_cost(costs, stage).cycles}) {
        cells.push_back(fmt::format("{}", value));
      }
      text += csv_line(cells);
    }
  }
  return text;
}

std::string resources_csv(const SystemMachine& machine, const TrainingResult& result) {
  const system::Fabric fabric(machine.params);
  std::string text = csv_line({"resource", "bytes", "busy_ns"});
  for (std::size_t i = 0; i < fabric.resources().size(); ++i) {
    if (result.run.bytes[i] == 0) continue;
    text += csv_line({fabric.resources()[i].name, fmt::format("{}", result.run.bytes[i]),
                      fmt::format("{}", result.run.busy_ns[i])});
  }
  return text;
}

/// The bars of the chips of one replica. Of segments run many times in a row the first two and the
/// last are shown; `gaps` are the stretches left out.
struct Bars {
  std::vector<PipelineBar> bars;
  struct Gap {
    Cycle from = 0;
    Cycle to = 0;
    std::uint64_t times = 0;
    std::string name;
  };
  std::vector<Gap> gaps;
};

void add_segment(const system::SegmentResult& segment, Cycle at, std::size_t chips, Bars& all) {
  std::vector<Cycle> began(chips);
  for (const Event& event : segment.events) {
    if (event.unit >= chips || event.kind >= 2 * kUses) continue;
    if (event.kind % 2 == 0) {
      began[event.unit] = event.cycle;
    } else {
      all.bars.push_back({event.unit, static_cast<Use>(event.kind / 2), at + began[event.unit],
                          at + event.cycle + 1});
    }
  }
}

Bars bars_of(const TrainingParams& training, const TrainingResult& result) {
  Bars all;
  Cycle at = 0;
  for (const system::Repeat& repeat : result.program.order) {
    const system::SegmentResult& segment = result.run.segments[repeat.segment];
    const std::uint64_t shown = std::min<std::uint64_t>(repeat.times, 2);
    for (std::uint64_t i = 0; i < shown; ++i) {
      add_segment(segment, at + i * segment.ns, shown_chips(training), all);
    }
    const Cycle end = at + repeat.times * segment.ns;
    if (repeat.times > shown) {
      const bool last = repeat.times > shown + 1;
      add_segment(segment, end - segment.ns, shown_chips(training), all);
      if (last) {
        all.gaps.push_back({at + shown * segment.ns, end - segment.ns, repeat.times - shown - 1,
                            result.program.segments[repeat.segment].name});
      }
    }
    at = end;
  }
  return all;
}

std::string timeline_of(const TrainingParams& training, const TrainingResult& result) {
  const Bars all = bars_of(training, result);
  std::vector<std::string> tracks;
  for (std::size_t chip = 0; chip < shown_chips(training); ++chip) {
    tracks.push_back(fmt::format("chip {}", chip));
  }
  std::vector<TimelineBar> bars;
  for (const PipelineBar& bar : all.bars) {
    bars.push_back({use_name(bar.use), bar.chip, bar.from, bar.to});
  }
  for (const Bars::Gap& gap : all.gaps) {
    bars.push_back(
        {fmt::format("{} more: {}", gap.times, gap.name), shown_chips(training), gap.from, gap.to});
  }
  return timeline_json("first replica", tracks, bars);
}

}  // namespace

std::vector<PipelineBar> pipeline_bars(const TrainingParams& training,
                                       const TrainingResult& result) {
  Bars all;
  Cycle at = 0;
  for (const system::Repeat& repeat : result.program.order) {
    const system::SegmentResult& segment = result.run.segments[repeat.segment];
    if (result.program.segments[repeat.segment].name == "host") continue;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(repeat.times, 2); ++i) {
      add_segment(segment, at, shown_chips(training), all);
      at += segment.ns;
    }
  }
  return std::move(all.bars);
}

std::vector<NamedTable> system_tables(const SystemMachine& machine, const TrainingParams& training,
                                      const TrainingResult& result) {
  return {metrics_table("metrics", system_metrics(machine, training, result)), time_stack(result),
          memory_table("memory", memory_places(result))};
}

std::vector<std::pair<std::string, std::string>> system_files(const SystemMachine& machine,
                                                              const TrainingParams& training,
                                                              const TrainingResult& result) {
  std::vector<std::pair<std::string, std::string>> files = {
      {"stages.csv", stages_csv(result)},
      {"resources.csv", resources_csv(machine, result)},
      {"timeline.json", timeline_of(training, result)}};
  for (const NamedTable& table : system_tables(machine, training, result)) {
    files.emplace_back(table.name + ".csv", csv_of(table));
  }
  return files;
}

}  // namespace lacuna
