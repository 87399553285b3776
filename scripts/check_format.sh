#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Says which C++ files clang-format would change. With --fix it changes them.
set -eu
cd "$(dirname "$0")/.."
if ! command -v clang-format >/dev/null; then
  echo "clang-format is not installed" >&2
  exit 77 # skipped
fi
mode="--dry-run -Werror"
[ "${1:-}" = --fix ] && mode=-i
find sim models workloads tests \( -name '*.hpp' -o -name '*.cpp' \) -print0 |
  sort -z | xargs -0 clang-format --style=file $mode
