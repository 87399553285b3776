#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of doc/develop/contributing.md that a compiler does not: a declared parameter is
called like its member, a type of a header has a name of its own in its namespace, files have
snake_case names, a licence line and no more than 600 lines, and engines of single forms of programs
do not come back."""

import fnmatch
import pathlib
import re
import sys

TOPS = ("sim", "models", "workloads", "tests", "scripts")
SUFFIXES = {".hpp", ".cpp", ".py", ".sh", ".cmake", ".js"}
LICENCE = "SPDX-License-Identifier: Apache-2.0"
MOST_LINES = 600

SNAKE = re.compile(r"_*[a-z0-9]+(_[a-z0-9]+)*_*")
# CMake's own habit, and files whose names are given to us
FREE_NAMES = {"CMakeLists.txt", "LacunaTargets.cmake"}

# Param<T> member = param(this, "name", ...   and likewise flag, text, group
PARAMETER = re.compile(
    r"\b(?:Param|Group)<[^;={]*>\s+(\w+)\s*=\s*(?:param|flag|text|group)\(\s*this,\s*\"(\w+)\""
)

# Engines of a wafer's single forms: files and types that may not exist, and those that are still to
# go. What is gone moves from the second list to the first, so that the second only gets shorter.
GONE = ("task_wafer", "gradient_row", "gradient_rings", "gradient_fold", "GradientRow", "shift_*", "turn_*", "relay_*", "ring_sums", "row_by_row", "rows_ahead", "TaskWafer", "RingSums", "NearRings", "PassingRings", "LaneHops", "RowsAhead", "LaneInjectors")
TO_GO = ("StreamingKernel", "GradientKernel", "StreamingRow", "RoutedReduction", "CopyRow",
         "ExchangeLanes", "GradientDrain")

NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
# struct Name {   class Name final : Base {   not: struct Name;   struct Outer::Name {   Name<T> {
TYPE = re.compile(r"^(?:struct|class) (\w+)(?: final)?(?: :[^;{]*)? \{", re.MULTILINE)


def declared_names(text):
    """Members whose declared name differs."""
    for found in PARAMETER.finditer(text):
        member, name = found.groups()
        if member != name:
            line = text.count("\n", 0, found.start()) + 1
            yield f"{line}: member '{member}' is declared as '{name}'"


def remarks(file):
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    if file.name not in FREE_NAMES and not SNAKE.fullmatch(file.name.split(".")[0]):
        yield "1: the name of the file is not snake_case"
    head = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
    if not head or LICENCE not in head[0]:
        yield f"1: the first line (or the second, after #!) is not '{LICENCE}'"
    if len(lines) > MOST_LINES:
        yield f"{len(lines)}: more than {MOST_LINES} lines"
    if file.suffix in (".hpp", ".cpp"):
        yield from declared_names(text)


def types_of_headers():
    """Types of two headers that have one name: a program with both has neither for certain."""
    seen = {}
    for top in ("sim", "models", "workloads"):
        for file in sorted(pathlib.Path(top).rglob("*.hpp")):
            text = file.read_text(encoding="utf-8")
            spaces = "::".join(NAMESPACE.findall(text))
            for found in TYPE.finditer(text):
                name = f"{spaces}::{found.group(1)}"
                line = text.count("\n", 0, found.start()) + 1
                first = seen.setdefault(name, file)
                if first != file:
                    yield f"{file}:{line}: there is a {name} in {first} too"


def engines():
    """Engines that are back, and those that are gone and still listed as to go."""
    types = set()
    for file in sorted(pathlib.Path("models/wse").rglob("*.[ch]pp")):
        here = set(re.findall(r"^(?:struct|class) (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE))
        types |= here
        for name in GONE:
            if fnmatch.fnmatch(file.stem, name) or name in here:
                yield f"{file}:1: '{name}' may not exist"
    for name in TO_GO:
        if name not in types:
            yield f"scripts/check_names.py:1: '{name}' is gone: it moves from TO_GO to GONE"


def main():
    wrong = 0
    for remark in (*types_of_headers(), *engines()):
        print(remark)
        wrong += 1
    for top in TOPS:
        for file in sorted(pathlib.Path(top).rglob("*")):
            if file.suffix not in SUFFIXES and file.name != "CMakeLists.txt":
                continue
            for remark in remarks(file):
                print(f"{file}:{remark}")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
