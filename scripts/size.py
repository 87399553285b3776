#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weighs the tree by room: tokens of code without comments, beside lines and the share of comments.

    scripts/size.py [DIR]          prints the table of a checkout
    scripts/size.py --check [DIR]  fails if a room is heavier than its budget and its loans

A token is a name, a number, a string or an operator; #include lines do not count. Budgets only fall. A change that
makes a room heavier for a while, because what it replaces goes in a later step, takes a loan that names what will go.
"""
import pathlib
import re
import sys

# room: (folders, most tokens today, tokens aimed at)
ROOMS = {
    "models/wse": (["models/wse/"], 147_070, 105_000),
    "models, rest": (["models/"], 93_500, 92_000),
    "mapping/wse": (["workloads/mapping/wse/"], 159_260, 120_000),
    "mapping, rest": (["workloads/mapping/"], 148_200, 132_000),
    "workloads, rest": (["workloads/"], 124_200, 123_500),
    "sim/machines": (["sim/machines/"], 87_900, 48_000),
    "sim/driver": (["sim/driver/"], 229_900, 150_000),
    "sim/report": (["sim/report/"], 105_800, 100_000),
    "sim, rest": (["sim/"], 30_500, 36_000),
    "tests/support": (["tests/support/"], None, None),
    "tests, rest": (["tests/"], None, None),
}
# (room, tokens, what will be deleted for them)
LOANS = [
    ("models/wse", 960, "GradientOutcome beside StreamingOutcome, once what cores have done is counted from their program by one walk"),
    ("models, rest", 500, "times and bytes of WaferSystemResult beside ProgramResult, once passes of wafers are a Program"),
    ("mapping, rest", 710, "matrices_of beside updated_parts, once rows of a trace are a stage like those of a model"),
    ("sim/machines", 9_600, "nothing: the rule of a wafer's default layout, which may weigh 10,000 in all rooms"),
    ("mapping/wse", 400, "nothing: estimates of functions and attention, a part of that rule"),
    ("mapping/wse", 1_070, "estimated_move beside LineMove, once moves are costed from their programs"),
    ("sim/machines", 3_670, "WeightsRun beside fastest_of: two texts that take the fastest of what may be"),
    ("sim/machines", 15_455, "half of the reader of programs, once it is written shorter; kernels in C++ that become files"),
    ("sim, rest", 350, "nothing: the builder of programs in Python, within the aim of this room"),
    ("sim/driver", 890, "readers of results that decide: tables, what-ifs, the system's formulas"),
]

CODE = (".cpp", ".hpp", ".h", ".js", ".css", ".py")
STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
C_LIKE = re.compile(r'(R"([^(\s]*)\(.*?\)\2")|(' + STRING + r")|(//[^\n]*|/\*.*?\*/)", re.S)
PYTHON = re.compile(r'("""(?:.|\n)*?"""|\'\'\'(?:.|\n)*?\'\'\')|(' + STRING + r")|(#[^\n]*)")
TOKEN = re.compile(STRING + r"|[A-Za-z_]\w*|\d[\w.']*|<<=|>>=|\.\.\.|->\*|::|->|\+\+|--|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||\S")


def measure(path):
    """(tokens, lines, lines of comments) of a file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    pattern = PYTHON if path.endswith(".py") else C_LIKE
    comments = 0

    def without_comment(match):
        nonlocal comments
        comment = match.group(match.re.groups)
        if pattern is PYTHON and match.group(1):
            comment = match.group(1)
        if comment is None:
            return match.group(0)
        comments += comment.count("\n") + 1
        return " "

    bare = pattern.sub(without_comment, text)
    bare = re.sub(r"^\s*#\s*(include|pragma)[^\n]*", "", bare, flags=re.M)
    return len(TOKEN.findall(bare)), text.count("\n"), comments


def room_of(path):
    """The first room with a folder that holds this file of code; None if there is none."""
    if not path.endswith(CODE):
        return None
    return next((room for room, (folders, _, _) in ROOMS.items() if path.startswith(tuple(folders))), None)


def weigh(root):
    """{room: [tokens, lines, lines of comments, files]} of a checkout, and its words of documents."""
    top = pathlib.Path(root)
    folders = sorted({folder.split("/")[0] for folders, _, _ in ROOMS.values() for folder in folders} | {"doc"})
    files = [*top.glob("*.md"), *(file for folder in folders for file in (top / folder).rglob("*.*"))]
    weights = {room: [0, 0, 0, 0] for room in ROOMS}
    words = 0
    for path in (file.relative_to(top).as_posix() for file in files):
        room = room_of(path)
        if room:
            for i, value in enumerate((*measure(f"{root}/{path}"), 1)):
                weights[room][i] += value
        elif path.endswith(".md") and (path.startswith("doc/") or "/" not in path):
            with open(f"{root}/{path}", encoding="utf-8") as file:
                words += len(file.read().split())
    return weights, words


def main():
    """Prints the table; with --check its status is 1 if a room is over its budget."""
    arguments = [word for word in sys.argv[1:] if word != "--check"]
    weights, words = weigh(arguments[0] if arguments else ".")
    wrong = []
    product = [0, 0, 0, 0]
    print(f"{'room':16} {'tokens':>9} {'budget':>9} {'loan':>7} {'aim':>9} {'lines':>8} {'comments':>9} {'files':>6}")

    def row(name, numbers, budget, loan, aim):
        tokens, lines, comments, files = numbers
        share = 100 * comments / max(lines, 1)
        print(f"{name:16} {tokens:9} {budget or '':>9} {loan or '':>7} {aim or '':>9} {lines:8} {share:8.1f}% {files:6}")

    for room, (_, budget, aim) in ROOMS.items():
        loan = sum(tokens for where, tokens, _ in LOANS if where == room)
        row(room, weights[room], budget, loan, aim)
        if not room.startswith("tests"):
            product = [a + b for a, b in zip(product, weights[room])]
        if budget and weights[room][0] > budget + loan:
            wrong.append(f"{room}: {weights[room][0]} tokens; at most {budget} and loans of {loan} are allowed")
    row("product", product, sum(b for _, b, _ in ROOMS.values() if b), sum(t for _, t, _ in LOANS),
        sum(a for _, _, a in ROOMS.values() if a))
    print(f"{'words':16} {words:9}  of README, CHANGELOG and doc/")
    for room, tokens, what in LOANS:
        print(f"loan: {room}, {tokens} tokens until these go: {what}")
    for text in wrong:
        print(f"size: {text}")
    return 1 if wrong and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
