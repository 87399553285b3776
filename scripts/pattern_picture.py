#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the patterns of doc/guide/patterns.md, as `lacuna trace show --picture` prints them.

  scripts/pattern_picture.py [--out doc/figures/patterns.svg]      LACUNA=build/release/lacuna
"""
import argparse
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIDE, CELL, GAP, TEXT, COLUMNS = 24, 6, 22, 20, 5
PATTERNS = ["unstructured:0.25", "block4:0.25", "nm:2:4", "bernoulli:0.25", "rows:0.25:alpha=1",
            "magnitude:0.25:head=8", "banded:w=3", "blockdiag:groups=4", "butterfly", "causal",
            "window:w=3", "longformer:w=2:global=2", "bigbird4:random=1", "fixed:stride=8:c=2",
            "strided:stride=6"]


def rows_of(pattern, folder):
    """The picture's lines: a letter for each element that is kept."""
    program = os.environ.get("LACUNA", str(ROOT / "build/release/lacuna"))
    trace = str(folder / "p.csv")

    def ask(*words):
        return subprocess.run([program, "trace", *words], check=True, capture_output=True, text=True).stdout

    ask("make", "gemm", "--shape", f"{SIDE}x{SIDE}x1", "--pattern", pattern, "--out", trace)
    lines = ask("show", trace, "--picture", "gemm").splitlines()
    return [line[1:-1] for line in lines if line.startswith("|")]


def drawn(pattern, rows, left, top):
    size = SIDE * CELL
    yield f'<text x="{left}" y="{top + 12}" class="t">{pattern}</text>'
    top += TEXT
    path = "".join(f"M{x * CELL},{y * CELL}h{CELL - 1}v{CELL - 1}h-{CELL - 1}z"
                   for y, row in enumerate(rows) for x, letter in enumerate(row) if letter != " ")
    yield f'<rect x="{left}" y="{top}" width="{size}" height="{size}" class="b"/>'
    yield f'<path transform="translate({left},{top})" d="{path}" class="k"/>'


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "doc/figures/patterns.svg")
    out = parser.parse_args().out
    pitch, height = SIDE * CELL + GAP, SIDE * CELL + TEXT + GAP
    lines = -(-len(PATTERNS) // COLUMNS)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {COLUMNS * pitch} {lines * height}">',
             "<style>.t{font:12px sans-serif;fill:#333}.b{fill:#fff;stroke:#c9ced6}.k{fill:#3b7dd8}</style>",
             f'<rect width="{COLUMNS * pitch}" height="{lines * height}" rx="8" fill="#fff"/>']
    with tempfile.TemporaryDirectory() as folder:
        for number, pattern in enumerate(PATTERNS):
            rows = rows_of(pattern, pathlib.Path(folder))
            parts += drawn(pattern, rows, number % COLUMNS * pitch + GAP // 2,
                           number // COLUMNS * height + GAP // 4)
    out.write_text("\n".join(parts + ["</svg>"]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
