#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs shipped training steps on their systems and prints a Markdown table: step time, rate, what a
chip does against the smallest system of its group, power and energy.

  scripts/system_table.py [--lacuna FILE] [--set PATH=VALUE]... [NAME]...

NAME is a description of traces/systems, or a pattern such as 'bert_large_phase1_*'; without one all
layouts of MLPerf. A group is what stands before the name of the pod.
"""
import argparse
import fnmatch
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def group_of(name):
    return re.sub(r"(_bow)?_pod[0-9]+.*$", "", name)


def chosen(patterns):
    names = sorted(path.stem for path in (ROOT / "traces/systems").glob("*.yaml"))
    taken = []
    for pattern in patterns:
        matching = [name for name in names if fnmatch.fnmatch(name, pattern)]
        if not matching:
            sys.exit(f"no description of traces/systems is called '{pattern}'")
        taken += matching
    return taken


def run(program, name, settings):
    command = [program, "run", "--quiet", "--json", "--system-config", name]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr}")
    return json.loads(done.stdout)


def rate_of_a_chip(result):
    return result["sequences_per_s"] / result["chips"]


def print_row(cells):
    print("| " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["*_mlperf_*"], metavar="NAME")
    parser.add_argument("--lacuna", default=str(ROOT / "build/release/lacuna"))
    parser.add_argument("--set", action="append", default=[], dest="settings")
    asked = parser.parse_args()
    results = {name: run(asked.lacuna, name, asked.settings) for name in chosen(asked.names)}
    columns = ["Layout", "Chips", "Batch", "Weight update, s", "Sequences/s", "A chip, %",
               "W of a machine", "J per sequence"]
    hours = any("training_time" in each for each in results.values())
    print_row(columns + ["Hours"] * hours)
    print_row(["---"] * (len(columns) + hours))
    for name in sorted(results, key=lambda name: (group_of(name), results[name]["chips"], name)):
        mine = results[name]
        first = min((results[other] for other in results if group_of(other) == group_of(name)),
                    key=lambda other: other["chips"])
        share = rate_of_a_chip(mine) / rate_of_a_chip(first)
        cells = [f"`{name}`", f"{mine['chips']:.0f}", f"{mine['global_batch']:,.0f}",
                 f"{mine['step_time']:.4g}", f"{mine['sequences_per_s']:,.0f}",
                 f"{100 * share:.1f}", f"{mine['power_per_machine']:.0f}",
                 f"{mine['energy_per_sequence']:.3g}"]
        print_row(cells + [f"{mine.get('training_time', 0):.3g}"] * hours)


if __name__ == "__main__":
    main()
