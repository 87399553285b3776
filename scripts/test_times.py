#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the tests of each label took when they last ran, in seconds, one after the other (ctest
keeps means): all of them, and those that `ctest -LE long` leaves; as a table of doc/develop/contributing.md.
usage: test_times.py [BUILD_FOLDER] [--suites LABEL]    the slowest suites of a label that are not long"""

import collections
import json
import pathlib
import subprocess
import sys

KINDS = {"unit", "conformance", "module", "equivalence", "golden", "validation"}


def costs(build):
    seconds = {}
    for line in (build / "Testing/Temporary/CTestCostData.txt").read_text().splitlines():
        words = line.split()
        if len(words) == 3:
            seconds[words[0]] = float(words[2])
    return seconds


def tests(build):
    """Name and labels of each test."""
    text = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True,
                          text=True, check=True).stdout
    for test in json.loads(text)["tests"]:
        labels = [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]
        yield test["name"], labels[0] if labels else []


def print_labels(build, seconds):
    every = collections.defaultdict(list)
    short = collections.defaultdict(list)
    for name, labels in tests(build):
        for label in labels:
            every[label].append(seconds.get(name, 0))
            if "long" not in labels:
                short[label].append(seconds.get(name, 0))
    print("| label | tests | s | without `long` | s |\n| --- | --- | --- | --- | --- |")
    for label in sorted(every, key=lambda each: (each in KINDS, each)):
        if label == "long":
            continue
        print(f"| {label} | {len(every[label])} | {sum(every[label]):.0f} | {len(short[label])} | "
              f"{sum(short[label]):.0f} |")


def print_suites(build, seconds, label):
    suites = collections.Counter()
    for name, labels in tests(build):
        if label in labels and "long" not in labels:
            suites[".".join(name.split(".")[:2])] += seconds.get(name, 0)
    for suite, sum_of in suites.most_common(20):
        print(f"{sum_of:8.1f}  {suite}")


def main(arguments):
    label = None
    if "--suites" in arguments:
        at = arguments.index("--suites")
        label = arguments[at + 1]
        del arguments[at:at + 2]
    build = pathlib.Path(arguments[0] if arguments else "build/release")
    if label:
        print_suites(build, costs(build), label)
    else:
        print_labels(build, costs(build))


main(sys.argv[1:])
