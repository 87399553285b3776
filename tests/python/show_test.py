# SPDX-License-Identifier: Apache-2.0
"""Results that draw themselves, and cells that are commands."""

import contextlib
import io
import pathlib
import re
import tempfile
import unittest

import matplotlib

matplotlib.use("Agg")

import lacuna

SMALL = "--machine wse2 --set wafer.columns=8 --set wafer.rows=8 --gemm 64x64x32"


class Shell:
    """As much of IPython's shell as an extension needs."""

    def __init__(self):
        self.user_ns, self.magics = {}, {}
        lacuna.load_ipython_extension(self)

    def register_magic_function(self, function, magic_kind="line", magic_name=None):
        self.magics[magic_kind, magic_name] = function

    def cell(self, line, body):
        return self.magics["cell", "lacuna"](line, body)


def several(densities):
    wafer = lacuna.Machine("wse2", wafer__columns=8, wafer__rows=8)
    patterns = ["dense"] + [f"unstructured:{each}" for each in densities]
    return lacuna.compare(wafer, gemm=(64, 64, 32), pattern=patterns, quiet=True)


class ShowTest(unittest.TestCase):
    def test_html_has_the_answer_and_the_whole_stack_of_each_point(self):
        result = several([0.5, 0.25])
        html = result._repr_html_()
        for sentence in result.answer["sentences"]:
            self.assertIn(f"<p>{sentence}</p>", html)
        for row in re.findall(r"<tr><td>.*?</tr>", html):
            widths = [float(each) for each in re.findall(r"width:([\d.]+)%", row)]
            self.assertAlmostEqual(sum(widths), 100, delta=0.05)
        self.assertEqual(html.count("<tr><td>"), 3)

    def test_a_stack_is_as_long_as_the_run(self):
        result = several([0.25])
        axes = result.plot()  # two points have no curve
        ends = {}
        for bar in axes.patches:
            ends[bar.get_y()] = max(ends.get(bar.get_y(), 0), bar.get_x() + bar.get_width())
        for end, seconds in zip(ends.values(), result.totals.time_s):
            self.assertAlmostEqual(end, 1e6 * seconds, delta=1e-9)

    def test_densities_are_a_curve_and_causes_a_ladder(self):
        result = several([0.5, 0.25])
        line = result.plot().lines[0]
        self.assertEqual(sorted(line.get_xdata()), sorted(result.totals.density))
        asked = lacuna.run("bow", gemm=(512, 512, 64), pattern="block16:0.25", with_dense=True,
                           why=True, quiet=True)
        steps = [bar.get_width() for bar in asked.plot().patches]
        self.assertEqual(steps[0], asked.cycles)
        self.assertEqual(steps, [step["cycles"] for step in asked.why[0]["ladder"]])

    def test_each_pattern_has_a_curve_that_ends_at_dense(self):
        patterns = ["dense", "unstructured:0.5", "unstructured:0.25", "block4:0.5"]
        wafer = lacuna.Machine("wse2", wafer__columns=8, wafer__rows=8)
        axes = lacuna.compare(wafer, gemm=(64, 64, 32), pattern=patterns, quiet=True).plot("speedup")
        curves = {line.get_label(): line.get_xydata().tolist() for line in axes.lines[:-1]}
        self.assertEqual(list(curves), ["wse2, unstructured", "wse2, block 4"])
        self.assertEqual([len(each) for each in curves.values()], [3, 2])
        self.assertTrue(all(each[-1] == [1, 1] for each in curves.values()))

    def test_a_kind_that_is_none_is_refused(self):
        with self.assertRaisesRegex(ValueError, "found 'pie'; allowed: speedup, stack, why"):
            several([0.25]).plot("pie")


class MagicTest(unittest.TestCase):
    def test_a_cell_gives_the_result_of_its_command(self):
        shell = Shell()
        result = shell.cell("found", f"lacuna run {SMALL} \\\n  --pattern unstructured:0.25  # zeros\n")
        self.assertIs(shell.user_ns["found"], result)
        wafer = lacuna.Machine("wse2", wafer__columns=8, wafer__rows=8)
        self.assertEqual(result.cycles, lacuna.run(wafer, gemm=(64, 64, 32),
                                                   pattern="unstructured:0.25").cycles)

    def test_a_folder_that_is_named_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, mark in (("a", " "), ("b", "=")):
                result = Shell().cell("", f"run {SMALL} --out{mark}{folder}/{name}")
                self.assertTrue((pathlib.Path(folder) / name / "summary.csv").is_file())
                self.assertEqual(len(result), 1)

    def test_what_has_no_result_is_printed(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.assertIsNone(Shell().cell("", "describe core.dispatch --machine wse2"))
        self.assertIn("core.dispatch", printed.getvalue())

    def test_nothing_and_names_that_are_none_are_refused(self):
        with self.assertRaisesRegex(lacuna.RequestError, "found nothing"):
            Shell().cell("", "# only a remark\n")
        with self.assertRaisesRegex(lacuna.RequestError, "found '2nd'; allowed: a name"):
            Shell().cell("2nd", f"run {SMALL}")
        with self.assertRaisesRegex(lacuna.RequestError, "gemm"):
            Shell().cell("", "run --machine bow --gemm 12")


if __name__ == "__main__":
    unittest.main()
