# SPDX-License-Identifier: Apache-2.0
"""Machines, whose parameters are attributes."""

from __future__ import annotations

from typing import Any, Iterator, Optional, Union

import numpy as np
import pandas as pd

from . import _lacuna

Value = Union[bool, int, float, str]


def _value(text: str, limits: str, is_number: bool) -> Value:
    if limits == "true|false":
        return text == "true"
    if not is_number:
        return text
    try:
        return int(text)
    except ValueError:
        return float(text)


def text_of(value: Any) -> str:
    """A value as the command line has it; numbers of NumPy and of Python alike."""
    if isinstance(value, str):
        return value
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (int, float)) else str(value)


def is_bool(value: Any) -> bool:
    """Python's or NumPy's True or False, which Python would count as 1 or 0."""
    return isinstance(value, (bool, np.bool_))


def density_text(value: Any) -> str:
    """A density as traces and options have it: no exponent, at most nine decimals."""
    if is_bool(value):
        raise _lacuna.RequestError(f"density: found '{value}'; allowed: a number in [0, 1]")
    if isinstance(value, str) or not hasattr(value, "__float__"):
        return text_of(value)
    text = f"{float(value):.9f}"
    if float(text) == 0 and float(value) != 0:
        return text_of(value)  # is refused as what it is
    return text.rstrip("0").rstrip(".") if "." in text else text


class Parameter:
    """A parameter: its value, and what it may be."""

    def __init__(self, known: _lacuna.Parameter):
        self.path: str = known.path
        self.unit: str = known.unit
        self.limits: str = known.limits
        self.meaning: str = known.meaning
        self.value: Value = _value(known.text, known.limits, known.is_number)
        self.default: Value = _value(known.initial_text, known.limits, known.is_number)
        self._number: bool = known.is_number

    @property
    def range(self) -> Optional[tuple]:
        """Least and most of a number; None of words, flags and text."""
        if not self._number:
            return None
        low, high = self.limits.strip("[]").split(", ")
        return _value(low, "", True), _value(high, "", True)

    @property
    def words(self) -> Optional[list]:
        """What a word may be; None of numbers and text."""
        return self.limits.split("|") if not self._number and self.limits else None

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.path} = {self.value}{unit}, {self.limits or 'text'}: {self.meaning}"


class Group:
    """The parameters whose paths begin alike: attributes are values, [name] is a Parameter."""

    def __init__(self, machine: "Machine", prefix: str):
        object.__setattr__(self, "_machine", machine)
        object.__setattr__(self, "_prefix", prefix)

    def __getattr__(self, name: str) -> Any:
        return self._machine._get(self._prefix + name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._machine[self._prefix + name] = value

    def __getitem__(self, name: str) -> Parameter:
        return self._machine.parameter(self._prefix + name)

    def __iter__(self) -> Iterator[Parameter]:
        return (each for each in self._machine if each.path.startswith(self._prefix))

    def __dir__(self) -> list:
        return self._machine._names(self._prefix)

    def __repr__(self) -> str:
        return "\n".join(repr(each) for each in self)


class Machine:
    """A preset or a machine file: `Machine("bow")`, with attributes for its parameters,
    `machine.tile.memory.kib = 512`. A label tells two of one preset apart in results."""

    def __init__(self, name_or_file: str, label: str = "", **settings: Any):
        object.__setattr__(self, "_own", _lacuna.Machine(str(name_or_file), label))
        for path, value in settings.items():
            self[path.replace("__", ".")] = value

    @property
    def name(self) -> str:
        """What results call it."""
        return self._own.name

    @property
    def kind(self) -> str:
        """"ipu" or "wse"."""
        return self._own.kind

    @property
    def extent(self) -> str:
        """What is simulated of it."""
        return self._own.extent

    @property
    def parameters(self) -> pd.DataFrame:
        """All of them: value, default, unit, limits and meaning by path."""
        rows = [(p.path, p.value, p.default, p.unit, p.limits, p.meaning) for p in self]
        columns = ["path", "value", "default", "unit", "limits", "meaning"]
        return pd.DataFrame(rows, columns=columns).set_index("path")

    def parameter(self, path: str) -> Parameter:
        """One of them, by its path."""
        return Parameter(self._own.parameter(path))

    def copy(self, label: str = "", **settings: Any) -> "Machine":
        """Another machine with the same settings, and more."""
        other = Machine(self._own.file(), label)
        for path, value in self._own.settings():
            other[path] = value
        for path, value in settings.items():
            other[path.replace("__", ".")] = value
        return other

    def set(self, path: str, value: Any) -> "Machine":
        """Sets one by its path, and returns the machine."""
        self[path] = value
        return self

    def _names(self, prefix: str) -> list:
        names = {}
        for each in self._own.parameters():
            if each.path.startswith(prefix):
                names[each.path[len(prefix):].split(".")[0]] = None
        return list(names)

    def _get(self, path: str) -> Any:
        names = self._names(path + ".")
        if names:
            return Group(self, path + ".")
        try:
            return self.parameter(path).value
        except _lacuna.RequestError as error:
            raise AttributeError(str(error)) from None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __getitem__(self, path: str) -> Value:
        return self.parameter(path).value

    def __setitem__(self, path: str, value: Any) -> None:
        self._own.set(path, text_of(value))

    def __iter__(self) -> Iterator[Parameter]:
        return (Parameter(each) for each in self._own.parameters())

    def __dir__(self) -> list:
        return self._names("") + list(super().__dir__())

    def __repr__(self) -> str:
        changed = "".join(f", {path}={value}" for path, value in self._own.settings())
        return f"<Machine {self.name}: {self.extent}{changed}>"
