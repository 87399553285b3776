#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Presses Ctrl-C at random moments of run, compare, validate and trace schedule, MOMENTS (20) times
each, and goes on with --resume. No folder may look whole that is not, and the resumed result must be
that of a request that nobody disturbed, byte for byte."""

import filecmp
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LACUNA = os.path.join(ROOT, os.environ.get("LACUNA", "build/release/lacuna"))
MOMENTS = int(os.environ.get("MOMENTS", "20"))
SMALL = ["--set", "ipu.tiles=64"]
WAFER = ["--set", "wafer.columns=48", "--set", "wafer.rows=48"]
REQUESTS = {
    "run": ["run", "--machine", "bow", "--trace", "traces/small_gemms.csv", "--pattern",
            "unstructured:0.25", "--seeds", "3"],
    "compare": ["compare", "--machine", "bow", "--machine", "wse2", *SMALL, *WAFER, "--gemm",
                "256x256x512", "--pattern", "dense", "--pattern", "unstructured:0.1",
                "--pattern", "block16:0.1", "--pattern", "unstructured:0.25", "--jobs", "2"],
    "validate": ["validate", "--jobs", "2", "--points", "POINTS"],
    "schedule": ["trace", "schedule", "dynamic", "--model", "bert-tiny", "--block", "16",
                 "--samples", "6", "--machine", "bow", *SMALL, "--jobs", "2"],
}
POINTS = "id,system,workload,m,k,n,density,block,dtype,mode,metric,value,unit,source,confidence\n"
POINTS += "".join(
    f"P{i},Bow,spmm,{256 + 64 * i},512,{64 * (1 + i % 4)},0.25,4,FP16,{mode},cycles,9999,cycles,s,H\n"
    for i, mode in enumerate(["static", "dynamic"] * 6))
WHOLE_RESULTS_ALONE = {"validate", "schedule"}  # these leave no folder behind


def start(request, out, *more):
    environment = dict(os.environ, SC_COPYRIGHT_MESSAGE="DISABLE")
    return subprocess.Popen([LACUNA, *request, "--quiet", "--out", out, *more], cwd=ROOT,
                            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            start_new_session=True)


def files(folder):
    found = set()
    for path, _, names in os.walk(folder):
        found.update(os.path.relpath(os.path.join(path, name), folder) for name in names)
    return found - {"host.json"}


def differences(whole, other):
    if files(whole) != files(other):
        return sorted(files(whole) ^ files(other))
    return [name for name in sorted(files(whole))
            if not filecmp.cmp(os.path.join(whole, name), os.path.join(other, name), False)]


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def says_interrupted(folder):
    """True if all that somebody could take for a result says that it is none."""
    if '"interrupted": true' not in read(folder, "result.json"):
        return False
    if ",interrupted," not in read(folder, "summary.csv"):
        return False
    figures = [name for name in files(folder) if name.endswith(".svg")]
    return all("interrupted" in read(folder, name) for name in ["report.html", *figures])


def disturb(verb, whole, out, moment):
    """Interrupts a request at a moment and resumes it; what is wrong, or nothing."""
    process = start(REQUESTS[verb], out)
    time.sleep(moment)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    process.communicate()
    hidden = [name for name in os.listdir(os.path.dirname(out)) if name.startswith(".")]
    if hidden:
        return f"left {', '.join(hidden)} behind"
    partial = differences(whole, out) if os.path.exists(out) else []
    if partial and (verb in WHOLE_RESULTS_ALONE or not says_interrupted(out)):
        return f"left a folder that looks whole and differs in {', '.join(partial)}"
    kept = os.path.exists(out + ".journal")
    resumed = start(REQUESTS[verb], out, "--resume")
    errors = resumed.communicate()[1].decode()
    if resumed.returncode != 0:
        return f"--resume ended with {resumed.returncode}: {errors}"
    different = differences(whole, out)
    if different:
        return f"--resume ended with other bytes in {', '.join(different)}"
    if os.path.exists(out + ".journal") or os.path.exists(out + ".unfinished"):
        return "something is left beside the result"
    return kept


def main():
    random.seed(int(os.environ.get("SEED", "1")))
    failed = False
    for verb in sys.argv[1:] or REQUESTS:
        with tempfile.TemporaryDirectory() as work:
            whole, out = os.path.join(work, "whole"), os.path.join(work, "out")
            points = os.path.join(work, "points.csv")
            with open(points, "w", encoding="utf-8") as file:
                file.write(POINTS)
            REQUESTS[verb] = [points if word == "POINTS" else word for word in REQUESTS[verb]]
            begin = time.monotonic()
            process = start(REQUESTS[verb], whole)
            errors = process.communicate()[1].decode()
            if process.returncode != 0:
                sys.exit(f"{verb} ends with {process.returncode}: {errors}")
            length = time.monotonic() - begin
            resumed = 0
            for _ in range(MOMENTS):
                wrong = disturb(verb, whole, out, random.uniform(0, length))
                if isinstance(wrong, str):
                    print(f"{verb}: {wrong}")
                    failed = True
                else:
                    resumed += wrong
                shutil.rmtree(out, ignore_errors=True)
                if os.path.exists(out + ".journal"):
                    os.remove(out + ".journal")
        print(f"{verb}: {length:.1f} s, interrupted {MOMENTS} times, {resumed} journals resumed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
