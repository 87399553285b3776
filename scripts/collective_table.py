#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collectives of a wafer beside the formulas of Luczynski et al., HPDC 2024, which are written here
once more: for each pattern how many points of a grid are how far off, and those beyond --over percent.
With --best also how often the pattern with the fewest cycles by the formulas is the fastest.

  scripts/collective_table.py [--op reduce] [--cores 4,8,16,32,64] [--words 1,16,256] [--square] [--over 4]
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

LACUNA = os.environ.get("LACUNA", "build/release/lacuna")
STEP = 2 * 2 + 1  # up one ramp, down another, and an addition


def line(pattern, cores, words):
    """Cycles of a reduction over a line."""
    if cores == 1:
        return 0
    links = cores - 1
    rounds = math.ceil(math.log2(cores))
    root = math.sqrt(cores)
    if pattern == "star":
        return words * links + STEP  # published for two words and more
    if pattern == "tree":
        return max(words * rounds, words * cores * rounds / (2 * links) + links) + STEP * rounds
    if pattern == "two_phase" and cores >= 4:
        hops = words * (2 * cores - 2 * root) / links + links
        return max(2 * words, hops) + STEP * (2 * root - 2)
    return words + (STEP + 1) * links


def formula(op, pattern, columns, rows, words):
    spread = words + columns + 4 if rows == 1 else words + columns + rows - 2 + STEP
    if op == "broadcast":
        return spread
    if pattern == "ring":
        return 2 * (columns - 1) * words / columns + 4 * columns - 6 + 2 * (columns - 1) * STEP
    if pattern == "snake":
        total = line("chain", columns * rows, words)
    else:
        total = line(pattern, columns, words) + line(pattern, rows, words)
    return total if op == "reduce" else total + spread


def patterns_of(op, square):
    if op == "broadcast":
        return ["tree"]
    more = ["snake"] if square else ["ring"] if op == "allreduce" else []
    return ["chain", "star", "tree", "two_phase"] + more


def simulate(points, machine):
    """Cycles of each (op, pattern, columns, rows, words), all in one run."""
    text = "# lacuna-trace v1\nid,op,model,layer,phase,m,k,n,batch,dtype,fn,args\n"
    for place, (op, pattern, columns, rows, words) in enumerate(points):
        text += f"p{place},{op},table,table,fwd,{words},,1,,fp32,{pattern},ranks={columns * rows};rows={rows}\n"
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as trace:
        trace.write(text)
        trace.flush()
        command = [LACUNA, "run", "--machine", machine, "--trace", trace.name, "--json", "--quiet"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(ran.stderr)
    return [row["cycles"] for row in json.loads(ran.stdout) if row["op_id"] != "TOTAL"]


def show(points, cycles, over):
    for pattern in sorted({point[1] for point in points}):
        mine = [(p, c, formula(*p)) for p, c in zip(points, cycles) if p[1] == pattern]
        apart = [100 * (c / model - 1) for _, c, model in mine]
        beyond = sum(abs(a) > over for a in apart)
        print(
            f"{mine[0][0][0]} {pattern}: {len(mine)} points, {min(apart):+.1f} to {max(apart):+.1f} %, "
            f"{beyond} beyond {over:g} %"
        )
        for (_, _, columns, rows, words), count, model in mine:
            if abs(count / model - 1) * 100 > over:
                off = 100 * (count / model - 1)
                print(f"  {columns} x {rows}, {words} words: {count}, formula {model:.1f}, {off:+.1f} %")


def show_best(points, cycles, over):
    found = dict(zip(points, cycles))
    sizes = sorted({(op, c, r, w) for op, _, c, r, w in points})
    same = near = 0
    for op, columns, rows, words in sizes:
        mine = [p for p in points if (p[0],) + p[2:] == (op, columns, rows, words)]
        chosen = min(mine, key=lambda p: formula(*p))
        fastest = min(mine, key=lambda p: found[p])
        loss = 100 * (found[chosen] / found[fastest] - 1)
        same += loss == 0
        near += 0 < loss <= over
        if loss > over:
            print(
                f"  {op}, {columns} x {rows}, {words} words: formula chooses {chosen[1]} ({found[chosen]}), "
                f"fastest {fastest[1]} ({found[fastest]})"
            )
    print(f"best choice: {same} of {len(sizes)} the fastest, {near} more within {over:g} % of it")


def main():
    numbers = lambda text: [int(part) for part in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--op", choices=("broadcast", "reduce", "allreduce"), default="reduce")
    parser.add_argument("--pattern", help="one alone")
    parser.add_argument("--cores", type=numbers, default=[4, 8, 16, 32, 64])
    parser.add_argument("--words", type=numbers, default=[1, 4, 16, 64, 256, 1024])
    parser.add_argument("--square", action="store_true", help="over cores x cores, not a line")
    parser.add_argument("--best", action="store_true")
    parser.add_argument("--over", type=float, default=4)
    parser.add_argument("--machine", default="wse2")
    given = parser.parse_args()
    patterns = [given.pattern] if given.pattern else patterns_of(given.op, given.square)
    points = [
        (given.op, pattern, cores, cores if given.square else 1, words)
        for pattern in patterns
        for cores in given.cores
        for words in given.words
        if pattern != "ring" or cores > 2
    ]
    cycles = simulate(points, given.machine)
    show(points, cycles, given.over)
    if given.best:
        show_best(points, cycles, given.over)


if __name__ == "__main__":
    main()
