// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <sstream>

#include "sim/base/parsed_number.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/split.hpp"
#include "sim/driver/command/model/model_sweep.hpp"
#include "sim/driver/sweep/combinations.hpp"
#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/figures/figure_style.hpp"

namespace lacuna {

namespace {

/// Of a part such as "all=tile:nm:2:4": the share after its names.
std::optional<double> share_of_part(std::string part) {
  part = part.substr(part.find('=') == std::string::npos ? 0 : part.find('=') + 1);
  std::vector<double> numbers;
  for (const std::string& field : split(part.substr(0, part.find('@')), ':')) {
    if (const auto value = parsed_number<double>(field)) numbers.push_back(*value);
  }
  if (numbers.size() == 2 && numbers[1] > 0) return numbers[0] / numbers[1];
  return numbers.size() == 1 ? std::optional(numbers[0]) : std::nullopt;
}

struct SweptQuantity {
  const char* name;
  const char* label;
  const char* title;
};
constexpr std::array<SweptQuantity, 4> kSwept = {
    {{"tokens_per_s", "tokens/s", "Rate of a language model"},
     {"joules_per_token", "J/token", "Energy of a language model"},
     {"positions_that_fit", "positions", "Context that fits"},
     {"of_layer_in_cache", "% of a layer's time", "Time on keys and values"}}};

bool is_share(const std::string& axis) {
  return axis == "weights" || axis == "activations" || axis == "density";
}

/// The value of an axis at a point, one axis standing for those of single machines.
std::string value_of(const ModelSweep& sweep, const ModelPoint& point, const std::string& axis) {
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
    if (bare_key(sweep.axes[i]) == axis && !point.varying[i].empty()) return point.varying[i];
  }
  return "";
}

std::vector<std::string> axes_of(const ModelSweep& sweep) {
  std::vector<std::string> axes;
  for (const std::string& axis : sweep.axes) place_or_add(axes, bare_key(axis));
  return axes;
}

std::optional<double> place_of(const std::string& axis, const std::string& value) {
  if (is_share(axis)) return share_said(value.empty() ? "none" : value);
  return parsed_number<double>(value);
}

/// The line over `axis` that a point is on: what the others have. None for a point of less than all
/// of something else.
std::optional<std::string> line_of(const ModelSweep& sweep, const ModelPoint& point,
                                   const std::string& axis) {
  std::string label = point.machine;
  for (const std::string& other : axes_of(sweep)) {
    if (other == axis || other == "machine") continue;
    const std::string value = value_of(sweep, point, other);
    if (is_share(other)) {
      if (share_said(value.empty() ? "none" : value) != 1) return std::nullopt;
    } else if (!value.empty()) {
      label += fmt::format(", {} {}", other, value);
    }
  }
  return label;
}

/// Lines over `axis`: a point is on the line of what the others have.
LineFigure lines_over(const ModelSweep& sweep, const std::vector<ModelOutcome>& outcomes,
                      const std::string& axis, const SweptQuantity& quantity) {
  LineFigure figure;
  figure.name = fmt::format("{}_{}", quantity.name, axis);
  figure.title = {quantity.title, sweep.name};
  figure.x_label = is_share(axis) ? axis + " left" : axis;
  figure.y_label = quantity.label;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const ModelPoint& point = sweep.points[i];
    const std::optional<double> x = place_of(axis, value_of(sweep, point, axis));
    if (!outcomes[i].report || !x || *x <= 0) continue;
    const double y = outcomes[i].report->of(quantity.name);
    if (!(y > 0) || !std::isfinite(y)) continue;
    const std::optional<std::string> label = line_of(sweep, point, axis);
    if (!label) continue;
    figure.labelled(*label, line_style(static_cast<unsigned>(figure.series.size())))
        .points.push_back(exact_point(*x, y));
  }
  return figure;
}

}  // namespace

std::optional<double> share_said(const std::string& word) {
  if (word == "none" || word == "dense") return 1;
  std::optional<double> share;
  std::istringstream in(word);
  for (std::string part; in >> part;) {
    const std::optional<double> one = share_of_part(part);
    if (!one || (share && *share != *one)) return std::nullopt;
    share = one;
  }
  return share;
}

Figures model_sweep_figures(const ModelSweep& sweep, const std::vector<ModelOutcome>& outcomes) {
  Figures figures;
  for (const std::string& axis : axes_of(sweep)) {
    for (const SweptQuantity& quantity : kSwept) {
      const LineFigure figure = lines_over(sweep, outcomes, axis, quantity);
      const bool is_line = any_of(figure.series, [](auto& each) { return each.points.size() > 1; });
      if (is_line) figures.push_back(draw_lines(figure));
    }
  }
  return figures;
}

}  // namespace lacuna
