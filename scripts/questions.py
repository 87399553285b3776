#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the list of questions in doc/develop/architecture.md: each answer names a file, and what stands there once. And the walks
from a row of a trace to cycles there: each file is called by one before it, and they are no more than is said.

  scripts/questions.py          fails where the page does not say what is so
"""

import pathlib
import re
import sys

PAGE = pathlib.Path("doc/develop/architecture.md")
ROW = re.compile(r"^\| (?P<question>[^|]+\?) \| \[`(?P<sign>[^`]+)`\]\(\.\./\.\./(?P<file>[^)]+)\) \|$")
LEAST = 20
MOST = {"wafer": 6, "IPU": 4}  # files of a walk before the engine


def offered(file):
    """Names of functions and types that a file or its header has for others."""
    text = "".join(each.read_text() for each in {file, file.with_suffix(".hpp")} if each.is_file())
    text = re.sub(r"^namespace \{$.*?^\}  // namespace$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"//.*", "", text)
    functions = re.findall(r"^(?!return|using|struct|class)[\w:<>,&* ]+?\b(\w+)\(", text, re.MULTILINE)
    return set(functions) | set(re.findall(r"^(?:class|struct) (\w+)", text, re.MULTILINE))


def calls(callers, file):
    """Whether any of some files names a function or type of another."""
    text = "".join(re.sub(r"//.*", "", each.read_text()) for each in callers if each.is_file())
    return any(re.search(rf"\b{name}\b", text) for name in offered(file))


def walks():
    """Files of a walk that no file before them calls, and walks that are too long."""
    text = PAGE.read_text()
    block = re.search(r"^## From a row of a trace to cycles$.*?^```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE).group(1)
    found = {}
    for line in block.splitlines():
        step = re.match(r"(\w*) +(\S+/\S+\.\w+) ", line)
        if not step:
            continue
        machine = step.group(1) or machine
        found.setdefault(machine, []).append(pathlib.Path(step.group(2)))
    wrong = [] if set(found) == set(MOST) else [f"{PAGE}: walks of {sorted(found)}, not of {sorted(MOST)}"]
    for machine, files in found.items():
        if len(files) - 1 > MOST[machine]:
            wrong.append(f"{PAGE}: {machine}: {len(files) - 1} files before the engine, {MOST[machine]} at most")
        for index, file in enumerate(files):
            if not file.is_file():
                wrong.append(f"{PAGE}: {machine}: {file} is not there")
                continue
            if index > 0 and not calls(files[:index], file):
                wrong.append(f"{PAGE}: {machine}: no file before {file} calls anything of it")
            goes_on = any(calls([file], each) for each in files[index + 1 :] if each.is_file())
            if file.parts[:2] == ("sim", "machines") and not goes_on:
                wrong.append(f"{PAGE}: {machine}: {file} calls nothing of the files behind it")
    return wrong


def questions():
    """Answers that are not in their file, or more than once."""
    wrong, found = [], 0
    for row in filter(None, map(ROW.match, PAGE.read_text().splitlines())):
        found += 1
        file = pathlib.Path(row["file"])
        if not file.is_file():
            wrong.append(f"{row['question']} {file} is not there")
            continue
        times = sum(row["sign"] in line for line in file.read_text().splitlines())
        if times != 1:
            wrong.append(f"{row['question']} '{row['sign']}' stands {times} times in {file}, not once")
    return wrong if found >= LEAST else [*wrong, f"{found} questions in {PAGE}, {LEAST} are the least"]


def main():
    wrong = questions() + walks()
    for text in wrong:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
