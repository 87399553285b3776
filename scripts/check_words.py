#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no file of the project holds what belongs to one workplace: paths of a home, hosts
that only exist inside a network, secrets, and notes to oneself."""

import pathlib
import re
import shutil
import subprocess
import sys

RULES = [
    (r"(?<![\w.])/(?:home|root|Users|work|mnt|srv)/\w", "a path that exists on one machine only"),
    (r"https?://(?:localhost|127\.|10\.|192\.168\.|[\w.-]+\.(?:internal|local|lan|corp)\b)",
     "a host that exists in one network only"),
    (r"\b(?:artifactory|nexus-?proxy|pypi-?mirror|apt-?cacher)\b", "a private package registry"),
    (r"BEGIN [A-Z ]*PRIVATE KEY|\b(?:api[_-]?key|access[_-]?token|password)\s*[=:]\s*['\"]\w",
     "a secret"),
    (r"\b(?:TODO|FIXME|XXX|HACK|WIP)\b", "a note to oneself; say what is missing where users look"),
    (r"^(?:<<<<<<<|>>>>>>>) ", "the mark of a merge"),
]
RULES = [(re.compile(pattern, re.MULTILINE), why) for pattern, why in RULES]
TEXT = {".hpp", ".cpp", ".py", ".sh", ".cmake", ".md", ".txt", ".yaml", ".csv", ".json", ".cff",
        ".patch", ".gp", ".html", ""}
SELF = "scripts/check_words.py"


def tracked():
    """The files of the project: those git knows, or all if there is no git."""
    listing = None
    if shutil.which("git"):
        listing = subprocess.run(["git", "ls-files", "-z", "--cached", "--others",
                                  "--exclude-standard"], capture_output=True, check=False)
    if listing and listing.returncode == 0:
        names = listing.stdout.decode().split("\0")
        return [pathlib.Path(name) for name in names if name]
    skip = {"build", "out", ".git"}
    return [path for path in pathlib.Path(".").rglob("*") if path.parts[0] not in skip]


def main():
    wrong = 0
    for file in sorted(tracked()):
        if file.suffix not in TEXT or not file.is_file() or file.as_posix() == SELF:
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        for rule, why in RULES:
            for found in rule.finditer(text):
                line = text.count("\n", 0, found.start()) + 1
                print(f"{file}:{line}: {found.group().strip()}: {why}")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
