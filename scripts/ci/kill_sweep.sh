#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kills a sweep of 200 points at random moments, KILLS times (50), and goes on with it each time.
# The summary must be that of a sweep that nobody disturbed.
set -eu
cd "$(dirname "$0")/../.."
lacuna=$PWD/${LACUNA:-build/release/lacuna}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/study.yaml" <<'YAML'
machine: bow
gemm: 128x128x64
pattern: unstructured
mode: static
set: {ipu.tiles: 64}
grid:
  density: {from: 0.02, to: 0.8, step: 0.02}
  seed: [1, 2, 3, 4, 5]
YAML
export SC_COPYRIGHT_MESSAGE=DISABLE
"$lacuna" sweep "$work/study.yaml" --quiet --out "$work/whole" > "$work/table"
kills=0
while [ "$kills" -lt "${KILLS:-50}" ]; do
  "$lacuna" sweep "$work/study.yaml" --quiet --resume --out "$work/out" > /dev/null 2> "$work/err" &
  id=$!
  sleep "0.$(od -An -N2 -tu2 /dev/urandom | awk '{printf "%03d", $1 % 500}')"
  if kill -9 "$id" 2> /dev/null; then kills=$((kills + 1)); fi
  wait "$id" 2> /dev/null || true
  # finished before its kills: begin again, with what is left of them
  if [ ! -e "$work/out.journal" ] && [ -e "$work/out/result.json" ]; then
    cmp "$work/whole/summary.csv" "$work/out/summary.csv"
    rm -rf "$work/out"
  fi
done
"$lacuna" sweep "$work/study.yaml" --quiet --resume --out "$work/out" > /dev/null
for file in summary.csv statistics.csv cycle_stack.csv; do
  cmp "$work/whole/$file" "$work/out/$file"
done
echo "killed $kills times, $(grep -c TOTAL "$work/out/summary.csv") points: the same summary"
