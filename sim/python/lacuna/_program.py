# SPDX-License-Identifier: Apache-2.0
"""The program itself, for all that has no function of its own."""

from __future__ import annotations

import os
import tempfile
from typing import Any, NamedTuple

import pandas as pd

from . import _lacuna
from ._machine import text_of

_ERRORS = {1: _lacuna.SimulationError, 2: _lacuna.RequestError, 3: _lacuna.CheckError,
           4: _lacuna.InternalError}


class Printed(NamedTuple):
    """What the program has printed, and its exit status."""

    status: int
    out: str
    err: str


def arguments_of(words: dict) -> list:
    """Keywords as options: with_dense=True is --with-dense, a list is an option several times."""
    said = []
    for name, value in words.items():
        for each in value if isinstance(value, (list, tuple)) else [value]:
            option = "--" + name.replace("_", "-")
            if each is None or each is False:
                continue
            said.append(option if each is True else f"{option}={text_of(each)}")
    return said


def command(*arguments: Any, check: bool = True, **words: Any) -> Printed:
    """Does what `lacuna ARGUMENTS` does, in a process of its own; command("describe", "machines").
    A status that is not 0 is an exception with the program's words, unless check=False."""
    given = [text_of(each) for each in arguments] + arguments_of(words)
    printed = Printed(*_lacuna.command(given))
    if check and printed.status != 0:
        text = printed.err.strip()
        mark = "lacuna: "
        text = text[len(mark):] if text.startswith(mark) else text
        raise _ERRORS.get(printed.status, _lacuna.SimulationError)(text or printed.out.strip())
    return printed


def describe(subject: str, **words: Any) -> str:
    """What `lacuna describe SUBJECT` prints."""
    return command("describe", subject, **words).out


class Validation(NamedTuple):
    """Published points beside simulated ones, and the errors of their families."""

    errors: pd.DataFrame
    families: pd.DataFrame
    text: str


def validate(**words: Any) -> Validation:
    """Runs published measurements: points=FILE, family=WORD, by=COLUMN ... as `lacuna validate`."""
    with tempfile.TemporaryDirectory(prefix="lacuna-") as folder:
        out = os.path.join(folder, "result")
        printed = command("validate", "--out", out, **words)
        return Validation(pd.read_csv(os.path.join(out, "errors.csv"), float_precision="round_trip"),
                          pd.read_csv(os.path.join(out, "families.csv"), float_precision="round_trip"), printed.out)
