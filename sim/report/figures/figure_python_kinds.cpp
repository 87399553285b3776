// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/report/figures/figure_python.hpp"
#include "sim/report/figures/figure_python_parts.hpp"

namespace lacuna {

namespace {

/// The ticks and the limits of a row of points.
std::string dots_axis(const PythonDots& dots) {
  if (dots.marks.empty()) {
    return "axes.set(xlim=(0, 100), xticks=[0, 25, 50, 75, 100])\n"
           "axes.xaxis.set_major_formatter('{x:g} %')\n";
  }
  return "axes.set_xscale('log')\n" + python::ticks_of("x", dots.marks) +
         fmt::format("axes.set_xlim({:.6g}, {:.6g})\n", dots.marks.front(), dots.marks.back());
}

/// What stands at the left edge in place of values, with its reason.
std::string dots_gaps(const PythonDots& dots) {
  std::string gaps;
  for (std::size_t row = 0; row < dots.gaps.size(); ++row) {
    if (dots.gaps[row].empty()) continue;
    gaps += fmt::format("    {}: {},\n", row, python::literal(dots.gaps[row]));
  }
  if (gaps.empty()) return "";
  return "gaps = {\n" + gaps +
         "}\n"
         "edge = axes.get_xlim()[0]\n"
         "for row, reason in gaps.items():\n"
         "    axes.plot([edge], [row], 'o', color=ink, markerfacecolor='none', clip_on=False)\n"
         "    axes.annotate(shown(reason), (edge, row), xytext=(5, 0), color=ink, va='center',\n"
         "                  textcoords='offset points', annotation_clip=False)\n";
}

/// The call that draws one level, of the frame `own`.
std::string call_of(const PythonLevel& level, double width) {
  const std::string label = ", label=shown(" + python::literal(level.series.label) + "))\n";
  switch (level.mark) {
    case PythonMark::bars:
      return fmt::format("axes.bar(own.place, own.iloc[:, -1], width={:.4g}, color={}", width,
                         python::colour_of(level.series.style.colour)) +
             label;
    case PythonMark::points:
      return "axes.plot(own.place, own.iloc[:, -1], **" + python::look_of(level.series) + ")" +
             label;
    case PythonMark::line:
      return "axes.axhline(own.iloc[0, -1], **" + python::line_of(level.series.style) + ")" + label;
  }
  return "";
}

}  // namespace

std::string python_of_dots(const Page& page, const PythonDots& dots,
                           const std::vector<PythonSeries>& series) {
  std::string text = python::head_of(page);
  text += python::axes_of(page) + python::looks_of(series);
  text +=
      "for name, style in series.items():\n"
      "    own = data[data.iloc[:, 0] == name]\n"
      "    # whole at the edges too\n"
      "    axes.plot(own.iloc[:, 3], own.place, clip_on=False, zorder=3,\n"
      "              **{'label': shown(name), **style})\n"
      "    if 'low' in own:\n"
      "        axes.hlines(own.place, own.low, own.high, color=style['color'], linewidth=0.6)\n";
  text += "rows = " + python::list_of(dots.rows) + "\n";
  text += fmt::format(
      "axes.set_yticks(range(len(rows)), [shown(row) for row in rows])\n"
      "axes.tick_params(axis='y', length=0)\n"
      "axes.grid(color=rule, linewidth=0.4)\n"
      "axes.set(ylim=(len(rows) - 0.4, -0.6), xlabel=shown({}))\n",
      python::literal(dots.x_label));
  return text + dots_axis(dots) + dots_gaps(dots) + python::legend_of() + python::tail_of(page);
}

std::string python_of_curves(const Page& page, const PythonCurves& all) {
  std::string text = python::head_of(page) + python::axes_of(page);
  if (!all.between.empty()) {
    text += fmt::format(
        "axes.fill_between(data.iloc[:, 0], data.low, data.high, color=haze, linewidth=0,\n"
        "                  label=shown({}))\n",
        python::literal(all.between));
  }
  text += "curves = [\n";
  for (const PythonCurve& curve : all.curves) {
    text += fmt::format(
        "    ({}, {}, {}, {})),\n", curve.x, curve.y, python::literal(curve.series.label),
        curve.marked ? python::look_of(curve.series) : python::line_of(curve.series.style));
  }
  text += fmt::format(
      "]\n"
      "for across, up, name, style in curves:\n"
      "    known = data.iloc[:, [across, up]].dropna()\n"
      "    axes.plot(known.iloc[:, 0], known.iloc[:, 1], label=shown(name), **style)\n"
      "axes.set(xlabel=shown({}), ylabel=shown({}))\n"
      "axes.grid(color=rule, linewidth=0.4)\n",
      python::literal(all.x_label), python::literal(all.y_label));
  if (all.log_x) {
    text +=
        "axes.set_xscale('log')\n"
        "axes.xaxis.set_major_formatter('{x:g}')\n"
        "axes.axvline(1, color=reference, linestyle=':', linewidth=0.6)\n";
  } else {
    text += "axes.margins(x=0)\n";
  }
  if (all.bottom) text += fmt::format("axes.set_ylim(bottom={:.6g})\n", *all.bottom);
  if (all.top) text += fmt::format("axes.set_ylim(top={:.6g})\n", *all.top);
  return text + python::legend_of() + python::tail_of(page);
}

std::string python_of_levels(const Page& page, const PythonLevels& all) {
  std::string text = python::head_of(page) + python::axes_of(page);
  for (const PythonLevel& level : all.levels) {
    text += "own = data[data.kind == " + python::literal(level.kind) + "]\n";
    if (!level.name.empty()) {
      text += "own = own[own['name'] == " + python::literal(level.name) + "]\n";
    }
    text += call_of(level, all.width);
  }
  text += fmt::format(
      "names = {}\n"
      "axes.set_xticks(range(1, len(names) + 1), [shown(name) for name in names])\n"
      "axes.tick_params(axis='x', length=0)\n"
      "axes.set(xlim=(0.4, len(names) + 0.6), yscale='log', ylabel=shown({}))\n"
      "axes.set_ylim({:.6g}, {:.6g})\n"
      "axes.yaxis.set_major_formatter('{{x:g}}')\n"
      "axes.set_axisbelow(True)\n"
      "axes.grid(color=rule, linewidth=0.4)\n",
      python::list_of(all.names), python::literal(all.y_label), all.low, all.high);
  return text + python::legend_of() + python::tail_of(page);
}

std::string python_of_cells(const Page& page, const PythonCells& cells) {
  std::string text = python::head_of(page);
  text += fmt::format(
      "import matplotlib.colors\n\n"
      "rows = {}\n"
      "columns = {}\n"
      "grid = data.pivot(index='row', columns='column', values={})\n"
      "tall = height or {:.3g} * points / 7 + 0.35 + 0.13 * title_lines\n"
      "figure, axes = plt.subplots(figsize=(width, tall), layout='constrained')\n",
      python::list_of(cells.rows), python::list_of(cells.columns), python::literal(cells.value),
      page.data_height);
  text +=
      "shades = matplotlib.colors.LinearSegmentedColormap.from_list(\n"
      "    'shades', [(0, mist), (0.5, skyblue), (0.8, blue), (1, night)])\n"
      "image = axes.imshow(grid.to_numpy(float), cmap=shades, vmin=0, vmax=100, aspect='auto')\n"
      "for cell in data.dropna(subset=['text']).itertuples():\n"
      "    axes.text(cell.column, cell.row, f'{cell.text:g}', ha='center', va='center',\n"
      "              color='white' if cell.dark else 'black')\n"
      "axes.set_xticks(range(len(columns)), [shown(column) for column in columns])\n"
      "axes.set_yticks(range(len(rows)), [shown(row) for row in rows])\n"
      "axes.tick_params(length=0)\n"
      "axes.spines[:].set_visible(False)\n";
  text += fmt::format("figure.colorbar(image, label=shown({}))\n", python::literal(cells.name));
  return text + python::tail_of(page);
}

std::string python_of_agreement(const Page& page, const std::string& unit,
                                const std::vector<double>& marks, double band,
                                const std::vector<PythonSeries>& series) {
  std::string text = python::head_of(page) + python::axes_of(page);
  text += fmt::format(
      "ends = ({0:.6g}, {1:.6g})\n"
      "axes.plot(ends, ends, color=ink, linewidth=0.6, label=shown('equal'))\n"
      "for factor, name in (({2:g}, shown('{3:g} % more or less')), (1 / {2:g}, '_')):\n"
      "    axes.plot(ends, [end * factor for end in ends], color=reference, linestyle='--',\n"
      "              linewidth=0.6, label=name)\n",
      marks.front(), marks.back(), band, 100 * (band - 1));
  text += python::looks_of(series);
  text += fmt::format(
      "for name, style in series.items():\n"
      "    own = data[data.series == name]\n"
      "    axes.plot(own.published, own.simulated, **{{'label': shown(name), **style}})\n"
      "axes.set(xscale='log', yscale='log', xlabel=shown({}), ylabel=shown({}))\n"
      "axes.grid(color=rule, linewidth=0.4)\n",
      python::literal("published (" + unit + ")"), python::literal("simulated (" + unit + ")"));
  text += python::ticks_of("x", marks) + python::ticks_of("y", marks);
  text += "axes.set(xlim=ends, ylim=ends)\n";
  return text + python::legend_of() + python::tail_of(page);
}

}  // namespace lacuna
