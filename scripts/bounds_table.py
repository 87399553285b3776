#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lower bounds against what is simulated, over the shipped experiments.

    scripts/bounds_table.py [FILE | FOLDER ...] [--jobs N]

Each file of an experiment of products is run as a search that simulates all of its points; of a
folder that `lacuna search --out` wrote the points that were simulated are taken. A row for each:
points with a bound and a result, those without a bound, bounds above what was simulated, and how
far below it they are, in percent (the median and the worst). Ends with status 1 if a bound is above
its point, or the median of all points is more than 25 %. Without any: the
shipped experiments whose points are small, and some of whole chips.
"""
import argparse
import csv
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHIPPED = ["bounds", "wafer_bounds", "density", "exchange_width", "queue_depth", "wse_reduce",
           "chip_bounds"]
MEDIAN = 25.0


def as_search(path):
    """The text of a search of all points; None if the file has no products."""
    words = yaml.safe_load(path.read_text())
    axes = words.get("grid", words.get("space", {}))
    if "model" in words or not {"gemm", "trace"} & (words.keys() | axes.keys()):
        return None
    if "grid" in words:
        words["space"] = words.pop("grid")
    words.pop("with_dense", None)
    words.update({"minimise": "time", "strategy": "all"})
    return yaml.safe_dump(words, sort_keys=False)


def search(path, jobs):
    """Of each point of an experiment its time and its bound, as text."""
    text = as_search(path)
    if text is None:
        sys.exit(f"{path}: no experiment of products")
    program = os.environ.get("LACUNA", str(ROOT / "build/release/lacuna"))
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / path.name
        file.write_text(text)
        out = pathlib.Path(folder) / "out"
        command = [program, "search", str(file), "--quiet", "--jobs", str(jobs), "--out", str(out)]
        run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                             check=False)
        if not (out / "search.csv").exists():
            sys.exit(f"{path}: {run.stderr.strip()}")
        return read(out)


def read(folder):
    with open(folder / "search.csv", newline="", encoding="utf-8") as rows:
        return [(row["time"], row["time_bound"]) for row in csv.DictReader(rows)]


def gaps(path, jobs):
    """Percent by which the bound of each point is below its time; how many have no bound."""
    pairs = read(path) if path.is_dir() else search(path, jobs)
    numbers = [(float(time), float(bound)) for time, bound in pairs if time and bound]
    known = [(time, bound) for time, bound in numbers if bound > 0]
    simulated = sum(1 for time, _ in pairs if time)
    return [100 * (1 - bound / time) for time, bound in known], simulated - len(known)


def line(name, values, without):
    above = sum(1 for value in values if value < 0)
    middle = statistics.median(values) if values else float("nan")
    worst = max(values, default=float("nan"))
    print(f"{name:24} {len(values):6} {without:8} {above:6} {middle:8.1f} {worst:8.1f}", flush=True)
    return above


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    files = options.files or [ROOT / f"traces/experiments/{name}.yaml" for name in SHIPPED]
    print(f"{'':24} {'points':>6} {'no bound':>8} {'above':>6} {'median %':>8} {'worst %':>8}")
    everything, none = [], 0
    for path in files:
        values, without = gaps(path, options.jobs)
        line(path.stem, values, without)
        everything += values
        none += without
    above = line("all", everything, none)
    return 1 if above or not everything or statistics.median(everything) > MEDIAN else 0


if __name__ == "__main__":
    sys.exit(main())
