# SPDX-License-Identifier: Apache-2.0
"""Programs of one's own for the cores of a wafer, written in Python."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from typing import Any

import numpy as np


def step(operation: str, *operands: Any, **modifiers: Any) -> dict:
    """A step of a task: step("add", "y", "x[1:9]", 0.5, thread=1), step("work", 4). Modifiers are
    those of the file; `if_` stands for `if`."""
    said = operands[0] if len(operands) == 1 else ", ".join(map(str, operands))
    return {operation: said, **{name.rstrip("_"): value for name, value in modifiers.items()}}


class Cores:
    """A rectangle of cores of a program, and what they have; the words are those of the file."""

    def __init__(self, form: dict):
        self._form = form

    def _add(self, group: str, name: str, said: Any) -> Cores:
        self._form.setdefault(group, {})[name] = said
        return self

    def data(self, name: str, type: str, shape: Any, values: Any = 0, **said: Any) -> Cores:
        """An array in memory. `values` are numbers, an array, or a formula of i, j, column, row."""
        return self._add("data", name, {"type": type, "shape": shape, "values": values, **said})

    def fifo(self, name: str, words: Any) -> Cores:
        return self._add("fifos", name, words)

    def route(self, color: str, *ways: dict, **way: Any) -> Cores:
        """route("east", rx="west", tx=["ramp", "east"]), or several such maps."""
        return self._add("routes", color, list(ways) or way)

    def task(self, name: str, steps: list, **said: Any) -> Cores:
        """A task: active=True, blocked=True, color="east" or control=3 say what starts it."""
        return self._add("tasks", name, {**said, "steps": steps})

    def read(self, name: str, expected: Any = None) -> Cores:
        """Reads an array back; with values it is compared with what is expected."""
        return self._add("read", name, expected)


class Program:
    """A program of one's own for the cores of a wafer, in the form of doc/guide/programs.md.

        program = lacuna.Program(columns=2, colors={"east": 0}, n=8)
        program.cores(columns=0).data("x", "fp32", "n", "i").route("east", rx="ramp", tx="east")
        lacuna.run("wse3", program=program, values="integer")
    """

    def __init__(self, columns: Any = 1, rows: Any = 1, colors: Any = None, inputs: Any = None,
                 **constants: Any):
        self.form: dict = {"constants": constants, "columns": columns, "rows": rows,
                           "colors": colors, "inputs": inputs, "cores": []}

    def cores(self, **places: Any) -> Cores:
        """Cores by numbers: columns=0, rows="1:-1" or "::2"; all if nothing is said."""
        self.form["cores"].append(places)
        return Cores(places)

    def __str__(self) -> str:
        """The text of its file. JSON is YAML."""
        return json.dumps(self.form, indent=1, default=lambda value: np.asarray(value).tolist())

    def file(self) -> str:
        """A file with its text, which is there as long as the program is."""
        folder = tempfile.mkdtemp(prefix="lacuna-")
        weakref.finalize(self, shutil.rmtree, folder, True)
        path = os.path.join(folder, "program.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(str(self))
        return path
