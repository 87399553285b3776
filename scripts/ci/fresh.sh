#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The README's two commands on a machine that has nothing: a minimal Debian 12 in a folder, into
# which the last commit is put without its history. Then the wheel there, and the Debian package in a
# second such root, which has nothing but what the package itself asks for. Needs root, mmdebstrap
# and the network for packages. The folder is removed at the end; KEEP=1 keeps it.
#   scripts/ci/fresh.sh [FOLDER]   build/fresh by default
set -eu
cd "$(dirname "$0")/../.."

command -v mmdebstrap >/dev/null || { echo "fresh: mmdebstrap is missing; scripts/setup.sh full installs it" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || { echo "fresh: only root can make a root of its own" >&2; exit 1; }
mkdir -p "${1:-build/fresh}"
folder=$(cd "${1:-build/fresh}" && pwd)
[ -e "$folder/.fresh" ] || [ -z "$(ls -A "$folder")" ] ||
  { echo "fresh: $folder has files that this script did not make; name an empty folder" >&2; exit 1; }
root=$folder/clone  # the clone is built here
bare=$folder/bare   # the package is used here

unmount() { for each in "$root" "$bare"; do umount "$each/proc" 2>/dev/null || true; done; }
leave() {
  unmount
  [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$folder"
}
trap leave EXIT
trap 'exit 130' INT TERM

unmount
touch "$folder/.fresh"
rm -rf --one-file-system "$root" "$bare"
mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$root"
# packages come from where this machine has them from
rm -f "$root/etc/apt/sources.list"
cp -a /etc/apt/. "$root/etc/apt/"
cp /etc/resolv.conf "$root/etc/resolv.conf"
for ca in /etc/ssl/certs /usr/local/share/ca-certificates; do
  [ ! -d "$ca" ] || { mkdir -p "$root$ca" && cp -a "$ca/." "$root$ca/"; }
done
cp -a "$root" "$bare"
for each in "$root" "$bare"; do mount -t proc proc "$each/proc"; done
mkdir "$root/lacuna"
git archive HEAD | tar -x -C "$root/lacuna"

# inside FOLDER NAME COMMAND: in a root, with nothing of this machine's environment; says what it took
inside() {
  printf '\n==== fresh: %s\n' "$2"
  begin=$(date +%s)
  chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive /bin/sh -ec "$3"
  echo "fresh: $2 took $(($(date +%s) - begin)) s"
}

# the commands as the README has them
commands=$(sed -n 's/^\(scripts\/\(quickstart\|test\)\.sh\).*/\1/p' README.md)
[ "$(printf '%s\n' "$commands" | wc -l)" -eq 2 ] || { echo "fresh: README.md has not the two commands" >&2; exit 1; }
ninja_log=$root/lacuna/build/release/.ninja_log
for command in $commands; do
  lines=$(wc -l 2>/dev/null <"$ninja_log" || echo 0)
  inside "$root" "$command" "cd /lacuna && $command"
  # ninja notes when a command ended, in ms since the build began
  built=$(awk -v from="$lines" 'NR > from && !/^#/ && $2 > end { end = $2 } END { print int(end / 1000) }' "$ninja_log")
  echo "fresh: of these $built s to build"
done
for wanted in report.html result.json summary.csv; do
  find "$root/lacuna/out/quickstart" -name "$wanted" | grep -q . ||
    { echo "fresh: the quick start left no $wanted" >&2; exit 1; }
done
find "$root/lacuna/out/quickstart" \( -name '*.pdf' -o -name '*.svg' -o -name '*.png' \) | grep -q . ||
  { echo "fresh: the quick start drew no figure" >&2; exit 1; }
echo "fresh: both commands passed"

# the wheel and the package, each used where nothing else of the clone is near
small="--machine wse2 --set wafer.columns=8 --set wafer.rows=8 --gemm 64x64x32 --quiet"
module="import lacuna; wafer = lacuna.Machine('wse2', wafer__columns=8, wafer__rows=8)
print(lacuna.__file__, lacuna.run(wafer, gemm=(64, 64, 32)).total.cycles)"
inside "$root" "the wheel" "python3 -m venv --system-site-packages /tmp/env
cd /lacuna
/tmp/env/bin/pip install . --no-build-isolation --no-deps
cd /tmp
env/bin/lacuna run $small
env/bin/python -c \"$module\""
inside "$root" "cpack" "cd /lacuna && cpack --config build/release/CPackConfig.cmake -B /tmp/package"
cp "$root"/tmp/package/*.deb "$bare/tmp/"
inside "$bare" "the package" "apt-get update -qq
apt-get install -y -qq /tmp/*.deb >/dev/null
cd /tmp
lacuna --version
lacuna run $small --out first
ls first/figures/cycle_stack.pdf
python3 -c \"$module\"
bash -c 'source /usr/share/bash-completion/completions/lacuna'
ls /usr/share/man/man1/lacuna.1*
apt-get remove -y -qq lacuna >/dev/null
[ ! -e /usr/bin/lacuna ] && [ ! -e /usr/lib/python3/dist-packages/lacuna ]"
