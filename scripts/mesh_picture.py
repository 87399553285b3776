#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a moving picture of a mesh of 8 x 8 cores from the simulator's own event log.

  scripts/mesh_picture.py [--out doc/figures/mesh.svg]      LACUNA=build/release/lacuna

Words leave the matrix above (zeros do not), run down their columns and start AXPYs in the cores;
partial sums run along the rows; the cycle stack fills beside it. One SVG with its animation, which
browsers play without a script.
"""
import argparse
import collections
import csv
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIDE, FEATURES, OUTPUTS, TOKENS = 8, 32, 8, 128
SETTINGS = [f"wafer.columns={SIDE}", f"wafer.rows={SIDE}", "io.share=0.012",
            "ws.row_order=natural", "ws.lookahead=4"]
PATTERN = "unstructured:0.3"
SECONDS, PLAYED = 16, 0.9  # of a round, and the share of it that the run takes

LEFT, TOP, PITCH, ROW = 24, 128, 54, 33
CORE = 22
EAST, SOUTH, WEST = 1, 2, 3  # ports
COLOURS = {"compute": "#e8743b", "exchange": "#3b7dd8", "stall": "#b04a5a",
           "imbalance": "#d9b44a", "idle": "#c9ced6"}
REST, WORD, COMMAND = "#dfe4ea", "#e8743b", "#8a8f98"


def lacuna(*arguments):
    program = os.environ.get("LACUNA", str(ROOT / "build/release/lacuna"))
    done = subprocess.run([program, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


def run(folder):
    """Events, unit-cycles by interval and layer, and which weights are kept."""
    gemm = f"{OUTPUTS}x{FEATURES}x{TOKENS}"
    words = [word for setting in SETTINGS for word in ("--set", setting)]
    lacuna("run", "--machine", "wse2", *words, "--gemm", gemm, "--pattern", PATTERN,
           "--layout", "first", "--event-log", "--interval", "4", "--quiet", "--out", str(folder / "run"))
    lacuna("trace", "make", "gemm", "--shape", gemm, "--pattern", PATTERN, "--out",
           str(folder / "w.csv"))
    picture = lacuna("trace", "show", str(folder / "w.csv"), "--picture", "gemm").splitlines()
    kept = [line[1:-1] for line in picture if line.startswith("|")]
    with open(folder / "run/events.csv", newline="", encoding="utf-8") as rows:
        events = [(int(row["cycle"]), row["unit"], row["kind"], int(row["argument"]))
                  for row in csv.DictReader(rows)]
    stack = collections.defaultdict(lambda: collections.Counter())
    with open(folder / "run/intervals.csv", newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            if row["path"] == "cycle_stack":
                layer = row["name"].split(".")[0]
                stack[int(row["to_cycle"])][layer] += int(float(row["value"]))
    return events, stack, kept


class Clock:
    """Cycles as shares of a round."""

    def __init__(self, last):
        self.last = last

    def __call__(self, cycle):
        return min(1.0, PLAYED * cycle / self.last)

    def animate(self, attribute, steps, discrete=True):
        """An animation through (cycle, value), which begins with the first value."""
        times, values = [0.0], [steps[0][1]]
        for cycle, value in steps:
            time = self(cycle)
            if time <= times[-1]:
                values[-1] = value
            elif value != values[-1] or not discrete:
                times.append(time)
                values.append(value)
        if not discrete:
            times.append(1.0)
            values.append(values[-1])
        mode = ' calcMode="discrete"' if discrete else ""
        return (f'<animate attributeName="{attribute}"{mode} dur="{SECONDS}s" '
                f'repeatCount="indefinite" values="{";".join(map(str, values))}" '
                f'keyTimes="{";".join(f"{time:.4f}".rstrip("0").rstrip(".") for time in times)}"/>')


def place(unit):
    """Column and row of wafer.rR.cC.core."""
    _, row, column, _ = unit.split(".")
    return int(column[1:]), int(row[1:])


def middle(column, row):
    return LEFT + column * PITCH + PITCH // 2, TOP + row * ROW + ROW // 2


def cell(row, feature):
    """Where a weight stands: its column holds four features."""
    column, inner = divmod(feature, FEATURES // SIDE)
    return LEFT + column * PITCH + 5 + inner * 11, 30 + row * 9


def sent(kept, column):
    """What the sender of a column sends: its kept weights row by row, a command behind each row."""
    width = FEATURES // SIDE
    for row, line in enumerate(kept):
        for feature in range(column * width, (column + 1) * width):
            if line[feature] != " ":
                yield row, feature
        yield row, None


def draw_weights(kept, clock, sends):
    for row, line in enumerate(kept):
        for feature, mark in enumerate(line):
            x, y = cell(row, feature)
            if mark == " ":
                yield (f'<rect x="{x}" y="{y}" width="9" height="7" fill="none" '
                       f'stroke="#c9ced6" stroke-width=".6"/>')
                continue
            gone = clock.animate("opacity", [(0, 1), (sends[row, feature], 0.2)])
            yield f'<rect x="{x}" y="{y}" width="9" height="7" fill="{WORD}">{gone}</rect>'


def draw_words(words, clock):
    """Circles from the matrix down a column."""
    for (column, row, feature), passed in words.items():
        if not passed:
            continue
        x, _ = middle(column, 0)
        begin = cell(row, feature) if feature is not None else (x - 4, 30 + row * 9)
        first = passed[0] - 2
        last = passed[-1] + 1
        ys = [(0, begin[1] + 4), (first, begin[1] + 4)]
        ys += [(cycle, middle(0, step)[1]) for step, cycle in enumerate(passed)]
        xs = [(0, begin[0] + 4), (first, begin[0] + 4), (passed[0], x), (last, x)]
        seen = [(0, 0), (first, 1), (last, 0)]
        colour, radius = (WORD, 3.4) if feature is not None else (COMMAND, 2.2)
        yield (f'<circle r="{radius}" fill="{colour}" opacity="0">'
               f'{clock.animate("cy", ys, False)}{clock.animate("cx", xs, False)}'
               f'{clock.animate("opacity", seen)}</circle>')


def draw_links(passes, clock):
    """Links along the rows, lit while a partial sum passes."""
    for (column, row, port), cycles in sorted(passes.items()):
        x, y = middle(column, row)
        step = PITCH if port == EAST else -PITCH
        shift = -4 if port == EAST else 4
        lit = [(0, 0)]
        for cycle in cycles:
            lit += [(cycle, 1), (cycle + 1, 0)]
        merged = [lit[0]]
        for cycle, value in sorted(set(lit), key=lambda each: (each[0], each[1])):
            if cycle == merged[-1][0]:
                merged[-1] = (cycle, max(value, merged[-1][1]))
            elif value != merged[-1][1]:
                merged.append((cycle, value))
        inner = CORE // 2 + 1
        begin, end = (x + inner, x + step - inner) if step > 0 else (x - inner, x + step + inner)
        yield (f'<path d="M{begin} {y + shift}H{end}" stroke="{COLOURS["exchange"]}" '
               f'stroke-width="3" opacity="0">{clock.animate("opacity", merged)}</path>')


def draw_cores(states, clock):
    for column in range(SIDE):
        for row in range(SIDE):
            x, y = middle(column, row)
            steps = [(0, REST)] + sorted(states[column, row])
            yield (f'<rect x="{x - CORE // 2}" y="{y - CORE // 2}" width="{CORE}" height="{CORE}" '
                   f'rx="3" fill="{REST}" stroke="#9aa3ae" stroke-width=".6">'
                   f'{clock.animate("fill", steps)}</rect>')


def draw_stack(stack, clock):
    x, y, height = LEFT + SIDE * PITCH + 34, 30, TOP + SIDE * ROW - 40
    whole = sum(sum(layers.values()) for layers in stack.values())
    yield (f'<rect x="{x}" y="{y}" width="46" height="{height}" fill="none" stroke="#9aa3ae" '
           f'stroke-width=".8"/>')
    below = collections.Counter()
    for layer, colour in COLOURS.items():
        tops, heights, total = [(0, y + height)], [(0, 0)], 0
        for cycle in sorted(stack):
            total += stack[cycle][layer]
            size = height * total / whole
            heights.append((cycle, round(size, 1)))
            tops.append((cycle, round(y + height - below[cycle] - size, 1)))
            below[cycle] += size
        yield (f'<rect x="{x}" width="46" fill="{colour}">{clock.animate("y", tops, False)}'
               f'{clock.animate("height", heights, False)}</rect>')
        final = y + height - below[max(stack)] + height * total / whole / 2
        yield (f'<text x="{x + 54}" y="{final + 4:.0f}" class="t">{layer} '
               f'{100 * total / whole:.0f} %</text>')


def states_of(events):
    """Of each core what it does from a cycle on: AXPYs and reductions."""
    beats = TOKENS // SIDE // 4
    states = collections.defaultdict(list)
    for cycle, unit, kind, _ in events:
        if kind == "vector_active":
            states[place(unit)] += [(cycle, WORD), (cycle + beats, REST)]
        elif kind == "reduction_start":
            states[place(unit)].append((cycle, COLOURS["exchange"]))
        elif kind == "reduction_end":
            states[place(unit)].append((cycle + 1, REST))
    return states


def picture(events, stack, kept):
    last = max(stack)
    clock = Clock(last)
    streams = {column: list(sent(kept, column)) for column in range(SIDE)}
    words = {(column, row, feature): [] for column in range(SIDE) for row, feature in
             streams[column]}
    sends, passes = {}, collections.defaultdict(list)
    counts = collections.Counter()
    for cycle, unit, kind, argument in events:
        if kind == "word_in":
            column = int(unit.rsplit("c", 1)[1])
            row, feature = streams[column][counts[unit]]
            counts[unit] += 1
            if feature is not None:
                sends[row, feature] = cycle
        elif kind == "word_out":
            column, row = place(unit)
            port = argument & 255
            if port == 4 and argument >> 8 == 0:  # down the ramp: the word is at this row
                stream = streams[column]
                at = counts["ramp", column, row]
                counts["ramp", column, row] += 1
                words[(column, *stream[at])].append(cycle)
            elif port in (EAST, WEST):
                passes[column, row, port].append(cycle)
    width, height = LEFT + SIDE * PITCH + 190, TOP + SIDE * ROW + 26
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           f'width="{width}" height="{height}">')
    yield '<style>.t{font:12px sans-serif;fill:#333}</style>'
    yield f'<rect width="{width}" height="{height}" rx="8" fill="#fff"/>'
    yield (f'<text x="{LEFT + 4}" y="20" class="t">weights outside the wafer: zeros stay, the rest '
           f'runs down its column</text>')
    yield f'<text x="{LEFT + SIDE * PITCH + 30}" y="20" class="t">every cycle, booked once</text>'
    yield from draw_weights(kept, clock, sends)
    yield from draw_links(passes, clock)
    yield from draw_cores(states_of(events), clock)
    yield from draw_words(words, clock)
    yield from draw_stack(stack, clock)
    yield (f'<text x="{LEFT + 4}" y="{height - 8}" class="t">orange: a weight starts an AXPY; blue: '
           f'partial sums along the rows; {last} cycles, {SIDE} x {SIDE} cores</text>')
    yield '</svg>'


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "doc/figures/mesh.svg")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        text = "\n".join(picture(*run(pathlib.Path(scratch)))) + "\n"
    asked.out.write_text(text, encoding="utf-8")
    print(f"{asked.out}: {len(text) / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
