#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many lines the wafer takes, then and now: its model, its mappings and what runs them, by what they are for.

    scripts/wafer_lines.py COMMIT

Of files that had a predecessor in COMMIT, and of those that came since for something that the wafer did already, the sum is compared with
COMMIT's. What came since for something that it did not do is a row of its own, so that each reader can check what is counted as new.
"""

import fnmatch
import pathlib
import subprocess
import sys

THEN = ("models/wse/", "workloads/mapping/wse", "sim/driver/wse_")
NOW = ("models/wse/", "workloads/mapping/wse/", "sim/machines/wse/")

# What the wafer did not do before, and the files that are for nothing else. The first row that has a file counts it.
SINCE = {
    "language models: decoding, prompts, requests": ["*/inference/*"],
    "pages that show a run: series, critical path": ["*/view/*", "models/wse/row_marks.*"],
    "groups of columns that exchange results, layouts": [
        "*/exchange*", "*/group_use.*", "*/column_groups.hpp", "*/layouts.*", "*/layout_move.*", "*/feature_layout.hpp"],
    "weights that stay: scattered ones, the choice": ["*/resident/*", "*/residency.*", "*/feature_shares.hpp"],
    "tasks in lanes": ["models/wse/lanes/*"],
    "streams that enter elsewhere than above": ["*/copy_row.*", "*/spread.*", "*/tokens.hpp"],
    "silicon, filtered products": [
        "*/silicon.*", "*/filtered_product.*", "*/kernel_stats.hpp", "*/scan.*"],
    "bounds of a stream's time and memory": ["*/stream_bound.*", "*/stream_memory.*"],
    "hardware: pauses of links, filters, tallies, slots": [
        "*/link_rule.hpp", "*/wavelet_filter.hpp", "*/stream_tallies.hpp", "*/sent_words.hpp", "*/instruction_time.hpp"],
}


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def lines_then(commit):
    files = [f for f in git("ls-tree", "-r", "--name-only", commit).splitlines() if f.startswith(THEN) and f.endswith(("cpp", "hpp"))]
    return len(files), sum(git("show", f"{commit}:{file}").count("\n") for file in files)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    now = {}
    for file in git("ls-files", "--cached", "--others", "--exclude-standard").splitlines():
        if file.startswith(NOW) and file.endswith(("cpp", "hpp")):
            text = pathlib.Path(file)
            now[file] = text.read_text().count("\n") if text.is_file() else 0
    files, then = lines_then(sys.argv[1])
    print("| what | files | lines |\n| --- | --- | --- |")
    print(f"| the wafer of {sys.argv[1]} | {files} | {then:,} |")
    print(f"| all of today | {len(now)} | {sum(now.values()):,} |")
    for name, patterns in SINCE.items():
        mine = [file for file in now if any(fnmatch.fnmatch(file, pattern) for pattern in patterns)]
        print(f"| of that, new: {name} | {len(mine)} | {sum(now.pop(file) for file in mine):,} |")
    rest = sum(now.values())
    print(f"| what the wafer did before | {len(now)} | {rest:,} |")
    print(f"| more than then | | {rest - then:,} |")


if __name__ == "__main__":
    main()
