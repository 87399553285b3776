# SPDX-License-Identifier: Apache-2.0
"""Each notebook of doc/examples is run cell by cell, in a folder of its own, as Jupyter would. Each has
assertions of what it says, and the outputs that are kept in it are those of the run."""

import importlib.util
import json
import os
import pathlib
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("notebooks", ROOT / "scripts" / "notebooks.py")
notebooks = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(notebooks)


def texts(outputs):
    """What a reader reads of a cell's outputs, and how many pictures there are."""
    read = ["".join(each.get("text", each.get("data", {}).get("text/plain", []))) for each in outputs]
    return read, sum("image/png" in each.get("data", {}) for each in outputs)


class NotebooksTest(unittest.TestCase):
    def run_notebook(self, name):
        notebook = json.loads((notebooks.NOTEBOOKS / name).read_text(encoding="utf-8"))
        kept = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
        self.assertGreater(len(kept), 2)
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                for number, (old, new) in enumerate(zip(kept, notebooks.outputs_of(notebook)), 1):
                    self.assertEqual(texts(old), texts(new), f"{name}, cell {number}: "
                                     "scripts/notebooks.py keeps what is printed now")
            finally:
                os.chdir(before)
            return sorted(path.name for path in pathlib.Path(folder).iterdir())

    def test_a_figure_for_a_paper(self):
        self.assertIn("speedup.pdf", self.run_notebook("figure_for_a_paper.ipynb"))

    def test_a_change_to_the_hardware(self):
        self.run_notebook("change_to_the_hardware.ipynb")

    def test_your_own_model(self):
        self.run_notebook("your_own_model.ipynb")

    def test_why_not_ten_times(self):
        self.run_notebook("why_not_ten_times.ipynb")


if __name__ == "__main__":
    unittest.main()
