# SPDX-License-Identifier: Apache-2.0
"""Traces of operations as frames, which `run(trace=frame)` takes: a row is an operation."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Union

import pandas as pd

from ._program import command

Path = Union[str, "os.PathLike[str]"]


def read(file: Path) -> pd.DataFrame:
    """A trace file. Cells are text, as a trace writes them."""
    return pd.read_csv(os.fspath(file), dtype=str, keep_default_na=False, comment="#")


def _made(verb: str, subject: str, words: dict) -> pd.DataFrame:
    if words.get("out"):
        command("trace", verb, subject, **words)
        return read(words["out"])
    with tempfile.TemporaryDirectory(prefix="lacuna-") as folder:
        out = os.path.join(folder, "trace.csv")
        command("trace", verb, subject, **{**words, "out": out})
        return read(out)


def make(model: str, **words: Any) -> pd.DataFrame:
    """A model by its name: make("bert-base", layers=1, pattern="unstructured:0.1")."""
    return _made("make", model, words)


def from_file(file: Path, **words: Any) -> pd.DataFrame:
    """A file of another tool, as `lacuna trace import` reads it. With masks of its own `out` says
    where they are to stay."""
    return _made("import", os.fspath(file), words)


def show(file: Path, **words: Any) -> str:
    """What `lacuna trace show` prints of a trace file."""
    return command("trace", "show", os.fspath(file), **words).out


def check(file: Path) -> str:
    """Everything that is wrong with a trace file is a RequestError."""
    return command("trace", "check", os.fspath(file)).out
