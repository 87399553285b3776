# SPDX-License-Identifier: Apache-2.0
"""Results as frames and arrays."""

from __future__ import annotations

import functools
import json
import os
from typing import Any, Union

import numpy as np
import pandas as pd

from . import _lacuna
from ._show import as_html, plot

TEXT = ("machine", "engine", "workload", "op_id", "op", "dtype", "pattern", "block", "mode",
        "residency", "trust", "status", "reason")


def _typed(column: pd.Series) -> pd.Series:
    """Numbers where all cells that are not empty are numbers; empty is missing."""
    if column.name in TEXT:
        return column
    if column.name == "exact":
        return column == "true"
    try:
        # whole numbers and shares as they are: float() reads back what was written, bit by bit
        if all(cell.isdigit() for cell in column):
            return column.map(int)
        return column.map(lambda cell: float(cell) if cell else np.nan)
    except ValueError:
        return column


class Result:
    """What came of one or several runs; `run` counts them from 0."""

    def __init__(self, own: _lacuna.Result):
        self._own = own

    def __len__(self) -> int:
        return self._own.runs

    @functools.cached_property
    def summary(self) -> pd.DataFrame:
        """The rows of summary.csv: operations of each run, then its TOTAL."""
        columns, rows = self._own.summary()
        return pd.DataFrame(rows, columns=columns).apply(_typed)

    @property
    def operations(self) -> pd.DataFrame:
        """Those of the operations."""
        return self.summary[self.summary.op_id != "TOTAL"].reset_index(drop=True)

    @property
    def totals(self) -> pd.DataFrame:
        """The TOTAL of each run, a row each."""
        return self.summary[self.summary.op_id == "TOTAL"].reset_index(drop=True)

    @property
    def total(self) -> pd.Series:
        """The TOTAL of the only run."""
        if len(self) != 1:
            raise _lacuna.RequestError(f"the result has {len(self)} runs; `totals` has them all")
        return self.totals.iloc[0]

    @property
    def cycles(self) -> Union[int, np.ndarray]:
        """Of the only run, or of each."""
        cycles = self.totals.cycles.to_numpy()
        return int(cycles[0]) if len(self) == 1 else cycles

    def _table(self, read, columns: list) -> pd.DataFrame:
        rows = []
        ids = self.operations.groupby("run", sort=False).op_id.apply(list).tolist()
        for run in range(len(self)):
            for op in range(self._own.ops(run)):
                rows += [(run, ids[run][op], *row) for row in read(run, op)]
        return pd.DataFrame(rows, columns=["run", "op_id"] + columns)

    @functools.cached_property
    def stack(self) -> pd.DataFrame:
        """Where the cycles went: unit-cycles, which sum to units x cycles."""
        return self._table(self._own.stack, ["layer", "kind", "unit_cycles"])

    @functools.cached_property
    def statistics(self) -> pd.DataFrame:
        """All statistics; `lacuna.describe("statistics")` says what each is."""
        return self._table(self._own.statistics, ["path", "name", "unit", "value"])

    @functools.cached_property
    def energy(self) -> pd.DataFrame:
        """Joules by component, at nominal, low and high prices."""
        return self._table(self._own.energy, ["component", "energy_j", "energy_low_j",
                                              "energy_high_j"])

    @functools.cached_property
    def intervals(self) -> pd.DataFrame:
        """Power and bandwidths over time, of runs with interval=N."""
        return self._table(self._own.intervals,
                           ["from_cycle", "to_cycle", "power_w", "power_low_w", "power_high_w",
                            "sram_gbps", "fabric_gbps", "io_gbps"])

    def events(self, run: int = 0, op: int = 0) -> np.ndarray:
        """The event log of runs with events=True: cycle, unit, kind and argument, not a copy."""
        return self._own.events(run, op)

    def event_names(self, run: int = 0, op: int = 0) -> tuple:
        """What `unit` and `kind` of the events count: two lists of names."""
        return self._own.event_units(run, op), self._own.event_kinds(run, op)

    def parameters(self, run: int = 0) -> pd.Series:
        """The parameters of a run's machine, by path."""
        rows = self._own.parameters(run)
        return pd.Series({path: value for path, value, _ in rows}, name=self._own.machine(run))

    @functools.cached_property
    def why(self) -> list:
        """Why each run is not faster, as result.json has it: sentences, ladder and single causes;
        None of a run without why=True."""
        return [run.get("why") for run in self.to_dict()["runs"]]

    @property
    def command(self) -> list:
        """Arguments of the program that ask for the same; masks that were given stand there by
        their names alone."""
        return self._own.command

    @functools.cached_property
    def answer(self) -> dict:
        """What the runs say together, as the terminal, the page and result.json have it: sentences,
        points with means over seeds, winners as places in `points`, ranks of energy, notes."""
        return self.to_dict()["answer"]

    def to_dict(self) -> dict:
        """All of result.json."""
        return json.loads(self._own.json())

    def __repr__(self) -> str:
        shown = ["machine", "pattern", "cycles", "time_s", "useful_tflops", "status"]
        return f"<Result of {len(self)} run{'s' * (len(self) != 1)}>\n{self.totals[shown]}"

    def _repr_html_(self) -> str:
        return as_html(self)

    def plot(self, kind: str = "", axes: Any = None) -> Any:
        """A figure of matplotlib: `speedup`, `stack` or `why`, by default what fits the runs."""
        return plot(self, kind, axes)


def read(folder: Union[str, os.PathLike]) -> Result:
    """The runs of a result folder."""
    return Result(_lacuna.read(os.fspath(folder)))
