#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel of a build and uses it in a virtual environment of its own, which has only NumPy and pandas
of the system.

    check_wheel.py BUILD_FOLDER      status 77: this Python cannot make environments or wheels
"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = ["run", "--machine", "wse2", "--set", "wafer.columns=8", "--set", "wafer.rows=8", "--gemm",
         "64x64x32", "--quiet"]
ASKED = """
import lacuna
wafer = lacuna.Machine("wse2", wafer__columns=8, wafer__rows=8)
print(lacuna.run(wafer, gemm=(64, 64, 32)).total.cycles, lacuna.__version__)
"""


def run(*command, status=0, **more):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False, **more)
    if done.returncode != status:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if not all(importlib.util.find_spec(name) for name in ("ensurepip", "setuptools", "wheel")):
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="lacuna-wheel-") as folder:
        place = pathlib.Path(folder)
        run(sys.executable, "-m", "venv", "--system-site-packages", place / "env")
        python = place / "env" / "bin" / "python"
        environment = {**os.environ, "LACUNA_BUILD": str(build), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        wheel = [python, "-m", "pip", "wheel", ".", "--no-build-isolation", "--no-deps", "--no-index", "-w", place]
        run(*wheel, cwd=ROOT, env=environment)
        made, = place.glob("lacuna-*.whl")
        run(python, "-m", "pip", "install", "--no-deps", "--no-index", made)
        # the environment's own module, program and presets
        alone = {"PATH": "/usr/bin:/bin", "SC_COPYRIGHT_MESSAGE": "DISABLE"}
        cycles, version = run(python, "-c", ASKED, cwd=place, env=alone).split()
        program = place / "env" / "bin" / "lacuna"
        said = run(program, *SMALL, cwd=place, env=alone)
        if said != run(build / "lacuna", *SMALL) or cycles not in said.replace(",", ""):
            sys.exit(f"the wheel answers otherwise than the build: {cycles}\n{said}")
        if f"lacuna-{version}-cp" not in made.name:
            sys.exit(f"{made.name} has a module of version {version}")
        # a folder without a build is refused before pip fails somewhere else
        empty = {**environment, "LACUNA_BUILD": str(place)}
        if "lacuna: cmake --install" not in run(*wheel, status=1, cwd=ROOT, env=empty):
            sys.exit("a folder without a build is not refused by its reason")
        # a Python that is too new is told so, though it has no setuptools
        new = "import sys; sys.version_info = (3, 12, 0); sys.modules['setuptools'] = None; import wheel_backend"
        if "allowed: CPython 3.9 to 3.11" not in run(python, "-c", new, status=1, cwd=ROOT / "scripts"):
            sys.exit("a Python that does not fit is not refused by its reason")
        print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB, {cycles} cycles")


if __name__ == "__main__":
    main()
