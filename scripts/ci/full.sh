#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# All that test.sh leaves out because it takes long: the other compiler, sanitizers, clang-tidy, debug
# with its coverage, a fresh machine, and the seeded mistakes. Hours on 2 cores. Goes on after a
# failure and ends in one line per step. Each step leaves its log in build/full/STEP.log, with the
# commit in its first line; a step that has passed on this commit, with nothing changed since, is
# not run again (AGAIN=1: it is).
#   scripts/ci/full.sh [STEP]...   release clang asan tidy coverage determinism pages use long fuzz
#                                  edits mistakes fresh
set -u
cd "$(dirname "$0")/../.." || exit 1
steps=${*:-release clang asan tidy coverage determinism pages use long fuzz edits mistakes fresh}
logs=build/full
summary=""
wrong=0

step() {
  case $1 in
    release) scripts/test.sh release ;;
    clang) scripts/test.sh clang ;;
    asan)
      # readers of CSV take 48 MB for a moment: their shadow is cleared, not mapped anew each time
      ASAN_OPTIONS=detect_stack_use_after_return=1:clear_shadow_mmap_threshold=1000000000 \
        UBSAN_OPTIONS=print_stacktrace=1 scripts/test.sh asan
      ;;
    tidy) cmake --preset tidy >/dev/null && cmake --build --preset tidy -- -k 0 ;;
    coverage)
      # lines that an earlier run has reached do not count
      { [ ! -d build/coverage ] || find build/coverage -name '*.gcda' -delete; } &&
        scripts/test.sh coverage && scripts/ci/coverage.sh
      ;;
    determinism) scripts/ci/determinism.sh ;;
    pages)
      scripts/ci/check_view.py build/release/lacuna build/full/pages &&
        scripts/ci/check_report.py build/release/lacuna build/full/pages
      ;;
    use) scripts/ci/commands.py --long && scripts/ci/parameter.sh && scripts/ci/kill_sweep.sh && scripts/ci/kill_search.sh && scripts/ci/interrupt.py ;;
    long)
      LACUNA_LONG=4000 build/release/tests/test_equivalence --gtest_filter='RandomChips.*' &&
        LACUNA_LONG=25 build/release/tests/test_equivalence --gtest_brief=1 \
          --gtest_filter='*RandomMesh*:*RandomStreamingLanes*:*RandomGradient*:Seeds/Exchange*'
      ;;
    fuzz) scripts/ci/fuzz.sh 280 ;;  # an hour for all harnesses
    edits) scripts/ci/edits.sh ;;
    mistakes) scripts/seed_mistakes.sh ;;
    fresh) scripts/ci/fresh.sh ;;
    *) echo "there is no step '$1'" >&2; return 2 ;;
  esac
}

# The commit, and "changed" if the tree is another.
state() {
  commit=$(git rev-parse HEAD)
  [ -z "$(git status --porcelain)" ] || commit="$commit changed"
  printf '%s\n' "$commit"
}

scripts/setup.sh full || exit 1
mkdir -p "$logs"
for name in $steps; do
  printf '\n==== %s\n' "$name"
  log=$logs/$name.log
  commit=$(state)
  begin=$(date +%s)
  if [ -z "${AGAIN:-}" ] && [ "${commit% changed}" = "$commit" ] &&
    [ "$(cat "$logs/$name.passed" 2>/dev/null)" = "$commit" ]; then
    verdict="passed before"
    took=0
  else
    rm -f "$logs/$name.passed"
    printf 'commit %s\n' "$commit" >"$log"
    # the status of the step, not that of tee
    { step "$name" 2>&1; printf 'status %s\n' "$?" >>"$log.status"; } | tee -a "$log"
    if [ "$(cat "$log.status")" = "status 0" ]; then
      verdict=passed
      printf '%s\n' "$commit" >"$logs/$name.passed"
    else
      verdict=FAILED
      wrong=1
    fi
    rm -f "$log.status"
    took=$(($(date +%s) - begin))
  fi
  summary="$summary
$(printf '%-14s %-12s %5d s  %s' "$verdict" "$name" "$took" "$commit")"
done
printf '\n==== summary%s\n' "$summary" | tee "$logs/summary.txt"
exit "$wrong"
