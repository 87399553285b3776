#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A run is made by the GCC and by the clang build, and twice by the first: its files must be the
# same, byte for byte, but for host.json. Then every trace that ships is run by both engines, whose
# files must be the same but for the engine's name, and for how a row of tasks was simulated.
set -eu
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for preset in release clang; do
  [ -x "build/$preset/lacuna" ] || cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset" --target lacuna >/dev/null
done

# machine and what makes it small
runs="bow:ipu.tiles=64 wse2:wafer.columns=8,wafer.rows=8"
for run in $runs; do
  machine=${run%%:*}
  set --
  for setting in $(echo "${run#*:}" | tr ',' ' '); do set -- "$@" --set "$setting"; done
  for make in release/first release/second clang/third; do
    "build/${make%/*}/lacuna" run --machine "$machine" "$@" --gemm 256x256x64 \
      --pattern unstructured --density 0.1 --quiet --out "$scratch/$machine-${make#*/}"
    rm "$scratch/$machine-${make#*/}/host.json"
  done
  diff -r "$scratch/$machine-first" "$scratch/$machine-second"
  diff -r "$scratch/$machine-first" "$scratch/$machine-third"
  echo "$machine: identical"
done

# engines MACHINE SETTING...: all traces on a chip small enough for the clocked engine
engines() {
  machine=$1
  shift
  for trace in traces/*.csv traces/library/bert_base_layer_weights.csv; do
    for engine in event clocked; do
      build/release/lacuna compare --machine "$machine" "$@" --trace "$trace" --pattern own \
        --engine "$engine" --quiet --out "$scratch/$engine" >/dev/null
      rm "$scratch/$engine/host.json"
      sed -i 's/clocked/event/g' "$scratch/$engine/summary.csv" "$scratch/$engine/result.json" \
        "$scratch/$engine/report.html"
      sed -i '/<td class="text">simulated<\/td>/d' "$scratch/$engine/report.html"
      sed -i '/"simulated",/{N;d}' "$scratch/$engine/result.json"
    done
    diff -r "$scratch/event" "$scratch/clocked"
    rm -r "$scratch/event" "$scratch/clocked"
    echo "$machine, $trace: engines identical"
  done
}
engines bow --set ipu.tiles=256
engines wse2 --set wafer.columns=32 --set wafer.rows=32
