#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times two binaries against each other, run by run in turn, and prints a table for doc/develop/performance.md.

    scripts/gates.py BEFORE NOW [--rounds 3] [--only PART_OF_A_NAME] [--limit SECONDS]

Of each case the least CPU time (user and system) of a binary's rounds counts, whole processes, the first round of both left out if
there are several. Fails if a case misses its gate, takes more than 1.25 times the memory, or has other cycles for no reason in CHANGED;
what BEFORE refuses is shown without a ratio.
"""

import argparse
import csv
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

# The layout of every product by name, so that a new default moves no gate.
RING = "--residency streamed --set ws.reduce=ring --set ws.row_order=ring --set ws.groups=1 --set ws.lookahead=8"
GROUPS = ("--residency streamed --set ws.groups=5 --set ws.lie=side_by_side --set ws.reduce=ring --set ws.row_order=ring"
          " --set ws.lookahead=64 --set ws.k_partition=balanced")
FULL = "--machine wse2 --set wafer.columns=750 --set wafer.rows=994 --gemm 12288x12288x67592"
SMALL = "--machine wse2 --set wafer.columns=64 --set wafer.rows=64"
PRODUCT = f"{SMALL} --gemm 1024x1024x4096 --density"
CUBE = f"{SMALL} {RING} --gemm 256x256x256 --density 0.5"

# name: (arguments of `lacuna run`, the most times the CPU time of before that it may take)
CASES = {
    **{f"full wafer, {100 * d:g} %": (f"{FULL} {RING} --density {d:g}", 1.5) for d in (0.1, 0.25, 0.5, 1)},
    "full wafer, five groups, 10 %": (f"{FULL} {GROUPS} --density 0.1", 1.5),
    "64 x 64, 10 %": (f"{PRODUCT} 0.1 {RING}", 1.1),
    "64 x 64, 50 %": (f"{PRODUCT} 0.5 {RING}", 1.1),
    "64 x 64, chain": (f"{PRODUCT} 0.1 {RING.replace('reduce=ring', 'reduce=chain')}", 1.1),
    "64 x 64, four groups": (f"{PRODUCT} 0.1 {RING.replace('groups=1', 'groups=4')}", 1.1),
    "64 x 64, not folded": (f"{CUBE} --fold off", 1.1),
    "64 x 64, not folded, values": (f"{CUBE} --fold off --values", 1.1),
    "64 x 64, clocked": (f"{CUBE} --fold off --engine clocked", 1.1),
    "SUMMA": (f"{SMALL} --gemm 256x256x256 --set kernel.gemm=summa", 5),
    "Cannon": (f"{SMALL} --gemm 256x256x256 --set kernel.gemm=cannon", 0.12),
    "tiles on a mesh": (f"{SMALL} --gemm 256x256x256 --set kernel.gemm=mesh", 1.1),
    "a token of Qwen3-4B": ("--model qwen3-4b --machine wse3 --decode --context 2048 --no-cache", 1),
    "a product of an IPU": ("--machine bow --gemm 4096x4096x1024 --density 0.1", 1.2),
    "training on 64 chips": ("--system-config bert_large_mlperf_v2_0_bow_pod64", 1.2),
}

# name: why its cycles may differ from those of before
CHANGED = {}

PRESETS = pathlib.Path(__file__).resolve().parents[1] / "sim" / "config"


def run(binary, presets, arguments, limit):
    """CPU seconds, the most memory in MiB, and the cycles of a run; None if it is refused or takes more than `limit` of them."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        command = [binary, "run", *arguments.split(), "--out", str(out)]
        environment = dict(os.environ, LACUNA_CACHE=str(pathlib.Path(folder) / "cache"), LACUNA_CONFIG=str(presets))
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            return None
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, cycles_of(out)


def cycles_of(out):
    """Cycles of each row of a summary; the time of a step of a system."""
    for name, column in (("summary.csv", "cycles"), ("metrics.csv", "value")):
        if (out / name).exists():
            with open(out / name, newline="") as file:
                return [row[column] for row in csv.DictReader(file)][: None if column == "cycles" else 1]
    return []


def measure(before, now, arguments, rounds, limit):
    """The best of each binary's rounds, the two in turn."""
    best = {before: None, now: None}
    for number in range(rounds + (1 if rounds > 1 else 0)):
        for binary in (before, now):
            result = run(*binary, arguments, limit)
            if result is None or (number == 0 and rounds > 1):
                continue
            if best[binary] is None or result[0] < best[binary][0]:
                best[binary] = result
    return best[before], best[now]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("now")
    parser.add_argument("--rounds", type=int, default=3, help="of each binary that count")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=600, help="seconds of CPU after which a run is given up")
    parser.add_argument("--before-presets", default=PRESETS, help="its sim/config, if it reads no later one")
    parser.add_argument("--same-gates", type=float, help="one gate for all cases, such as 1.1 against the commit before")
    asked = parser.parse_args()
    before = (str(pathlib.Path(asked.before).resolve()), asked.before_presets)
    now = (str(pathlib.Path(asked.now).resolve()), PRESETS)
    missed = []
    print("| case: `lacuna run` and | before, s | now, s | now / before | gate | before, MiB | now, MiB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, (arguments, gate) in CASES.items():
        if asked.only not in name:
            continue
        gate = asked.same_gates or gate
        old, new = measure(before, now, arguments, asked.rounds, asked.limit)
        if new is None:
            missed.append(f"{name}: refused, or not over in {asked.limit} s of CPU")
            continue
        if old is None:
            print(f"| `{arguments}` | – | {new[0]:.2f} | – | {gate:.2f} | – | {new[1]:.0f} |", flush=True)
            continue
        ratio = new[0] / old[0]
        print(f"| `{arguments}` | {old[0]:.2f} | {new[0]:.2f} | {ratio:.2f} | {gate:.2f} | {old[1]:.0f} | {new[1]:.0f} |", flush=True)
        if ratio > gate:
            missed.append(f"{name}: {ratio:.2f} times the time of before, and may take {gate:.2f}")
        if new[1] > 1.25 * old[1] + 8:
            missed.append(f"{name}: {new[1]:.0f} MiB for {old[1]:.0f}")
        if old[2] != new[2]:
            changed = CHANGED.get(name)
            print(f"cycles of {name}: {changed or 'no reason'}", file=sys.stderr)
            if not changed:
                missed.append(f"{name}: {new[2]} cycles for {old[2]}")
    for line in missed:
        print("missed:", line, file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
