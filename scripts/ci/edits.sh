#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes each edit of tests/edits in a copy of the tree, one at a time: what an architect would try, in one file besides the
# declaration of a parameter. With each, everything builds, `event` is still `clocked` on random programs, and some programs are no
# longer what the oracle says. What a patch adds is named in lines before its first file. "Counts: STATISTIC" adds that to cores of a
# wafer or tiles of an IPU, and perhaps a block in files of its own: it may be in several files, and some core or tile has to have
# counted. "Sets: PATH=VALUE" declares a parameter of an IPU: it too may be in the file of the parameters and one more, and with that
# value some program takes another time. A patch of models/ipu has one of the two, or both. "Machine: NAME" adds a machine: the program
# is built, and both engines run a product on it in the same cycles. "Adds: FOLDER" copies the files of FOLDER's folders to their place.
# If tests/edits/oracle has a patch of the same name, the oracle gets the same edit: then products, gradients and tasks of all forms
# have to be, in every way of every engine, what that oracle says.
# Nothing is optimised: what is built takes longer than what is run.
#   scripts/ci/edits.sh [CASES] [PATCH]...    100 cases and all patches by default
set -eu
cd "$(dirname "$0")/../.."
cases=100
case "${1:-}" in
  [0-9]*) cases=$1; shift ;;
esac
[ $# -gt 0 ] || set -- tests/edits/*.patch
copy=$PWD/build/edits
scripts/copy_tree.sh "$copy" CMakeLists.txt LICENSE doc models scripts sim tests workloads
mkdir -p "$copy/build"
SC_COPYRIGHT_MESSAGE=DISABLE
export SC_COPYRIGHT_MESSAGE
cmake -S "$copy" -B "$copy/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DLACUNA_TESTS=ON \
  -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DLACUNA_BENCHMARKS=OFF >"$copy/log" 2>&1 || { cat "$copy/log"; exit 1; }
# Runs a product on a machine with both engines, describes it, and says in how many cycles.
runs_on() {
  for engine in event clocked; do
    "$copy/build/lacuna" run --machine "$1" --gemm 256x256x10 --engine "$engine" --json >"$copy/$engine.json" || return 1
    grep '"cycles"' "$copy/$engine.json" >"$copy/$engine.cycles" || return 1
  done
  cmp "$copy/event.cycles" "$copy/clocked.cycles" && "$copy/build/lacuna" describe "$1" >/dev/null &&
    echo "the program runs on $1: $(sed -n '1s/[ ,]//gp' "$copy/event.cycles")"
}

# What a patch names before its first file.
named() { sed -n "/^diff /q;s/^$1: //p" "$edit"; }
added() { [ -z "$adds" ] || (cd "$copy/$adds" && find ./*/ -type f); }

missed=0
for edit in "$@"; do
  name=$(basename "$edit" .patch)
  counts=$(named Counts)
  sets=$(named Sets)
  machine=$(named Machine)
  adds=$(named Adds)
  [ -n "$counts$machine" ] || [ "$(grep '^+++ ' "$edit" | grep -vcE 'models/(wse/params|ipu/chip_params).hpp')" -le 1 ] || { echo "WRONG $name is in more than one file"; missed=1; continue; }
  patch -s -p1 -d "$copy" <"$edit" || { echo "WRONG $name no longer applies"; exit 1; }
  for file in $(added); do
    mkdir -p "$(dirname "$copy/$file")"
    cp "$copy/$adds/$file" "$copy/$file"
  done
  verdict=ok
  check=edit_check
  ! grep -q '^+++ b/models/ipu/' "$edit" || check=edit_check_ipu
  if [ -n "$machine" ]; then
    cmake --build "$copy/build" --target lacuna >"$copy/log" 2>&1 && runs_on "$machine" >>"$copy/log" 2>&1 || verdict=WRONG
  else
    cmake --build "$copy/build" --target "$check" >"$copy/log" 2>&1 &&
      "$copy/build/tests/edits/$check" "$cases" ${counts:+"$counts"} ${sets:+"$sets"} >>"$copy/log" 2>&1 || verdict=WRONG
  fi
  said=$(tail -1 "$copy/log")
  same=tests/edits/oracle/$name.patch
  if [ "$verdict" = ok ] && [ -f "$same" ]; then
    patch -s -p1 -d "$copy" <"$same" || { echo "WRONG $same no longer applies"; exit 1; }
    cmake --build "$copy/build" --target edit_oracle >>"$copy/log" 2>&1 &&
      "$copy/build/tests/edits/edit_oracle" "$cases" >>"$copy/log" 2>&1 || verdict=WRONG
    said="$said; $(tail -1 "$copy/log")"
    patch -s -p1 -R -d "$copy" <"$same"
  fi
  patch -s -p1 -R -d "$copy" <"$edit"
  for file in $(added); do rm "$copy/$file"; done
  echo "$verdict $name: $said"
  [ "$verdict" = ok ] || { missed=1; tail -20 "$copy/log"; }
done
exit "$missed"
