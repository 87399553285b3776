#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs a build into a folder of its own, builds the project of tests/install/example with what
is there, and compares what it prints with the installed program.

    check_install.py BUILD_FOLDER
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

EXAMPLE = pathlib.Path(__file__).parent / "example"
SMALL = ["--machine", "wse2", "--set", "wafer.columns=8", "--set", "wafer.rows=8", "--gemm",
         "64x64x32", "--layout", "first", "--json"]


def run(*command):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    build = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="lacuna-install-") as folder:
        place = pathlib.Path(folder)
        first = place / "first"
        run("cmake", "--install", build, "--prefix", first, "--strip")
        # a package may be moved as a whole
        prefix = place / "prefix"
        shutil.move(first, prefix)
        lacuna = prefix / "bin" / "lacuna"
        run("cmake", "-S", EXAMPLE, "-B", place / "build", "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", place / "build")
        said = run(place / "build" / "zeros").splitlines()
        dense = json.loads(run(lacuna, "run", *SMALL))[-1]
        sparse = json.loads(run(lacuna, "run", *SMALL, "--pattern", "unstructured:0.25"))[-1]
        wanted = ["8 x 8 of 850000 cores", f"dense {dense['cycles']}",
                  f"sparse {sparse['cycles']} {sparse['density']}",
                  # every cycle of each of the 64 cores, once
                  f"stack {64 * sparse['cycles']}",
                  "refused, 2: there is no parameter 'wafer.colums'; did you mean "
                  "'wafer.columns'?"]
        if said != wanted:
            sys.exit("found\n  " + "\n  ".join(said) + "\nexpected\n  " + "\n  ".join(wanted))

        # completion that bash takes, of the words that are there
        completion = prefix / "share" / "bash-completion" / "completions" / "lacuna"
        words = run("bash", "-c", f"source {completion}; COMP_WORDS=(lacuna comp); COMP_CWORD=1; "
                    "_lacuna; echo ${COMPREPLY[*]}; COMP_WORDS=(lacuna plot out --norm); "
                    "COMP_CWORD=3; _lacuna; echo ${COMPREPLY[*]}; "
                    # as bash splits `lacuna run --machine=gc2` and `lacuna plot out --palette=`
                    "COMP_WORDS=(lacuna run --machine = gc20); COMP_CWORD=4; _lacuna; "
                    "echo ${COMPREPLY[*]}; COMP_WORDS=(lacuna plot out --palette =); COMP_CWORD=4; "
                    "_lacuna; echo ${COMPREPLY[*]}").split()
        if words != ["compare", "--normalise", "gc200", "colour", "grey"]:
            sys.exit(f"completion found {words}")
        if ".TH LACUNA 1" not in (prefix / "share" / "man" / "man1" / "lacuna.1").read_text():
            sys.exit("there is no manual page")

        # another minor version is not this one
        (place / "later").mkdir()
        (place / "later" / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(later LANGUAGES CXX)\n"
            "find_package(Lacuna 99.0 REQUIRED)\n")
        done = subprocess.run(["cmake", "-S", place / "later", "-B", place / "later-build",
                               "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"],
                              capture_output=True, text=True, check=False)
        if done.returncode == 0 or "99.0" not in done.stderr:
            sys.exit(f"a version that there is not was found, or something else\n{done.stderr}")


if __name__ == "__main__":
    main()
