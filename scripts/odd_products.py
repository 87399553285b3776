#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Products of odd shapes, modes, types and patterns: each must end within a time with a result or
with a reason. Prints those that do not; status 1 if there are any.

  scripts/odd_products.py [--count 200] [--seed 1] [--seconds 10] [--machine bow]
"""
import argparse
import os
import random
import subprocess
import sys
import time

LACUNA = os.environ.get("LACUNA", "build/release/lacuna")
SIDES = (1, 2, 3, 5, 16, 17, 31, 64, 100, 255, 257, 512, 777, 1000, 1023, 2048, 3000, 4095, 6000)
DENSITIES = ("0", "0.0001", "0.003", "0.03125", "0.1", "0.25", "0.5", "0.97", "1")


def request(draw):
    """The options of one product."""
    shape = "x".join(str(draw.choice(SIDES)) for _ in range(3))
    options = ["--gemm", shape, "--dtype", draw.choice(("fp16", "fp32"))]
    mode = draw.choice(("dense", "static", "static", "dynamic"))
    if mode == "dense":
        return options
    block = draw.choice((1, 1, 2, 4, 8, 16, 32))
    name = "unstructured" if block == 1 else f"block{block}"
    pad = "" if block == 1 else ":pad=1"
    return options + ["--mode", mode, "--pattern", f"{name}:{draw.choice(DENSITIES)}{pad}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--machine", default="bow")
    given = parser.parse_args()
    draw = random.Random(given.seed)
    wrong = 0
    slowest = 0.0
    for _ in range(given.count):
        command = [LACUNA, "run", "--machine", given.machine, "--quiet"] + request(draw)
        before = os.times().children_user
        start = time.monotonic()
        try:
            ran = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=20 * given.seconds
            )
            # 1: no result, with a reason
            bad = "" if ran.returncode in (0, 1) else f"status {ran.returncode}: {ran.stderr}"
        except subprocess.TimeoutExpired:
            bad = "did not end"
        user = os.times().children_user - before
        slowest = max(slowest, user)
        if not bad and user > given.seconds:
            bad = f"{user:.1f} s of processor time"
        if bad:
            wrong += 1
            print(" ".join(command[1:]), "--", bad, f"({time.monotonic() - start:.1f} s)")
    print(f"{given.count} products, {wrong} wrong, the slowest took {slowest:.1f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
