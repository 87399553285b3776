#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the Debian package of a build, takes it apart into a folder, and runs the program there.

    check_package.py BUILD_FOLDER      status 77: the tools of Debian are not there
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SMALL = ["run", "--machine", "wse2", "--set", "wafer.columns=8", "--set", "wafer.rows=8", "--gemm",
         "64x64x32", "--quiet"]
WANTED = ["usr/bin/lacuna", "usr/include/lacuna/lacuna.hpp", "usr/share/lacuna/config/wse2.yaml",
          "usr/share/lacuna/traces/bert_base_layer.csv", "usr/share/man/man1/lacuna.1",
          "usr/share/bash-completion/completions/lacuna", "usr/share/doc/lacuna/LICENSE"]


def run(*command):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_removal(package, place):
    """Before it goes, the package removes what Python compiled beside its modules, and nothing else."""
    run("dpkg-deb", "--control", package, place / "control")
    module = place / "removed" / "lacuna" / "module.py"
    compiled = module.parent / "__pycache__" / "module.cpython-311.pyc"
    compiled.parent.mkdir(parents=True)
    module.touch()
    compiled.touch()
    listing = place / "bin" / "dpkg"  # in place of `dpkg -L lacuna`
    listing.parent.mkdir()
    listing.write_text(f"#!/bin/sh\necho '{module}'\n")
    listing.chmod(0o755)
    run("env", f"PATH={listing.parent}:{os.environ['PATH']}", place / "control" / "prerm", "remove")
    if compiled.parent.exists() or not module.exists():
        sys.exit(f"{package.name}: its prerm left what Python compiled, or took the module")


def main():
    build = pathlib.Path(sys.argv[1])
    if not all(shutil.which(tool) for tool in ("dpkg-deb", "dpkg-shlibdeps")):
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="lacuna-package-") as folder:
        place = pathlib.Path(folder)
        run("cpack", "--config", build / "CPackConfig.cmake", "-B", place)
        package, = place.glob("*.deb")
        root = place / "root"
        run("dpkg-deb", "--extract", package, root)
        wanted = list(WANTED)
        if (build / "python").is_dir():
            wanted.append("usr/lib/python3/dist-packages/lacuna/__init__.py")
        missing = [each for each in wanted if not (root / each).is_file()]
        if missing:
            sys.exit(f"{package.name} has no {', '.join(missing)}")
        # it finds its presets where it is, and gives the cycles that the build gives
        program = root / "usr/bin/lacuna"
        if run(program, *SMALL) != run(build / "lacuna", *SMALL):
            sys.exit("the packaged program answers otherwise than the build")
        depends = run("dpkg-deb", "--field", package, "Depends")
        for library in ("libsystemc", "libfmt", "libyaml-cpp", "gnuplot"):
            if not re.search(library, depends):
                sys.exit(f"{package.name} does not depend on {library}: {depends}")
        check_removal(package, place)
        version = run("dpkg-deb", "--field", package, "Version").strip()
        if f"lacuna {version.split('-')[0]}," not in run(program, "--version"):
            sys.exit(f"{package.name} is of version {version}, and its program says another")
        print(f"{package.name}: {package.stat().st_size / 1e6:.1f} MB, {depends.strip()}")


if __name__ == "__main__":
    main()
