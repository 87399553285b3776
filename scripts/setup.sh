#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that are missing, and nothing if none is.
#   scripts/setup.sh build   what building and running need (the default)
#   scripts/setup.sh python  and what the Python module needs
#   scripts/setup.sh test    and what scripts/test.sh needs
#   scripts/setup.sh full    and what scripts/ci/full.sh needs
set -eu

build="g++ cmake ninja-build pkg-config libsystemc-dev libfmt-dev libyaml-cpp-dev
       nlohmann-json3-dev libprotobuf-dev libonnx-dev zlib1g-dev libzip-dev libssl-dev libsqlite3-dev
       libfccp-dev libboost-dev
       libboost-iostreams-dev libboost-system-dev libboost-filesystem-dev libgnuplot-iostream-dev gnuplot-nox fonts-liberation"
python="pybind11-dev python3-dev python3-numpy python3-pandas python3-scipy python3-matplotlib
        python3-setuptools python3-wheel python3-venv"
test="libgtest-dev libgmock-dev python3 python3-jsonschema clang-format patch dpkg-dev file"
full="clang clang-tidy gcovr libbenchmark-dev mmdebstrap chromium rsync mkdocs mkdocs-material"

case "${1:-build}" in
  build) wanted="$build" ;;
  python) wanted="$build $python" ;;
  test) wanted="$build $python $test" ;;
  full) wanted="$build $python $test $full" ;;
  *) echo "usage: scripts/setup.sh [build|python|test|full]" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this is not a Debian; make sure that these are installed:" $wanted
  exit 0
fi
missing=""
for package in $wanted; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  # any gnuplot will do, whether it has a window or not
  if [ "$package" = gnuplot-nox ] && command -v gnuplot >/dev/null; then state=installed; fi
  [ "$state" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
  echo "setup: all packages are there"
  exit 0
fi

as_root=""
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: these packages are missing, and only root may install them:$missing" >&2
    exit 1
  fi
  as_root=sudo
fi
echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
