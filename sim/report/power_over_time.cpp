// SPDX-License-Identifier: Apache-2.0
#include "sim/report/power_over_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "sim/report/csv_files.hpp"
#include "sim/report/event_spans.hpp"
#include "sim/report/figure_style.hpp"

namespace lacuna {

namespace {

using Weights = std::vector<double>;

/// What is active in each interval, on its way to shares.
class Spreader {
 public:
  Spreader(const OpRecord& op, Cycle interval, const ActivityRules& rules)
      : op_(op), cycles_(op.result.cycles / std::max<std::uint64_t>(op.repeat, 1)) {
    for (Cycle from = 0; from < cycles_; from += interval) {
      intervals_.push_back({from, std::min(from + interval, cycles_), {}, 0, 0, 0});
    }
    interval_ = interval;
    const std::size_t count = intervals_.size();
    compute_.assign(count, 0);
    fabric_.assign(count, 0);
    edge_.assign(count, 0);
    const EventTracks tracks = event_tracks(op.result);
    for (const EventSpan& span : tracks.spans) {
      if (span.what == rules.compute) add(compute_, span.from, span.to, 1);
      if (is_one_of(span.what, rules.fabric)) add(fabric_, span.from, span.to, 1);
      if (is_one_of(span.what, rules.edge)) add(edge_, span.from, span.to, 1);
    }
    for (const EventStep& step : tracks.steps) {
      if (is_one_of(step.what, rules.fabric)) add(fabric_, step.cycle, step.cycle + 1, 1);
      if (is_one_of(step.what, rules.edge)) add(edge_, step.cycle, step.cycle + 1, 1);
    }
    for (const PowerInterval& each : intervals_) {
      even_.push_back(static_cast<double>(each.to - each.from));
    }
    for (std::size_t i = 0; i < count; ++i) {
      const double all = even_[i] * static_cast<double>(op.result.units);
      idle_.push_back(std::max(0.0, all - compute_[i]));
    }
  }

  std::vector<PowerInterval> spread() {
    Weights dynamic(intervals_.size(), 0);
    for (const EnergyPart& part : op_.energy) {
      if (part.component == "clock") continue;
      spread_part(part, weights_of(part.component), dynamic);
    }
    for (const EnergyPart& part : op_.energy) {
      Weights none(intervals_.size(), 0);
      if (part.component == "clock") spread_part(part, dynamic, none);
    }
    const OpResult& result = op_.result;
    spread_bytes(result.sram_read_bytes + result.sram_write_bytes, compute_,
                 &PowerInterval::sram_gbps);
    spread_bytes(result.fabric_bytes, fabric_, &PowerInterval::fabric_gbps);
    spread_bytes(result.io_bytes, edge_, &PowerInterval::io_gbps);
    return std::move(intervals_);
  }

 private:
  static bool is_one_of(const std::string& word, const std::vector<std::string>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  }

  void add(Weights& weights, Cycle from, Cycle to, double per_cycle) const {
    to = std::min(to, cycles_);
    for (std::size_t i = from / interval_; i < weights.size() && from < to; ++i) {
      const Cycle end = std::min(to, intervals_[i].to);
      weights[i] += per_cycle * static_cast<double>(end - from);
      from = end;
    }
  }

  const Weights& weights_of(const std::string& component) const {
    if (component == "leakage") return even_;
    if (component == "idle_clock") return idle_;
    if (component == "fabric") return fabric_;
    return component == "off_chip" ? edge_ : compute_;
  }

  double seconds(std::size_t i) const { return even_[i] / (op_.result.clock_ghz * 1e9); }

  /// Shares of the whole; even ones where nothing was active at all.
  Weights shares(const Weights& weights) const {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    const Weights& used = sum > 0 ? weights : even_;
    if (!(sum > 0)) sum = static_cast<double>(cycles_);
    Weights result;
    for (const double weight : used) result.push_back(weight / sum);
    return result;
  }

  void spread_part(const EnergyPart& part, const Weights& weights, Weights& dynamic) {
    const auto repeat = static_cast<double>(std::max<std::uint64_t>(op_.repeat, 1));
    const Weights share = shares(weights);
    const bool follows = part.component != "leakage" && part.component != "idle_clock" &&
                         part.component != "off_chip";
    for (std::size_t i = 0; i < share.size(); ++i) {
      for (const Corner corner : kCorners) {
        intervals_[i].watts.at(corner) += part.joules.at(corner) / repeat * share[i] / seconds(i);
      }
      if (follows) dynamic[i] += part.joules.nominal * share[i];
    }
  }

  void spread_bytes(std::uint64_t bytes, const Weights& weights, double PowerInterval::*rate) {
    const auto repeat = static_cast<double>(std::max<std::uint64_t>(op_.repeat, 1));
    const Weights share = shares(weights);
    for (std::size_t i = 0; i < share.size(); ++i) {
      intervals_[i].*rate = static_cast<double>(bytes) / repeat * share[i] / seconds(i) * 1e-9;
    }
  }

  const OpRecord& op_;
  Cycle cycles_;
  Cycle interval_ = 1;
  std::vector<PowerInterval> intervals_;
  Weights compute_;
  Weights fabric_;
  Weights edge_;
  Weights even_;
  Weights idle_;
};

}  // namespace

std::vector<PowerInterval> power_over_time(const OpRecord& op, Cycle interval,
                                           const ActivityRules& rules) {
  if (op.result.events.empty() || op.energy.empty() || interval == 0) return {};
  return Spreader(op, interval, rules).spread();
}

PowerPeak power_peak(const std::vector<PowerInterval>& intervals) {
  PowerPeak peak;
  double sum = 0;
  double cycles = 0;
  for (const PowerInterval& each : intervals) {
    const auto length = static_cast<double>(each.to - each.from);
    sum += each.watts.nominal * length;
    cycles += length;
    if (each.watts.nominal <= peak.peak_w) continue;
    peak.peak_w = each.watts.nominal;
    peak.at = each.from;
  }
  peak.mean_w = cycles > 0 ? sum / cycles : 0;
  return peak;
}

std::string power_csv_head() {
  return csv_line({"run", "op_id", "from_cycle", "to_cycle", "power_w", "power_low_w",
                   "power_high_w", "sram_gbps", "fabric_gbps", "io_gbps"});
}

std::string power_csv_rows(const OpRecord& op, const std::vector<PowerInterval>& intervals) {
  std::string csv;
  for (const PowerInterval& each : intervals) {
    csv += csv_line({fmt::format("{}", op.row.run), op.row.op_id, fmt::format("{}", each.from),
                     fmt::format("{}", each.to), fmt::format("{}", each.watts.nominal),
                     fmt::format("{}", each.watts.low), fmt::format("{}", each.watts.high),
                     fmt::format("{}", each.sram_gbps), fmt::format("{}", each.fabric_gbps),
                     fmt::format("{}", each.io_gbps)});
  }
  return csv;
}

Figure power_figure(const RunRecord& run, const OpRecord& op,
                    const std::vector<PowerInterval>& intervals) {
  Figure figure;
  std::string id = op.row.op_id;
  std::replace_if(
      id.begin(), id.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; },
      '_');
  figure.name = fmt::format("power_run{}_{}", run.run, id);
  figure.csv = csv_line({"time_us", "low", "nominal", "high"});
  const double micros = 1 / (op.result.clock_ghz * 1000);
  double most = 0;
  for (const PowerInterval& each : intervals) {
    most = std::max(most, each.watts.high);
    for (const Cycle cycle : {each.from, each.to}) {  // a step, drawn as its two ends
      figure.csv +=
          csv_line({fmt::format("{}", static_cast<double>(cycle) * micros),
                    fmt::format("{}", each.watts.low), fmt::format("{}", each.watts.nominal),
                    fmt::format("{}", each.watts.high)});
    }
  }
  Page page;
  page.name = figure.name;
  page.title = {fmt::format("{}, {}, {}", run.machine, run.workload, op.row.op_id),
                fmt::format("intervals of {} cycles", intervals.front().to)};
  page.left = 0.5;
  page.legend = {"all prices low to all high", "nominal"};
  std::string body = "  set xlabel 'Time (us)'\n  set ylabel 'Power (W)'\n";
  body += fmt::format("  set yrange [0:{:.6g}]\n", most > 0 ? most * 1.05 : 1);
  body +=
      fmt::format("  set xrange [0:{:.6g}]\n", static_cast<double>(intervals.back().to) * micros);
  body += fmt::format(
      "  plot {0} skip 1 using 1:2:4 with filledcurves fillstyle solid 1.0 noborder linecolor "
      "'#CFE3F2' title 'all prices low to all high', \\\n"
      "       {0} skip 1 using 1:3 with lines linewidth 1.0 linecolor '#0072B2' title 'nominal'\n",
      quoted(figure.name + ".csv"));
  figure.script = figure_script(page, body);
  return figure;
}

}  // namespace lacuna
