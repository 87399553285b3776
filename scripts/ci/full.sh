#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# All that test.sh leaves out because it takes long: the other compiler, debug, sanitizers,
# clang-tidy, coverage, and the seeded mistakes. About an hour on 2 cores. Goes on after a failure
# and ends in one line per step.
#   scripts/ci/full.sh [STEP]...   release debug clang asan tidy coverage determinism use long fuzz
#                                  edits mistakes
set -u
cd "$(dirname "$0")/../.."
steps=${*:-release debug clang asan tidy coverage determinism use long fuzz edits mistakes}
summary=""
wrong=0

step() {
  case $1 in
    release) scripts/test.sh release ;;
    debug) scripts/test.sh dev ;;
    clang) scripts/test.sh clang ;;
    asan)
      ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1 \
        scripts/test.sh asan
      ;;
    tidy) cmake --preset tidy >/dev/null && cmake --build --preset tidy --clean-first ;;
    coverage) scripts/test.sh coverage && scripts/ci/coverage.sh ;;
    determinism) scripts/ci/determinism.sh ;;
    use) EDIT=1 scripts/ci/tutorials.sh && scripts/ci/kill_sweep.sh && scripts/ci/interrupt.py ;;
    long)
      LACUNA_LONG=4000 build/release/tests/test_equivalence --gtest_filter='RandomChips.*' &&
        LACUNA_LONG=25 build/release/tests/test_equivalence --gtest_brief=1 \
          --gtest_filter='*RandomMesh*:*RandomSweep*:*RandomGradient*'
      ;;
    fuzz) scripts/ci/fuzz.sh ;;
    edits) scripts/ci/edits.sh ;;
    mistakes) scripts/seed_mistakes.sh ;;
    *) echo "there is no step '$1'" >&2; return 2 ;;
  esac
}

scripts/setup.sh full || exit 1
for name in $steps; do
  printf '\n==== %s\n' "$name"
  if step "$name"; then verdict=passed; else verdict=FAILED; wrong=1; fi
  summary="$summary
$(printf '%-8s %s' "$verdict" "$name")"
done
printf '\n==== summary%s\n' "$summary"
exit "$wrong"
