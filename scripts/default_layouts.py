#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far a wafer's default layout is from the best that is known.

Draws products, layers and training steps of transformers, wafers and presets. Runs each at its
default layout, at the best of a climb from it, and at random layouts. Each draw is a line of a CSV
as soon as it is done, and a draw that is there is not run again.

    scripts/default_layouts.py out/defaults.csv [--products 200] [--layers 30] [--training 10]
    scripts/default_layouts.py out/defaults.csv --table
"""

import argparse
import csv
import json
import pathlib
import random
import resource
import subprocess
import tempfile

WORDS = {
    "ws.groups": ["1", "2", "3", "4", "5", "6"],
    "ws.share": ["rows", "tokens"],
    "ws.lie": ["interleaved", "interleaved", "side_by_side"],
    "ws.k_partition": ["block", "cyclic", "balanced"],
    "ws.inject": ["middle_row", "column_top"],
    "ws.lookahead": ["8", "16", "32", "64", "128"],
    "residency": ["streamed", "streamed", "streamed", "resident"],
}
WAFER = {"wse1": (600, 595), "wse2": (750, 994), "wse3": (755, 994)}  # columns and rows
ORDERS = [("chain", "natural")] * 4 + [("ring", "ring"), ("two_phase", "ring"), ("tree", "natural")]
FIELDS = ["kind", "number", "default", "climb", "random", "ratio", "words"]
STEPS = (1_500, 40_000)  # rows of a stream times columns that a drawn product has at most
CLIMB = "best:24"


def magnitude(draw, least, most):
    """A number between two, all magnitudes alike."""
    return round(least * (most / least) ** draw.random())


def drawn_wafer(draw):
    machine = draw.choice(["wse1", "wse2", "wse3"])
    columns, rows = (magnitude(draw, 32, most) for most in WAFER[machine])
    return machine, columns, ["--machine", machine, "--set", f"wafer.columns={columns}",
                              "--set", f"wafer.rows={rows}"]


def drawn_pattern(draw):
    density = f"{10 ** (-2 * draw.random()):.2g}"
    return draw.choice(["dense", "dense", f"unstructured:{density}", f"unstructured:{density}",
                        f"block4:{density}", f"block16:{density}", "nm:2:4"])


def drawn_product(draw, _):
    """The words of a run that is simulated in a second or so."""
    machine, columns, words = drawn_wafer(draw)
    most = magnitude(draw, *STEPS)
    while True:
        m, k = (16 * magnitude(draw, 1, 768) for _ in range(2))
        n = magnitude(draw, 16, 12288)
        if m * min(k, columns) <= most and m * k * n <= 5e3 * most:
            break
    dtype = draw.choice(["fp16"] * 4 + ["fp32"] + (["int8"] if machine == "wse3" else []))
    return [*words, "--gemm", f"{m}x{k}x{n}", "--pattern", drawn_pattern(draw), "--dtype", dtype]


def drawn_rows(draw, runs, part):
    """The words of a run of the rows of a layer."""
    machine, _, words = drawn_wafer(draw)
    few = draw.random() < 0.5  # tokens, beside wide weights
    heads = draw.randint(1, 12 if few else 6)
    width = heads * draw.choice([32, 64] if few else [16, 32])
    model = {"architectures": ["BertModel"], "model_type": "bert", "hidden_size": width,
             "num_attention_heads": heads, "intermediate_size": draw.choice([2, 4]) * width,
             "num_hidden_layers": 1, "vocab_size": 128, "max_position_embeddings": 512,
             "type_vocab_size": 2, "hidden_act": "gelu"}
    config, trace = runs.folder / "config.json", runs.folder / "layer.csv"
    config.write_text(json.dumps(model), encoding="utf-8")
    tokens = magnitude(draw, 1, 64) if few else 8 * magnitude(draw, 1, 16)
    subprocess.run([runs.program, "trace", "make", config, "--tokens", str(tokens), "--part", part,
                    "--out", trace], capture_output=True, check=True)
    return [*words, "--trace", trace, "--pattern", drawn_pattern(draw)]


KINDS = {
    "products": drawn_product,
    "layers": lambda draw, runs: drawn_rows(draw, runs, "forward"),
    "training": lambda draw, runs: drawn_rows(draw, runs, "training"),
}


def drawn_layout(draw, words):
    """A layout on a part of the wafer."""
    wafer = [word.split("=") for word in map(str, words) if word.startswith("wafer.")]
    limit = {key: int(value) for key, value in wafer}
    layout = {key: draw.choice(values) for key, values in WORDS.items()}
    layout["ws.reduce"], layout["ws.row_order"] = draw.choice(ORDERS)
    groups = int(layout["ws.groups"])
    width = magnitude(draw, 1, max(1, limit["wafer.columns"] // groups))
    layout["wafer.columns"] = str(width * groups)
    layout["wafer.rows"] = str(magnitude(draw, 2, limit["wafer.rows"]))
    layout["io.share"] = f"{min(1, limit['wafer.columns'] / WAFER[words[1]][0]):.6g}"
    return layout


class Runs:
    def __init__(self, program, folder, seconds):
        self.program, self.folder, self.seconds = program, pathlib.Path(folder), seconds

    def cycles(self, words, layout, seconds=None):
        """Of all rows, None if they cannot be or take too long."""
        out = self.folder / "out"
        seconds = round(seconds or self.seconds)
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        line = [self.program, "run", *words, "--layout", layout, "--quiet", "--no-cache",
                "--out", out]
        done = subprocess.run([str(word) for word in line], capture_output=True, preexec_fn=limit,
                              check=False)
        if done.returncode != 0:
            return None
        with open(out / "summary.csv", encoding="utf-8") as rows:
            return int(list(csv.DictReader(rows))[-1]["cycles"] or 0) or None

    def random_one(self, words, draw):
        layout = drawn_layout(draw, words)
        if "--trace" in words:  # what rows share is set for all
            layout.pop("residency")
            machine, rows = words[:2], words[words.index("--trace"):]
            sets = [word for key, value in layout.items() for word in ("--set", f"{key}={value}")]
            return self.cycles([*machine, *sets, *rows], "first")
        path = self.folder / "layout.yaml"
        text = ", ".join(f"{key}: {value}" for key, value in layout.items())
        path.write_text(f"layouts:\n  - {{layout: {{{text}}}}}\n", encoding="utf-8")
        return self.cycles(words, path)

    def draw(self, kind, number, seed, randoms):
        """A line of the CSV; without a ratio if the default did not end."""
        draw = random.Random(f"{seed} {kind} {number}")
        words = KINDS[kind](draw, self)
        line = {"kind": kind, "number": number,
                "words": " ".join(str(word) for word in words if not str(word).startswith("--"))}
        default = self.cycles(words, "planned")
        if default is None:
            return line
        climb = self.cycles(words, CLIMB, 10 * self.seconds)
        drawn = [self.random_one(words, draw) for _ in range(randoms)]
        least = min((each for each in drawn if each), default=None)
        best = min(each for each in (default, climb, least) if each)
        return {**line, "default": default, "climb": climb, "random": least,
                "ratio": f"{default / best:.3f}"}


def lines_of(path):
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def print_table(lines):
    print("| Drawn | Ran | Median | 90 % | Worst |\n| --- | --- | --- | --- | --- |")
    for kind in KINDS:
        of_kind = [line for line in lines if line["kind"] == kind]
        ratios = sorted(float(line["ratio"]) for line in of_kind if line["ratio"])
        if ratios:
            at = [min(len(ratios) - 1, int(share * len(ratios))) for share in (0.5, 0.9, 1)]
            cells = [f"{len(of_kind)} {kind}", str(len(ratios)), *(f"{ratios[i]:.2f}" for i in at)]
            print("|", " | ".join(cells), "|")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    options.add_argument("csv", type=pathlib.Path, help="that lines are added to")
    for kind, count in (("products", 200), ("layers", 30), ("training", 10)):
        options.add_argument(f"--{kind}", type=int, default=count, help="drawn")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--random", type=int, default=20, help="layouts of a draw")
    options.add_argument("--seconds", type=float, default=2,
                         help="of CPU; a climb has ten times as many")
    options.add_argument("--program", default="build/release/lacuna")
    options.add_argument("--table", action="store_true", help="print what is there and end")
    asked = options.parse_args()
    known = {(line["kind"], int(line["number"])) for line in lines_of(asked.csv)}
    draws = [((number + 1) / getattr(asked, kind), kind, number)
             for kind in KINDS for number in range(getattr(asked, kind))]
    if not asked.table:
        with tempfile.TemporaryDirectory() as folder, \
                open(asked.csv, "a", encoding="utf-8", newline="") as file:
            runs = Runs(asked.program, folder, asked.seconds)
            lines = csv.DictWriter(file, FIELDS)
            if file.tell() == 0:
                lines.writeheader()
            for _, kind, number in sorted(draws):  # each kind as far as the others
                if (kind, number) not in known:
                    lines.writerow(runs.draw(kind, number, asked.seed, asked.random))
                    file.flush()
    print_table(lines_of(asked.csv))


if __name__ == "__main__":
    main()
