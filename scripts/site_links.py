#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In the pages of a folder, turns links to files that are not in it into their words, and the path of
the file in the repository: in place of words that are its name, or behind words that do not name it.

usage: site_links.py FOLDER
"""
import pathlib
import re
import sys

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
ROOT = pathlib.Path("/repository/doc")  # where the pages stand, to read their links
FENCE = re.compile(r"^(```).*?^\1", re.MULTILINE | re.DOTALL)


def inside(page, target, root):
    place = (page.parent / target.partition("#")[0]).resolve()
    return root in place.parents and place.is_file()


def mend(page, root):
    text = page.read_text(encoding="utf-8")
    fences = [found.span() for found in FENCE.finditer(text)]

    def replace(found):
        mark, words, target = found.groups()
        if any(begin <= found.start() < end for begin, end in fences):
            return found.group()
        if re.match(r"[a-z]+:|#", target) or inside(page, target, root):
            return found.group()
        path = str((ROOT / page.relative_to(root).parent / target.partition("#")[0]).resolve())
        path = path.removeprefix(f"{ROOT.parent}/")
        name = pathlib.Path(path).name
        if words.strip("`") == name:
            return f"`{path}`"
        return words if name in words else f"{words} (`{path}`)"

    changed = LINK.sub(replace, text)
    if changed != text:
        page.write_text(changed, encoding="utf-8")


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    for page in sorted(root.rglob("*.md")):
        mend(page, root)


if __name__ == "__main__":
    main()
