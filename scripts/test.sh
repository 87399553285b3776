#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds everything, runs all tests and the checks of our own rules, and
# ends in the counts of passed and failed. Can be repeated; leaves the tree as it was.
#   scripts/test.sh [PRESET]   release by default; see CMakePresets.json
# LACUNA_PYTHON=OFF in the environment leaves out the Python module.
set -eu
cd "$(dirname "$0")/.."
preset=${1:-release}
jobs=$(nproc 2>/dev/null || echo 2)
log=build/test-$preset.log

# what differs from the last commit, to see whether the tests change it
state() { git status --porcelain 2>/dev/null || true; }

echo "== packages"
scripts/setup.sh test
before=$(state)
echo "== configure"
mkdir -p build
cmake --preset "$preset" -DLACUNA_TESTS=ON -DLACUNA_PYTHON="${LACUNA_PYTHON:-ON}" >"$log" 2>&1 || { cat "$log"; exit 1; }
echo "== build"
cmake --build --preset "$preset" -j "$jobs"
echo "== test"
status=0
SC_COPYRIGHT_MESSAGE=DISABLE ctest --preset "$preset" -j "$jobs" >"$log" 2>&1 || status=$?
# each test that passed is a line nobody reads; the rest is shown
grep -Ev '^ *Start |   Passed  ' "$log" || true

total=$(sed -n 's/.*tests failed out of \([0-9]*\).*/\1/p' "$log")
failed=$(sed -n 's/.* \([0-9]*\) tests failed out of.*/\1/p' "$log")
if [ "$(state)" != "$before" ]; then
  echo "the tests changed the tree:"
  git status --porcelain
  status=1
  failed=$((${failed:-0} + 1))
  total=$((${total:-0} + 1))
fi
[ -n "$total" ] || { echo "no test was run"; exit 1; }
echo "$((total - failed)) passed, $failed failed"
exit "$status"
