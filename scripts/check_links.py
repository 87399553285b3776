#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every link of a document to a file of the project, or to a heading, has a target."""

import pathlib
import re
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
SOURCE = re.compile(r"(?:src|href)=\"([^\"]+)\"")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+\s+(.*?)\s*#*$", re.MULTILINE)
# made by scripts/site.sh when the site is built
MADE = re.compile(r"reference/(parameters|statistics|machines|layouts|patterns|models|options|changes)\.md$")
ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:")


def anchors(document):
    """The names under which a reader finds the headings of a document."""
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    names = set()
    for heading in HEADING.findall(text):
        plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        names.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return names


def documents():
    for pattern in ("*.md", "doc/**/*.md", "traces/**/*.md", "tests/**/*.md", "sim/**/*.md"):
        yield from sorted(pathlib.Path(".").glob(pattern))


def broken(document):
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    for link in LINK.findall(text) + SOURCE.findall(text):
        if ELSEWHERE.match(link):
            continue
        path, _, anchor = link.partition("#")
        if MADE.search(path):
            continue
        target = document if not path else document.parent / path
        if not target.exists():
            yield f"{link}: there is no such file"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{link}: there is no such heading"


def main():
    wrong = 0
    for document in documents():
        for remark in broken(document):
            print(f"{document}: {remark}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
