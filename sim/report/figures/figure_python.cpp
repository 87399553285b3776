// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_python.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/report/figures/figure_check.hpp"
#include "sim/report/figures/figure_python_parts.hpp"

namespace lacuna {

namespace python {

namespace {

const char* marker_of(unsigned gnuplot) {
  switch (gnuplot) {
    case 4:
    case 5:
      return "s";
    case 6:
    case 7:
      return "o";
    case 8:
    case 9:
      return "^";
    case 10:
    case 11:
      return "v";
    case 12:
    case 13:
      return "D";
    case 14:
    case 15:
      return "p";
    default:
      return "x";
  }
}

const char* dash_of(unsigned gnuplot) {
  switch (gnuplot % 5) {
    case 1:
      return "-";
    case 2:
      return "--";
    case 3:
      return ":";
    case 4:
      return "-.";
    default:
      return "--";
  }
}

}  // namespace

std::string literal(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    result += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return result + "'";
}

std::string list_of(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "[" : ", ") + literal(text);
  return list.empty() ? "[]" : list + "]";
}

std::string colour_of(const std::string& colour) {
  for (const auto& [name, known] : figure_colours()) {
    if (colour == known) return name;
  }
  return literal(colour);
}

std::string head_of(const Page& page) {
  std::string text =
      "import re\n\nimport matplotlib.pyplot as plt\nimport pandas as pd\nfrom matplotlib import "
      "font_manager\n\n" +
      lacuna::look_of(page);
  text += "labels = {}  # what to call what the data call otherwise\n\n\n";
  std::string title;
  for (const std::string& line : page.title) title += (title.empty() ? "" : "\n") + line;
  text +=
      "def shown(text):\n"
      "    for old in sorted(labels, key=len, reverse=True):\n"
      "        text = re.sub(r'(?<![\\w.])' + re.escape(old) + r'(?![\\w.])', labels[old], text)\n"
      "    return text\n\n\n";
  text +=
      fmt::format("title = shown(own_title or ({} if title_lines else ''))\n\n", literal(title));
  text +=
      "# the font, or the free one of its measures\n"
      "known = {each.name for each in font_manager.fontManager.ttflist}\n"
      "like = {'Times': 'Liberation Serif', 'Arial': 'Liberation Sans'}.get(font, font)\n"
      "family = [each for each in (font, like) if each in known] or ['DejaVu Sans']\n"
      "plt.rcParams.update({'font.family': family, 'font.size': points, 'axes.linewidth': 0.5,\n"
      "                     'lines.linewidth': 0.9, 'lines.markersize': 3,\n"
      "                     'axes.titlesize': points, 'legend.frameon': False,\n"
      "                     'axes.spines.top': False, 'axes.spines.right': False})\n";
  text += fmt::format("data = pd.read_csv({})\n", literal(page.name + ".csv"));
  return text;
}

std::string tail_of(const Page& page) {
  return fmt::format(
      "if title:\n    axes.set_title(title, color=ink)\n"
      "for each in formats.split():\n    figure.savefig({} + each, dpi=300)\n",
      literal(page.name + "."));
}

std::string look_of(const PythonSeries& series) {
  if (series.reference) {
    return fmt::format("dict(color=reference, linewidth=0.6, linestyle='{}'",
                       dash_of(series.style.dash + 1));
  }
  const bool open = series.style.marker % 2 == 0;
  return fmt::format("dict(color={}, marker='{}', linestyle='{}'{}", colour_of(series.style.colour),
                     marker_of(series.style.marker),
                     series.joined ? dash_of(series.style.dash) : "",
                     open ? ", markerfacecolor='none'" : "");
}

std::string axes_of(const Page& page) {
  return fmt::format(
      "columns = max(1, int(width / ({:.3g} * points / 7 + 0.4)))\n"
      "legend_rows = -(-{} // columns) if show_legend else 0\n"
      "around = (0.6 + 0.13 * title_lines + 0.15 * legend_rows) * points / 7\n"
      "tall = max(height - around, 0.2) if height else {:.3g}\n"
      "figure, axes = plt.subplots(figsize=(width, height or tall + around), "
      "layout='constrained')\n",
      widest(page.legend), page.legend.size(), page.data_height);
}

std::string ticks_of(const char* axis, const std::vector<double>& marks) {
  std::string places;
  std::string texts;
  for (const double mark : marks) {
    places += fmt::format("{}{:.6g}", places.empty() ? "" : ", ", mark);
    texts += fmt::format("{}'{:.5g}'", texts.empty() ? "" : ", ", mark);
  }
  return fmt::format("axes.set_{0}ticks([{1}], [{2}])\naxes.set_{0}ticks([], minor=True)\n", axis,
                     places, texts);
}

std::string line_of(const SeriesStyle& style) {
  return fmt::format("dict(color={}, linestyle='{}'", colour_of(style.colour), dash_of(style.dash));
}

std::string looks_of(const std::vector<PythonSeries>& series) {
  std::string text = "series = {\n";
  for (const PythonSeries& each : series) {
    const std::string key = key_cell(each.label);
    std::string label = key == each.label ? "" : ", label=shown(" + literal(each.label) + ")";
    if (!each.named) label = ", label='_'";
    text += fmt::format("    {}: {}{}),\n", literal(key), look_of(each), label);
  }
  return text + "}\n";
}

std::string legend_of() {
  return "if show_legend:\n"
         "    foot = (0.15 * legend_rows + 0.08) * points / 7 / figure.get_figheight()\n"
         "    figure.get_layout_engine().set(rect=(0, foot, 1, 1 - foot))\n"
         "    figure.legend(*axes.get_legend_handles_labels(), loc='lower center', ncols=columns,\n"
         "                  borderpad=0.2)\n";
}

}  // namespace python

namespace {

/// What stands beside each bar, and a ring for one that has no values.
std::string notes_of(const Page& page, const std::string& label) {
  return fmt::format(
      "notes = pd.read_csv({}, dtype=str).note.fillna('')\n"
      "beside = dict(xytext=(4, 0), textcoords='offset points', color=ink, annotation_clip=False)\n"
      "axes.set_ylim(len(data) - 0.4, -1.4)\n"
      "for row, note in enumerate([{}, *notes], -1):\n"
      "    axes.annotate(shown(note), (1, row), xycoords=('axes fraction', 'data'), va='center',\n"
      "                  **beside)\n"
      "empty = [row for row in range(len(data)) if not total[row] > 0 and notes[row]]\n"
      "if empty:\n"
      "    axes.plot([0] * len(empty), empty, 'o', color=ink, markerfacecolor='none', "
      "clip_on=False)\n",
      python::literal(page.name + ".csv"), python::literal(label));
}

}  // namespace

std::string python_of_lines(const Page& page, const std::string& x_label,
                            const std::string& y_label, const PythonTicks& ticks,
                            const std::vector<PythonSeries>& series) {
  std::string text = python::head_of(page);
  text += python::axes_of(page) + python::looks_of(series);
  text += fmt::format(
      "for name, style in series.items():\n"
      "    rows = data[data.series == name]\n"
      "    axes.plot(rows.iloc[:, 1], rows.iloc[:, 2], **{{'label': shown(name), **style}})\n"
      "    ranges = rows[(rows.low < rows.iloc[:, 2]) | (rows.high > rows.iloc[:, 2])]\n"
      "    axes.vlines(ranges.iloc[:, 1], ranges.low, ranges.high, color=style['color'],\n"
      "                linewidth=0.6)\n"
      "axes.set(xscale='log', yscale='log', xlabel=shown({}), ylabel=shown({}))\n"
      "axes.grid(color=rule, linewidth=0.4)\n",
      python::literal(x_label), python::literal(y_label));
  text += python::ticks_of("x", ticks.x) + python::ticks_of("y", ticks.y);
  text += fmt::format("axes.set_ylim({:.6g}, {:.6g})\n", ticks.y.front(), ticks.y.back());
  return text + python::legend_of() + python::tail_of(page);
}

std::string python_of_bars(const Page& page, const std::string& x_label,
                           const std::string& note_label, std::size_t first_part,
                           const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string text = python::head_of(page);
  text += fmt::format(
      "values = data.iloc[:, {}:]\n"
      "total = values.sum(axis=1)\n"
      "stretch = {{'share': 100 / total, 'sum': total / total, 'time': data.time_us / total,\n"
      "           'dense': data.time_us / data.dense_time_us / total}}[normalise]\n"
      "axis = {{'time': 'Time (us)', 'dense': 'Time over that of dense weights'}}\n",
      first_part - 1);
  text += python::axes_of(page) + "colours = [";
  for (const auto& [name, colour] : parts) {
    text += (name == parts.front().first ? "" : ", ") + python::colour_of(colour);
  }
  text += fmt::format(
      "]\n"
      "left = 0 * total\n"
      "for part, colour in zip(values, colours):\n"
      "    lengths = values[part] * stretch\n"
      "    axes.barh(range(len(data)), lengths, left=left, color=colour, height=0.76,\n"
      "              label=shown(part))\n"
      "    left = left + lengths\n"
      "axes.set_yticks(range(len(data)), [shown(bar) for bar in data.bar])\n"
      "axes.invert_yaxis()\n"
      "axes.set_xlabel(shown(axis.get(normalise, {})))\n"
      "if normalise == 'share':\n"
      "    axes.set_xlim(0, 100)\n"
      "    axes.xaxis.set_major_formatter('{{x:g}} %')\n",
      python::literal(x_label));
  text += notes_of(page, note_label);
  return text + python::legend_of() + python::tail_of(page);
}

std::string python_of_map(const Page& page) {
  std::string text = python::head_of(page);
  text +=
      "import matplotlib.colors\nimport numpy as np\n\n"
      "grid = data.pivot(index='m_and_k', columns='n', values='speedup_vs_dense')\n"
      "words = data.pivot(index='m_and_k', columns='n', values='status')\n";
  text += fmt::format(
      "figure, axes = plt.subplots(figsize=(width, height or {:.3g}), layout='constrained')\n",
      page.data_height + 1);
  return text +
         "shades = matplotlib.colors.LinearSegmentedColormap.from_list(\n"
         "    'shades', [vermilion, '#FFFFFF', blue])\n"
         "image = axes.imshow(np.log2(grid.to_numpy(float)), cmap=shades, vmin=-3, vmax=3,\n"
         "                    origin='lower', aspect='auto')\n"
         "for row in range(grid.shape[0]):\n"
         "    for column in range(grid.shape[1]):\n"
         "        value = grid.iloc[row, column]\n"
         "        text = f'{value:.2f}' if value > 0 else words.iloc[row, column]\n"
         "        axes.text(column, row, text, ha='center', va='center')\n"
         "axes.set_xticks(range(grid.shape[1]), grid.columns)\n"
         "axes.set_yticks(range(grid.shape[0]), grid.index)\n"
         "axes.set(xlabel='Columns of the other operand, n', ylabel='Weights, m = k')\n"
         "bar = figure.colorbar(image, label='Speed-up over dense')\n"
         "bar.set_ticks([-3, -2, -1, 0, 1, 2, 3], labels=['1/8', '1/4', '1/2', '1', '2', '4', "
         "'8'])\n" +
         python::tail_of(page);
}

std::string python_of_load(const Page& page, const std::string& quantity, double most) {
  std::string text = python::head_of(page);
  text += fmt::format(
      "import matplotlib.colors\nimport matplotlib.ticker\n\n"
      "grid = data.pivot(index='row', columns='column', values={0})\n"
      "# room for marks and names, and square cells\n"
      "across = width - 0.95 * points / 7\n"
      "tall = height or across * {1:.4g} + (0.55 + 0.13 * title_lines) * points / 7\n"
      "figure, axes = plt.subplots(figsize=(width, tall), layout='constrained')\n"
      "shades = matplotlib.colors.LinearSegmentedColormap.from_list(\n"
      "    'shades', [(0, mist), (0.5, skyblue), (0.8, blue), (1, night)])\n"
      "image = axes.imshow(grid.to_numpy(float), cmap=shades, vmin=0, vmax={2:.6g}, "
      "aspect='auto')\n",
      python::literal(quantity), page.aspect, most);
  text +=
      "for axis in (axes.xaxis, axes.yaxis):\n"
      "    axis.set_major_locator(matplotlib.ticker.MaxNLocator(6, integer=True))\n";
  // beside a low map there is no room for its name
  if (page.aspect < kLowMap) {
    text += fmt::format(
        "axes.set(xlabel='Column; shades: ' + shown({}), ylabel='Row')\n"
        "figure.colorbar(image)\n",
        python::literal(quantity));
  } else {
    text += fmt::format(
        "axes.set(xlabel='Column', ylabel='Row')\n"
        "figure.colorbar(image, label=shown({}))\n",
        python::literal(quantity));
  }
  return text + python::tail_of(page);
}

std::string python_of_spans(const Page& page, const PythonSpans& spans) {
  std::string text = python::head_of(page);
  text += "import matplotlib.colors\nimport numpy as np\n\n";
  text += python::axes_of(page) + "colours = {";
  for (const auto& [kind, colour] : spans.kinds) {
    text += fmt::format("{}{}: {}", kind == spans.kinds.front().first ? "" : ", ",
                        python::literal(kind), python::colour_of(colour));
  }
  text += fmt::format(
      "}}\n"
      "for kind, colour in colours.items():\n"
      "    axes.barh(0, 0, color=colour, label=shown(kind))\n"
      "full = np.array([matplotlib.colors.to_rgb(colours[kind]) for kind in data['{}']])\n"
      "# a third of the colour where no unit worked; a later span is over an earlier one\n"
      "share = (1 + 2 * {}) / 3\n"
      "axes.barh(data['{}'], data['{}'] - data['{}'], left=data['{}'], height=0.8, linewidth=0,\n"
      "          color=1 - (1 - full) * share)\n",
      spans.kind,
      spans.busy.empty() ? std::string("np.ones((len(data), 1))")
                         : fmt::format("data['{}'].clip(0, 1).to_numpy()[:, None]", spans.busy),
      spans.place, spans.to, spans.from, spans.from);
  text += "tracks = [";
  for (const std::string& track : spans.tracks) {
    text += (&track == &spans.tracks.front() ? "" : ",\n          ") + python::literal(track);
  }
  text += fmt::format(
      "]\n"
      "axes.set_yticks(range(len(tracks)), [shown(track) for track in tracks])\n"
      "axes.tick_params(axis='y', length=0)\n"
      "axes.spines.left.set_visible(False)\n"
      "axes.set(ylim=(len(tracks) - 0.4, -0.6), xlim=(0, data['{}'].max()), xlabel=shown({}))\n",
      spans.to, python::literal(spans.x_label));
  return text + python::legend_of() + python::tail_of(page);
}

}  // namespace lacuna
