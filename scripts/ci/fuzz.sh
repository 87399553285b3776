#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzzing harnesses of all readers with clang and runs each for some seconds on its seed
# corpus: no crash, no input of more than 10 s, no more than 2 GiB.
#   scripts/ci/fuzz.sh [SECONDS]     default 10; 3600 for the long run
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-10}
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}

CC=clang CXX=clang++ cmake -B build/fuzz -G Ninja -DLACUNA_FUZZ=ON -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build build/fuzz --target fuzz_all -j "$jobs"
for harness in build/fuzz/tests/fuzz/fuzz_*; do
  [ -x "$harness" ] && [ -f "$harness" ] || continue
  name=${harness##*/fuzz_}
  mkdir -p "build/fuzz/found/$name"
  echo "fuzz: $name, $seconds s"
  "$harness" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=0 \
    -verbosity=0 -artifact_prefix="build/fuzz/found/$name-" "build/fuzz/found/$name" \
    "tests/fuzz/corpus/$name"
done
echo "fuzz: every reader survived"
