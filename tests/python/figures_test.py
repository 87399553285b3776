# SPDX-License-Identifier: Apache-2.0
"""Each figure has a script for Matplotlib, which draws it from the same data. The scripts are run,
and what is on their axes is compared with the data."""

import os
import pathlib
import runpy
import subprocess
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

    def scripts_of(self, *arguments):
        """The scripts of all figures of a request, by name; there is one for each."""
        result = self.folder / "result"
        lacuna(*arguments, "--out", str(result))
        said = lacuna("plot", str(result), "--out", str(self.folder / "plots"), "--format", "png",
                      "--matplotlib")
        self.assertNotIn("drawn by gnuplot alone", said)
        figures = {path.stem: path.with_suffix(".py")
                   for path in (self.folder / "plots").glob("*.gp")}
        for name, script in figures.items():
            self.assertTrue(script.exists(), name)
        return figures

    def drawn(self, script):
        """The names of a script that has been run in its folder, and its data."""
        before = os.getcwd()
        os.chdir(script.parent)
        try:
            script.with_suffix(".png").unlink()
            names = runpy.run_path(script.name)
            self.assertGreater(script.with_suffix(".png").stat().st_size, 5000, script.name)
            return names, pd.read_csv(script.stem + ".csv")
        finally:
            os.chdir(before)
            plt.close("all")

    def points(self, names):
        """What stands on the axes as points and lines."""
        return sum(len(line.get_xdata()) for line in names["axes"].get_lines())

    def test_operations_layers_and_ways(self):
        scripts = self.scripts_of("run", *WAFER, "--trace", self.file("layers.csv", LAYERS),
                                  "--interval", "500")
        names, data = self.drawn(scripts["throughput_by_op"])
        self.assertEqual(self.points(names), len(data))
        self.assertEqual([text.get_text() for text in names["axes"].get_yticklabels()],
                         ["fwd.a", "upd.a", "fwd.b"])
        names, data = self.drawn(scripts["bandwidth"])
        self.assertEqual(self.points(names), len(data))
        names, data = self.drawn(scripts["bandwidth_phases"])
        self.assertEqual(self.points(names), len(data))
        names, data = self.drawn(scripts["layers_run0"])
        self.assertEqual(names["grid"].shape, (2, 3))
        self.assertEqual([text.get_text() for text in names["axes"].texts],
                         [f"{text:g}" for text in data.text.dropna()])
        names, data = self.drawn(scripts["power_run0_fwd_a"])
        self.assertEqual(list(names["axes"].get_lines()[0].get_ydata()), list(data.nominal))
        self.assertEqual(names["axes"].get_xlabel(), "Time (us)")
        names, data = self.drawn(scripts["bandwidth_time_run0_fwd_a"])
        self.assertEqual(list(names["axes"].get_lines()[0].get_ydata()), list(data.sram_percent))

    def test_levels_of_blas(self):
        scripts = self.scripts_of("compare", *WAFER, "--machine", "bow", "--set", "ipu.tiles=16",
                                  "--trace", self.file("levels.csv", LEVELS), "--pattern", "own")
        names, data = self.drawn(scripts["blas"])
        heights = [bar.get_height() for bar in names["axes"].patches]
        self.assertEqual(heights, list(data[data.kind == "needs"].bytes_per_flop))
        names, data = self.drawn(scripts["blas_share"])
        heights = [bar.get_height() for bar in names["axes"].patches]
        self.assertEqual(heights, list(data[data.kind == "simulated"].percent_of_peak))
        self.assertEqual(self.points(names), (data.kind == "allowed").sum())

    def test_searches_and_validations(self):
        scripts = self.scripts_of("search", self.file("search.yaml", SEARCH))
        names, data = self.drawn(scripts["search_front"])
        self.assertEqual(self.points(names), len(data))
        scripts = self.scripts_of("validate", "--family", "reduce_chain_1d")
        names, data = self.drawn(scripts["validation_cycles"])
        lines = names["axes"].get_lines()
        # equality and what is a quarter more or less, each of two ends, then the points
        self.assertEqual(list(lines[0].get_xdata()), list(lines[0].get_ydata()))
        self.assertEqual(self.points(names), 6 + len(data))

    def test_labels_are_those_of_the_look(self):
        self.scripts_of("run", *WAFER, "--trace", self.file("layers.csv", LAYERS))
        lacuna("plot", str(self.folder / "result"), "--out", str(self.folder / "other"),
               "--only", "throughput_by_op", "--labels", "fwd.a=first", "--labels",
               "Useful TFLOP/s=Rate", "--format", "png", "--matplotlib")
        names, _ = self.drawn(self.folder / "other" / "throughput_by_op.py")
        self.assertEqual(names["axes"].get_yticklabels()[0].get_text(), "first")
        self.assertEqual(names["axes"].get_xlabel(), "Rate")


if __name__ == "__main__":
    unittest.main()
