#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The declaration that doc/develop/changing_a_block.md shows is all that a new parameter takes: in the
# copy of the tree that edits.sh builds, it is described, set, and refused out of its range.
#
# usage: scripts/ci/parameter.sh
set -eu
cd "$(dirname "$0")/../.."
page=doc/develop/changing_a_block.md
copy=$PWD/build/edits
export SC_COPYRIGHT_MESSAGE=DISABLE
line=$(awk '$0 == "```cpp" { inside = 1; next } /^```/ && inside { exit } inside' $page)
scripts/copy_tree.sh "$copy" CMakeLists.txt LICENSE doc models scripts sim tests workloads
cd "$copy"
header=$(grep -rl 'struct QueueParams' models/wse)
sed -i "/struct QueueParams/a $line" "$header"
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DLACUNA_TESTS=ON -DCMAKE_CXX_FLAGS_DEBUG=-O0 \
  -DLACUNA_BENCHMARKS=OFF >log 2>&1 || { cat log; exit 1; }
cmake --build build --target lacuna >log 2>&1 || { tail log; exit 1; }
build/lacuna describe queue.my_depth | grep -q 'What it means.'
build/lacuna run --machine wse2 --set wafer.columns=4 --set wafer.rows=4 \
  --gemm 16x16x16 --set queue.my_depth=8 >/dev/null
if build/lacuna run --machine wse2 --gemm 16x16x16 --set queue.my_depth=65 2>err; then
  echo "queue.my_depth=65 is not refused"
  exit 1
fi
grep -q 'my_depth.*\[1, 64\]' err
echo "one declaration is a parameter"
