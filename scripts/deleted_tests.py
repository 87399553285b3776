#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks tests/deleted.csv, which has each test that was deleted: the test that has its claim now, or why none has.

  scripts/deleted_tests.py          fails where a successor is no test, a deleted test is one, or a reason is missing
"""

import csv
import pathlib
import re
import sys

TABLE = pathlib.Path("tests/deleted.csv")
TEST = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)


def main():
    tests = {".".join(name) for folder in ("tests", "doc/examples")
             for path in pathlib.Path(folder).rglob("*_test.cpp") for name in TEST.findall(path.read_text())}
    wrong = []
    with TABLE.open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    for row in rows:
        if row["test"] in tests:
            wrong.append(f"{row['test']} is a test: take its row away")
        if row["successor"] and row["successor"] not in tests:
            wrong.append(f"{row['test']}: its successor {row['successor']} is no test; name the one of today, or none")
        if not row["reason"]:
            wrong.append(f"{row['test']} has no reason")
    names = [row["test"] for row in rows]
    if names != sorted(set(names)):
        wrong.append("rows are not in the order of their names, or one stands twice")
    for line in wrong:
        print(f"{TABLE}: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
