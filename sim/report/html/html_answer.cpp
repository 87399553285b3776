// SPDX-License-Identifier: Apache-2.0
#include "sim/report/html/html_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "sim/report/figures/figure_style.hpp"
#include "sim/report/html/html_frame.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

constexpr std::array<Layer, 6> kLayers{Layer::compute, Layer::exchange,  Layer::sync,
                                       Layer::stall,   Layer::imbalance, Layer::idle};

std::string time_text(double seconds) {
  if (seconds >= 1) return four_digits(seconds) + " s";
  if (seconds >= 1e-3) return four_digits(seconds * 1e3) + " ms";
  return four_digits(seconds * 1e6) + " us";
}

std::string pattern_of(const RunRecord& run) {
  if (!run.pattern.empty()) return run.pattern;
  if (run.total.pattern.empty()) return run.workload;
  return run.total.density && run.total.pattern != "dense"
             ? fmt::format("{} at {}", run.total.pattern, short_number(*run.total.density))
             : run.total.pattern;
}

std::string name_of(const RunRecord& run) {
  std::string name = run.machine + ", " + pattern_of(run);
  for (std::size_t i = 0; i < run.varying.size() && i < run.total.varying.size(); ++i) {
    name += fmt::format(", {} {}", run.varying[i], run.total.varying[i]);
  }
  return name;
}

double share(const std::vector<StackPart>& stack, Layer layer) {
  double all = 0;
  double own = 0;
  for (const StackPart& part : stack) {
    all += static_cast<double>(part.cycles);
    if (part.layer == layer) own += static_cast<double>(part.cycles);
  }
  return all > 0 ? own / all : 0;
}

/// A bar of the layers, which is read out as numbers.
std::string bar_html(const std::vector<StackPart>& stack) {
  std::string bar;
  std::string said;
  for (const Layer layer : kLayers) {
    const double percent = 100 * share(stack, layer);
    if (percent < 0.05) continue;
    bar +=
        fmt::format("<i style=\"width:{:.1f}%;background:{}\"></i>", percent, layer_colour(layer));
    said += fmt::format("{}{} {:.0f} %", said.empty() ? "" : ", ", layer_name(layer), percent);
  }
  if (bar.empty()) return "";
  return fmt::format(R"(<span class="bar" role="img" aria-label="{0}" title="{0}">{1}</span>)",
                     said, bar);
}

std::string key_html() {
  std::string text = "<p class=\"key\">";
  for (const Layer layer : kLayers) {
    text += fmt::format("<span><i style=\"background:{}\"></i>{}</span>", layer_colour(layer),
                        layer_name(layer));
  }
  return text + "</p>\n";
}

bool is_ok(const RunRecord& run) { return run.total.status == Status::ok && run.total.time_s; }

/// What is longer or shorter than all others; nothing if no run has it.
template <class Value>
const RunRecord* best(const std::vector<RunRecord>& records, const Value& value) {
  const RunRecord* found = nullptr;
  for (const RunRecord& run : records) {
    const std::optional<double> own = is_ok(run) ? value(run) : std::nullopt;
    if (own && (found == nullptr || *own < *value(*found))) found = &run;
  }
  return found;
}

/// Sentences that say the most of it.
std::string sentences(const std::vector<RunRecord>& records) {
  std::string text;
  const RunRecord* const fastest =
      best(records, [](const RunRecord& run) { return run.total.time_s; });
  if (fastest == nullptr) return "<p>No run has finished.</p>\n";
  const std::string who = html_escaped(name_of(*fastest));
  const std::string time = time_text(*fastest->total.time_s);
  text += records.size() > 1 ? fmt::format("<p>Shortest: <b>{}</b>, {}.", who, time)
                             : fmt::format("<p><b>{}</b>: {}.", who, time);
  const RunRecord* const gain = best(records, [](const RunRecord& run) -> std::optional<double> {
    if (!run.total.speedup_vs_dense || run.total.pattern == "dense") return std::nullopt;
    return -*run.total.speedup_vs_dense;
  });
  if (gain != nullptr) {
    const double factor = *gain->total.speedup_vs_dense;
    text += factor > 1 ? fmt::format(
                             " Zeros gave most on <b>{}</b>: {} times as fast as its own "
                             "dense run.",
                             html_escaped(name_of(*gain)), four_digits(factor))
                       : fmt::format(
                             " No pattern was faster than its machine's dense run; nearest "
                             "came <b>{}</b>, {} of its speed.",
                             html_escaped(name_of(*gain)), four_digits(factor));
  }
  const RunRecord* const thrifty = best(records, [](const RunRecord& run) -> std::optional<double> {
    return run.total.pj_per_useful_flop;
  });
  if (thrifty != nullptr && records.size() > 1) {
    text += fmt::format(" Least energy for a useful FLOP: <b>{}</b>, {} pJ.",
                        html_escaped(name_of(*thrifty)),
                        four_digits(*thrifty->total.pj_per_useful_flop));
  }
  return text + "</p>\n";
}

}  // namespace

std::string report_title(const std::vector<RunRecord>& records) {
  std::vector<std::string> workloads;
  std::vector<std::string> machines;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const RunRecord& run : records) {
    add(workloads, run.workload);
    add(machines, run.machine);
  }
  if (records.empty()) return "Lacuna report";
  const std::string what = workloads.size() > 2 ? fmt::format("{} workloads", workloads.size())
                                                : fmt::format("{}", fmt::join(workloads, " and "));
  if (machines.size() > 3) return fmt::format("{} on {} machines", what, machines.size());
  const std::string last = machines.back();
  machines.pop_back();
  return machines.empty() ? fmt::format("{} on {}", what, last)
                          : fmt::format("{} on {} and {}", what, fmt::join(machines, ", "), last);
}

std::string what_limits(const RunRecord& run) {
  const std::vector<StackPart> stack = run.stack();
  const StackPart* largest = nullptr;
  double all = 0;
  for (const StackPart& part : stack) {
    all += static_cast<double>(part.cycles);
    if (part.layer == Layer::compute) continue;
    if (largest == nullptr || part.cycles > largest->cycles) largest = &part;
  }
  if (largest == nullptr || largest->cycles == 0) return stack.empty() ? "" : "arithmetic";
  const double percent = 100 * static_cast<double>(largest->cycles) / all;
  if (static_cast<double>(largest->cycles) < share(stack, Layer::compute) * all / 2) {
    return fmt::format("arithmetic, {:.0f} %; then {}: {}, {:.0f} %",
                       100 * share(stack, Layer::compute), layer_name(largest->layer),
                       largest->kind, percent);
  }
  return fmt::format("{}: {}, {:.0f} %", layer_name(largest->layer), largest->kind, percent);
}

std::string answer_html(const std::vector<RunRecord>& records) {
  HtmlTable table(
      {"run", "machine", "pattern", "where the cycles went", "what limits", "time (us)", "speed-up",
       "useful TFLOP/s", "energy (uJ)", "pJ per useful FLOP", "pJ, low to high"},
      5);
  for (const RunRecord& run : records) {
    const auto number = [](const std::optional<double>& value, double scale = 1) {
      return value ? HtmlCell{four_digits(*value * scale), fmt::format("{}", *value * scale)}
                   : HtmlCell{};
    };
    const SummaryRow& total = run.total;
    std::string range;
    if (total.energy_j && total.useful_flop.value_or(0) > 0) {
      const double scale = 1e12 / static_cast<double>(*total.useful_flop);
      range = fmt::format("{} to {}", four_digits(total.energy_j->low * scale),
                          four_digits(total.energy_j->high * scale));
    }
    std::optional<double> joules;
    if (total.energy_j) joules = total.energy_j->nominal;
    const std::string why = total.status == Status::ok
                                ? what_limits(run)
                                : std::string(status_name(total.status)) + ": " + total.reason;
    const std::string id = fmt::format("{}", run.run);
    const std::string name = pattern_of(run);
    table.row(
        {{id, id},
         {run.machine, run.machine},
         {name, name},
         {bar_html(run.stack()), fmt::format("{:.4f}", share(run.stack(), Layer::compute)), true},
         {why, why},
         number(total.time_s, 1e6),
         number(total.speedup_vs_dense),
         number(total.useful_tflops),
         number(joules, 1e6),
         number(total.pj_per_useful_flop),
         {range, range}});
  }
  return sentences(records) + key_html() + table.text();
}

}  // namespace lacuna
