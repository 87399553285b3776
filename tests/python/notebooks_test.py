# SPDX-License-Identifier: Apache-2.0
"""Each notebook of doc/examples is run cell by cell, in a folder of its own, as Jupyter would: the
cells are plain Python. Each has assertions of what it says."""

import json
import os
import pathlib
import tempfile
import unittest

import matplotlib
import matplotlib.pyplot

NOTEBOOKS = pathlib.Path(__file__).parents[2] / "doc" / "examples" / "notebooks"


class NotebooksTest(unittest.TestCase):
    def run_notebook(self, name):
        cells = json.loads((NOTEBOOKS / name).read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        self.assertGreater(len(code), 2)
        names = {"__name__": "__main__"}
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                for number, text in enumerate(code, 1):
                    exec(compile(text, f"{name}, cell {number}", "exec"), names)
            finally:
                os.chdir(before)
                matplotlib.pyplot.close("all")
            return sorted(path.name for path in pathlib.Path(folder).iterdir())

    def test_a_figure_for_a_paper(self):
        self.assertIn("speedup.pdf", self.run_notebook("figure_for_a_paper.ipynb"))

    def test_a_change_to_the_hardware(self):
        self.run_notebook("change_to_the_hardware.ipynb")

    def test_your_own_model(self):
        self.run_notebook("your_own_model.ipynb")

    def test_no_output_is_kept(self):
        for path in NOTEBOOKS.glob("*.ipynb"):
            for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
                self.assertEqual(cell.get("outputs", []), [], path.name)


if __name__ == "__main__":
    unittest.main()
