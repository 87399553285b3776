# SPDX-License-Identifier: Apache-2.0
"""run, compare, sweep and search."""

from __future__ import annotations

import io
import json
import os
import tempfile
from typing import Any, Iterable, NamedTuple, Union

import numpy as np
import pandas as pd

from . import _lacuna
from ._machine import Machine, density_text, is_bool, text_of
from ._result import Result
from ._workload import as_mask, refuse_path, workload_of

MachineLike = Union[str, Machine]


_DENSITIES = ("density", "x_density")


def _machine(what: MachineLike) -> Machine:
    return what if isinstance(what, Machine) else Machine(what)


def _word(name: str, value: Any) -> list:
    """A keyword as words of the command line; None is not said, nor a switch that is False."""
    if value is None:
        return []
    if is_bool(value):
        if name == "fold":
            return [(name, "on" if value else "off")]
        if name not in _lacuna.switches:
            raise _lacuna.RequestError(f"--{name.replace('_', '-')}: found '{value}'; allowed: a "
                                       "value, or None for none")
        return [(name, "")] if value else []
    if name == "density" and isinstance(value, (list, tuple, np.ndarray)):
        return [(name, ",".join(density_text(each) for each in value))]
    if name in _DENSITIES and getattr(value, "ndim", 0) == 0:
        return [(name, density_text(value))]
    if getattr(value, "ndim", 0) > 0:
        raise _lacuna.RequestError(f"{name}: found an array of shape {tuple(value.shape)}; arrays are "
                                   "allowed for pattern, x_pattern and matrix")
    return [(name, os.fspath(value) if isinstance(value, os.PathLike) else text_of(value))]


def _pattern(name: str, value: Any, kept: list) -> list:
    refuse_path(name, value)
    mask = as_mask(value)
    if mask is None:
        return _word(name, value)
    kept.append(mask)
    return [(name, "file:" + mask.name)]


def _words(words: dict, kept: list) -> list:
    said = []
    for name, value in words.items():
        several = name == "pattern" and isinstance(value, (list, tuple))
        for each in value if several else [value]:
            is_pattern = name in ("pattern", "x_pattern")
            said += _pattern(name, each, kept) if is_pattern else _word(name, each)
    return said


def run(machine: MachineLike = "bow", *, events: bool = False, check: bool = True,
        **words: Any) -> Result:
    """Simulates one workload on one machine.

    The workload is gemm=(m, k, n), trace=FILE or a frame, matrix=ARRAY with n, or program=FILE or a
    Program. Further words are those of `lacuna run`: pattern (also an array or a SciPy matrix), density, mode, seed, out ...
    `events=True` keeps the event log. An operation that cannot be run raises SimulationError, whose
    `result` says all, unless `check=False`.
    """
    kept: list = []
    workload = workload_of(words, kept)
    own = _machine(machine)._own
    result = Result(_lacuna.simulate("run", [own], workload, _words(words, kept), events))
    if check:
        # the frame is made when it is looked at, which takes longer than a small run
        columns, rows = result._own.summary()
        status, reason = columns.index("status"), columns.index("reason")
        for row in rows:
            if row[status] != "ok":
                error = _lacuna.SimulationError(row[reason])
                error.result = result
                raise error
    return result


def compare(machines: Union[MachineLike, Iterable[MachineLike]], *, events: bool = False,
            **words: Any) -> Result:
    """Simulates one workload on several machines and with several patterns, pattern=[...]; what
    cannot be run is a row that says so. `jobs` points are simulated at a time."""
    single = isinstance(machines, (str, Machine))
    owns = [_machine(each)._own for each in ([machines] if single else machines)]
    kept: list = []
    workload = workload_of(words, kept)
    if not owns:
        raise _lacuna.RequestError("--machine: give one or more to compare")
    return Result(_lacuna.simulate("compare", owns, workload, _words(words, kept), events))


def _with_file(experiment: Any, words: dict, act: Any) -> Any:
    """Calls `act(file, options)` with an experiment: a file, or words of which one is made."""
    is_file = isinstance(experiment, (str, os.PathLike))
    of_file = [] if is_file else _lacuna.experiment_words
    options = {word: words.pop(word) for word in _lacuna.sweep_options
               if word in words and word not in of_file}
    said = _words(options, [])
    if is_file:
        if words:
            raise _lacuna.RequestError(
                f"--{next(iter(words))}: the experiment file says what is simulated")
        return act(os.fspath(experiment), said)
    with tempfile.TemporaryDirectory(prefix="lacuna-") as folder:
        path = os.path.join(folder, "experiment.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(_experiment({**(experiment or {}), **words}), file)  # JSON is YAML
        return act(path, said)


def sweep(experiment: Union[str, os.PathLike, dict, None] = None, **words: Any) -> Result:
    """Simulates all points of an experiment: a file, or the same words as keywords, with
    grid={"density": [...], "tile.memory.kib": [...]}, zip, where and set."""
    return Result(_with_file(experiment, words, _lacuna.sweep))


class Found(NamedTuple):
    """What a search has found."""

    best: pd.DataFrame
    """The rows of `points` that no other beats: of one objective the first best."""
    points: pd.DataFrame
    """Every point: its values, objectives, their bounds, its fate, and its run if it has one."""
    result: Result
    """The runs that were simulated."""


def search(experiment: Union[str, os.PathLike, dict, None] = None, **words: Any) -> Found:
    """Finds the best points of an experiment without simulating all: a file, or its words as
    keywords, with space={"ws.groups": [...]}, minimise="time", subject_to, budget, strategy."""
    own, csv = _with_file(experiment, words, _lacuna.search)
    points = pd.read_csv(io.StringIO(csv), float_precision="round_trip")
    points["run"] = points.run.astype("Int64")
    points["best"] = points.best == "yes"
    return Found(points[points.best].reset_index(drop=True), points, Result(own))


def _experiment(words: dict) -> dict:
    said: dict = {}
    for name, value in words.items():
        if name == "machine":
            several = isinstance(value, (list, tuple))
            machines = [_machine(each) for each in (value if several else [value])]
            changed = [each for each in machines if each._own.settings()]
            if changed and len(machines) > 1:
                raise _lacuna.RequestError(
                    "machine: settings of one of several machines are not for a sweep; say them in "
                    "`set` or `grid`")
            files = [each._own.file() for each in machines]
            said["machine"] = files if several else files[0]
            own = {path: text for each in changed for path, text in each._own.settings()}
            twice = [path for path in own if path in (words.get("set") or {})]
            if twice:
                raise _lacuna.RequestError(f"set: '{twice[0]}' is a setting of the machine too")
            if own:
                said["set"] = {**own, **said.get("set", {})}
        elif name == "gemm" and not isinstance(value, str):
            said[name] = "x".join(str(side) for side in value)
        elif name == "set":
            said["set"] = {**said.get("set", {}), **value}
        else:
            said[name] = value
    return _plain(said)


def _densities(value: Any) -> Any:
    """One density, or a list of them; a range is left as it is."""
    if isinstance(value, list):
        return [_densities(each) for each in value]
    return density_text(value) if isinstance(value, float) else value


def _plain(value: Any) -> Any:
    """What JSON knows: lists for arrays, Python's numbers for NumPy's, paths as text."""
    if isinstance(value, dict):
        return {str(key): _densities(_plain(each)) if key in _DENSITIES else _plain(each)
                for key, each in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple, range)):
        return [_plain(each) for each in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.item() if hasattr(value, "item") else value
