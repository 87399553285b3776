# SPDX-License-Identifier: Apache-2.0
"""What `pip install .` builds the wheel with: setuptools, if this Python can have the module.

Says so before setuptools is looked for, as newer environments have none, and before minutes of compiling.
"""
import importlib.util
import pathlib
import shutil
import sys
import sysconfig


def check_interpreter():
    """Ends with found, allowed and what to type instead, where the module cannot be built."""
    header = pathlib.Path(sysconfig.get_path("include")) / "Python.h"
    debian = ("the module is for Debian's python3, 3.11: make the environment with "
              "/usr/bin/python3 -m venv --system-site-packages")
    # pybind11 2.10 is for these
    if sys.implementation.name != "cpython" or not (3, 9) <= sys.version_info < (3, 12):
        sys.exit(f"lacuna: found {sys.executable}, {sys.implementation.name} {sys.version.split()[0]}; "
                 f"allowed: CPython 3.9 to 3.11; {debian}")
    if not header.is_file():
        sys.exit(f"lacuna: {sys.executable} has no {header}; scripts/setup.sh python installs that of Debian; "
                 f"{debian}")
    missing = [tool for tool in ("cmake", "ninja") if not shutil.which(tool)]
    if not importlib.util.find_spec("setuptools"):
        missing.append("Python's setuptools")
    elif not any(map(importlib.util.find_spec, ("wheel", "setuptools.command.bdist_wheel"))):
        missing.append("Python's wheel")
    if missing:
        sys.exit(f"lacuna: {' and '.join(missing)} not found; scripts/setup.sh python installs all that is needed, "
                 "for environments of /usr/bin/python3 -m venv --system-site-packages")


check_interpreter()
from setuptools.build_meta import *  # noqa: E402,F401,F403  pylint: disable=all
