#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens report.html in headless Chromium: no console message, all figures visible, tables sort.

usage: check_report.py LACUNA [REPORT.html...]; exits with 77 if there is no browser. Without a page
it opens that of a comparison of its own."""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

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
        if len(sys.argv) == 2:
            return 0 if is_good(browser, work, make_page(sys.argv[1], work), 6, 4) else 1
        pages = [pathlib.Path(page) for page in sys.argv[2:]]
        return 0 if all([is_good(browser, work, page, 1, 1) for page in pages]) else 1


if __name__ == "__main__":
    sys.exit(main())
