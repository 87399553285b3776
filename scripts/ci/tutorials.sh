#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does what the tutorials say, as they say it: every command of doc/tutorial_author.md and
# doc/tutorial_architect.md, in order, in a scratch folder that stands for a clone. With EDIT=1 also
# the edit that adds a parameter, in a copy of the tree, which is built (ccache helps).
#
# usage: scripts/ci/tutorials.sh        LACUNA=build/release/lacuna
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
lacuna=$root/${LACUNA:-build/release/lacuna}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SC_COPYRIGHT_MESSAGE=DISABLE

# blocks LANGUAGE DOCUMENT: the code blocks of a language, in order
blocks() {
  awk -v begin="\`\`\`$1" '$0 == begin { inside = 1; next } /^```/ { inside = 0 } inside' "$2"
}

for page in author architect; do
  clone=$work/$page
  mkdir -p "$clone/build/release"
  ln -s "$lacuna" "$clone/build/release/lacuna"
  ln -s "$root/traces" "$clone/traces"
  ln -s "$root/sim" "$clone/sim"
  { echo 'mkdir -p out'; blocks sh doc/tutorial_$page.md; } > "$clone/commands.sh"
  (cd "$clone" && sh -eu commands.sh > log 2>&1) || { cat "$clone/log"; exit 1; }
done

# what the text says lies there
cd "$work/author"
for file in out/mine/report.html out/fair/figures/speedup.pdf out/fair/seeds.csv \
  out/with_gpu/throughput.svg out/study/summary.csv; do
  [ -s "$file" ] || { echo "tutorial_author.md: no $file"; exit 1; }
done
(cd out/fair/figures && sed -i 's/Density of the weights/Kept weights/' speedup.gp && gnuplot speedup.gp)
grep -q 'Kept weights' out/fair/figures/speedup.svg
cd "$work/architect"
for file in out/inside/timeline.json out/inside/waves.vcd out/inside/power.csv \
  out/which/sensitivity.csv; do
  [ -s "$file" ] || { echo "tutorial_architect.md: no $file"; exit 1; }
done
blocks yaml "$root/doc/tutorial_architect.md" > mine.yaml
build/release/lacuna run --machine mine.yaml --set wafer.columns=8 --set wafer.rows=8 \
  --gemm 64x64x32 --pattern unstructured:0.1 --quiet --out out/mine > /dev/null
grep -A1 '"queue.in"' out/mine/result.json | grep -q 16

if [ "${EDIT:-0}" = 1 ]; then
  git -C "$root" archive HEAD | (mkdir "$work/tree" && tar x -C "$work/tree")
  cd "$work/tree"
  header=$(grep -rl 'struct QueueParams' models/wse)
  line=$(blocks cpp doc/tutorial_architect.md)
  sed -i "/struct QueueParams/a $line" "$header"
  cmake --preset release > /dev/null
  cmake --build --preset release --target lacuna > build.log 2>&1 || { tail build.log; exit 1; }
  build/release/lacuna describe queue.my_depth | grep -q 'What it means.'
  build/release/lacuna run --machine wse2 --set wafer.columns=4 --set wafer.rows=4 \
    --gemm 16x16x16 --set queue.my_depth=8 > /dev/null
  if build/release/lacuna run --machine wse2 --gemm 16x16x16 --set queue.my_depth=65 2> err; then
    echo "queue.my_depth=65 is not refused"
    exit 1
  fi
  grep -q 'my_depth.*\[1, 64\]' err
fi
echo "the tutorials hold"
