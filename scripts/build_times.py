#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which headers of ours cost most when they are touched: files that are compiled again, and the
seconds of a core that took in the last builds of these files (of a cache, if there was one).
usage: build_times.py [BUILD_FOLDER] [COUNT]"""

import collections
import pathlib
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


def main():
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
