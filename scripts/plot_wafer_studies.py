#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of doc/studies/wafer.md from the result folders of its experiments.

    scripts/plot_wafer_studies.py [LOOKAHEAD NEAR_LINEAR SRAM FILTER] [--limits LIMITS] [--full FULL] [--reduce REDUCE]
                                  [--out doc/figures]

Each is the folder that `lacuna sweep traces/experiments/wse_....yaml --out` wrote. FULL, of wse_lookahead_full, may also be a
file with the columns ws.row_order, density, ws.lookahead and cycles, such as doc/figures/wafer_lookahead_full.csv.
"""

import argparse
import csv
import pathlib
import subprocess

DENSITIES = (0.5, 0.25, 0.1)
COLORS = ("#1b6ca8", "#c7522a", "#3a7d44", "#7a4b94")
SVG = "set terminal svg size 720,440 font 'Helvetica,13' background '#ffffff'"


def points(folder):
    """The rows of one operation, without totals, with numbers as numbers."""
    with open(pathlib.Path(folder) / "summary.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["op_id"] == "TOTAL" or row["status"] != "ok":
                continue
            row["density"] = round(float(row["density"]), 2)
            row["cycles"] = int(row["cycles"])
            row["speedup"] = float(row["speedup_vs_dense"] or 1)
            yield row


def draw(path, lines, curves):
    """A gnuplot script of `lines`, then the plot of `curves`: (title, style, [(x, y)])."""
    script = [SVG, f"set output '{path}'", "set grid", "set border 3", "set tics nomirror", *lines]
    plots = ", ".join(f"'-' using 1:2 with {style} title '{title}'" for title, style, _ in curves)
    script.append("plot " + plots)
    for _, _, data in curves:
        script += [f"{x} {y}" for x, y in data] + ["e"]
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


def style(density, dash=1):
    color = COLORS[DENSITIES.index(density)]
    return f"linespoints lw 2 pt 7 ps 0.6 dt {dash} lc rgb '{color}'"


def draw_lookahead(path, speedups):
    """Speed-ups by (order of rows, density), each [(vectors, speed-up)], below the limits."""
    curves = []
    for density in DENSITIES:
        for order, dash in (("ring", 1), ("natural", 2)):
            data = speedups.get((order, density), [])
            if len(data) > 1:
                title = f"{100 * (1 - density):.0f} % sparse, {order}"
                curves.append((title, style(density, dash), data))
        limit = [(1, 1 / density), (256, 1 / density)]
        curves.append(("", f"lines dt 3 lc rgb '{COLORS[DENSITIES.index(density)]}'", limit))
    draw(path,
         ["set logscale xy 2", "set xrange [1:256]", "set yrange [1:12]",
          "set ytics (1, 2, 3, 4, 6, 8, 10)", "set key outside right",
          "set xlabel 'Look-ahead, partial-sum vectors'",
          "set ylabel 'Speed-up over dense (dotted: 1 / density)'"], curves)


def lookahead(folder, out):
    speedups = {}
    for row in points(folder):
        key = row["ws.row_order"], row["density"]
        speedups.setdefault(key, []).append((int(row["ws.lookahead"]), row["speedup"]))
    draw_lookahead(out / "wafer_lookahead.svg", speedups)


def lookahead_full(source, out):
    """Those points of the whole wafer that have been run, over the dense run of the same settings."""
    source = pathlib.Path(source)
    path = source / "summary.csv" if source.is_dir() else source
    with open(path, encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r.get("op_id") != "TOTAL" and r["cycles"]]
    cycles = {(r["ws.row_order"], round(float(r["density"]), 2), int(r["ws.lookahead"])):
              int(r["cycles"]) for r in rows}
    speedups = {}
    for (order, density, at), count in sorted(cycles.items()):
        if (order, 1.0, at) in cycles:
            speedups.setdefault((order, density), []).append((at, cycles[order, 1.0, at] / count))
    draw_lookahead(out / "wafer_lookahead_full.svg", speedups)


def near_linear(folder, out):
    rows = list(points(folder))
    curves = []
    for words, partition, color in (("1", "block", COLORS[0]), ("1", "balanced", COLORS[1]),
                                    ("2", "block", COLORS[2]), ("2", "balanced", COLORS[3])):
        data = sorted((1 / r["density"], r["speedup"]) for r in rows
                      if r["core.fabric_words_per_issue"] == words
                      and r["ws.k_partition"] == partition and r["io.gbit"] == "1200")
        curves.append((f"{words} word{'s' if words == '2' else ''} an issue, {partition}",
                       f"linespoints lw 2 pt 7 ps 0.6 lc rgb '{color}'", data))
    curves.append(("1 / density", "lines dt 3 lc rgb '#555555'", [(1, 1), (10, 10)]))
    draw(out / "wafer_near_linear.svg",
         ["set xrange [1:10.2]", "set yrange [1:10.2]", "set key left top",
          "set xlabel '1 / density'", "set ylabel 'Speed-up over dense, look-ahead 64'"], curves)


def sram(folder, out):
    rows = list(points(folder))
    dense = next(r["cycles"] for r in rows if r["density"] == 1 and r["mem.port_cycles"] == "1")
    curves = []
    for density in DENSITIES:
        data = sorted((3 / int(r["mem.port_cycles"]), dense / r["cycles"]) for r in rows
                      if r["density"] == density)
        curves.append((f"{100 * (1 - density):.0f} % sparse", style(density), data))
    curves.append(("dense, full bandwidth", "lines lw 2 dt 2 lc rgb '#555555'", [(0.005, 1), (3, 1)]))
    curves.append(("a GPU", "lines dt 3 lc rgb '#555555'", [(0.0065, 0.003), (0.0065, 8)]))
    draw(out / "wafer_sram.svg",
         ["set logscale xy 10", "set xrange [0.005:3.2]", "set yrange [0.003:8]",
          "set key right bottom", "set xlabel 'SRAM bandwidth, bytes per peak FLOP'",
          "set ylabel 'Speed over dense at full bandwidth'"], curves)


def zero_filter(folder, out):
    rows = list(points(folder))
    curves = []
    for word, title, color in (("true", "zeros left out by the sender", COLORS[0]),
                               ("false", "zeros travel", COLORS[1])):
        data = sorted((100 * (1 - r["density"]), r["cycles"] / 1e6) for r in rows
                      if r["ws.zero_filter"] == word)
        curves.append((title, f"linespoints lw 2 pt 7 ps 0.8 lc rgb '{color}'", data))
    draw(out / "wafer_filter.svg",
         ["set xrange [0:92]", "set yrange [0:*]", "set key left bottom",
          "set xlabel 'Sparsity, %'", "set ylabel 'Million cycles'"], curves)


def limits(folder, out):
    """One group of bars for each row of the experiment's zip, in its order."""
    names = ("as it is", "ten times\\nthe I/O", "balanced\\ncolumns", "two words\\nan issue",
             "no dispatch\\nor command", "short ramps,\\ndeep queues", "FMA twice\\nas wide",
             "all but\\nthe FMA")
    rows = list(points(folder))
    points_each = len(rows) // len(names)
    curves = []
    for i, density in enumerate(DENSITIES):
        data = [(n // points_each + 0.27 * (i - 1), r["speedup"]) for n, r in enumerate(rows)
                if r["density"] == density]
        color = COLORS[i]
        curves.append((f"{100 * (1 - density):.0f} % sparse", f"boxes lc rgb '{color}'", data))
        bound = [(-0.5, 1 / density), (len(names) - 0.5, 1 / density)]
        curves.append(("", f"lines dt 3 lw 1.5 lc rgb '{color}'", bound))
    tics = ", ".join(f'"{name}" {i}' for i, name in enumerate(names))
    draw(out / "wafer_limits.svg",
         ["set boxwidth 0.25", "set style fill solid", f"set xtics ({tics}) font 'Helvetica,10'",
          "set xrange [-0.5:7.5]", "set yrange [0:10.5]", "set key outside top horizontal", "set bmargin 3.5",
          "set ylabel 'Speed-up over dense (dotted: 1 / density)'"], curves)


def reduce(folder, out):
    rows = list(points(folder))
    curves = []
    for kind, color in zip(("ring", "chain", "tree", "two_phase"), COLORS):
        for vectors, dash in (("1", 2), ("8", 1)):
            data = sorted((100 * (1 - r["density"]), r["cycles"] / 1e3) for r in rows
                          if r["ws.reduce"] == kind and r["ws.lookahead"] == vectors)
            curves.append((f"{kind.replace('_', ' ')}, look-ahead {vectors}",
                           f"linespoints lw 2 pt 7 ps 0.6 dt {dash} lc rgb '{color}'", data))
    draw(out / "wafer_reduce.svg",
         ["set xrange [0:92]", "set yrange [0:*]", "set key outside right",
          "set xlabel 'Sparsity, %'", "set ylabel 'Thousand cycles'"], curves)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("lookahead", "near_linear", "sram", "filter"):
        parser.add_argument(name, nargs="?")
    parser.add_argument("--limits")
    parser.add_argument("--full")
    parser.add_argument("--reduce")
    parser.add_argument("--out", default="doc/figures", type=pathlib.Path)
    args = parser.parse_args()
    for study, folder in ((lookahead, args.lookahead), (near_linear, args.near_linear),
                          (sram, args.sram), (zero_filter, args.filter), (limits, args.limits),
                          (lookahead_full, args.full), (reduce, args.reduce)):
        if folder is not None:
            study(folder, args.out)


if __name__ == "__main__":
    main()
