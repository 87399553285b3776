#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the list of questions in doc/develop/architecture.md: each answer names a file, a line and what stands there. And that the patches
shown in doc/develop/changing_a_block.md, and the files and lines of doc/develop/adding_a_block.md, are those of tests/edits, as are the files of
doc/develop/adding_a_machine.md; and the walks from a row
of a trace to cycles in doc/develop/architecture.md: each file is called by one before it, and they are no more than is said there.

  scripts/questions.py          fails where a line is not what the list says
  scripts/questions.py --fix    puts the lines right, where what is looked for stands once in its file
"""

import pathlib
import re
import sys

PAGE = pathlib.Path("doc/develop/architecture.md")
ROW = re.compile(r"^\| (?P<question>[^|]+\?) \| \[`(?P<file>[^`:]+):(?P<line>\d+)`\]\((?P<link>[^)]+)\) \| `(?P<sign>[^`]+)` \|$")
LEAST = 20
MOST = {"wafer": 6, "IPU": 4}  # files of a walk before the engine
CHANGES = pathlib.Path("doc/develop/changing_a_block.md")
MACHINE = pathlib.Path("doc/develop/adding_a_machine.md")
MACHINE_PATCH = pathlib.Path("tests/edits/a-third-machine.patch")
ADDING = pathlib.Path("doc/develop/adding_a_block.md")
FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PART = re.compile(r"<!-- part of (\S+): (\S+) -->\n```diff\n(.*?)\n```", re.DOTALL)
PATCH = re.compile(r"<!-- patch: (\S+) -->\n```diff\n(.*?)\n```", re.DOTALL)


def adding():
    """What doc/develop/adding_a_block.md shows that its patches do not have, and the other way round."""
    text = ADDING.read_text()
    parts = PART.findall(text)
    if not parts:
        return [f"{ADDING}: shows no patch"]
    has = {}
    for patch in {patch for patch, _, _ in parts}:
        for change in re.split(r"^(?=diff --git )", pathlib.Path(patch).read_text(), flags=re.MULTILINE)[1:]:
            has[patch, re.search(r" b/(\S+)", change).group(1)] = change.rstrip("\n")
    wrong = []
    for patch, file, shown in parts:
        if not has.pop((patch, file), "").endswith("\n" + shown):
            wrong.append(f"{ADDING}: what it shows of {file} is not what stands in {patch}")
    for file, shown in FILE.findall(text):
        change = "".join(has.pop(each) for each in list(has) if each[1] == file)
        added = [line[1:] for line in change.splitlines() if re.match(r"\+(?!\+\+ )", line)]
        if "\n".join(added) + "\n" != shown:
            wrong.append(f"{ADDING}: {file} is not what a patch adds")
    return wrong + [f"{ADDING}: does not show {file}, which {patch} changes" for patch, file in has]


def machine():
    """Files of doc/develop/adding_a_machine.md that its patch does not add as they stand there."""
    patch = MACHINE_PATCH.read_text()
    added = {}
    for change in re.split(r"^(?=diff --git )", patch, flags=re.MULTILINE)[1:]:
        lines = [line[1:] for line in change.splitlines() if re.match(r"\+(?!\+\+ )", line)]
        added[re.search(r" b/(\S+)", change).group(1)] = "\n".join(lines) + "\n"
    wrong = []
    for file, shown in FILE.findall(MACHINE.read_text()):
        if file.startswith("tests/"):
            continue
        if added.get(file.replace(".rows", ".csv")) != shown:
            wrong.append(f"{MACHINE}: {file} is not what {MACHINE_PATCH} adds")
    return wrong


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


def main():
    fix = "--fix" in sys.argv[1:]
    lines = PAGE.read_text().splitlines()
    wrong, found = [], 0
    for number, text in enumerate(lines):
        row = ROW.match(text)
        if not row:
            continue
        found += 1
        file = pathlib.Path(row["file"])
        if not file.is_file():
            wrong.append(f"{row['question']} {file} is not there")
            continue
        code = file.read_text().splitlines()
        places = [i + 1 for i, line in enumerate(code) if row["sign"] in line]
        link = f"../../{file}#L{row['line']}"
        if int(row["line"]) in places and len(places) == 1 and row["link"] == link:
            continue
        if len(places) != 1:
            wrong.append(f"{row['question']} '{row['sign']}' stands {len(places)} times in {file}, not once")
            continue
        if fix:
            lines[number] = f"| {row['question']} | [`{file}:{places[0]}`](../../{file}#L{places[0]}) | `{row['sign']}` |"
        else:
            wrong.append(f"{row['question']} stands at {file}:{places[0]}; scripts/questions.py --fix puts it right")
    text = CHANGES.read_text()
    for file, shown in PATCH.findall(text):
        if pathlib.Path(file).read_text().rstrip("\n") != shown:
            wrong.append(f"{CHANGES}: what it shows of {file} is not what stands there")
    if len(PATCH.findall(text)) != text.count("<!-- patch:"):
        wrong.append(f"{CHANGES}: a patch is named and not shown")
    wrong += adding()
    wrong += machine()
    wrong += walks()
    if found < LEAST:
        wrong.append(f"{found} questions in {PAGE}, {LEAST} are the least")
    if fix:
        PAGE.write_text("\n".join(lines) + "\n")
    for text in wrong:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
