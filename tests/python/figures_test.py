# SPDX-License-Identifier: Apache-2.0
"""Each figure has a description, from which one script draws it with Matplotlib. What is on the
axes is compared with the data."""

import os
import pathlib
import runpy
import subprocess
import sys
import tempfile
import unittest

import matplotlib.pyplot as plt
import pandas as pd

LACUNA = os.environ["LACUNA"]
WAFER = ["--machine", "wse2", "--set", "wafer.columns=8", "--set", "wafer.rows=8"]
HEAD = "# lacuna-trace v1\nid,op,m,k,n,dtype,pattern,density,depends_on\n"
LAYERS = HEAD + """\
fwd.a,gemm,64,64,32,fp16,unstructured,0.25,-
upd.a,gemm,64,64,32,fp16,unstructured,0.25,-
fwd.b,gemm,64,128,32,fp16,unstructured,0.25,-
"""
LEVELS = HEAD + """\
gemv,gemm,64,64,1,fp16,,,-
gemm,gemm,64,64,64,fp16,,,-
"""
SEARCH = """\
machine: wse2
set: {wafer.columns: 8, wafer.rows: 8}
gemm: 64x64x64
density: 0.25
pattern: unstructured
minimise: [time, energy]
space: {ws.lookahead: [4, 16, 64]}
"""


def lacuna(*arguments):
    done = subprocess.run([LACUNA, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


class FiguresTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def figures_of(self, *arguments):
        """The descriptions of all figures of a request, by name; there is one for each."""
        result = self.folder / "result"
        lacuna(*arguments, "--out", str(result))
        lacuna("plot", str(result), "--out", str(self.folder / "plots"), "--format", "png",
               "--matplotlib")
        figures = {path.stem: path.with_suffix(".json")
                   for path in (self.folder / "plots").glob("*.gp")}
        for name, description in figures.items():
            self.assertTrue(description.exists(), name)
        return figures

    def drawn(self, description):
        """The axes of a figure that the script beside it has drawn, and its data."""
        redraw = runpy.run_path(str(description.with_name("redraw.py")))
        figure, axes = redraw["draw"](description.stem)
        picture = description.with_suffix(".png")
        figure.savefig(picture)
        plt.close("all")
        self.assertGreater(picture.stat().st_size, 5000, description.name)
        return axes, pd.read_csv(description.with_suffix(".csv"))

    def points(self, axes):
        """What stands on the axes as points and lines."""
        return sum(len(line.get_xdata()) for line in axes.get_lines())

    def test_operations_layers_and_ways(self):
        figures = self.figures_of("run", *WAFER, "--trace", self.file("layers.csv", LAYERS),
                                  "--interval", "500")
        axes, data = self.drawn(figures["throughput_by_op"])
        self.assertEqual(self.points(axes), len(data))
        self.assertEqual([text.get_text() for text in axes.get_yticklabels()],
                         ["fwd.a", "upd.a", "fwd.b"])
        axes, data = self.drawn(figures["bandwidth"])
        self.assertEqual(self.points(axes), len(data))
        axes, data = self.drawn(figures["bandwidth_phases"])
        self.assertEqual(self.points(axes), len(data))
        axes, data = self.drawn(figures["layers_run0"])
        self.assertEqual(axes.get_images()[0].get_array().shape, (2, 3))
        self.assertEqual([text.get_text() for text in axes.texts],
                         ["" if pd.isna(text) else f"{text:g}" for text in data.text])
        axes, data = self.drawn(figures["power_run0_fwd_a"])
        self.assertEqual(list(axes.get_lines()[0].get_ydata()), list(data.nominal))
        self.assertEqual(axes.get_xlabel(), "Time (us)")
        axes, data = self.drawn(figures["bandwidth_time_run0_fwd_a"])
        self.assertEqual(list(axes.get_lines()[0].get_ydata()), list(data.sram_percent))

    def test_levels_of_blas(self):
        figures = self.figures_of("compare", *WAFER, "--machine", "bow", "--set", "ipu.tiles=16",
                                  "--trace", self.file("levels.csv", LEVELS), "--pattern", "own")
        axes, data = self.drawn(figures["blas"])
        heights = [bar.get_height() for bar in axes.patches]
        self.assertEqual(heights, list(data[data.kind == "needs"].bytes_per_flop))
        axes, data = self.drawn(figures["blas_share"])
        heights = [bar.get_height() for bar in axes.patches]
        self.assertEqual(heights, list(data[data.kind == "simulated"].percent_of_peak))
        self.assertEqual(self.points(axes), (data.kind == "allowed").sum())

    def test_searches_and_validations(self):
        figures = self.figures_of("search", self.file("search.yaml", SEARCH))
        axes, data = self.drawn(figures["search_front"])
        self.assertEqual(self.points(axes), len(data))
        figures = self.figures_of("validate", "--family", "reduce_chain_1d")
        axes, data = self.drawn(figures["validation_cycles"])
        lines = axes.get_lines()
        # equality and what is a quarter more or less, each of two ends, then the points
        self.assertEqual(list(lines[0].get_xdata()), list(lines[0].get_ydata()))
        self.assertEqual(self.points(axes), 6 + len(data))

    def test_all_figures_are_drawn_in_another_style(self):
        folder = self.figures_of("compare", *WAFER, "--gemm", "64x64x64", "--density", "1,0.5")
        script = next(iter(folder.values())).with_name("redraw.py")
        done = subprocess.run([sys.executable, str(script), "style=dark_background",
                               "formats=eps", "width=5"], capture_output=True, text=True,
                              env={**os.environ, "MPLBACKEND": "agg"})
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, description in folder.items():
            self.assertTrue(description.with_suffix(".eps").exists(), name)

    def test_labels_are_those_of_the_look(self):
        self.figures_of("run", *WAFER, "--trace", self.file("layers.csv", LAYERS))
        lacuna("plot", str(self.folder / "result"), "--out", str(self.folder / "other"),
               "--only", "throughput_by_op", "--labels", "fwd.a=first", "--labels",
               "Useful TFLOP/s=Rate", "--format", "png", "--matplotlib")
        axes, _ = self.drawn(self.folder / "other" / "throughput_by_op.json")
        self.assertEqual(axes.get_yticklabels()[0].get_text(), "first")
        self.assertEqual(axes.get_xlabel(), "Rate")


if __name__ == "__main__":
    unittest.main()
