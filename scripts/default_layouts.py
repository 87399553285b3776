#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far a wafer's default layout is from the best that is known.

Draws products, or layers and training steps of transformers, wafers and presets, and runs each at
its default layout, at the best of a climb from it, and at random layouts. Prints a line for each
draw and the quantiles of default over best known.

    scripts/default_layouts.py --draws 200 [--seed 1] [--random 20] [--seconds 30] [--small]
    scripts/default_layouts.py --draws 30 --small --rows forward      (or training)
"""

import argparse
import csv
import json
import math
import pathlib
import random
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
COLUMNS = {"wse1": 600, "wse2": 750, "wse3": 755}  # that the whole I/O belongs to
ORDERS = [("chain", "natural")] * 4 + [("ring", "ring"), ("two_phase", "ring"), ("tree", "natural")]


def magnitude(draw, least, most):
    """A number between two, all magnitudes alike."""
    return round(least * (most / least) ** draw.random())


def drawn_product(draw, small):
    """The words of a run: a wafer and a product that it simulates in seconds."""
    while True:
        machine = draw.choice(["wse1", "wse2", "wse2", "wse3"])
        columns = magnitude(draw, 32, 128 if small else COLUMNS[machine])
        rows = magnitude(draw, 32, 128 if small else {"wse1": 595}.get(machine, 994))
        m, k, n = (16 * magnitude(draw, 1, 768) for _ in range(3))
        n = magnitude(draw, 16, 12288)
        if m * k * n <= (2e8 if small else 4e9) and m * columns <= 2e6:
            break
    dtype = draw.choice(["fp16"] * 4 + ["fp32"] + (["int8"] if machine == "wse3" else []))
    density = f"{10 ** (-2 * draw.random()):.2g}"
    pattern = draw.choice(["dense", f"unstructured:{density}", f"unstructured:{density}",
                           f"block4:{density}", f"block16:{density}", "nm:2:4"])
    return ["--machine", machine, "--set", f"wafer.columns={columns}", "--set",
            f"wafer.rows={rows}", "--gemm", f"{m}x{k}x{n}", "--pattern", pattern, "--dtype", dtype]


def drawn_rows(draw, part, runs):
    """The words of a run: a wafer of up to 128 x 128 cores and the rows of a layer."""
    heads = draw.randint(1, 8)
    width = heads * draw.choice([16, 32, 64])
    model = {"architectures": ["BertModel"], "model_type": "bert", "hidden_size": width,
             "num_attention_heads": heads, "intermediate_size": draw.choice([2, 4]) * width,
             "num_hidden_layers": 1, "vocab_size": 128, "max_position_embeddings": 512,
             "type_vocab_size": 2, "hidden_act": "gelu"}
    config, trace = runs.folder / "config.json", runs.folder / "layer.csv"
    config.write_text(json.dumps(model), encoding="utf-8")
    subprocess.run([runs.program, "trace", "make", config, "--tokens", str(8 * magnitude(draw, 1, 32)),
                    "--part", part, "--out", trace], capture_output=True, check=True)
    pattern = draw.choice(["dense", *(f"unstructured:{10 ** (-2 * draw.random()):.2g}" for _ in range(3))])
    return ["--machine", draw.choice(["wse1", "wse2", "wse3"]), "--set",
            f"wafer.columns={magnitude(draw, 32, 128)}", "--set",
            f"wafer.rows={magnitude(draw, 32, 128)}", "--trace", trace, "--pattern", pattern]


def drawn_layout(draw, words):
    """A layout that is drawn, on a part of the wafer."""
    limit = {word.split("=")[0]: int(word.split("=")[1]) for word in map(str, words) if "wafer." in word}
    layout = {key: draw.choice(values) for key, values in WORDS.items()}
    layout["ws.reduce"], layout["ws.row_order"] = draw.choice(ORDERS)
    groups = int(layout["ws.groups"])
    width = magnitude(draw, 1, max(1, limit["wafer.columns"] // groups))
    layout["wafer.columns"] = str(width * groups)
    layout["wafer.rows"] = str(magnitude(draw, 2, limit["wafer.rows"]))
    layout["io.share"] = f"{min(1, limit['wafer.columns'] / COLUMNS[words[1]]):.6g}"
    return layout


class Runs:
    def __init__(self, program, folder, seconds):
        self.program, self.folder, self.seconds = program, pathlib.Path(folder), seconds

    def cycles(self, words, layout):
        """Of all rows, None if they cannot be or take too long."""
        out = self.folder / "out"
        line = [self.program, "run", *words, "--layout", layout, "--quiet", "--no-cache", "--out", out]
        try:
            done = subprocess.run([str(word) for word in line], capture_output=True,
                                  timeout=self.seconds, check=False)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode != 0:
            return None
        with open(out / "summary.csv", encoding="utf-8") as rows:
            return int(list(csv.DictReader(rows))[-1]["cycles"] or 0) or None

    def random_one(self, words, draw):
        layout = drawn_layout(draw, words)
        if "--trace" in words:  # what rows share is set for all
            layout.pop("residency")
            sets = [word for key, value in layout.items() for word in ("--set", f"{key}={value}")]
            return self.cycles([*words, *sets], "first")
        path = self.folder / "layout.yaml"
        text = ", ".join(f"{key}: {value}" for key, value in layout.items())
        path.write_text(f"layouts:\n  - {{layout: {{{text}}}}}\n", encoding="utf-8")
        return self.cycles(words, path)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    options.add_argument("--draws", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--random", type=int, default=20)
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--small", action="store_true", help="wafers up to 128 x 128")
    options.add_argument("--rows", choices=["forward", "training"], help="of a layer, not a product")
    options.add_argument("--program", default="build/release/lacuna")
    asked = options.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(asked.program, folder, asked.seconds)
        for number in range(asked.draws):
            draw = random.Random(f"{asked.seed} {number}")
            words = drawn_rows(draw, asked.rows, runs) if asked.rows else drawn_product(draw, asked.small)
            default = runs.cycles(words, "planned")
            if default is None:
                continue
            known = {"default": default, "climb": runs.cycles(words, "best")}
            drawn = [runs.random_one(words, draw) for _ in range(asked.random)]
            known["random"] = min((each for each in drawn if each), default=None)
            best = min((cycles, who) for who, cycles in known.items() if cycles)
            ratios.append(default / best[0])
            print(f"{number:4} {ratios[-1]:6.3f} {default:9} {best[0]:9} {best[1]:8}",
                  " ".join(word for word in map(str, words) if not word.startswith("--")), flush=True)
    ratios.sort()
    at = lambda share: ratios[min(len(ratios) - 1, math.floor(share * len(ratios)))]
    print(f"{len(ratios)} draws: median {at(0.5):.3f}, 90 % {at(0.9):.3f}, worst {ratios[-1]:.3f}")


if __name__ == "__main__":
    main()
