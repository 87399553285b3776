// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/event_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/report/event_spans.hpp"
#include "sim/report/timeline.hpp"

namespace lacuna {

namespace {

constexpr std::uint64_t kMostIntervals = 100000;
constexpr std::size_t kMostPowerFigures = 8;

Cycle interval_of(const Options& options) {
  return check_count("--interval", *options.interval, 1, std::uint64_t{1} << 62U);
}

/// Calls `visit(run, op, intervals)` for each operation with an event log.
template <class Visit>
void for_each_power(const Options& options, const std::vector<RunRecord>& records,
                    const Visit& visit) {
  const Cycle interval = interval_of(options);
  for (const RunRecord& run : records) {
    for (const OpRecord& op : run.ops) {
      if (op.result.cycles / interval > kMostIntervals) {
        throw RequestError(
            fmt::format("--interval: found '{}', but {} takes {} cycles; allowed: at "
                        "most {} intervals",
                        interval, op.row.op_id, op.result.cycles, kMostIntervals));
      }
      const std::vector<PowerInterval> power =
          power_over_time(op, interval, activity_rules(run.kind));
      if (!power.empty()) visit(run, op, power);
    }
  }
}

/// Names of units that no machine of the result has.
void check_units(const std::vector<RunRecord>& records, const std::vector<std::string>& patterns,
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
    throw RequestError(
        fmt::format("{}: found '{}'; allowed: a unit such as {}, or a pattern with *", option,
                    pattern, example));
  }
}

std::string wave_name(const std::vector<RunRecord>& records, const RunRecord& run,
                      const OpRecord& op) {
  if (records.size() == 1 && run.ops.size() == 1) return "waves.vcd";
  std::string id = op.row.op_id;
  std::replace(id.begin(), id.end(), '/', '_');
  return fmt::format("waves_run{}_{}.vcd", run.run, id);
}

}  // namespace

ActivityRules activity_rules(const std::string& machine_kind) {
  if (machine_kind == "wse") return {"beat", {"word_out"}, {"word_in"}};
  return {"vertex", {"send", "port_send"}, {}};
}

std::vector<WhatIf> what_ifs(const std::string& machine_kind) {
  const WhatIf compute{"compute alone", {"exchange", "sync", "stall", "imbalance", "idle"}};
  if (machine_kind == "wse") {
    return {{"ideal exchange", {"exchange", "stall.ring_out", "stall.buffer", "imbalance.ring_in"}},
            {"perfect balance", {"idle", "imbalance.ring_in"}},
            {"infinite I/O", {"imbalance.weights"}},
            {"no sync", {"sync"}},
            compute};
  }
  return {{"ideal exchange",
           {"exchange", "imbalance.exchange_tail", "stall.exchange_gap", "stall.port_wait"}},
          {"perfect balance", {"imbalance", "idle"}},
          {"infinite I/O", {"stall.io"}},
          {"no sync", {"sync"}},
          compute};
}

bool needs_events(const Options& options) {
  return options.event_log || options.timeline || !options.waves.empty() || options.interval;
}

void check_event_options(const Options& options) {
  if (options.scalesim && !options.out) {
    throw RequestError("--scalesim: needs --out, the folder for the reports");
  }
  if (options.timeline && !options.out) {
    throw RequestError("--timeline: needs --out, the folder for timeline.json");
  }
  if (!options.waves.empty() && !options.out) {
    throw RequestError("--waves: needs --out, the folder for the .vcd files");
  }
  if (!options.units.empty() && !options.timeline) {
    throw RequestError("--units: goes with --timeline");
  }
  if (options.interval) interval_of(options);
}

void write_event_files(const Options& options, const std::vector<RunRecord>& records,
                       ResultFolder& folder) {
  if (options.timeline) {
    check_units(records, options.units, "--units");
    folder.write("timeline.json", timeline_json(records, options.units));
  }
  check_units(records, options.waves, "--waves");
  for (const RunRecord& run : records) {
    for (const OpRecord& op : run.ops) {
      if (options.waves.empty() || op.result.events.empty()) continue;
      folder.write(wave_name(records, run, op), waves_vcd(op, options.waves));
    }
  }
  if (options.interval) {
    std::string csv = power_csv_head();
    for_each_power(options, records, [&](const RunRecord&, const OpRecord& op, const auto& power) {
      csv += power_csv_rows(op, power);
    });
    folder.write("power.csv", csv);
  }
  std::string bounds = bounds_csv_head();
  for (const RunRecord& run : records) bounds += bounds_csv_rows(run, what_ifs(run.kind));
  folder.write("bounds.csv", bounds);
}

std::vector<Figure> event_figures(const Options& options, const std::vector<RunRecord>& records) {
  std::vector<Figure> figures;
  if (options.timeline) figures = gantt_figures(records, options.units);
  if (!options.interval) return figures;
  std::size_t drawn = 0;
  for_each_power(options, records,
                 [&](const RunRecord& run, const OpRecord& op, const auto& power) {
                   if (drawn++ < kMostPowerFigures) figures.push_back(power_figure(run, op, power));
                 });
  return figures;
}

std::string power_text(const Options& options, const std::vector<RunRecord>& records) {
  std::string text;
  if (!options.interval) return text;
  for_each_power(options, records,
                 [&](const RunRecord& run, const OpRecord& op, const auto& power) {
                   const PowerPeak peak = power_peak(power);
                   text += fmt::format(
                       "power of run {}, {}: peak {:.4g} W in the {} cycles from cycle {}, "
                       "mean {:.4g} W\n",
                       run.run, op.row.op_id, peak.peak_w, *options.interval, peak.at, peak.mean_w);
                 });
  return text;
}

}  // namespace lacuna
