#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what names a release or repeats the README's two commands says the same: CMakeLists.txt has the
version; CITATION.cff, CHANGELOG.md, Dockerfile and the workflow follow."""

import pathlib
import re
import sys


def found(file, pattern):
    match = re.search(pattern, pathlib.Path(file).read_text(encoding="utf-8"), re.MULTILINE)
    return match.groups() if match else ("nothing",)


def main():
    version, = found("CMakeLists.txt", r"^project\(lacuna VERSION (\S+)")
    date, = found("CITATION.cff", r"^date-released: (\S+)$")
    quickstart, test = found("README.md", r"^(scripts/\w+\.sh) .*\n(scripts/\w+\.sh) ")
    wanted = [("CITATION.cff", r"^version: (\S+)$", (version,)),
              ("CHANGELOG.md", r"^## (\S+), (\S+)$", (version, date)),
              ("Dockerfile", r"^RUN (\S+)\n(?:.*\n)*RUN (\S+)$", (quickstart, test)),
              (".github/workflows/test.yml", r"- run: (scripts/\S+)$", (test,))]
    wrong = [f"{file}: found {' '.join(found(file, pattern))}, expected {' '.join(words)}"
             for file, pattern, words in wanted if found(file, pattern) != words]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
