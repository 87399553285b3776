// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/system/chip_view.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

using system::kHeld;
using system::MemoryAccount;

StepCounts counts_of(const system::TrainingParams& training, double seconds, double flop) {
  StepCounts counts;
  counts.seconds = seconds;
  counts.chips = static_cast<double>(training.chips());
  counts.flop = flop;
  counts.sequences = training.global_batch();
  counts.tokens = static_cast<double>(training.tokens) * counts.sequences / training.packing;
  counts.steps = training.train_steps;
  return counts;
}

std::vector<Coloured> coloured(system::Uses uses) {
  constexpr std::array<const char*, system::kUses> kColours = {
      "#1f77b4", "#9ecae1", "#08519c", "#6a51a3", "#74c476", "#e6550d",
      "#fdae6b", "#d62728", "#8c564b", "#7f7f7f", "#bdbdbd", "#e0e0e0",
      "#f5f5f5", "#1f77b4", "#fdae6b", "#d62728", "#e6550d", "#e0e0e0"};
  std::vector<Coloured> all;
  for (std::size_t i = uses.first; i < uses.end; ++i) {
    all.emplace_back(use_name(static_cast<system::Use>(i)), kColours.at(i));
  }
  return all;
}

void SystemRecord::compare_energy(const SystemRecord& dense) {
  add_over_dense(energy.total(), dense.energy.total(), metrics);
}

std::vector<NamedQuantity> step_metrics(const StepCounts& counts, const EnergyAccount& energy,
                                        const std::vector<NamedQuantity>& own) {
  const JouleRange joules = energy.total();
  std::vector<NamedQuantity> metrics;
  const auto add = [&](const char* name, double value, const char* unit, bool is_there = true) {
    if (is_there) metrics.push_back({name, value, unit});
  };
  const double tflops = counts.flop / counts.seconds * 1e-12;
  const bool batch = counts.sequences > 0;
  add("step_time", counts.seconds, "s");
  add("chips", counts.chips, "");
  add("global_batch", counts.sequences, "sequences", batch);
  add("sequences_per_s", counts.sequences / counts.seconds, "1/s", batch);
  add("tokens_per_s", counts.tokens / counts.seconds, "1/s", counts.tokens > 0);
  add("tflops", tflops, "TFLOP/s");
  add("tflops_per_chip", tflops / counts.chips, "TFLOP/s");
  add_range("energy", joules, 1, "J", metrics);
  add("power", joules.nominal / counts.seconds, "W");
  add("power_per_machine", joules.nominal / counts.seconds / counts.machines, "W");
  add("energy_per_sequence", joules.nominal / counts.sequences, "J", batch);
  append(metrics, own);
  add("training_time", counts.steps * counts.seconds / 3600, "h", counts.steps > 0);
  for (const SystemEnergyPart& part : energy.parts) {
    metrics.push_back({"energy_" + part.key, part.joules.nominal, "J"});
  }
  return metrics;
}

namespace {

using Align = TextTable::Align;

/// The quantities but for parts of the energy, which have a table of their own.
std::string quantities_text(std::vector<NamedQuantity> metrics) {
  const auto is_part = [](const NamedQuantity& each) {
    return starts_with(each.name, "energy_") && each.name != "energy_per_sequence" &&
           each.name.find("_vs_dense") == std::string::npos;
  };
  erase_where(metrics, is_part);
  return quantity_table(metrics, "quantity");
}

std::string stack_text(const SystemRecord& record) {
  TextTable table({"where the time of the chips went<", "of all|%", "a chip's mean|ms"});
  const system::TimeStack stack = record.run.stack();
  for (const auto& [use, percent] : shares_of(stack)) {
    const double mean =
        static_cast<double>(stack[use]) / static_cast<double>(record.run.chips.size());
    table.row({use_name(use), fmt::format("{:.2f}", percent), four_digits(mean * 1e-6)});
  }
  return table.text();
}

/// Columns whose names end like units have those.
std::string text_of(const NamedTable& table) {
  struct Form {
    const char* ending;
    const char* unit;
    double scale;
  };
  constexpr std::array<Form, 3> kForms = {
      {{"_bytes", "MB", 1e-6}, {"_ns", "us", 1e-3}, {"_cycles", "kcycles", 1e-3}}};
  TextTable text;
  std::vector<double> scales;
  for (const std::string& column : table.columns) {
    const Form* const form =
        find_where(kForms, [&](const Form& each) { return ends_with(column, each.ending); });
    scales.push_back(form != nullptr ? form->scale : 0);
    text.column(column.substr(0, form != nullptr ? column.rfind('_') : column.npos),
                form != nullptr ? form->unit : "", scales.size() == 1 ? Align::left : Align::right);
  }
  for (std::vector<std::string> cells : table.rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (scales[i] != 0 && !cells[i].empty()) {
        cells[i] = four_digits(std::stod(cells[i]) * scales[i]);
      }
    }
    text.row(std::move(cells));
  }
  return text.text();
}

std::string name_of(const MemoryAccount& account) {
  return account.name.empty() ? fmt::format("{}", account.chip) : account.name;
}

/// What lies in each memory, its sum and what there is, in bytes.
NamedTable memory_table(const std::vector<MemoryAccount>& accounts) {
  NamedTable table{"memory", {"phase", "chip"}, {}};
  append(table.columns, system::kHeldNames);
  table.columns.insert(table.columns.end(), {"total", "capacity"});
  for (const MemoryAccount& account : accounts) {
    std::vector<std::string>& cells = table.row(account.phase, name_of(account));
    for (const std::uint64_t bytes : account.use.bytes) cells.push_back(cell_text(bytes));
    append(cells, as_cells(account.use.total(), account.capacity));
  }
  return table;
}

/// The same in MB.
std::string memory_text(const NamedTable& memory) {
  TextTable table({"phase", "chip"});
  for (const char* const name : system::kHeldNames) table.column(name, "MB");
  for (const char* const name : {"sum", "there is"}) table.column(name, "MB");
  for (std::vector<std::string> cells : memory.rows) {
    for (std::size_t i = 2; i < cells.size(); ++i) {
      const bool nothing = cells[i] == "0" && i < 2 + kHeld;
      cells[i] = nothing ? "" : four_digits(std::stod(cells[i]) * 1e-6);
    }
    table.row(std::move(cells));
  }
  return "What the chips hold at their fullest\n\n" + table.text();
}

NamedTable metrics_table(const std::vector<NamedQuantity>& metrics) {
  NamedTable table{"metrics", {"quantity", "value", "unit"}, {}};
  for (const NamedQuantity& metric : metrics) table.row(metric.name, metric.value, metric.unit);
  return table;
}

NamedTable time_stack_table(const SystemRecord& record) {
  NamedTable table{"time_stack", {"chip", "use", "ns"}, {}};
  for (std::size_t chip = 0; chip < record.run.chips.size(); ++chip) {
    for (std::size_t use = record.uses.first; use < record.uses.end; ++use) {
      table.row(chip, use_name(static_cast<system::Use>(use)), record.run.chips[chip][use]);
    }
  }
  return table;
}

/// Chrome trace events: tracks by name, beyond those without a name, and counters.
std::string timeline_json(const SystemSpans& spans) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  std::string separator;
  const auto add = [&](const std::string& event) {
    text += separator + event;
    separator = ",\n";
  };
  add(fmt::format(R"({{"name":"process_name","ph":"M","pid":0,"args":{{"name":"{}"}}}})",
                  spans.of));
  for (std::size_t track = 0; track < spans.tracks.size(); ++track) {
    add(fmt::format(R"({{"name":"thread_name","ph":"M","pid":0,"tid":{},"args":{{"name":"{}"}}}})",
                    track, spans.tracks[track]));
  }
  for (const SystemBar& bar : spans.bars) {
    add(fmt::format(R"({{"name":"{}","ph":"X","pid":0,"tid":{},"ts":{:.3f},"dur":{:.3f}}})",
                    bar.name, bar.track, static_cast<double>(bar.from) * 1e-3,
                    static_cast<double>(bar.to - bar.from) * 1e-3));
  }
  for (const SystemCurve& curve : spans.curves) {
    for (const auto& [at, value] : curve.values) {
      add(fmt::format(R"({{"name":"{}","ph":"C","pid":0,"ts":{:.3f},"args":{{"{}":{:.6g}}}}})",
                      curve.name, static_cast<double>(at) * 1e-3, curve.unit, value));
    }
  }
  return text + "\n]}\n";
}

}  // namespace

std::string text_of(const SystemRecord& record) {
  std::string text = record.heading + "\n\n" + quantities_text(record.metrics) + record.trust +
                     "\n" + stack_text(record);
  for (const TitledTable& each : record.tables) {
    if (!each.title.empty()) text += fmt::format("\n{}\n\n{}", each.title, text_of(each.table));
  }
  if (!record.memory.empty()) text += "\n" + memory_text(memory_table(record.memory));
  return text + "\n" + energy_text("energy of a step", record.energy) +
         not_counted(record.standing);
}

std::vector<NamedTable> tables_of(const SystemRecord& record) {
  std::vector<NamedTable> tables;
  for (const TitledTable& each : record.tables) tables.push_back(each.table);
  tables.push_back(time_stack_table(record));
  tables.push_back(metrics_table(record.metrics));
  tables.push_back(memory_table(record.memory));
  return tables;
}

Pairs files_of(const SystemRecord& record) {
  Pairs files;
  for (const NamedTable& table : tables_of(record)) {
    files.emplace_back(table.name + ".csv", csv_of(table));
  }
  files.emplace_back("timeline.json", timeline_json(record.spans));
  return files;
}

std::string page_of(const SystemRecord& record, const std::string& title) {
  return chips_page(title, record.run.ns, record.series.value());
}

std::string csv_of(const NamedTable& table) {
  std::string text = csv_line(table.columns);
  for (const std::vector<std::string>& row : table.rows) text += csv_line(row);
  return text;
}

}  // namespace lacuna
