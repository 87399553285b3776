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

# the package and the wheel, each used where nothing else of the clone is near
inside() {
  begin=$(date +%s)
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive /bin/sh -ec "$2"
  echo "fresh: $1 took $(($(date +%s) - begin)) s"
}
small="--machine wse2 --set wafer.columns=8 --set wafer.rows=8 --gemm 64x64x32 --quiet"
module="import lacuna; wafer = lacuna.Machine('wse2', wafer__columns=8, wafer__rows=8)
print(lacuna.__file__, lacuna.run(wafer, gemm=(64, 64, 32)).total.cycles)"
inside "the package" "cd /lacuna && cpack --config build/release/CPackConfig.cmake -B build/package
  apt-get install -y -qq --no-install-recommends ./build/package/*.deb >/dev/null
  cd /tmp && lacuna --version && lacuna run $small && python3 -c \"$module\"
  bash -c 'source /usr/share/bash-completion/completions/lacuna' && [ -e /usr/share/man/man1/lacuna.1.gz ] ||
    [ -e /usr/share/man/man1/lacuna.1 ]
  apt-get remove -y -qq lacuna >/dev/null"
inside "the wheel" "python3 -m venv --system-site-packages /tmp/env
  cd /lacuna && /tmp/env/bin/pip install . --no-build-isolation --no-deps
  cd /tmp && env/bin/lacuna run $small && env/bin/python -c \"$module\""
