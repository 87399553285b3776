#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# From a clone to a comparison of both machines: installs what is missing, builds, runs, and leaves
# tables and figures in out/quickstart/. Can be repeated.
set -eu
cd "$(dirname "$0")/.."
out=out/quickstart

# compare NAME OPTION...: one comparison, its results in a folder of that name.
compare() {
  name=$1
  shift
  printf '\n== %s: lacuna compare %s\n' "$name" "$*"
  build/release/lacuna compare "$@" --out "$out/$name"
}

# the wafer is a rectangle of its cores; its size stands in every table, figure and file
both="--machine bow --machine wse2 --set wafer.columns=64 --set wafer.rows=64"

comparisons() {
  # real masks: encoder layer 0 of a Transformer, pruned to 90 %
  # shellcheck disable=SC2086
  compare transformer-pruned-0.9 --trace traces/transformer_l0_mag90.csv $both --with-dense
  # an encoder layer of BERT-base, 2048 tokens: sparse weights, all else dense
  # shellcheck disable=SC2086
  compare bert-base-layer --trace traces/bert_base_layer.csv $both --pattern dense \
    --pattern unstructured:0.25 --pattern unstructured:0.1 \
    --pattern block16:0.25 --pattern block16:0.1
}

echo "== packages"
scripts/setup.sh build
echo "== configure"
mkdir -p build
cmake --preset release -DLACUNA_TESTS=OFF >build/configure.log 2>&1 ||
  { cat build/configure.log; exit 1; }
echo "== build (a few minutes the first time)"
# one compiler a core; Ninja by itself starts more, which gains nothing
cmake --build --preset release --target lacuna -j "$(nproc 2>/dev/null || echo 2)"
mkdir -p "$out"
comparisons
printf '\nThe figures and tables are in %s.\n' "$out"
