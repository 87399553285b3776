#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Line coverage after `scripts/test.sh coverage`, with a floor for what must not be wrong.
set -eu
cd "$(dirname "$0")/../.."
gcovr --root . --filter sim/base --filter sim/kernel --filter models \
  --exclude-throw-branches --exclude-unreachable-branches \
  --fail-under-line 90 build/coverage
