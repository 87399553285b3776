#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Walks through view.html in headless Chromium: no console message, every colour paints, every frame
of panning and sliding stays below a bound of script time, both looks, wide and phone.

usage: check_view.py LACUNA [PICTURES] [VIEW.html...]; exits with 77 if there is no browser. Without a
page it walks through those of a chip of all tiles, of a wafer with the critical path of a window, of
a language model on a pod, of a training step, and of the whole wse2 in 200 steps. PICTURES: where pictures go."""

import pathlib
import subprocess
import sys
import tempfile

import browser

MOST_MS = 15  # of script in any frame: the least of several passes, as other things run beside it
MOST_MB = 15  # of a page
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
  const passes = async (count, act) => {
    const all = [];
    for (let pass = 0; pass < 5; pass++) {
      const mine = [];
      for (let i = 0; i < count; i++) {
        state.frames.length = 0;
        act(i);
        await next();
        while (state.requested) await next();
        mine.push(Math.max(...state.frames, 0));
      }
      all.push(mine);
    }
    const least = all[0].map((_, i) => Math.min(...all.map((mine) => mine[i])));
    return [middle(all.flat()), Math.max(...least)];
  };
  const slide = await passes(Math.min(200, state.left.steps), (s) => setStep(s));
  zoomBy(4);
  await new Promise((done) => setTimeout(done, 200));
  const [x, y] = [state.camera.x, state.camera.y];
  const pan = await passes(100, (i) => {
    state.camera.x = x + i / 2;
    state.camera.y = y + i / 4;
    moved();
  });
  state.frames.length = 0;
  const words = await passes(20, (i) => {
    state.chosen = { row: i % state.left.rows, column: i % state.left.columns };
    request('words');
  });
  state.chosen = null;
  fit();
  moved();
  return [slide, pan, words];
})()"""
# the stack of all units, as the page adds it up, over the whole run
SUMS = """(() => {
  const all = { left: 0, top: 0, right: state.left.columns, bottom: state.left.rows };
  return state.left.stackIn(all, -1).reduce((sum, each) => sum + each, 0);
})()"""


def make_pages(lacuna, work):
    runs = {"chip": ["--machine", "bow", "--gemm", "1024x1024x512", "--pattern", "block16:0.1"],
            "wafer": ["--machine", "wse2", "--set", "wafer.columns=64", "--set", "wafer.rows=96",
                      "--gemm", "512x512x960", "--pattern", "unstructured:0.1", "--view-path",
                      "1000:11000"],
            "pod": ["--machine", "pod16", "--model", "qwen3-0.6b", "--decode", "--context", "256"],
            "training": ["--system-config", "bert_large_phase1_pod16"],
            "whole_wafer": ["--machine", "wse2", "--gemm", "12288x12288x67592", "--pattern",
                            "unstructured:0.1"]}
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
    times = dict(zip(("sliding", "panning", "choosing"), chromium.say(FRAMES)))
    for what, (_, worst) in times.items():
        if worst > MOST_MS:
            wrong.append(f"a frame takes {worst:.1f} ms while {what}")
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
    if size > MOST_MB:
        wrong.append(f"{size:.1f} MB, of at most {MOST_MB}")
    said = ", ".join(f"{what} {median:.1f} ms (worst {worst:.1f})"
                     for what, (median, worst) in times.items())
    print(f"{tag}: {size:.2f} MB, script time of a frame {said}, "
          f"console: {len(chromium.console)} messages", flush=True)
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
