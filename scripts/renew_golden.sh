#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Renews what the golden tests compare with: the results of small whole runs. Look at the difference
# (git diff) before it is committed.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}
cmake --build "$build" --target test_golden
LACUNA_RENEW=1 "$build"/tests/test_golden --gtest_filter='*SmallRun*'
git --no-pager diff --stat -- tests/golden
