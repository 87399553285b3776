#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every cut of a static product: what the planner expects of it and what it takes.

Runs one product of the published heat map (m = k, FP16, a Bow IPU, its masks) with each number of parts of the
columns and of bands of the contraction that is asked for, and prints them by how near they are to
the measurement. Published clocks are those of the dense product divided by the speed-up; they are
known for m = 1024 and 4096. Of the shapes without, cuts are printed in the order of their clocks.
The column `after` has the clocks after the multiplication. The last line says what the measurement leaves for that, if all before is as simulated.

  scripts/static_plans.py --m 1024 --block 16 --density 1/16 --n 256 [--parts 1,2,4,8,16] [--bands 0,4,8]

Parts or bands of 0: as many as the planner finds cheapest.
"""
import argparse
import csv
import fractions
import os
import re
import subprocess
import tempfile

LACUNA = os.environ.get("LACUNA", "build/release/lacuna")
POINTS = "traces/validation"
CLOCK = 1.85e9


def rows_of(name):
    with open(os.path.join(POINTS, name), encoding="utf-8") as file:
        return list(csv.DictReader(file))


def is_shape(row, given):
    return row["m"] == row["k"] == str(given.m) and row["n"] == str(given.n)


def published_clocks(given):
    """The clocks of the measurement, or None."""
    rate = [
        float(row["value"])
        for row in rows_of("dense_gemm.csv")
        if is_shape(row, given) and row["system"].startswith("Bow") and row["dtype"] == "FP16"
    ]
    gain = [
        float(row["value"])
        for row in rows_of("popsparse_static_heatmap.csv")
        if is_shape(row, given)
        and row["block"] == str(given.block)
        and float(row["density"]) == float(given.density)
        and row["value"]
    ]
    if not rate or not gain:
        return None
    return 2 * given.m * given.m * given.n / (rate[0] * 1e12) * CLOCK / gain[0]


def run(given, parts, bands):
    """Parts and bands as planned; clocks of the planner, simulated, and of these until the end of
    the multiplication. None: no result."""
    name = "unstructured" if given.block == 1 else f"block{given.block}"
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        command = [LACUNA, "run", "--machine", "bow", "--mode", "static", "--explain", "--out", out]
        command += ["--gemm", f"{given.m}x{given.m}x{given.n}"]
        rule = f"mask_rule=popsparse:rule_seed={given.seed}"
        command += ["--pattern", f"{name}:{float(given.density)}:{rule}"]
        command += ["--set", f"planner.static_parts={parts}"]
        command += ["--set", f"planner.static_bands={bands}"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode == 2:  # the request was wrong, and the message says where
            raise SystemExit(ran.stderr.strip())
        if ran.returncode != 0:
            return None
        with open(os.path.join(out, "statistics.csv"), encoding="utf-8") as file:
            clocks = next(r for r in csv.DictReader(file) if r["name"] == "kernel_cycles")["value"]
    cut = re.search(r"columns (\d+) parts x (\d+) bands", ran.stdout)
    if cut is None:
        raise SystemExit("nothing to plan: no block is kept")
    estimate = re.search(r"^\s+estimate\s+(\d+) cycles", ran.stdout, re.MULTILINE)
    before = "copy of local rows|exchange of gather|multiply"
    phases = re.findall(rf"^\s+[01]  (?:{before})\s+(\d+)\s+[\d.]+$", ran.stdout, re.MULTILINE)
    return int(cut[1]), int(cut[2]), int(estimate[1]), int(clocks), sum(map(int, phases))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    numbers = lambda text: [int(one) for one in text.split(",")]  # noqa: E731
    parser.add_argument("--m", type=int, required=True)
    parser.add_argument("--n", type=int, required=True)
    parser.add_argument("--block", type=int, required=True)
    parser.add_argument("--density", type=fractions.Fraction, required=True)
    parser.add_argument("--parts", type=numbers, default=[1, 2, 3, 4, 6, 8, 12, 16, 24, 32])
    parser.add_argument("--bands", type=numbers, default=[0])
    parser.add_argument("--seed", type=int, default=123)
    given = parser.parse_args()
    published = published_clocks(given)
    chosen = run(given, 0, 0)
    if chosen is None:
        raise SystemExit("no plan fits")
    found = {run(given, p, b) for p in given.parts for b in given.bands} - {None} | {chosen}
    print(f"published: {published:.0f} clocks" if published else "published: not known")
    print(f"{'parts':>5} {'bands':>5} {'estimate':>9} {'simulated':>9} {'after':>7} {'error, %':>9}")
    for one in sorted(found, key=lambda o: abs(o[3] - (published or 0))):
        error = f"{100 * (one[3] / published - 1):+9.1f}" if published else f"{'':>9}"
        after = one[3] - one[4]
        mark = "chosen" if one == chosen else ""
        print(f"{one[0]:5} {one[1]:5} {one[2]:9} {one[3]:9} {after:7} {error} {mark}")
    if published:
        elements = given.m * given.n / 1472
        print(f"left after the multiplication: {published - chosen[4]:.0f} clocks for", end=" ")
        print(f"{elements:.1f} elements of the result on a tile; simulated {chosen[3] - chosen[4]}")


if __name__ == "__main__":
    main()
