#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the files a document shows, so that a build can compile them: each code block under a
line <!-- file: PATH --> becomes FOLDER/PATH.  usage: extract_example.py DOCUMENT FOLDER"""

import pathlib
import re
import sys

SHOWN = re.compile(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main():
    document, folder = map(pathlib.Path, sys.argv[1:3])
    shown = SHOWN.findall(document.read_text(encoding="utf-8"))
    if not shown:
        print(f"{document}: shows no file")
        return 1
    for path, text in shown:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        # an unchanged file keeps its time, and is not compiled again
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
