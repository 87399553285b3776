#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a folder a copy of the tree, or one again. What is there as it should be keeps its time;
# anything else becomes new, also what an edit of the last run has left behind: what was built from
# that is older. What else the folder has stays.
#   scripts/copy_tree.sh FOLDER ITEM...
set -eu
cd "$(dirname "$0")/.."
copy=$1
shift
mkdir -p "$copy"
for item in "$@"; do
  [ ! -e "$item" ] || find "$item" -type f
done | while read -r file; do
  cmp -s "$file" "$copy/$file" || { mkdir -p "$copy/$(dirname "$file")" && cp "$file" "$copy/$file"; }
done
(cd "$copy" && for item in "$@"; do [ ! -e "$item" ] || find "$item" -type f; done) | while read -r file; do
  [ -e "$file" ] || rm "$copy/$file"
done
