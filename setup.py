# SPDX-License-Identifier: Apache-2.0
"""The Python module, the program and its presets as a wheel: `pip install . --no-build-isolation`.

CMake builds them with the packages of `scripts/setup.sh python`; scripts/wheel_backend.py says first what
is missing. LACUNA_BUILD names the folder of a build that is there already, with -DLACUNA_PYTHON=ON and for
this interpreter.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

from setuptools import Extension, setup  # first: it brings distutils where Python has none
from setuptools.command.build_ext import build_ext
from distutils.command.install_data import install_data

HERE = pathlib.Path(__file__).parent.resolve()
VERSION = re.search(r"project\(lacuna VERSION ([\d.]+)", (HERE / "CMakeLists.txt").read_text()).group(1)


class CMakeBuild(build_ext):
    """Builds with CMake, installs below the build folder, and takes the package from there."""

    def build_extension(self, ext):
        stage = HERE / "build" / "wheel-stage"
        shutil.rmtree(stage, ignore_errors=True)
        build = os.environ.get("LACUNA_BUILD")
        if not build:
            build = HERE / "build" / "wheel"
            self.run_cmake("-S", HERE, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                           "-DLACUNA_TESTS=OFF", "-DLACUNA_PYTHON=ON", f"-DLACUNA_PYTHON_EXECUTABLE={sys.executable}")
            self.run_cmake("--build", build)
        self.run_cmake("--install", build, "--prefix", stage, "--strip")
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        package, = stage.glob("lib/python3/dist-packages/lacuna")
        if not (package / f"_lacuna{suffix}").is_file():
            sys.exit(f"lacuna: {build} has no module for {sys.executable}, _lacuna{suffix}; configure it with "
                     f"-DLACUNA_PYTHON=ON -DLACUNA_PYTHON_EXECUTABLE={sys.executable}")
        wanted = pathlib.Path(self.get_ext_fullpath(ext.name)).parent
        shutil.copytree(package, wanted, dirs_exist_ok=True)

    @staticmethod
    def run_cmake(*words):
        done = subprocess.run(["cmake", *map(str, words)], check=False)
        if done.returncode != 0:
            sys.exit(f"lacuna: cmake {' '.join(map(str, words))} failed; its reason is above")


class StageData(install_data):
    """Program, presets, traces and manual page as `cmake --install` puts them below a prefix."""

    def run(self):
        self.run_command("build_ext")
        stage = HERE / "build" / "wheel-stage"
        for top in ("bin", "share"):
            shutil.copytree(stage / top, pathlib.Path(self.install_dir) / top, dirs_exist_ok=True)
            self.outfiles += [str(path) for path in (stage / top).rglob("*") if path.is_file()]


setup(
    version=VERSION,
    packages=["lacuna"],
    package_dir={"lacuna": "sim/python/lacuna"},
    package_data={"lacuna": ["*.pyi", "py.typed"]},
    ext_modules=[Extension("lacuna._lacuna", sources=[])],
    data_files=[("", [])],  # StageData has them
    cmdclass={"build_ext": CMakeBuild, "install_data": StageData},
    zip_safe=False,
)
