#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kills a search at random moments, KILLS times (20), and goes on with it each time: by bounds, and a descent. Its points,
# their fates and what is printed must be those of a search that nobody disturbed, whatever the jobs and MPI ranks.
set -eu
cd "$(dirname "$0")/../.."
lacuna=$PWD/${LACUNA:-build/release/lacuna}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SC_COPYRIGHT_MESSAGE=DISABLE OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
study() {
  cat <<YAML
machine: wse2
gemm: 256x256x256
residency: streamed
pattern: unstructured
minimise: time
strategy: $1
set: {wafer.columns: 16, wafer.rows: 16}
space:
  density: [0.3, 0.25, 0.2]
  ws.lookahead: [4, 8, 16, 32]
  ws.k_partition: [block, cyclic, balanced]
  ws.row_order: [ring, rotate]
  seed: [1, 2]
YAML
}
same() {  # TO, of the folder $work/whole
  for file in search.csv summary.csv statistics.csv sensitivity.csv; do cmp "$work/whole/$file" "$1/$file"; done
}
for strategy in bounds descent; do
  study "$strategy" > "$work/study.yaml"
  "$lacuna" search "$work/study.yaml" --quiet --jobs 1 --out "$work/whole" > "$work/whole.txt"
  "$lacuna" search "$work/study.yaml" --quiet --jobs 3 --out "$work/three" > "$work/three.txt"
  cmp "$work/whole.txt" "$work/three.txt"
  same "$work/three"
  kills=0
  while [ "$kills" -lt "${KILLS:-20}" ]; do
    "$lacuna" search "$work/study.yaml" --quiet --resume --out "$work/out" > /dev/null 2> "$work/err" &
    id=$!
    sleep "0.$(od -An -N2 -tu2 /dev/urandom | awk '{printf "%03d", $1 % 700}')"
    if kill -9 "$id" 2> /dev/null; then kills=$((kills + 1)); fi
    wait "$id" 2> /dev/null || true
    # finished before its kills: begin again, with what is left of them
    if [ ! -e "$work/out.journal" ] && [ -e "$work/out/result.json" ]; then
      same "$work/out"
      rm -rf "$work/out"
    fi
  done
  "$lacuna" search "$work/study.yaml" --quiet --resume --out "$work/out" > /dev/null
  same "$work/out"
  if command -v mpirun > /dev/null && "$lacuna" --version | grep -q "with MPI"; then
    for ranks in 2 4; do
      mpirun --oversubscribe -np "$ranks" "$lacuna" search "$work/study.yaml" --quiet --out "$work/ranks$ranks" \
        > "$work/ranks.txt"
      cmp "$work/whole.txt" "$work/ranks.txt"
      same "$work/ranks$ranks"
    done
    # one of four ranks is killed when some points are kept; mpirun ends the others
    mpirun --oversubscribe -np 4 "$lacuna" search "$work/study.yaml" --quiet --out "$work/lost" > /dev/null 2>&1 &
    id=$!
    while kill -0 "$id" 2> /dev/null; do
      if [ -e "$work/lost.journal" ] && [ "$(wc -c < "$work/lost.journal")" -gt 20000 ]; then break; fi
      sleep 0.02
    done
    victim=$(pgrep -n -f "$work/study.yaml --quiet --out $work/lost" || true)
    if [ -n "$victim" ]; then kill -9 "$victim" 2> /dev/null || true; fi
    wait || true
    kept=$([ -e "$work/lost.journal" ] && echo "a journal" || echo "no journal")
    mpirun --oversubscribe -np 2 "$lacuna" search "$work/study.yaml" --quiet --resume --out "$work/lost" > /dev/null
    same "$work/lost"
    echo "$strategy: 2 and 4 ranks: the same bytes, and after the loss of a rank ($kept was left) too"
  fi
  echo "$strategy: killed $kills times, $(wc -l < "$work/whole/search.csv") lines: the same search"
  rm -rf "$work/whole" "$work/three" "$work/out" "$work/ranks2" "$work/ranks4" "$work/lost"
done
