#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the notebooks of doc/examples cell by cell, as Jupyter would, and keeps their outputs in them.

  PYTHONPATH=build/release/python scripts/notebooks.py [NOTEBOOK]...      with the Python of the module

Only what a cell is here is known: plain Python, `%load_ext lacuna` and `%%lacuna`. What is kept of a
cell is what it prints, what its last line is (as text and HTML), and its figures.
"""
import ast
import base64
import contextlib
import importlib
import io
import json
import os
import pathlib
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot  # noqa: E402

NOTEBOOKS = pathlib.Path(__file__).resolve().parents[1] / "doc/examples/notebooks"


class Shell:
    """What a notebook's cells run in."""

    def __init__(self):
        self.user_ns = {"__name__": "__main__"}
        self.magics = {}

    def register_magic_function(self, function, magic_kind="line", magic_name=None):
        self.magics[magic_kind, magic_name] = function

    def value_of(self, text, name):
        """Runs a cell; the value of its last line if that is an expression without a `;`."""
        if text.startswith("%load_ext "):
            importlib.import_module(text.split()[1]).load_ipython_extension(self)
            return None
        if text.startswith("%%"):
            line, _, body = text[2:].partition("\n")
            magic, _, rest = line.partition(" ")
            return self.magics["cell", magic](rest, body)
        tree = ast.parse(text, name)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not text.rstrip().endswith(";"):
            last = ast.Expression(tree.body.pop().value)
        exec(compile(tree, name, "exec"), self.user_ns)
        return eval(compile(last, name, "eval"), self.user_ns) if last else None


def lines(text):
    return text.splitlines(keepends=True)


def shown(value, count):
    """The output that a value is."""
    data = {"text/plain": lines(repr(value))}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = lines(value._repr_html_())
    return {"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"}


def figures():
    for number in pyplot.get_fignums():
        picture = io.BytesIO()
        pyplot.figure(number).savefig(picture, format="png", dpi=80, metadata={"Software": None})
        data = base64.b64encode(picture.getvalue()).decode()
        yield {"data": {"image/png": data}, "metadata": {}, "output_type": "display_data"}
    pyplot.close("all")


def outputs_of(notebook):
    """The outputs of each cell of code."""
    shell = Shell()
    pyplot.close("all")
    matplotlib.rcdefaults()
    for count, cell in enumerate((each for each in notebook["cells"] if each["cell_type"] == "code"), 1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = shell.value_of("".join(cell["source"]), f"cell {count}")
        outputs = []
        if printed.getvalue():
            outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
        pictures = list(figures())
        if value is not None and not (pictures and hasattr(value, "figure")):
            outputs.append(shown(value, count))
        yield outputs + pictures


def main():
    paths = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb"))
    for path in paths:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            cells = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
            for count, (cell, outputs) in enumerate(zip(cells, outputs_of(notebook)), 1):
                cell["outputs"], cell["execution_count"] = outputs, count
            os.chdir("/")
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{path.name}: {sum(bool(cell.get('outputs')) for cell in notebook['cells'])} cells with outputs")


if __name__ == "__main__":
    main()
