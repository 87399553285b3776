#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which headers of ours cost most when they are touched: files that are compiled again, and the
seconds of a core that took in the last builds of these files (of a cache, if there was one).
usage: build_times.py [BUILD_FOLDER] [COUNT]
       build_times.py --text [TREE] [COUNT]    source files that include it, by their text: of any
                                               tree, built or not"""

import collections
import pathlib
import re
import subprocess
import sys


def compile_seconds(build):
    """Seconds of each object file, from the last line of ninja's log about it."""
    seconds = {}
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        begin, end, _, target, _ = line.split("\t")
        seconds[target] = (int(end) - int(begin)) / 1000
    return seconds


def objects_of_headers(build, root):
    listing = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True,
                             check=True).stdout
    users = collections.defaultdict(set)
    target = ""
    for line in listing.splitlines():
        if line and not line[0].isspace():
            target = line.split(":")[0]
        elif line.strip().endswith(".hpp"):
            path = (build / line.strip()).resolve()
            if root in path.parents and build not in path.parents:
                users[path.relative_to(root).as_posix()].add(target)
    return users


INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def reachable(file, includes):
    """All headers that a file includes, directly or not."""
    seen = set()
    left = [file]
    while left:
        for header in includes.get(left.pop(), ()):
            if header in includes and header not in seen:
                seen.add(header)
                left.append(header)
    return seen


def print_text(tree, count):
    includes = {}
    for folder in ("sim", "models", "workloads", "tests"):
        for path in (tree / folder).rglob("*.?pp"):
            includes[path.relative_to(tree).as_posix()] = INCLUDE.findall(path.read_text())
    sources = [file for file in includes if file.endswith(".cpp")]
    users = collections.Counter(header for file in sources for header in reachable(file, includes))
    print("| header | files |\n| --- | --- |")
    shown = [header for header, _ in users.most_common() if not header.startswith("sim/base/")]
    for header in shown[:count]:
        print(f"| `{header}` | {users[header]} |")
    print(f"\n{len(sources)} files in all")


def main():
    if sys.argv[1:2] == ["--text"]:
        tree = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".")
        print_text(tree, int(sys.argv[3]) if len(sys.argv) > 3 else 10)
        return
    root = pathlib.Path(__file__).resolve().parent.parent
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else root / "build/release").resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    seconds = compile_seconds(build)
    users = objects_of_headers(build, root)
    cost = {header: sum(seconds.get(each, 0) for each in objects)
            for header, objects in users.items()}
    print("| header | files | seconds |\n| --- | --- | --- |")
    for header in sorted(cost, key=cost.get, reverse=True)[:count]:
        print(f"| `{header}` | {len(users[header])} | {cost[header]:.0f} |")
    objects = {each for each in seconds if each.endswith(".o")}
    print(f"\n{len(objects)} files, {sum(seconds[each] for each in objects):.0f} s in all")


if __name__ == "__main__":
    main()
