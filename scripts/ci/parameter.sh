#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The declaration that doc/develop/changing_a_block.md shows is all that a new parameter takes: in a
# copy of the tree it is built (ccache helps), described, set, and refused out of its range.
#
# usage: scripts/ci/parameter.sh
set -eu
cd "$(dirname "$0")/../.."
page=doc/develop/changing_a_block.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SC_COPYRIGHT_MESSAGE=DISABLE
line=$(awk '$0 == "```cpp" { inside = 1; next } /^```/ && inside { exit } inside' $page)
mkdir "$work/tree"
git archive HEAD | tar x -C "$work/tree"
cd "$work/tree"
header=$(grep -rl 'struct QueueParams' models/wse)
sed -i "/struct QueueParams/a $line" "$header"
cmake --preset release >/dev/null
cmake --build --preset release --target lacuna >build.log 2>&1 || { tail build.log; exit 1; }
build/release/lacuna describe queue.my_depth | grep -q 'What it means.'
build/release/lacuna run --machine wse2 --set wafer.columns=4 --set wafer.rows=4 \
  --gemm 16x16x16 --set queue.my_depth=8 >/dev/null
if build/release/lacuna run --machine wse2 --gemm 16x16x16 --set queue.my_depth=65 2>err; then
  echo "queue.my_depth=65 is not refused"
  exit 1
fi
grep -q 'my_depth.*\[1, 64\]' err
echo "one declaration is a parameter"
