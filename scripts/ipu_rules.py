#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the rules of the IPU model and the chosen constants of both machines are worth. Prints Markdown.

  scripts/ipu_rules.py ablation [--cache DIR] [--jobs N]
      Errors of dense and static products with each rule switched off or put in another's place.
  scripts/ipu_rules.py constants [--cache DIR] [--jobs N]
      For every constant that was chosen by a measurement: the value that the points choose, and the
      values that do nearly as well, from all families and with each family left out.

Both run `lacuna validate` on the shipped points, once for each setting; results are kept in DIR
(by default build/ipu_rules) by setting and by the program, and not run again.
"""
import argparse
import csv
import hashlib
import os
import statistics
import subprocess

LACUNA = os.environ.get("LACUNA", "build/release/lacuna")
POINTS = "traces/validation"
PRODUCTS = ("dense_gemm", "popsparse_static_heatmap")
STEPS = ("mlperf", "caraml")
WAFER = ("wafer_dev",)
PROBES = ("wse3_silicon_dev",)

# What is switched, and what to call it. `--mask-rule` is an option of the command.
ABLATIONS = [
    ((), "as shipped"),
    (("planner.sums=home",), "all classes summed at home"),
    (("planner.sums=spread",), "all classes spread"),
    (("planner.sums_delay=0",), "the rule reckons with no delay"),
    (("planner.sums_delay=60",), "with 60"),
    (("planner.sums_delay=300",), "with 300"),
    (("planner.few_workers=false",), "six workers for every class"),
    (("planner.long_sums=false",), "bundles of the assembly, not of the estimator"),
    (("planner.copy_sums=false",), "no copies around the sums"),
    (("planner.single_step=false",), "sums of one partial in the step of the others"),
    (("planner.short_pairs=false",), "gathers in pairs from 64 words on, as all exchanges"),
    (("planner.lone_pairs=false",), "the partner of a lone receiver does not listen"),
    (("exchange.paired_words=2",), "all exchanges in pairs, however short"),
    (("exchange.paired=false",), "no pairs"),
    (("exchange.control_events=0",), "fragments without receive control"),
    (("exchange.control_events=6",), "6 clocks of it"),
    (("planner.order_elements=false",), "elements not put into order"),
    (("--mask-rule uniform",), "masks of our own"),
    (("--mask-rule popsparse:1",), "the rule of the masks with seed 1"),
    (("--mask-rule popsparse:124",), "with seed 124"),
    (("exchange.entry=0",), "no entry of an exchange"),
    (("planner.long_fp32_passes=false",), "FP32 passes as poplin estimates them"),
    (("planner.one_stage_depth=65536",), "dense sums in one stage"),
    (("planner.staged_estimate=false",), "dense plans chosen by an estimate in one stage"),
    (("planner.fast_reduce=true",), "dense sums read 128 bits at once"),
    (("exchange.latency=constant",), "126 clocks for every way"),
    (("exchange.latency=constant", "exchange.constant_latency=71"), "71, the mean"),
]

# Each constant: its path, the value shipped, the others to be tried, and the points it concerns.
CONSTANTS = [
    ("exchange.entry", "60", ("0", "40", "50", "70", "80"), PRODUCTS),
    ("planner.short_pairs", "true", ("false",), PRODUCTS),
    ("planner.order_elements", "true", ("false",), PRODUCTS),
    ("planner.long_sums", "true", ("false",), PRODUCTS),
    ("planner.long_fp32_passes", "true", ("false",), PRODUCTS),
    ("gateway.update_ms", "110", ("0", "80", "100", "120", "140"), STEPS),
    ("mem.write_lag", "1", ("0", "2"), WAFER),
    ("mem.fma32_stalls", "3", ("0", "1", "2", "4", "6"), WAFER),
    ("mem.write_share", "0.6667", ("0", "0.4", "0.5", "0.6", "0.75", "0.9"), PROBES),
    ("exchange.paired_words", "64", ("2", "32", "128"), PRODUCTS),
]
NEAR = 1.05  # of the least error


class Runner:
    """Runs `lacuna validate` and reads what it says of each point."""

    def __init__(self, given):
        self.cache = given.cache
        self.jobs = given.jobs
        with open(LACUNA, "rb") as file:
            self.program = hashlib.sha256(file.read()).hexdigest()

    def rows(self, settings, files):
        arguments = []
        for setting in settings:
            arguments += setting.split() if setting.startswith("--") else ["--set", setting]
        for name in files:
            arguments += ["--points", os.path.join(POINTS, name + ".csv")]
        key = hashlib.sha256("\n".join([self.program, *arguments]).encode()).hexdigest()[:16]
        out = os.path.join(self.cache, key)
        if not os.path.exists(os.path.join(out, "errors.csv")):
            os.makedirs(self.cache, exist_ok=True)
            command = [LACUNA, "validate", "--quiet", "--out", out, *arguments]
            if self.jobs:
                command += ["--jobs", str(self.jobs)]
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            if not os.path.exists(os.path.join(out, "errors.csv")):
                raise SystemExit(f"{' '.join(command)}\n{ran.stderr}")
        with open(os.path.join(out, "errors.csv"), encoding="utf-8") as file:
            return [row for row in csv.DictReader(file) if row["status"] != "unsupported"]


def percentile(values, share):
    """Between neighbours linearly."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def errors(rows, words):
    return [abs(float(row["relative_error"])) for row in rows
            if row["relative_error"] and words in row["family"]]


def summary(rows, words):
    found = errors(rows, words)
    return f"{100 * statistics.median(found):.1f}, {100 * percentile(found, 0.95):.1f}"


def right_side(rows):
    decided = [row for row in rows if row["published"] and "speedup" in row["family"]
               and abs(float(row["published"]) - 1) > 0.1]
    right = [row for row in decided if row["simulated"]
             and (float(row["simulated"]) > 1) == (float(row["published"]) > 1)]
    return f"{len(right)} of {len(decided)}"


def known(rows, of_blocks):
    """Static rows whose dense product is measured."""
    return [row for row in rows if "static" in row["family"] and row["m"] in ("1024", "4096")
            and (row["block"] != "1") == of_blocks]


def option(settings):
    return " ".join(f"`{s}`" if s.startswith("--") else f"`--set {s}`" for s in settings)


def ablation(runner):
    print("| Run | | Dense FP16 | Dense FP32 | Static, heat map | of these blocks, m = 1024 and 4096"
          " | elements there | Right side of 1 |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for settings, what in ABLATIONS:
        rows = runner.rows(settings, PRODUCTS)
        cells = [summary(rows, "dense fp16"), summary(rows, "dense fp32"),
                 summary(rows, "static"), summary(known(rows, True), ""),
                 summary(known(rows, False), ""), right_side(rows)]
        print(f"| {option(settings)} | {what} | {' | '.join(cells)} |", flush=True)


def family_of(row):
    """Families as the leave-one-out has them: a kind of product of one size, or a kind of system."""
    if row["family"].startswith("system"):
        return row["system"]
    if row["family"].startswith("wse"):
        return row["family"]
    kind = "static" if "static" in row["family"] else row["family"].split()[3]
    if kind == "static":
        return f"static, {'blocks' if row['block'] != '1' else 'elements'}, m {row['m']}"
    return f"dense {kind}, m {row['m']}"


def by_family(rows):
    found = {}
    for row in rows:
        if row["relative_error"]:
            found.setdefault(family_of(row), []).append(abs(float(row["relative_error"])))
    return {name: statistics.mean(values) for name, values in found.items()}


def choice(scores, left_out):
    """The value with the least mean of the families' mean errors, and those near to it."""
    total = {}
    for value, families in scores.items():
        kept = [error for name, error in families.items() if name != left_out]
        total[value] = statistics.mean(kept)
    best = min(total, key=total.get)
    near = [value for value in scores if total[value] <= NEAR * total[best]]
    return best, near, total


def constants(runner):
    for path, shipped, others, files in CONSTANTS:
        values = [shipped, *others]
        if shipped not in ("true", "false"):
            values.sort(key=float)
        scores = {value: by_family(runner.rows(
            () if value == shipped else (f"{path}={value}",), files)) for value in values}
        best, near, total = choice(scores, None)
        print(f"\n### `{path}` = {shipped}\n")
        print("Mean of the families' mean errors, %: "
              + ", ".join(f"{value}: {100 * total[value]:.2f}" for value in values) + ".\n")
        print("| Left out | The points choose | As good within 5 % | Its own choice |")
        print("| --- | --- | --- | --- |")
        print(f"| nothing | {best} | {', '.join(near)} | |")
        for name in scores[shipped]:
            best, near, _ = choice(scores, name)
            own = min(values, key=lambda v, n=name: scores[v].get(n, 1e9))
            same = len({round(scores[v].get(name, 0), 6) for v in values}) == 1
            print(f"| {name} | {best} | {', '.join(near)} | {'does not see it' if same else own} |",
                  flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("ablation", "constants"))
    parser.add_argument("--cache", default="build/ipu_rules")
    parser.add_argument("--jobs", type=int, default=0)
    given = parser.parse_args()
    runner = Runner(given)
    if given.what == "ablation":
        ablation(runner)
    else:
        constants(runner)


if __name__ == "__main__":
    main()
