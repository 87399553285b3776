#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call of the Python module costs beside the simulation: the median of a run of one tiny
product, with its frames. Not a test, as it depends on the computer.

    PYTHONPATH=build/release/python tests/benchmark/python_calls.py [MOST_MS]

exits with 3 if it is above MOST_MS.
"""

import statistics
import sys
import time

import lacuna


def milliseconds(call, times=50):
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        call()
        taken.append(1e3 * (time.perf_counter() - begun))
    return statistics.median(taken)


def main():
    machine = lacuna.Machine("wse2", wafer__columns=2, wafer__rows=2)
    run = milliseconds(lambda: lacuna.run(machine, gemm=(4, 4, 1)))
    frames = milliseconds(lambda: lacuna.run(machine, gemm=(4, 4, 1)).stack)
    attribute = milliseconds(lambda: machine.wafer.rows)
    made = milliseconds(lambda: lacuna.Machine("wse2"))
    print(f"a run {run:.2f} ms, with its stack as a frame {frames:.2f} ms\n"
          f"a parameter {attribute:.3f} ms, a machine {made:.2f} ms")
    if len(sys.argv) > 1 and run > float(sys.argv[1]):
        sys.exit(3)


if __name__ == "__main__":
    main()
