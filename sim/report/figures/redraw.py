#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws figures of Lacuna with Matplotlib, each from its description NAME.json and data NAME.csv.

    python3 redraw.py                                   all figures beside this file
    python3 redraw.py speedup style=dark_background     one, in a style sheet of Matplotlib
    python3 redraw.py speedup width=7.16 points=9 formats=pdf blue=#333333

In a notebook: `from redraw import draw; figure, axes = draw("speedup", width=7)`.
"""
import json
import pathlib
import re
import sys

import matplotlib.colors as colours
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib import font_manager

SHAPES = "xxxxssoo^^vvDDpp"  # by their numbers in gnuplot: open ones are even
DASHES = ["--", "-", "--", ":", "-."]
LABELS = {"time": "Time (us)", "dense": "Time over that of dense weights"}
LIKE = {"Times": "Liberation Serif", "Arial": "Liberation Sans"}
HERE = pathlib.Path(__file__).resolve().parent


class Drawing:
    """What a figure shows, its data and its look; with its page once begun."""

    def __init__(self, path, look):
        self.about = json.loads(path.read_text(encoding="utf-8"))
        self.look, self.page = self.about["look"], self.about["page"]
        self.data = pd.read_csv(path.with_suffix(".csv"), dtype=str, keep_default_na=False)
        if sum(colours.to_rgb(plt.rcParams["figure.facecolor"])) < 1.5:  # black is not seen on a dark page
            self.look["colours"].update(black="white", ink="white", rule="#555555")
        for key, value in look.items():
            (self.look["colours"] if key in self.look["colours"] else self.look)[key] = value
        self.unit = float(self.look["points"]) / 7

    def shown(self, text):
        """A text with each of its words that has another name."""
        for old, new in sorted(self.look["labels"].items(), key=lambda each: -len(each[0])):
            text = re.sub(rf"(?<![\w.]){re.escape(old)}(?![\w.])", lambda _, new=new: new, text)
        return text

    def colour(self, name):
        return self.look["colours"].get(name, name)

    def numbers(self, column, rows=slice(None)):
        return pd.to_numeric(self.data.loc[rows, column], errors="coerce")

    def begin(self, height):
        """The page, with room for the title and the legend."""
        font, width = self.look["font"], float(self.look["width"])
        known = [name for name in (font, LIKE.get(font), "DejaVu Sans") if name in font_manager.get_font_names()]
        plt.rcParams.update({"font.family": known, "font.size": 7 * self.unit,
                             "axes.titlesize": 7 * self.unit, "axes.linewidth": 0.5, "legend.frameon": False,
                             "axes.spines.top": False, "axes.spines.right": False})
        self.columns = max(1, int(width / (self.page["longest_label"] + 0.4) / self.unit))
        rows = -(-self.page["legend"] // self.columns) if self.look["legend"] else 0
        self.foot = 0.15 * rows * self.unit
        around = (0.6 + 0.13 * len(self.look["title"])) * self.unit + self.foot
        size = (width, float(self.look["height"]) or height + around)
        self.figure, self.axes = plt.subplots(figsize=size, layout="constrained")

    def axis(self, which):
        about, axis = self.about[which], getattr(self.axes, which + "axis")
        if about["log"]:
            self.axes.set(**{which + "scale": "log"})
            axis.set_ticks([], minor=True)
        if about["marks"]:
            axis.set_ticks([place for place, _ in about["marks"]], [self.shown(text) for _, text in about["marks"]])
        else:
            axis.set_major_formatter("{x:g} %" if about["percent"] else "{x:g}")
        if about["names"]:
            self.axes.tick_params(axis=which, length=0)
        self.axes.set(**{which + "label": self.shown(about["label"]), which + "lim": (about["from"], about["to"])})

    def end(self):
        """Title, legend and a mark of what was interrupted."""
        self.axes.set_title(self.shown("\n".join(self.look["title"])))
        handles, labels = self.axes.get_legend_handles_labels()
        once = dict(zip(labels, handles))
        if self.foot and once:
            foot = self.foot / self.figure.get_figheight()
            self.figure.get_layout_engine().set(rect=(0, foot, 1, 1 - foot))
            self.figure.legend(once.values(), once.keys(), loc="lower center", ncols=self.columns)
        if self.page["interrupted"]:
            self.figure.text(0.5, 0.5, "interrupted: not all was simulated", rotation=20, ha="center", fontsize=11)

    def note(self, text, row, ring=None):
        """What stands beside the axes, or in a row in place of a value, behind a ring."""
        if ring is not None:
            self.axes.plot([ring], [row], "o", color=self.colour("ink"), markerfacecolor="none", clip_on=False)
        at, of = ((1, row), ("axes fraction", "data")) if ring is None else ((ring, row), "data")
        self.axes.annotate(self.shown(text), at, xycoords=of, xytext=(4, 0), textcoords="offset points", va="center",
                           annotation_clip=False)


def draw_layer(drawing, layer):
    axes, mark, style = drawing.axes, layer["mark"], layer["style"]
    look = dict(color=drawing.colour(style["colour"]), label=drawing.shown(layer["label"]) or "_")
    line = dict(look, linewidth=0.75 * layer["weight"], linestyle=DASHES[style["dash"] % 5])
    if mark in ("level", "wall"):
        return (axes.axhline if mark == "level" else axes.axvline)(layer["value"], **line)
    if mark == "slope":
        ends = np.array(axes.get_xlim())
        return axes.plot(ends, layer["value"] * ends, **line)
    rows = pd.Series(True, drawing.data.index)
    for column, says in layer["where"]:
        rows &= drawing.data[column] == says
    x, y, low, high = (drawing.numbers(layer[key], rows) if layer[key] in drawing.data else None
                       for key in ("x", "y", "low", "high"))
    x = x * layer["shift"]
    if mark == "band":
        return axes.fill_between(x, low, high, alpha=layer["opacity"], linewidth=0, **look)
    if mark == "bars":
        return axes.bar(x, y, width=drawing.about["bar_width"], **look)
    if mark in ("across", "upright"):
        return (axes.hlines if mark == "across" else axes.vlines)(y if mark == "across" else x, low, high,
                                                                  color=look["color"], linewidth=0.6)
    if mark != "line":
        line.update(marker=SHAPES[style["marker"] % 16], markersize=7 * layer["size"], zorder=3, clip_on=False,
                    markerfacecolor=look["color"] if style["marker"] % 2 else "none")
    if mark == "points":
        line["linestyle"] = ""
    return axes.plot(x[y.notna()], y[y.notna()], **line)


def draw_chart(drawing):
    drawing.begin(drawing.page["data_height"])
    drawing.axis("x")
    drawing.axis("y")
    for layer in drawing.about["layers"]:
        draw_layer(drawing, layer)
    drawing.axes.set_axisbelow(True)
    drawing.axes.grid(color=drawing.colour("rule"), linewidth=0.4)
    for row, why in drawing.about["gaps"]:
        drawing.note(why, row, ring=drawing.axes.get_xlim()[0])


def draw_spans(drawing):
    about, data = drawing.about, drawing.data
    drawing.begin(drawing.page["data_height"])
    begin, end = drawing.numbers(about["from"]), drawing.numbers(about["to"])
    busy = drawing.numbers(about["busy"]) if about["busy"] else begin * 0 + 1
    shades = [colours.to_rgba(drawing.colour(dict(about["kinds"])[kind]), (1 + 2 * min(share, 1)) / 3)
              for kind, share in zip(data[about["kind_of"]], busy)]  # a third where no unit worked
    drawing.axes.barh(drawing.numbers(about["place"]), end - begin, left=begin, linewidth=0, color=shades)
    for kind, colour in about["kinds"]:
        drawing.axes.barh(0, 0, color=drawing.colour(colour), label=drawing.shown(kind))
    drawing.axis("x")
    drawing.axis("y")


def draw_cells(drawing):
    about, gain = drawing.about, drawing.about["shades"] == "gain"
    across = float(drawing.look["width"]) - 0.95 * drawing.unit
    drawing.begin(across * drawing.page["aspect"] or drawing.page["data_height"] * drawing.unit)
    row, column = (drawing.numbers(about[key]).astype(int) for key in ("row", "column"))
    value = drawing.numbers(about["value"])
    grid = np.full((row.max() + 1, column.max() + 1), np.nan)
    grid[row, column] = np.log2(value) if gain else value
    shades = [(0, "vermilion"), (0.5, "edge"), (1, "blue")] if gain else [(0, "mist"), (0.5, "skyblue"), (0.8, "blue"),
                                                                          (1, "night")]
    shades = colours.LinearSegmentedColormap.from_list("", [(at, drawing.colour(name)) for at, name in shades])
    low, high = (-3, 3) if gain else (0, about["most"])
    image = drawing.axes.imshow(grid, cmap=shades, vmin=low, vmax=high, aspect="auto")
    for at in range(len(row) if about["text"] else 0):
        shade = abs(grid[row[at], column[at]])
        drawing.axes.text(column[at], row[at], drawing.data[about["text"]][at], ha="center", va="center",
                          color="white" if shade > (1.6 if gain else 0.55 * high) else "black")
    drawing.axis("x")
    drawing.axis("y")
    drawing.axes.spines[:].set_visible(False)
    bar = drawing.figure.colorbar(image, label=drawing.shown(about["label"]))
    if gain:
        bar.set_ticks(range(-3, 4), labels=["1/8", "1/4", "1/2", "1", "2", "4", "8"])


def draw_stack(drawing):
    about, data, how = drawing.about, drawing.data, drawing.look["normalise"]
    drawing.begin(0.12 * len(data) + 0.22)
    axes = drawing.axes
    total = sum(drawing.numbers(name) for name, _ in about["parts"])
    times, dense = drawing.numbers("time_us"), drawing.numbers("dense_time_us")
    whole = {"share": 100, "sum": total, "time": times, "dense": times / dense}[how]
    left = total * 0
    for name, colour in about["parts"]:
        long = (drawing.numbers(name) / total * whole).fillna(0)
        axes.barh(data.index, long, left=left, height=0.76, color=drawing.colour(colour), label=drawing.shown(name))
        left = left + long
    if how == "share":
        axes.xaxis.set_major_formatter("{x:g} %")
    axes.set_yticks(data.index, [drawing.shown(bar) for bar in data["bar"]])
    axes.set(ylim=(len(data) - 0.4, -1.4), xlabel=drawing.shown(LABELS.get(how, about["label"])))
    drawing.note(about["note_label"], -1)
    for row, note in data["note"].items():
        drawing.note(note, row, ring=None if total[row] > 0 else 0)


def draw(name, folder=HERE, **look):
    """Matplotlib's figure and axes of a figure by its name; `look` replaces words of its look, or colours."""
    drawing = Drawing(pathlib.Path(folder) / f"{name}.json", look)
    globals()["draw_" + drawing.about["kind"]](drawing)
    drawing.end()
    return drawing.figure, drawing.axes


def main():
    """Draws the figures that are named, or all, in the formats of their looks."""
    look = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
    names = [word for word in sys.argv[1:] if "=" not in word]
    style = look.pop("style", [])
    for name in names or sorted(path.stem for path in HERE.glob("*.json")):
        with plt.style.context(style):
            figure, _ = draw(name, **look)
            for form in look.get("formats", "svg pdf png").split():
                figure.savefig(HERE / f"{name}.{form}", dpi=300)
            plt.close(figure)


if __name__ == "__main__":
    main()
