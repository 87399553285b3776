#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Walks through view.html in headless Chromium: no console message, every colour paints, frames of
panning and sliding stay below a bound of script time, both looks, wide and phone.

usage: check_view.py LACUNA [PICTURES] [VIEW.html...]; exits with 77 if there is no browser. Without a
page it walks through one of a chip of all tiles and of a wafer. PICTURES: where pictures go."""

import pathlib
import subprocess
import sys
import tempfile

import browser

MOST_MS = 15  # of script in the median frame; the machine may be busy with other things
WAIT = "new Promise((done) => setTimeout(done, 300))"
READY = """(async () => {
  for (let i = 0; i < 1200 && !document.body.dataset.ready; i++) {
    await new Promise((done) => setTimeout(done, 50));
  }
  return document.body.dataset.ready || document.getElementById('message').textContent;
})()"""
# paints every colour in a step and over the whole run, and says which have one colour alone
COLOURS = """(async () => {
  const same = [];
  for (const layer of state.left.choices) {
    for (const step of [-1, Math.floor(state.left.steps / 2)]) {
      state.layer = layer.name;
      state.step = step;
      paintAll();
      drawAll();
      const most = scaleEnd(layer);
      if (!Number.isFinite(most)) same.push(layer.name + ': the scale ends with ' + most);
    }
  }
  state.layer = state.left.choices[0].name;
  setStep(0);
  return same;
})()"""
FRAMES = """(async () => {
  const next = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  const middle = (times) => [...times].sort((a, b) => a - b)[times.length >> 1];
  state.frames.length = 0;
  for (let s = 0; s < Math.min(100, state.left.steps); s++) { setStep(s); await next(); }
  const slide = middle(state.frames);
  zoomBy(4);
  await new Promise((done) => setTimeout(done, 200));
  state.frames.length = 0;
  for (let i = 0; i < 100; i++) { state.camera.x += 0.5; moved(); await next(); }
  const pan = middle(state.frames);
  fit();
  moved();
  return [slide, pan];
})()"""
# the stack of all units, as the page adds it up, over the whole run
SUMS = """(() => {
  const all = { left: 0, top: 0, right: state.left.columns, bottom: state.left.rows };
  return state.left.stackIn(all, -1).reduce((sum, each) => sum + each, 0);
})()"""


def make_pages(lacuna, work):
    runs = {"chip": ["--machine", "bow", "--gemm", "1024x1024x512", "--pattern", "block16:0.1"],
            "wafer": ["--machine", "wse2", "--set", "wafer.columns=64", "--set", "wafer.rows=96",
                      "--gemm", "512x512x960", "--pattern", "unstructured:0.1"]}
    pages = []
    for name, arguments in runs.items():
        subprocess.run([lacuna, "run", *arguments, "--view", "--quiet", "--out", str(work / name)],
                       check=True, stdout=subprocess.DEVNULL)
        pages.append(work / name / "view.html")
    return pages


def walk(page, chromium, pictures, tag):
    """What is wrong with a page."""
    wrong = []
    chromium.look(1400, 900)
    chromium.open(page)
    ready = chromium.say(READY)
    if not str(ready).isdigit():
        return [f"not ready: {ready}"]
    wrong += chromium.say(COLOURS)
    slide, pan = chromium.say(FRAMES)
    if max(slide, pan) > MOST_MS:
        wrong.append(f"a frame takes {slide:.1f} ms while sliding, {pan:.1f} while panning")
    if not chromium.say(SUMS) > 0:
        wrong.append("the cycle stack of all units is empty")
    chromium.say("choose(maps.left.canvas, 420, 260); 0")
    chromium.say(WAIT)
    for name, width, height, dark, mobile in (("wide", 1400, 900, False, False),
                                              ("wide_dark", 1400, 900, True, False),
                                              ("phone", 390, 844, False, True),
                                              ("phone_dark", 390, 844, True, True)):
        chromium.look(width, height, dark, mobile)
        chromium.say(WAIT)
        chromium.say("fit(); moved(); " + WAIT)
        too_wide = chromium.say("document.documentElement.scrollWidth > window.innerWidth + 1")
        if too_wide:
            wrong.append(f"{name}: wider than the window")
        if pictures:
            chromium.picture(pictures / f"{tag}_{name}.png")
    size = page.stat().st_size / 1e6
    print(f"{tag}: {size:.2f} MB, median script time of a frame {slide:.1f} ms sliding, "
          f"{pan:.1f} ms panning, console: {len(chromium.console)} messages")
    return wrong + chromium.console


def main():
    if browser.find() is None:
        print("no chromium: skipped")
        return 77
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    status = 0
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        pages = [pathlib.Path(page).resolve() for page in sys.argv[3:]] or make_pages(sys.argv[1], work)
        for page in pages:
            with browser.Browser(work / "profile") as chromium:
                for line in walk(page, chromium, pictures, page.parent.name):
                    print(f"{page}: {line}")
                    status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
