// SPDX-License-Identifier: Apache-2.0
#include "sim/report/html/html_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/report/figures/figure_style.hpp"
#include "sim/report/html/html_frame.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

/// A bar of the layers, which is read out as numbers.
std::string bar_html(const Waits& waits) {
  std::string bar;
  std::string said;
  for (const Layer layer : kLayers) {
    const double percent = 100 * waits.share(layer);
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

HtmlCell number(const std::optional<Mean>& mean, double scale) {
  return mean ? HtmlCell{mean_text(mean, scale), fmt::format("{}", mean->mean * scale)}
              : HtmlCell{};
}

std::string range(const std::optional<EnergyRange>& range) {
  return range ? range_cell(range->low, range->high) : "";
}

}  // namespace

std::string answer_html(const Answer& answer, const std::string& figure) {
  HtmlTable table({"run", "machine", "pattern", "where cores waited", "largest parts", "time (us)",
                   "speed-up", "energy over dense", "low to high", "useful TFLOP/s",
                   "silicon (mm2)", "energy (uJ)", "pJ per useful FLOP", "pJ, low to high"},
                  5);
  for (const AnswerPoint& point : answer.points) {
    const auto cell = [&](Quantity which) {
      const QuantityWords& words = words_of(which);
      return number(point.mean(which), words.scale);
    };
    const SummaryRow& total = point.run().total;
    const std::string why = point.is_ok()
                                ? largest_text(point.waits)
                                : std::string(status_name(total.status)) + ": " + total.reason;
    table.row(html_cells(
        point.run().run, point.run().machine, point.pattern,
        HtmlCell{bar_html(point.waits), fmt::format("{:.4f}", point.waits.share(Layer::compute)),
                 true},
        why, cell(Quantity::time), cell(Quantity::speedup), cell(Quantity::energy_vs_dense),
        range(point.energy_vs_dense), cell(Quantity::useful),
        point.silicon_mm2 ? std::optional(point.silicon_mm2->nominal) : std::nullopt,
        cell(Quantity::energy), cell(Quantity::energy_per_flop), range(point.energy_per_flop)));
  }
  std::string text = "<p>";
  for (const std::string& sentence : sentences(answer)) {
    text += (text.size() > 3 ? " " : "") + html_escaped(sentence);
  }
  text += "</p>\n";
  const std::string energy = energy_rank_text(answer);
  if (!energy.empty()) text += fmt::format("<p>{}</p>\n", html_escaped(energy));
  return text + figure + key_html() + table.text();
}

}  // namespace lacuna
