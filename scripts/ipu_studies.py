#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Studies of the IPU that are more than a table of runs. Prints Markdown.

  scripts/ipu_studies.py break-even [--sizes M,...] [--columns N,...] [--jobs N] [--csv FILE]
                                 [--set PATH=VALUE]...
      The density at which a sparse product takes as long as the dense one, by bisection, for
      every shape and block; static and dynamic. What is in FILE already is not run again.
  scripts/ipu_studies.py draw-break-even --csv FILE --figure FILE.svg
      The same of static products against m = k, a panel for each number of columns.
  scripts/ipu_studies.py busy DIR [--over workers|amp|density --figure FILE.svg]
      Shares of matrix unit and worker slots of every run of a sweep's result folder; and clocks
      (over density: the share of the matrix unit) as lines, by pattern.
  scripts/ipu_studies.py gain DIR
      Static against dynamic of a sweep over both modes. Lists where static is slower, and where
      its gain does not grow with the block or with the size of the matrix.
"""
import argparse
import csv
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

LACUNA = os.environ.get("LACUNA", "build/release/lacuna")
BLOCKS = (1, 4, 8, 16)
STEPS = 3  # of a bisection on a logarithmic scale between densities a factor of 2 apart
LEAST = 1 / 512


def cycles(m, n, settings, pattern):
    """Cycles of a product on a Bow, or None if it does not fit."""
    command = [LACUNA, "run", "--machine", "bow", "--gemm", f"{m}x{m}x{n}", "--json", "--quiet"]
    for setting in settings:
        command += ["--set", setting]
    ran = subprocess.run(command + pattern, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1):  # 1: it does not fit, or overflows
        raise SystemExit(ran.stderr)
    rows = json.loads(ran.stdout) if ran.stdout else []
    return rows[0]["cycles"] if rows else None


def break_even(m, n, block, mode, settings, dense):
    """The largest density at which sparse is not slower than dense, to a factor of 1.1; None:
    nowhere. Cycles are not monotone in density, so that it is looked for from above."""
    def faster(density):
        pattern = ["--pattern", "unstructured" if block == 1 else f"block{block}",
                   "--density", f"{density:.6f}", "--mode", mode]
        found = cycles(m, n, settings, pattern)
        return found is not None and found <= dense

    low = 1.0
    while not faster(low):
        low /= 2
        if low < LEAST:
            return None
    if low == 1.0:
        return low
    high = 2 * low
    for _ in range(STEPS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if faster(middle) else (low, middle)
    return low


def read_break_even(path):
    """The table of a CSV file; None: sparse is never faster."""
    if path is None or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return {(int(r["m"]), int(r["n"]), r["mode"], int(r["block"])):
                float(r["density"]) if r["density"] else None for r in csv.DictReader(file)}


def write_break_even(path, found):
    with open(path, "w", encoding="utf-8") as file:
        file.write("m,n,mode,block,density\n")
        for (m, n, mode, block), density in sorted(found.items()):
            file.write(f"{m},{n},{mode},{block},{'' if density is None else f'{density:.4g}'}\n")


def print_break_even(shapes, jobs, settings, path):
    print("| m = k | n | mode | " + " | ".join(f"b = {b}" for b in BLOCKS) + " |")
    print("| --- " * (3 + len(BLOCKS)) + "|")
    work = [(m, n, mode, b) for m, n in shapes for mode in ("static", "dynamic") for b in BLOCKS]
    found = read_break_even(path)
    work = [w for w in work if w not in found]
    dense = {s: cycles(*s, settings, ["--pattern", "dense"]) for s in {w[:2] for w in work}}
    with ThreadPoolExecutor(jobs) as pool:
        results = pool.map(lambda w: None if dense[w[:2]] is None else
                           break_even(w[0], w[1], w[3], w[2], settings, dense[w[:2]]), work)
        for one, density in zip(work, results):
            found[one] = density
            if path:
                write_break_even(path, found)
    for m, n in shapes:
        for mode in ("static", "dynamic"):
            cells = [found[m, n, mode, b] for b in BLOCKS]
            text = ["never" if c is None else "100 %" if c == 1 else f"{100 * c:.2g} %"
                    for c in cells]
            print(f"| {m} | {n} | {mode} | " + " | ".join(text) + " |")


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return list(csv.DictReader(file))


def runs(folder):
    """Rows of operations, with their statistics and stack by run."""
    stats, stack = {}, {}
    for row in read(folder, "statistics.csv"):
        stats.setdefault(row["run"], {})[row["path"] + "." + row["name"]] = float(row["value"])
    for row in read(folder, "cycle_stack.csv"):
        stack.setdefault(row["run"], {})[row["kind"]] = int(row["unit_cycles"])
    for row in read(folder, "summary.csv"):
        if row["op_id"] != "TOTAL" and row["status"] == "ok":
            yield row, stats[row["run"]], stack[row["run"]]


def label(row):
    return "dense" if row["pattern"] == "dense" else f"b = {row['block'] or 1}"


def print_busy(folder):
    with open(os.path.join(folder, "result.json"), encoding="utf-8") as file:
        result = json.load(file)
    parameters = {str(r["run"]): r["parameters"] for r in result["runs"]}
    print("| m x k x n | pattern | density | workers | AMP fp16, MAC | cycles | AMP busy, % "
          "| worker slots, % |\n" + "| --- " * 8 + "|")
    for row, stats, stack in runs(folder):
        chosen = parameters[row["run"]]
        wide = chosen["tile.amp.fp16_macs" if row["dtype"] == "fp16" else "tile.amp.fp32_macs"]
        macs = stats["tile.amp_macs_fp16"] + stats["tile.amp_macs_fp32"]
        whole = sum(stack.values())
        busy = 100 * macs / (wide["value"] * whole)
        print(f"| {row['m']}x{row['k']}x{row['n']} | {label(row)} | {float(row['density']):.4g} "
              f"| {chosen['tile.workers']['value']} | {chosen['tile.amp.fp16_macs']['value']} "
              f"| {row['cycles']} | {busy:.1f} | {100 * stack.get('worker', 0) / whole:.1f} |")


def draw(path, quantity, axis, series):
    """Lines of points (x, y) by name, as SVG, by gnuplot."""
    lines = ["set terminal svg size 640,400 font 'Helvetica,14' name 'figure' "
             "background '#ffffff'",
             f"set output '{path}'", "set key outside right top", "set logscale xy 2",
             f"set xlabel '{axis}'", f"set ylabel '{quantity}'", "set grid", "set border 3",
             "set tics nomirror", "set format y '%.4g'"]
    for i, (name, points) in enumerate(series.items()):
        lines.append(f"$s{i} << EOD")
        lines += [f"{x} {y}" for x, y in sorted(points)] + ["EOD"]
    plots = [f"$s{i} using 1:2:xtic(sprintf('%g', $1)) with linespoints lw 2 pt {i + 4} "
             f"ps 0.8 title '{name}'" for i, name in enumerate(series)]
    lines.append("plot " + ", ".join(plots))
    subprocess.run(["gnuplot"], input="\n".join(lines), text=True, check=True)


def draw_busy(folder, over, path):
    with open(os.path.join(folder, "result.json"), encoding="utf-8") as file:
        parameters = {str(r["run"]): r["parameters"] for r in json.load(file)["runs"]}
    axes = {"workers": "Worker contexts of a tile", "amp": "Columns of the matrix unit",
            "density": "Density"}
    series = {}
    for row, stats, stack in runs(folder):
        chosen = parameters[row["run"]]
        wide = chosen["tile.amp.fp16_macs"]["value"]
        x = {"workers": chosen["tile.workers"]["value"], "amp": wide // 4,
             "density": float(row["density"])}[over]
        y, name = int(row["cycles"]) / 1000, label(row)
        if over == "density":
            y = 100 * stats["tile.amp_macs_fp16"] / (wide * sum(stack.values()))
            name += f", n = {row['n']}"
            if row["pattern"] == "dense" or y == 0:
                continue
        series.setdefault(name, []).append((x, y))
    draw(path, "Share of the matrix unit used, %" if over == "density" else "Thousands of cycles",
         axes[over], series)


def print_gain(folder):
    found = {}
    for row, _, _ in runs(folder):
        key = (int(row["m"]), int(row["n"]), float(row["density"]), int(row["block"] or 1))
        found.setdefault(key, {})[row["mode"]] = int(row["cycles"])
    print("| m = k | n | density | " + " | ".join(f"b = {b}" for b in BLOCKS) + " |")
    print("| --- " * (3 + len(BLOCKS)) + "|")
    exceptions = []
    for m, n, density in sorted({(m, n, round(d, 4)) for m, n, d, _ in found}):
        cells = []
        for block in BLOCKS:
            both = next((c for (a, b, d, s), c in found.items()
                         if (a, b, round(d, 4), s) == (m, n, density, block)), {})
            gain = both["dynamic"] / both["static"] if len(both) == 2 else None
            cells.append("" if gain is None else f"{gain:.2f}")
            if gain is not None and gain < 1:
                exceptions.append(f"{m}, n = {n}, density {density}, b = {block}: {gain:.2f}")
        print(f"| {m} | {n} | {density} | " + " | ".join(cells) + " |")
    print("\nStatic is slower in: " + ("; ".join(exceptions) if exceptions else "none of them") + ".")
    gains = {key: both["dynamic"] / both["static"] for key, both in found.items()
             if len(both) == 2}
    print_growth("block", gains, lambda m, n, d, b: ((m, n, d), b))
    print_growth("size", gains, lambda m, n, d, b: ((n, d, b), m))


def print_growth(of, gains, split):
    """Says how often a gain is larger at the next block or size, and lists where it is smaller."""
    lines = {}
    for key, gain in gains.items():
        line, at = split(*key)
        lines.setdefault(line, []).append((at, gain, key))
    steps, exceptions = 0, []
    for line in lines.values():
        line.sort()
        for (_, before, _), (_, after, (m, n, density, block)) in zip(line, line[1:]):
            steps += 1
            if after < before:
                exceptions.append(f"{m}, n = {n}, density {density:.4g}, b = {block}: "
                                  f"{before:.2f} to {after:.2f}")
    print(f"\nThe gain grows with the {of} in {steps - len(exceptions)} of {steps} steps; not to: "
          + ("; ".join(sorted(exceptions)) or "none") + ".")


def draw_break_even(table, path):
    """A panel for each n, a line for each block; what never pays is left out."""
    columns = sorted({n for _, n, _, _ in table})
    wide = (len(columns) + 1) // 2
    sides = sorted({m for m, _, _, _ in table})
    lines = [f"set terminal svg size {280 * wide + 60},560 font 'Helvetica,13' "
             "name 'figure' background '#ffffff'",
             f"set output '{path}'", f"set multiplot layout 2,{wide}", "set logscale x 2",
             "set logscale y 10", "set yrange [0.002:1]", "set format y '%g'", "set grid",
             "set border 3", "set tics nomirror",
             "set xtics (" + ", ".join(str(m) for m in sides) + ")", "set xlabel 'm = k'",
             "set ylabel 'Density'"]
    for panel, n in enumerate(columns):
        lines += [f"set title 'n = {n}'", "set key " + ("right bottom" if panel == 0 else "off")]
        plots = []
        for i, block in enumerate(BLOCKS):
            points = sorted((m, d) for (m, c, mode, b), d in table.items()
                            if (c, mode, b) == (n, "static", block) and d is not None)
            lines += [f"$p{panel}_{i} << EOD"] + [f"{m} {d}" for m, d in points] + ["EOD"]
            if points:
                plots.append(f"$p{panel}_{i} using 1:2 with linespoints lw 2 pt {i + 4} ps 0.8 "
                             f"title 'b = {block}'")
        lines.append(f"plot [{0.7 * sides[0]}:{1.4 * sides[-1]}] " + ", ".join(plots))
    subprocess.run(["gnuplot"], input="\n".join(lines + ["unset multiplot"]), text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=("break-even", "draw-break-even", "busy", "gain"))
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--over", choices=("workers", "amp", "density"), default="density")
    parser.add_argument("--figure")
    parser.add_argument("--csv")
    parser.add_argument("--sizes", default="512,1024,2048,4096,8192")
    parser.add_argument("--columns", default="4,16,64,256,1024")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--set", action="append", default=[])
    arguments = parser.parse_args()
    if arguments.study == "break-even":
        shapes = [(int(m), int(n)) for m in arguments.sizes.split(",")
                  for n in arguments.columns.split(",")]
        print_break_even(shapes, arguments.jobs, arguments.set, arguments.csv)
    elif arguments.study == "draw-break-even":
        draw_break_even(read_break_even(arguments.csv), arguments.figure)
    elif arguments.study == "busy":
        print_busy(arguments.folder)
        if arguments.figure:
            draw_busy(arguments.folder, arguments.over, arguments.figure)
    else:
        print_gain(arguments.folder)


if __name__ == "__main__":
    main()
