#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens report.html in headless Chromium: no console message, all figures visible and none with
letters beyond its edge, tables sort, none wider than a phone, bars in print, and 32 runs in 3 MB.

usage: check_report.py LACUNA [PICTURES] [REPORT.html...]; exits with 77 if there is no browser.
Without a page it opens those of a comparison and of a sweep of its own. PICTURES: where pictures go,
wide and phone, light and dark."""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import browser as driven

MOST_MB = 3  # of the page of a sweep
SWEEP = """machine: [bow, wse2]
gemm: 256x256x128
pattern: unstructured
with_dense: true
set: {ipu.tiles: 64, wafer.columns: 16, wafer.rows: 16}
grid:
  density: [0.5, 0.25, 0.125, 0.0625]
  block: [1, 4, 8, 16]
"""
LOOKS = (("wide", 1400, 1000, False, False), ("wide_dark", 1400, 1000, True, False),
         ("phone", 390, 844, False, True), ("phone_dark", 390, 844, True, True))

# Clicks every heading twice and says what it finds, in the page itself.
PROBE = """<script>
window.addEventListener('load', function () {
  var said = { images: 0, hidden: 0, tables: 0, headings: 0, unsorted: [] };
  document.querySelectorAll('details').forEach(function (d) { d.open = true; });
  document.querySelectorAll('img').forEach(function (image) {
    said.images++;
    var box = image.getBoundingClientRect();
    if (!image.complete || image.naturalWidth < 50 || box.width < 50) said.hidden++;
  });
  document.querySelectorAll('table').forEach(function (table) {
    said.tables++;
    table.querySelectorAll('th').forEach(function (head, column) {
      said.headings++;
      [1, -1].forEach(function (direction) {
        head.click();
        var before;
        Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
          var value = valueOf(row.cells[column]);
          if (value === '') { before = ''; return; }
          if (before === '') said.unsorted.push(head.textContent + ': not last: empty');
          if (before !== undefined) {
            var order = isNaN(before) || isNaN(value) ? before.localeCompare(value)
                                                      : before - value;
            if (order * direction > 0) said.unsorted.push(head.textContent + ': ' + before +
                                                          ', ' + value);
          }
          before = value;
        });
      });
    });
  });
  var out = document.createElement('pre');
  out.id = 'probe';
  out.textContent = JSON.stringify(said);
  document.body.appendChild(out);
});
</script>"""


def make_page(lacuna, work):
    """A comparison of both machines."""
    subprocess.run(
        [lacuna, "compare", "--machine", "bow", "--machine", "wse2", "--gemm", "64x64x32",
         "--set", "wafer.columns=8", "--set", "wafer.rows=8", "--set", "ipu.tiles=16",
         "--pattern", "dense", "--pattern", "unstructured:0.1", "--pattern", "block8:0.1",
         "--quiet", "--out", str(work / "out")],
        check=True, stdout=subprocess.DEVNULL)
    return work / "out/report.html"


def make_sweep(lacuna, work):
    """A sweep of 32 runs."""
    (work / "sweep.yaml").write_text(SWEEP, encoding="utf-8")
    subprocess.run([lacuna, "sweep", str(work / "sweep.yaml"), "--quiet", "--out", str(work / "sweep")],
                   check=True, stdout=subprocess.DEVNULL)
    return work / "sweep/report.html"


# Letters and marks of a figure that lie beyond its edges.
BEYOND = """(() => {
  const page = document.documentElement.getBoundingClientRect();
  const out = [];
  document.querySelectorAll('text, use').forEach((each) => {
    const box = each.getBoundingClientRect();
    if (box.width === 0 || each.closest('defs')) return;
    const far = Math.max(page.left - box.left, page.top - box.top, box.right - page.right,
                         box.bottom - page.bottom);
    if (far > 1) out.push(`${each.textContent || each.nodeName} by ${far.toFixed(0)}`);
  });
  return out;
})()"""


def figures_are_whole(work, page):
    """Whether no figure beside a page has letters or marks beyond its edges."""
    good = True
    with driven.Browser(work / "figures") as chromium:
        chromium.look(1400, 3000)
        for figure in sorted((page.parent / "figures").glob("*.svg")):
            chromium.open(figure)
            for line in chromium.say(BEYOND):
                print(f"{figure}: beyond the edge: {line}")
                good = False
    return good


def prints_its_colours(chromium, page):
    """Browsers leave out backgrounds in print, of which the bars of the answer are made."""
    chromium.look_printed()
    said = chromium.say("[...document.querySelectorAll('.bar i, .key i')].map((each) => "
                        "getComputedStyle(each).printColorAdjust)")
    if said and set(said) == {"exact"}:
        return True
    print(f"{page}: bars are not printed: {set(said)}")
    return False


def looks_good(work, page, pictures):
    """Whether a page fits windows of both kinds in both looks; takes pictures of it."""
    good = True
    with driven.Browser(work / "looks") as chromium:
        for name, width, height, dark, mobile in LOOKS:
            chromium.look(width, height, dark, mobile)
            chromium.open(page)
            chromium.say("new Promise((done) => setTimeout(done, 500))")
            if chromium.say("document.documentElement.scrollWidth > window.innerWidth + 1"):
                print(f"{page}: {name}: wider than the window")
                good = False
            ink, paper = chromium.say(
                "[getComputedStyle(document.body).color, getComputedStyle(document.body)."
                "backgroundColor].map((each) => each.match(/[0-9.]+/g).slice(0, 3)"
                ".reduce((sum, part) => sum + Number(part), 0))")
            if (ink > paper) != dark:
                print(f"{page}: {name}: ink {ink} on paper {paper}")
                good = False
            if pictures:
                chromium.picture(pictures / f"report_{page.parent.name}_{name}.png")
        good = prints_its_colours(chromium, page) and good
    return good


def is_good(browser, work, page, figures, tables):
    """Opens the page and says what it shows; true if that is so many figures and tables at least,
    all visible and sorting, without a message."""
    probe = work / "probe.html"
    probe.write_text(page.read_text().replace("</body>", PROBE + "</body>"))
    ran = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         "--disable-dev-shm-usage", f"--user-data-dir={work / 'profile'}",
         "--virtual-time-budget=10000", "--dump-dom", f"file://{probe}"],
        capture_output=True, text=True, timeout=100)
    console = re.findall(r"CONSOLE.*", ran.stderr)
    found = re.search(r'<pre id="probe">(.*?)</pre>', ran.stdout, re.DOTALL)
    if found is None:
        print("the page was not run:\n" + ran.stderr[-2000:])
        return False
    said = json.loads(html.unescape(found.group(1)))
    print(f"{said['images']} figures, {said['hidden']} hidden; {said['tables']} tables, "
          f"{said['headings']} headings; console: {len(console)} messages")
    for line in said["unsorted"] + console:
        print(line)
    good = said["images"] >= figures and said["tables"] >= tables and said["hidden"] == 0
    return good and not said["unsorted"] and not console


def main():
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        print("no chromium: skipped")
        return 77
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
        if pictures:
            pictures.mkdir(parents=True, exist_ok=True)
        pages = [pathlib.Path(page).resolve() for page in sys.argv[3:]]
        verdicts = [is_good(browser, work, page, 1, 1) for page in pages]
        if not pages:
            pages = [make_page(sys.argv[1], work), make_sweep(sys.argv[1], work)]
            verdicts = [is_good(browser, work, page, 6, 4) for page in pages]
            size = pages[1].stat().st_size / 1e6
            print(f"32 runs: {size:.2f} MB")
            verdicts.append(size <= MOST_MB)
        verdicts += [looks_good(work, page, pictures) for page in pages]
        verdicts += [figures_are_whole(work, page) for page in pages]
        return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
