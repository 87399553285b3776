#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A sweep over several MPI ranks on this machine is, byte for byte, that of one process; and a rank that is killed
# loses no finished point. Exits with 77 where there is no MPI.
set -eu
cd "$(dirname "$0")/../.."
lacuna=$PWD/${LACUNA:-build/release/lacuna}
command -v mpirun > /dev/null || { echo "no mpirun: skipped"; exit 77; }
"$lacuna" --version | grep -q "with MPI" || { echo "built without MPI: skipped"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SC_COPYRIGHT_MESSAGE=DISABLE OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cat > "$work/study.yaml" <<'YAML'
machine: bow
gemm: 128x128x64
mode: static
set: {ipu.tiles: 64}
grid:
  pattern: [unstructured, block16]
  density: [0.5, 0.25, 0.125]
  seed: {from: 1, to: 40, step: 1}
YAML
ranks() { mpirun --oversubscribe -np 4 "$lacuna" sweep "$work/study.yaml" --quiet "$@"; }
"$lacuna" sweep "$work/study.yaml" --quiet --out "$work/one" > "$work/one.txt"
ranks --out "$work/many" > "$work/many.txt"
for file in summary.csv statistics.csv cycle_stack.csv result.json sensitivity.csv; do
  cmp "$work/one/$file" "$work/many/$file"
done
cmp "$work/one.txt" "$work/many.txt"
# kill one rank soon after it begins; mpirun ends the others
ranks --out "$work/lost" > /dev/null 2>&1 &
sleep 1
victim=$(pgrep -n -f "$work/study.yaml --quiet --out $work/lost" || true)
if [ -n "$victim" ]; then kill -9 "$victim" 2> /dev/null || true; fi
wait || true
ranks --resume --out "$work/lost" > /dev/null
cmp "$work/one/summary.csv" "$work/lost/summary.csv"
echo "4 ranks: the same bytes as one process, and after the loss of a rank too"
