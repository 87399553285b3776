#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the shipped traces on machines and prints a Markdown table: operations, simulated time, or
what does not run and why.

  scripts/library_table.py [--machine NAME]... [--limit SECONDS] [--keep DIR] [TRACE]...

Without TRACE all of traces/ and traces/library/. --keep DIR writes each result there as JSON and takes
those that are there already. A run on an IPU that wants products in steps is made once more with
planner.serial_columns=true, and marked with an asterisk.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEPS = "planner.serial_columns=true"


def shown(seconds):
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.4g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def run(trace, machine, options, limit, keep):
    name = f"{trace.stem}.{machine}{'.steps' if options else ''}.json"
    kept = keep / name if keep else None
    if kept and kept.exists() and kept.stat().st_size:
        return json.loads(kept.read_text())
    command = [str(ROOT / "build/release/lacuna"), "run", "--machine", machine, "--trace",
               str(trace), "--json", "--quiet"]
    for option in options:
        command += ["--set", option]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None
    if kept and done.stdout:
        kept.write_text(done.stdout)
    if not done.stdout:
        sys.exit(f"{trace.name} on {machine}: {done.stderr}")
    return json.loads(done.stdout)


def cell(trace, machine, limit, keep):
    """The time of the whole trace, or the operations that do not run with the reason of the first."""
    rows = run(trace, machine, [], limit, keep)
    mark = ""
    if rows and any(row["reason"] and STEPS in row["reason"] for row in rows):
        rows, mark = run(trace, machine, [STEPS], limit, keep), " *"
    if rows is None:
        return f"not within {limit} s", ""
    ops = [row for row in rows if row["op_id"] != "TOTAL"]
    failed = [row for row in ops if row["status"] != "ok"]
    if not failed:
        total = rows[-1]
        return shown(total["time_s"]) + mark, ""
    reasons = {}
    for row in failed:
        words = row["op"] + (f" {row['fn']}" if row.get("fn") else "")
        reasons.setdefault((words, row["reason"]), []).append(row["op_id"])
    notes = [f"{trace.stem}, {machine}: `{ids[0]}`{f' and {len(ids) - 1} more' if len(ids) > 1 else ''}: "
             f"{reason}" for (_, reason), ids in reasons.items()]
    return f"{len(ops) - len(failed)} of {len(ops)}{mark}", "\n".join(f"- {note}" for note in notes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--machine", action="append")
    parser.add_argument("--limit", type=int, default=3600)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("traces", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    machines = options.machine or ["bow", "wse2"]
    traces = options.traces or sorted((ROOT / "traces").glob("*.csv")) + sorted(
        (ROOT / "traces/library").glob("*.csv"))
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    print("| trace | " + " | ".join(machines) + " |")
    print("| --- |" + " --- |" * len(machines))
    notes = []
    for trace in traces:
        cells = [cell(trace, machine, options.limit, options.keep) for machine in machines]
        print(f"| `{trace.name}` | " + " | ".join(text for text, _ in cells) + " |", flush=True)
        notes += [note for _, note in cells if note]
    print("\n" + "\n".join(notes))


if __name__ == "__main__":
    main()
