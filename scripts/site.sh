#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the site of the documentation: the pages of doc/, and the references that the program makes
# of its own declarations. Needs mkdocs and mkdocs-material (scripts/setup.sh full). A link to a file
# outside of doc/ becomes its name, as the site has no sources.
#
# usage: scripts/site.sh [FOLDER]     build/site by default; LACUNA=build/release/lacuna
set -eu
cd "$(dirname "$0")/.."
lacuna=$PWD/${LACUNA:-build/release/lacuna}
case ${LACUNA:-} in /*) lacuna=$LACUNA ;; esac
site=${1:-build/site}
command -v mkdocs >/dev/null || { echo "site: mkdocs is missing; scripts/setup.sh full installs it" >&2; exit 77; }
export SC_COPYRIGHT_MESSAGE=DISABLE

pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
cp -r doc/. "$pages"
mkdir "$pages/reference"
for subject in parameters statistics machines layouts patterns models; do
  "$lacuna" describe $subject --markdown > "$pages/reference/$subject.md"
done
{
  printf '# Options\n\nMade of the command line'\''s own declarations.\n'
  for verb in run compare sweep search 'trace make' 'trace import' 'trace schedule' 'trace show' \
    describe validate plot; do
    printf '\n## %s\n\n```text\n' "$verb"
    # shellcheck disable=SC2086  # a verb and its own
    "$lacuna" $verb --help all
    printf '```\n'
  done
} > "$pages/reference/options.md"
sed 's#(doc/#(../#g' CHANGELOG.md > "$pages/reference/changes.md"
scripts/notebook_pages.py "$pages"
sed -i 's#\.ipynb)#.md)#' "$pages/guide/python.md"
scripts/site_links.py "$pages"

case $site in /*) ;; *) site=$PWD/$site ;; esac
PAGES=$pages SITE=$site mkdocs build --strict --quiet --clean
if grep -rlE '\| :?--' "$site" --include='*.html'; then
  echo "site: these pages show a table as text; it needs an empty line before it" >&2
  exit 1
fi
echo "site: $site/index.html (search needs a server: python3 -m http.server -d $site)"
