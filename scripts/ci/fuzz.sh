#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzzing harnesses of all readers with clang and runs them side by side, each for some
# seconds, on its seed corpus: no crash, no input of more than 10 s, no more than 2 GiB.
#   scripts/ci/fuzz.sh [SECONDS]     default 10; 280 is an hour for all of them
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-10}
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}

CC=clang CXX=clang++ cmake -B build/fuzz -G Ninja -DLACUNA_FUZZ=ON -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build build/fuzz --target fuzz_all -j "$jobs"
# shellcheck disable=SC2016
find build/fuzz/tests/fuzz -maxdepth 1 -name 'fuzz_*' -type f -perm -u+x | sort |
  xargs -P "$jobs" -I HARNESS sh -c '
    harness=HARNESS
    name=${harness##*/fuzz_}
    mkdir -p "build/fuzz/found/$name"
    if "$harness" -max_total_time='"$seconds"' -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
      -verbosity=0 -artifact_prefix="build/fuzz/found/$name-" "build/fuzz/found/$name" \
      "tests/fuzz/corpus/$name" >"build/fuzz/found/$name.log" 2>&1; then
      echo "fuzz: $name survived $(sed -n "s/stat::number_of_executed_units: *//p" "build/fuzz/found/$name.log") inputs in '"$seconds"' s"
    else
      cat "build/fuzz/found/$name.log"
      echo "fuzz: $name FAILED"
      exit 1
    fi'
echo "fuzz: every reader survived"
