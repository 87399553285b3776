#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stencils of one point a core: what choosing their arrangement by the published rows is worth.

  scripts/stencil_halves.py [--splits N] [--points FILE] [--jobs N] [--few]

The source does not say in which order a core takes its neighbours' words, how long its product
holds it, where its loop counts, which iterations were timed and of which core. All arrangements
of these are run through `lacuna validate` on all rows; then the best is chosen by one half of the
rows and judged by the other, both ways round, for splits by grid, by generation and at random.
Prints Markdown. `--few`: products that hold a core for 1 or 3 cycles, and iterations 2 to 4 alone.
"""
import argparse
import csv
import itertools
import os
import random
import statistics
import subprocess
import tempfile

from ipu_rules import percentile

LACUNA = os.environ.get("LACUNA", "build/release/lacuna")
POINTS = "traces/validation/wse_stencil_sim_dev.csv"
WORKLOAD = "stencil_5pt_one_point_per_core"
# On square grids the 24 orders are these three, turned and mirrored.
ORDERS = ("udlr", "uldr", "ulrd")
CHOICES = {
    "order": ORDERS,
    "send": ("1", "2", "3", "4"),
    "loop": ("within", "last"),
    "timed": ("2..4", "4..8"),
    "core": ("mean", "middle", "slowest"),
}
FEW = {"send": ("1", "3"), "timed": ("2..4",)}
SHIPPED = ("udlr", "3", "within", "2..4", "mean")


def run(rows, header, jobs, choices):
    """Errors of each row, by arrangement: {arrangement: {id: signed relative error}}."""
    arrangements = list(itertools.product(*choices.values()))
    errors = {one: {} for one in arrangements}
    with tempfile.TemporaryDirectory() as folder:
        points = os.path.join(folder, "points.csv")
        with open(points, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, header)
            writer.writeheader()
            for number, one in enumerate(arrangements):
                words = "".join(f";{key}={word}" for key, word in zip(choices, one))
                for row in rows:
                    named = f"{row['id']}@{number}"
                    writer.writerow({**row, "id": named, "parameters": row["parameters"] + words})
        out = os.path.join(folder, "out")
        command = [LACUNA, "validate", "--quiet", "--points", points, "--out", out]
        command += ["--jobs", str(jobs)] if jobs else []
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if not os.path.exists(os.path.join(out, "errors.csv")):
            raise SystemExit(ran.stderr)
        with open(os.path.join(out, "errors.csv"), encoding="utf-8") as file:
            for row in csv.DictReader(file):
                name, number = row["id"].split("@")
                errors[arrangements[int(number)]][name] = float(row["relative_error"])
    return errors


def mean(errors, ids):
    return statistics.mean(abs(errors[one]) for one in ids)


def best(errors, ids):
    """The arrangement with the least mean absolute error; the first of equals."""
    return min(errors, key=lambda one: (round(mean(errors[one], ids), 6), one != SHIPPED))


def summary(errors, ids):
    found = [abs(errors[one]) for one in ids]
    return f"{100 * statistics.median(found):.1f}, {100 * percentile(found, 0.95):.1f}"


def halves_of(rows, splits):
    """Named pairs of halves."""
    ids = [row["id"] for row in rows]
    side = {row["id"]: int(row["parameters"].split("grid=")[1].split("x")[0]) for row in rows}
    small = [one for one in ids if side[one] <= 8]
    yield "grids up to 8 x 8; larger ones", small, [one for one in ids if one not in small]
    second = [row["id"] for row in rows if row["system"].startswith("WSE2")]
    yield "WSE-2; WSE-3", second, [one for one in ids if one not in second]
    sizes = sorted(set(side.values()))
    even = [one for one in ids if sizes.index(side[one]) % 2 == 0]
    yield "every other grid", even, [one for one in ids if one not in even]
    random.seed(1)
    for number in range(splits):
        half = set(random.sample(ids, len(ids) // 2))
        yield number, [o for o in ids if o in half], [o for o in ids if o not in half]


def print_random(errors, chosen, judged):
    """The splits drawn at random, together."""
    errors_judged = [abs(error) for half in judged for error in half]
    count = {}
    for one in chosen:
        count[one] = count.get(one, 0) + 1
    often = max(count, key=count.get)
    blind = statistics.median(abs(error) for of_one in errors.values() for error in of_one.values())
    print(f"\n{len(chosen)} halves drawn at random: {len(count)} arrangements are chosen, "
          f"`{' '.join(often)}` most often ({count[often]}), the shipped one "
          f"{count.get(SHIPPED, 0)} times; the rows they were not chosen by have "
          f"{100 * statistics.median(errors_judged):.1f}, "
          f"{100 * percentile(errors_judged, 0.95):.1f} %. "
          f"All {len(errors)} arrangements have a median of {100 * blind:.1f} %.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--points", default=POINTS)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--few", action="store_true")
    given = parser.parse_args()
    with open(given.points, encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    reader = csv.DictReader(lines)
    rows = [row for row in reader if row["workload"] == WORKLOAD]
    choices = {**CHOICES, **FEW} if given.few else CHOICES
    errors = run(rows, reader.fieldnames, given.jobs, choices)
    ids = [row["id"] for row in rows]
    print("| Chosen by | Arrangement | These, median and 95th percentile, % | The others | "
          "The shipped one there |")
    print("| --- | --- | --- | --- | --- |")
    whole = best(errors, ids)
    print(f"| all | {' '.join(whole)} | {summary(errors[whole], ids)} | | "
          f"{summary(errors[SHIPPED], ids)} |")
    chosen, judged = [], []
    for name, *halves in halves_of(rows, given.splits):
        for own, other in (halves, halves[::-1]):
            found = best(errors, own)
            if isinstance(name, int):
                chosen.append(found)
                judged.append([errors[found][one] for one in other])
                continue
            part = name.split("; ")
            label = part[0 if own is halves[0] else -1] if len(part) > 1 else (
                name if own is halves[0] else "the others")
            print(f"| {label} | {' '.join(found)} | {summary(errors[found], own)} | "
                  f"{summary(errors[found], other)} | {summary(errors[SHIPPED], other)} |")
    print_random(errors, chosen, judged)


if __name__ == "__main__":
    main()
