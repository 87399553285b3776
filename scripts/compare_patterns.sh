#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares machines over patterns: the weight products of a BERT-base layer with unstructured, block and
# head-scaled magnitude masks at five densities, dense and 2:4; and those of a Transformer layer with the
# masks it was pruned to. Results are in DIR/bert and DIR/transformer. TRACE=traces/bert_base_layer.csv has the
# whole layer, with attention and norms.
#
# usage: scripts/compare_patterns.sh DIR [MACHINE...]      default: bow wse2
set -eu
out=${1:?usage: scripts/compare_patterns.sh DIR [MACHINE...]}
shift
[ $# -gt 0 ] || set -- bow wse2
root=$(cd "$(dirname "$0")/.." && pwd)
lacuna=${LACUNA:-$root/build/release/lacuna}
machines=$(printf -- '--machine %s ' "$@")
patterns='--pattern dense --pattern nm:2:4'
for density in ${DENSITIES:-0.5 0.25 0.125 0.0625 0.03125}; do
  for kind in unstructured block4 block8 block16 magnitude; do
    patterns="$patterns --pattern $kind:$density"
  done
done
# shellcheck disable=SC2086  # lists of words
"$lacuna" compare $machines --trace "$root/${TRACE:-traces/library/bert_base_layer_weights.csv}" $patterns --out "$out/bert"
# shellcheck disable=SC2086
"$lacuna" compare $machines --trace "$root/traces/transformer_l0_mag90.csv" --pattern own \
  --with-dense --out "$out/transformer"
