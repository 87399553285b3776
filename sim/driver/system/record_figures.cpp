// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/driver/system/record.hpp"
#include "sim/report/figures/figure_stacked.hpp"
#include "sim/report/json_figure.hpp"

namespace lacuna {

namespace {

double in_ms(Cycle ns) { return static_cast<double>(ns) * 1e-6; }

/// A row of bars for each track. Kinds without a bar are left out.
Figure span_figure(const SystemRecord& record) {
  const SystemSpans& spans = record.spans;
  SpanChart chart;
  chart.page.name = "pipeline";
  chart.page.title = {record.title, spans.shown};
  chart.page.data_height = 0.13 * static_cast<double>(spans.tracks.size()) + 0.15;
  chart.page.left = spans.left;
  chart.page.right = 0.2;
  chart.columns = {"track", "use", "from_ms", "to_ms"};
  chart.place = "track";
  chart.kind_of = "use";
  chart.from = "from_ms";
  chart.to = "to_ms";
  chart.y = named_rows(spans.tracks);
  std::string rows;
  Cycle end = 0;
  std::vector<bool> has(spans.kinds.size());
  for (const SystemBar& bar : spans.drawn) {
    has[bar.kind] = true;
    end = std::max(end, bar.to);
    rows += fmt::format("{},{},{:.6f},{:.6f}\n", bar.track, spans.kinds[bar.kind].first,
                        in_ms(bar.from), in_ms(bar.to));
  }
  chart.x = {"ms", false, 0, in_ms(end)};
  for (std::size_t kind = 0; kind < has.size(); ++kind) {
    if (has[kind]) chart.kinds.push_back(spans.kinds[kind]);
  }
  return draw(chart, rows);
}

/// What memories hold while the bars above go on.
Figure levels_figure(const SystemRecord& record) {
  const SystemSpans& spans = record.spans;
  Chart chart;
  chart.page.name = "memory_over_time";
  chart.page.title = {record.title, "memory of " + spans.shown};
  chart.page.left = spans.left;
  chart.page.right = 0.2;
  chart.columns = {"ms"};
  append(chart.columns, spans.memories);
  chart.x = {"ms", false, 0, in_ms(spans.levels.back().to)};
  chart.y = {"MB", false, 0};
  for (const std::string& name : spans.memories) {
    const auto number = static_cast<unsigned>(chart.layers.size());
    chart.layers.push_back({Mark::line, {}, "ms", name, line_style(number), name});
  }
  std::string rows;
  for (const SystemLevels& each : spans.levels) {
    for (const Cycle at : {each.from, each.to}) {  // a step, drawn as its two ends
      rows += fmt::format("{:.6f},{:.6f}\n", in_ms(at), fmt::join(each.mb, ","));
    }
  }
  return draw(chart, rows);
}

Figure time_figure(const SystemRecord& record) {
  StackedFigure figure;
  figure.name = "time_stack";
  figure.title = {record.title, fmt::format("where the time of {} chips goes", record.drawn_chips)};
  figure.x_label = "ms";
  figure.parts = coloured(record.uses);
  for (std::size_t chip = 0; chip < record.drawn_chips; ++chip) {
    StackedBar bar;
    bar.label = fmt::format("chip {}", chip);
    for (std::size_t use = record.uses.first; use < record.uses.end; ++use) {
      bar.values.push_back(in_ms(record.run.chips[chip][use]));
    }
    figure.bars.push_back(std::move(bar));
  }
  Figures figures;
  add_stacked(figure, figures);
  return figures.front();
}

Figure memory_figure(const SystemRecord& record) {
  constexpr std::array<const char*, system::kHeld> kColours = {
      "#08519c", "#6baed6", "#6a51a3", "#74c476", "#fdae6b", "#7f7f7f", "#bdbdbd", "#d62728"};
  StackedFigure figure;
  figure.name = "memory";
  figure.title = {record.title, "memory at its fullest"};
  figure.x_label = "MB";
  figure.note_label = "of what there is";
  for (std::size_t i = 0; i < system::kHeld; ++i) {
    figure.parts.emplace_back(system::kHeldNames[i], kColours.at(i));
  }
  const bool phases = !record.memory.empty() && record.memory.back().phase > 0;
  for (const system::MemoryAccount& account : record.memory) {
    StackedBar bar;
    bar.label = account.name.empty() ? fmt::format("chip {}", account.chip) : account.name;
    if (phases) bar.label = fmt::format("phase {} {}", account.phase, bar.label);
    for (const std::uint64_t bytes : account.use.bytes) bar.values.push_back(in_mb(bytes));
    bar.note = fmt::format("{:.0f} %", 100.0 * static_cast<double>(account.use.total()) /
                                           static_cast<double>(account.capacity));
    figure.bars.push_back(std::move(bar));
  }
  Figures figures;
  add_stacked(figure, figures);
  return figures.front();
}

}  // namespace

Figures figures_of(const SystemRecord& record) {
  Figures figures = {span_figure(record)};
  if (!record.spans.levels.empty()) figures.push_back(levels_figure(record));
  figures.push_back(time_figure(record));
  if (!record.memory.empty()) figures.push_back(memory_figure(record));
  return figures;
}

}  // namespace lacuna
