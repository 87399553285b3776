// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sim/base/ranges.hpp"

namespace lacuna {

namespace {

/// The one word all operations with weights agree on, or "mixed".
template <class Word>
std::string common(const std::vector<SummaryRow>& ops, Word word) {
  std::vector<const SummaryRow*> rows;
  rows.reserve(ops.size());
  for (const SummaryRow& op : ops) rows.push_back(&op);
  std::string result;
  for (const SummaryRow* op : rows_of_weights(std::move(rows))) {
    const std::string own = word(*op);
    if (!result.empty() && own != result) return "mixed";
    result = own;
  }
  return result;
}

/// Non-zeros over elements of the whole workload, each operation weighted by its dense work.
double density_of(const FigureRun& run) {
  if (run.total.density) return *run.total.density;
  double useful = 0;
  double dense = 0;
  for (const SummaryRow& op : run.ops) {
    if (!op.useful_flop) continue;
    const auto flop = static_cast<double>(*op.useful_flop);
    const double density = op.density.value_or(1);
    useful += flop;
    if (density > 0) dense += flop / density;
  }
  return dense > 0 ? useful / dense : 1;
}

std::string workload_of(const FigureRun& run) {
  if (run.ops.size() != 1) return run.total.workload;
  const SummaryRow& only = run.ops.front();
  return only.m && only.k && only.n ? shape_text(only) : run.total.workload;
}

std::string mode_of(const FigureRun& run) {
  return common(run.ops, [](const SummaryRow& op) { return op.mode; });
}

std::string dtype_of(const FigureRun& run) {
  return common(run.ops, [](const SummaryRow& op) { return op.dtype; });
}

/// The last word of each path, or all of it where that would be one of two.
std::vector<std::string> short_names(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    const std::string last = last_word(path);
    const auto alike =
        count_where(paths, [&](const std::string& other) { return last_word(other) == last; });
    names.push_back(alike > 1 ? path : last);
  }
  return names;
}

/// Nothing of an operation that has no values or forms no products.
std::optional<PeakRates> peaks_of(const OpResult& result) {
  const Peaks& peaks = result.peaks;
  if (result.status != Status::ok || peaks.flop_per_cycle <= 0) return std::nullopt;
  const double hertz = result.clock_ghz * 1e9;
  return PeakRates{peaks.flop_per_cycle * hertz * 1e-12, peaks.sram_bytes_per_cycle * hertz * 1e-9,
                   peaks.fabric_bytes_per_cycle * hertz * 1e-9,
                   peaks.io_bytes_per_cycle * hertz * 1e-9};
}

/// Where parameters vary, names of bars leave out what all of them have in common.
void shorten_bars(FigureRuns& runs) {
  const auto differ = [&](auto word) {
    return any_of(runs, [&](const FigureRun& run) { return word(run) != word(runs.front()); });
  };
  const bool machines = differ([](const FigureRun& run) { return run.machine; });
  const bool patterns = differ([](const FigureRun& run) { return run.pattern + run.density_text; });
  for (FigureRun& run : runs) {
    std::string text = machines ? run.machine : "";
    const auto add = [&](const std::string& more) {
      text += (text.empty() || more.empty() ? "" : " ") + more;
    };
    if (patterns) add(run.pattern == "dense" ? run.pattern : run.pattern + " " + run.density_text);
    add(run.variant);
    run.short_bar = text;
  }
}

/// Whether each value of axis `first` has one value of axis `second` beside it.
bool implies(const FigureRuns& runs, std::size_t first, std::size_t second) {
  std::map<std::string, std::string> with;
  return all_of(runs, [&](const FigureRun& run) {
    const std::vector<std::string>& values = run.total.varying;
    if (values.size() <= std::max(first, second)) return false;
    return with.emplace(values[first], values[second]).first->second == values[second];
  });
}

/// The axes that names of runs say: where they are many, not those that an earlier one implies.
std::vector<std::size_t> axes_to_name(const FigureRuns& runs, std::size_t axes) {
  constexpr std::size_t kFew = 2;
  std::vector<std::size_t> named;
  for (std::size_t i = 0; i < axes; ++i) {
    const bool implied =
        axes > kFew && any_of(named, [&](std::size_t j) { return implies(runs, j, i); });
    if (!implied) named.push_back(i);
  }
  return named;
}

/// Adds to the variants of all runs what they differ in.
void tell_apart(FigureRuns& runs, const std::vector<std::string>& varying) {
  const std::vector<std::string> names = short_names(varying);
  for (const std::size_t i : axes_to_name(runs, varying.size())) {
    for (FigureRun& run : runs) {
      if (run.total.varying.size() <= i || run.total.varying[i].empty()) continue;
      if (!run.variant.empty()) run.variant += " ";
      run.variant += names[i] + "=" + run.total.varying[i];
    }
  }
  // a mode that goes with the machine or with the pattern says nothing new, so it must differ
  // between runs of one machine and pattern
  for (const auto word : {workload_of, mode_of, dtype_of}) {
    std::map<std::string, std::set<std::string>> words;
    for (const FigureRun& run : runs) {
      words[run.machine + "/" + run.pattern].insert(word(run));
    }
    const bool differs = any_of(words, [](const auto& each) { return each.second.size() > 1; });
    if (!differs) continue;
    for (FigureRun& run : runs) {
      if (!run.variant.empty()) run.variant += " ";
      run.variant += word(run);
    }
  }
}

}  // namespace

std::string last_word(const std::string& path) { return path.substr(path.rfind('.') + 1); }

std::string FigureRun::series() const {
  // no commas: gnuplot compares the words of a CSV cell, and does not take its quotes off
  std::string text = machine + " " + pattern;
  if (!variant.empty()) text += " " + variant;
  return text;
}

std::string FigureRun::bar() const {
  if (!short_bar.empty()) return short_bar;
  return pattern == "dense" ? series() : series() + " at " + density_text;
}

std::string status_words(Status status) {
  if (status == Status::unsupported) return "not supported";
  std::string words = status_name(status);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::vector<std::string> missing_lines(const FigureRuns& runs) {
  constexpr std::size_t kMostLines = 3;
  std::vector<std::string> lines;
  std::size_t more = 0;
  for (const FigureRun& run : runs) {
    if (run.ok()) continue;
    if (lines.size() < kMostLines) {
      lines.push_back(fmt::format("no value: {}: {}", run.bar(), status_words(run.total.status)));
    } else {
      ++more;
    }
  }
  if (more > 0) lines.push_back(fmt::format("and {} more without a value", more));
  return lines;
}

std::optional<EnergyRange> throughput_range(const SummaryRow& row) {
  if (!row.useful_tflops || !(*row.useful_tflops > 0)) return std::nullopt;
  const double rate = *row.useful_tflops;
  if (!row.time_low_s || !row.time_high_s || !row.time_s) return EnergyRange{rate, rate, rate};
  return EnergyRange{rate * *row.time_s / *row.time_high_s, rate,
                     rate * *row.time_s / *row.time_low_s};
}

std::optional<EnergyRange> speedup_range(const SummaryRow& row) {
  if (!row.speedup_vs_dense || !(*row.speedup_vs_dense > 0)) return std::nullopt;
  const double ratio = *row.speedup_vs_dense;
  return EnergyRange{row.speedup_low.value_or(ratio), ratio, row.speedup_high.value_or(ratio)};
}

std::string pattern_label(const SummaryRow& row) {
  if (row.block.empty() || row.block == "1" || row.pattern == "dense") return row.pattern;
  return row.pattern + " " + row.block;
}

FigureRuns figure_runs(const Runs& records) {
  std::map<std::string, std::string> extents;
  for (const RunRecord& record : records) {
    std::string& extent = extents.emplace(record.machine, record.extent).first->second;
    if (extent != record.extent) extent = "several sizes";
  }
  FigureRuns runs;
  for (const RunRecord& record : records) {
    FigureRun& run = runs.emplace_back();
    run.record = &record;
    run.machine = record.machine;
    run.extent = extents[record.machine];
    run.total = record.total;
    for (const OpRecord& op : record.ops) {
      run.ops.push_back(op.row);
      if (!op.result.stack.empty()) run.units = op.result.units;
      if (!run.peaks) run.peaks = peaks_of(op.result);
    }
    run.pattern = common(run.ops, pattern_label);
    run.density = density_of(run);
  }
  std::set<double> densities;
  for (const FigureRun& run : runs) {
    if (run.density > 0) densities.insert(run.density);
  }
  const std::vector<std::string> texts = round_texts(densities);
  for (FigureRun& run : runs) {
    run.density_text = run.density > 0 ? nearest_text(texts, run.density) : "0";
  }
  const std::vector<std::string>& varying = varying_of(runs);
  tell_apart(runs, varying);
  if (!varying.empty()) shorten_bars(runs);
  std::map<std::string, std::optional<std::uint64_t>> first_seeds;
  for (FigureRun& run : runs) {
    const auto [first, is_new] =
        first_seeds.emplace(run.series() + " " + run.density_text, run.total.seed);
    run.repeated = !is_new && first->second != run.total.seed;
  }
  return runs;
}

std::vector<SeriesStyle> run_styles(const FigureRuns& runs) {
  std::vector<std::string> machines;
  std::vector<std::string> others;
  std::vector<SeriesStyle> styles;
  for (const FigureRun& run : runs) {
    const auto machine = static_cast<unsigned>(place_or_add(machines, run.machine));
    // a variant of a pattern needs a look of its own
    const std::string label = run.variant.empty() ? run.pattern : run.pattern + " " + run.variant;
    const std::size_t other = has_own_colour(label) ? 0 : place_or_add(others, label);
    styles.push_back(series_style(machine, label, static_cast<unsigned>(other)));
  }
  return styles;
}

const std::vector<std::string>& varying_of(const FigureRuns& runs) {
  static const std::vector<std::string> none;
  const auto* const found =
      find_where(runs, [](const FigureRun& run) { return !run.record->varying.empty(); });
  return found == nullptr ? none : found->record->varying;
}

std::vector<std::string> figure_title(const FigureRuns& runs) {
  std::vector<std::string> workloads;
  std::vector<std::string> machines;
  for (const FigureRun& run : runs) {
    place_or_add(workloads, run.total.workload.empty() ? workload_of(run) : run.total.workload);
    place_or_add(machines, run.machine + ": " + run.extent);
  }
  std::vector<std::string> lines;
  if (workloads.size() == 1) lines.push_back(workloads.front());
  for (const std::string& text : machines) {
    // as many machines on a line as there is room for
    if (lines.size() > 1 && text_width(lines.back() + text) < 3.1) {
      lines.back() += "; " + text;
    } else {
      lines.push_back(text);
    }
  }
  return lines;
}

}  // namespace lacuna
