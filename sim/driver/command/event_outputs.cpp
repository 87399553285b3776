// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/event_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/parsed_number.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/report/event_spans.hpp"
#include "sim/report/phase_traffic.hpp"
#include "sim/report/timeline.hpp"
#include "sim/report/view_page.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kMostPowerFigures = 8;

/// Calls `visit(run, op)` for each operation with intervals.
template <class Visit>
void for_each_power(const Runs& records, const Visit& visit) {
  for (const RunRecord& run : records) {
    for (const OpRecord& op : run.ops) {
      if (!op.power.empty()) visit(run, op);
    }
  }
}

/// Names of units that no machine of the result has.
void check_units(const Runs& records, const std::vector<std::string>& patterns,
                 const char* option) {
  for (const std::string& pattern : patterns) {
    bool found = false;
    std::string example;
    for (const RunRecord& run : records) {
      for (const OpRecord& op : run.ops) {
        const std::vector<std::string>& names = op.result.event_units;
        found = found || names.empty() || !matching_units(names, {pattern}).empty();
        if (!names.empty() && example.empty()) example = names.front();
      }
    }
    if (found) continue;
    throw refused("{}: found '{}'; allowed: a unit such as {}, or a pattern with *", option,
                  pattern, example);
  }
}

std::string wave_name(const Runs& records, const RunRecord& run, const OpRecord& op) {
  if (records.size() == 1 && run.ops.size() == 1) return "waves.vcd";
  std::string id = op.row.op_id;
  std::replace(id.begin(), id.end(), '/', '_');
  return fmt::format("waves_run{}_{}.vcd", run.run, id);
}

}  // namespace

std::vector<WhatIf> what_ifs(const std::string& machine_kind) {
  const MachineKind* const kind = known_kind(machine_kind);
  return kind == nullptr || kind->what_ifs == nullptr ? std::vector<WhatIf>{} : kind->what_ifs();
}

Cycle interval_of(const Options& options) {
  if (!options.interval) return 0;
  return check_count("--interval", *options.interval, 1, std::uint64_t{1} << 62U);
}

std::uint64_t view_steps_of(const Options& options) {
  if (!options.view) return 0;
  return options.view_steps ? check_count("--view-steps", *options.view_steps, 1, 10000) : 200;
}

namespace {

/// "FROM:TO" or "FIRST-LAST" as two numbers.
std::optional<std::pair<std::uint64_t, std::uint64_t>> two_numbers(const std::string& text,
                                                                   char between) {
  const std::size_t at = text.find(between);
  if (at == std::string::npos) return std::nullopt;
  const auto first = parsed_number<std::uint64_t>(text.substr(0, at));
  const auto second = parsed_number<std::uint64_t>(text.substr(at + 1));
  if (!first || !second) return std::nullopt;
  return std::pair(*first, *second);
}

}  // namespace

std::optional<PathWindow> view_path_of(const Options& options) {
  constexpr std::uint64_t kMostCycles = 10000;
  constexpr std::uint32_t kMostCores = 64;
  if (!options.view_path) return std::nullopt;
  PathWindow window;
  const auto cycles = two_numbers(*options.view_path, ':');
  if (!cycles || cycles->second <= cycles->first || cycles->second - cycles->first > kMostCycles) {
    throw refused("--view-path: found '{}'; allowed: FROM:TO, at most {} cycles",
                  *options.view_path, kMostCycles);
  }
  window.from = cycles->first;
  window.to = cycles->second;
  window.columns = window.rows = kMostCores;
  if (!options.view_cores) return window;
  const std::size_t by = options.view_cores->find('x');
  const auto side = [&](const std::string& text, std::uint32_t& first, std::uint32_t& count) {
    const auto ends = two_numbers(text, '-');
    const bool right = ends && ends->first <= ends->second && ends->second < (1U << 20U) &&
                       ends->second - ends->first < kMostCores;
    if (right) {
      first = static_cast<std::uint32_t>(ends->first);
      count = static_cast<std::uint32_t>(ends->second - ends->first + 1);
    }
    return right;
  };
  const bool right = by != std::string::npos &&
                     side(options.view_cores->substr(0, by), window.column, window.columns) &&
                     side(options.view_cores->substr(by + 1), window.row, window.rows);
  if (!right) {
    throw refused(
        "--view-cores: found '{}'; allowed: columns and rows as 0-63x0-63, at most {} "
        "of each",
        *options.view_cores, kMostCores);
  }
  return window;
}

void refuse_view_words(const Options& options) {
  throw RequestError(
      options.view_path ? "--view-path: the page of a chip has its critical path in any case"
                        : "--view-steps: the steps of a chip are its supersteps; it is for wafers");
}

bool needs_events(const Options& options) {
  return options.event_log || options.timeline || !options.waves.empty();
}

namespace {

std::size_t timeline_limit(const Options& options) {
  const std::string megabytes = options.timeline_limit.value_or("32");
  return check_count("--timeline-limit", megabytes, 1, 4000) * 1000000;
}

/// The page of --view, of all operations that have numbers of each unit.
void write_view(const Runs& records, ResultFolder& folder) {
  std::vector<const std::string*> packed;
  for (const RunRecord& run : records) {
    for (const OpRecord& op : run.ops) {
      if (!op.view.empty()) packed.push_back(&op.view);
    }
  }
  if (packed.empty()) return;  // what kept it is said of each operation
  folder.write("view.html", view_page_of_first("Lacuna: " + records.front().workload, packed));
}

}  // namespace

void write_event_files(const Options& options, const Runs& records, ResultFolder& folder,
                       const std::string& timeline) {
  if (options.view) write_view(records, folder);
  if (options.timeline) {
    check_units(records, options.units, "--units");
    folder.write(timeline, timeline_json(records, options.units, timeline_limit(options)));
  }
  check_units(records, options.waves, "--waves");
  for (const RunRecord& run : records) {
    for (const OpRecord& op : run.ops) {
      if (options.waves.empty() || op.result.events.empty()) continue;
      folder.write(wave_name(records, run, op), waves_vcd(op, options.waves));
    }
  }
  const std::string power = power_csv(records);
  if (!power.empty()) {
    folder.write("power.csv", power);
    folder.write("intervals.csv", intervals_csv(records));
  }
  const std::string phases = phases_csv(records);
  if (!phases.empty()) folder.write("phases.csv", phases);
  std::string bounds = bounds_csv_head();
  for (const RunRecord& run : records) bounds += bounds_csv_rows(run, what_ifs(run.kind));
  folder.write("bounds.csv", bounds);
}

Figures event_figures(const Options& options, const Runs& records) {
  Figures figures;
  if (options.timeline) figures = gantt_figures(records, options.units);
  std::size_t drawn = 0;
  for_each_power(records, [&](const RunRecord& run, const OpRecord& op) {
    if (drawn++ >= kMostPowerFigures) return;
    figures.push_back(power_figure(run, op));
    figures.push_back(bandwidth_time_figure(run, op));
  });
  return figures;
}

std::string power_text(const Runs& records) {
  std::string text;
  for_each_power(records, [&](const RunRecord& run, const OpRecord& op) {
    const PowerPeak peak = power_peak(op.power);
    text += fmt::format(
        "power of run {}, {}: peak {:.4g} W in the {} cycles from cycle {}, "
        "mean {:.4g} W\n",
        run.run, op.row.op_id, peak.peak_w, op.power.front().to, peak.at, peak.mean_w);
  });
  return text;
}

}  // namespace lacuna
