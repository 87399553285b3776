#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The README's two commands on a machine that has nothing: a minimal Debian 12 in a folder, into
# which the last commit is put without its history. Needs root and mmdebstrap, and the network for
# packages. The folder is removed at the end; KEEP=1 keeps it.
#   scripts/ci/fresh.sh [FOLDER]   build/fresh by default
set -eu
cd "$(dirname "$0")/../.."
root=$(mkdir -p "${1:-build/fresh}" && cd "${1:-build/fresh}" && pwd)

command -v mmdebstrap >/dev/null || { echo "fresh: mmdebstrap is missing" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || { echo "fresh: only root can make a root of its own" >&2; exit 1; }

leave() {
  umount "$root/proc" 2>/dev/null || true
  [ -n "${KEEP:-}" ] || rm -rf "$root"
}
trap leave EXIT

rm -rf "$root"
mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$root"
# packages come from where this machine has them from
cp -a /etc/apt/. "$root/etc/apt/"
cp /etc/resolv.conf "$root/etc/resolv.conf"
for ca in /etc/ssl/certs /usr/local/share/ca-certificates; do
  [ ! -d "$ca" ] || { mkdir -p "$root$ca" && cp -a "$ca/." "$root$ca/"; }
done
mount -t proc proc "$root/proc"
mkdir "$root/lacuna"
git archive HEAD | tar -x -C "$root/lacuna"

# the commands as the README has them
commands=$(sed -n 's/^\(scripts\/\(quickstart\|test\)\.sh\).*/\1/p' README.md)
[ "$(printf '%s\n' "$commands" | wc -l)" -eq 2 ] || { echo "fresh: README.md has not the two commands" >&2; exit 1; }
ninja_log=$root/lacuna/build/release/.ninja_log
for command in $commands; do
  printf '\n==== fresh: %s\n' "$command"
  begin=$(date +%s)
  lines=$(wc -l 2>/dev/null <"$ninja_log" || echo 0)
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    /bin/sh -c "cd /lacuna && $command"
  # ninja notes when a command ended, in ms since the build began
  built=$(awk -v from="$lines" 'NR > from && !/^#/ && $2 > end { end = $2 } END { print int(end / 1000) }' "$ninja_log")
  echo "fresh: $command took $(($(date +%s) - begin)) s, of which $built s to build"
done
for wanted in report.html result.json summary.csv; do
  find "$root/lacuna/out/quickstart" -name "$wanted" | grep -q . ||
    { echo "fresh: the quick start left no $wanted" >&2; exit 1; }
done
find "$root/lacuna/out/quickstart" \( -name '*.pdf' -o -name '*.svg' -o -name '*.png' \) | grep -q . ||
  { echo "fresh: the quick start drew no figure" >&2; exit 1; }
echo "fresh: both commands passed"
