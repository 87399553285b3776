// SPDX-License-Identifier: Apache-2.0
// The page: what is shown, and the controls.
'use strict';

// name and colour of each layer, from the bottom; as figures have them
const COLOURS = Object.fromEntries(JSON.parse(document.getElementById('layers').textContent));

const $ = (id) => document.getElementById(id);
const state = {
  all: [], left: null, right: null, mode: 'one', layer: 'busy', step: -1, playing: false,
  align: 'share', fixed: true, chosen: null, camera: new Camera(), frames: [], dirty: new Set(),
};
const maps = {};

function number(value) {
  if (value === 0) return '0';
  if (Number.isInteger(value) && Math.abs(value) < 1e15) {
    return value.toLocaleString('en').replaceAll(',', '\u202f');
  }
  return Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3 ? value.toExponential(3)
    : value.toPrecision(4);
}

function percent(share) { return `${(100 * share).toFixed(share < 0.1 ? 2 : 1)} %`; }

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function layerOf(series, name) {
  return series.choices.find((each) => each.name === name);
}

/** The step of the other run that is beside a step of the left one. */
function stepOf(series) {
  if (state.step < 0 || series === state.left) return state.step;
  const end = state.left.ends[state.step];
  const cycle = (state.left.starts[state.step] + end) / 2;
  if (state.align === 'cycle') return series.stepAt(cycle);
  const share = cycle / state.left.ends[state.left.steps - 1];
  return series.stepAt(share * series.ends[series.steps - 1]);
}

/** The end of the colour scale, of all that is shown beside each other. */
function scaleEnd(layer) {
  const shown = [state.left, state.mode === 'one' ? null : state.right].filter((each) => each);
  let most = 0;
  for (const series of shown) {
    const own = layerOf(series, layer.name);
    if (!own) continue;
    if (state.fixed) {
      most = Math.max(most, series.most(own, state.step < 0 ? -1 : 0));
    } else {
      const step = stepOf(series);
      for (let row = 0; row < series.rows; row++) {
        if (row > 0 && series.source[row] === series.source[row - 1]) continue;
        for (let c = 0; c < series.columns; c++) {
          if (series.isUnit(row, c)) most = Math.max(most, series.rate(own, step, row, c));
        }
      }
    }
  }
  return most;
}

/** The largest difference between the two runs in the step that is shown. */
function largestDifference(layer) {
  const { left, right } = state;
  const other = layerOf(right, layer.name);
  let most = 0;
  for (let row = 0; row < left.rows; row++) {
    const repeats = row > 0 && left.source[row] === left.source[row - 1]
      && right.source[row] === right.source[row - 1];
    for (let c = 0; c < left.columns && !repeats; c++) {
      if (!left.isUnit(row, c)) continue;
      most = Math.max(most, Math.abs(left.rate(layer, stepOf(left), row, c)
        - right.rate(other, stepOf(right), row, c)));
    }
  }
  return most;
}

function paintAll() {
  const { left, right, mode } = state;
  const layer = layerOf(left, state.layer);
  const most = mode === 'difference' ? largestDifference(layer) : scaleEnd(layer);
  state.most = most;
  if (mode === 'difference') {
    const other = { series: right, layer: layerOf(right, layer.name), step: stepOf(right) };
    maps.left.paint(left, layer, stepOf(left), most, other);
  } else {
    maps.left.paint(left, layer, stepOf(left), most, null);
  }
  if (mode === 'beside') {
    maps.right.paint(right, layerOf(right, layer.name), stepOf(right), most, null);
  }
  drawLegend(layer, most);
}

function drawAll() {
  maps.left.draw(state.camera, state.left, state.chosen, state.step);
  if (state.mode === 'beside') {
    maps.right.draw(state.camera, state.right, state.chosen, stepOf(state.right));
  }
}

/** One frame for all that changed since the last; its script time is kept for the tests. */
function request(...what) {
  for (const each of what) state.dirty.add(each);
  if (state.requested) return;
  state.requested = true;
  requestAnimationFrame(() => {
    state.requested = false;
    const begin = performance.now();
    const dirty = state.dirty;
    state.dirty = new Set();
    if (dirty.has('size')) resize();
    if (dirty.has('paint')) paintAll();
    drawAll();
    if (dirty.has('paint')) showTime();
    if (dirty.has('words')) showWords();
    else if (dirty.has('paint')) wordsSoon();
    state.frames.push(performance.now() - begin);
    if (state.frames.length > 2000) state.frames.shift();
  });
}

function resize() {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  for (const side of ['left', 'right']) {
    const canvas = maps[side].canvas;
    const box = canvas.getBoundingClientRect();
    maps[side].ratio = ratio;
    canvas.width = Math.max(1, Math.round(box.width * ratio));
    canvas.height = Math.max(1, Math.round(box.height * ratio));
  }
  hold();
}

function size() {
  const box = maps.left.canvas.getBoundingClientRect();
  return [box.width, box.height];
}

function hold() {
  state.camera.hold(state.left.columns, state.left.rows, ...size());
}

function fit() {
  state.camera.fit(state.left.columns, state.left.rows, ...size());
}

function drawLegend(layer, most) {
  const stops = (state.mode === 'difference' ? COOLWARM : VIRIDIS).map((each) => `#${each}`);
  $('ramp').style.background = `linear-gradient(90deg, ${stops.join(',')})`;
  const share = layer.group === 'stack' || layer.group === 'sum';
  const text = (value) => (share ? percent(value)
    : layer.timed ? `${number(value)} ${layer.unit} / ${state.left.tick}` : `${number(value)} ${layer.unit}`);
  const two = state.mode === 'difference';
  $('low').textContent = text(two ? -most : 0);
  $('high').textContent = text(most);
  $('meaning').textContent = `${layer.doc} ${layer.timed ? '' : 'Of the whole run. '}`
    + (two ? 'Left less right.' : '');
}

function showTime() {
  const { left, step } = state;
  const end = left.ends[left.steps - 1];
  if (step < 0) {
    $('when').textContent = `whole run, ${number(left.cycles)} ${left.ticks}`;
    return;
  }
  const time = (cycle) => {
    const [unit, ns] = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]]
      .find(([, each]) => cycle / left.clock_ghz >= each) || ['ns', 1];
    return `${(cycle / left.clock_ghz / ns).toPrecision(4)} ${unit}`;
  };
  const name = left.step_names ? `${left.step_names[step]}: ` : '';
  $('when').textContent = `${name}step ${step + 1} of ${left.steps}, ${left.ticks} `
    + `${number(left.starts[step])} to ${number(left.ends[step])} of ${number(end)} `
    + `(${time(left.ends[step])})`;
}

function fillChoices() {
  const layers = $('layer');
  layers.textContent = '';
  const common = state.left.choices.filter((each) => state.mode === 'one'
    || layerOf(state.right, each.name));
  const groups = { sum: 'Shares of time', stack: `Where ${state.left.ticks} went`,
    count: 'Counted over time', whole: 'Counted over the whole run' };
  for (const [group, label] of Object.entries(groups)) {
    const own = common.filter((each) => each.group === group);
    if (own.length === 0) continue;
    const box = element('optgroup', '', { label });
    for (const each of own) {
      const name = each.group === 'stack' ? `${each.layer}: ${each.name}` : each.name;
      box.append(element('option', name, { value: each.name }));
    }
    layers.append(box);
  }
  if (!common.some((each) => each.name === state.layer)) state.layer = common[0].name;
  layers.value = state.layer;
}

function fillRuns() {
  for (const id of ['left', 'right']) {
    const list = $(id);
    list.textContent = '';
    if (id === 'right') list.append(element('option', 'nothing', { value: '' }));
    state.all.forEach((series, i) => {
      const from = series.origin ? `${series.origin}: ` : '';
      list.append(element('option', from + series.title, { value: i }));
    });
  }
  $('left').value = state.all.indexOf(state.left);
  $('right').value = state.right ? state.all.indexOf(state.right) : '';
}

/** What makes two runs no pair for a difference; empty if they are. */
function reasonAgainstDifference() {
  if (!state.right) return 'choose a second run';
  const same = state.left.columns === state.right.columns && state.left.rows === state.right.rows;
  return same ? '' : 'the two runs have not the same units';
}

function update() {
  if (!state.right) state.mode = 'one';
  if (state.mode === 'difference' && reasonAgainstDifference()) state.mode = 'beside';
  for (const option of $('mode').options) {
    option.disabled = option.value === 'beside' ? !state.right
      : option.value === 'difference' && reasonAgainstDifference() !== '';
  }
  $('mode').value = state.mode;
  $('align').disabled = !state.right;
  document.body.classList.toggle('pair', state.mode === 'beside');
  $('time').max = state.left.steps - 1;
  state.step = Math.min(state.step, state.left.steps - 1);
  $('time').value = Math.max(state.step, 0);
  $('whole').checked = state.step < 0;
  fillChoices();
  showFacts();
  request('size', 'paint');
}

function setStep(step) {
  state.step = step;
  $('whole').checked = step < 0;
  if (step >= 0) $('time').value = step;
  request('paint');
}

function play() {
  state.playing = !state.playing;
  $('play').textContent = state.playing ? 'pause' : 'play';
  const next = () => {
    if (!state.playing) return;
    if (state.step + 1 >= state.left.steps) {
      play();
      return;
    }
    setStep(state.step + 1);
    setTimeout(next, 60);
  };
  if (state.playing && state.step + 1 >= state.left.steps) setStep(0);
  next();
}

/** What is said follows what is shown, ten times a second at most. */
let wordsLater = 0;
function wordsSoon() {
  if (wordsLater !== 0) return;
  wordsLater = setTimeout(() => {
    wordsLater = 0;
    request('words');
  }, 100);
}

function moved() {
  hold();
  request();
  wordsSoon();
}

function zoomBy(factor, px, py) {
  const [width, height] = size();
  const x = px === undefined ? width / 2 : px;
  state.camera.zoom(factor, x, py === undefined ? height / 2 : py, 200);
  const least = Math.min(width / state.left.columns, height / state.left.rows);
  if (state.camera.scale < least) fit();
  moved();
}

function choose(canvas, clientX, clientY) {
  const box = canvas.getBoundingClientRect();
  const column = Math.floor(state.camera.x + (clientX - box.left) / state.camera.scale);
  const row = Math.floor(state.camera.y + (clientY - box.top) / state.camera.scale);
  const inside = row >= 0 && column >= 0 && row < state.left.rows && column < state.left.columns;
  state.chosen = inside && state.left.isUnit(row, column) ? { row, column } : null;
  request('words');
}

/** One finger or the mouse pans, two fingers zoom, a short touch chooses. */
function listen(canvas) {
  const pointers = new Map();
  let travelled = 0;
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
    if (pointers.size === 1) travelled = 0;
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const others = [...pointers.values()].filter((each) => each.pointerId !== event.pointerId);
    if (others.length > 0) {
      const spread = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
      const box = canvas.getBoundingClientRect();
      zoomBy(Math.max(spread(event, others[0]), 1) / Math.max(spread(before, others[0]), 1),
        (event.clientX + others[0].clientX) / 2 - box.left,
        (event.clientY + others[0].clientY) / 2 - box.top);
    }
    const share = 1 / (pointers.size * state.camera.scale);
    state.camera.x -= (event.clientX - before.clientX) * share;
    state.camera.y -= (event.clientY - before.clientY) * share;
    travelled += Math.abs(event.clientX - before.clientX) + Math.abs(event.clientY - before.clientY);
    pointers.set(event.pointerId, event);
    moved();
  });
  const ends = (event) => {
    if (pointers.delete(event.pointerId) && event.type === 'pointerup' && travelled < 5) {
      choose(canvas, event.clientX, event.clientY);
    }
  };
  canvas.addEventListener('pointerup', ends);
  canvas.addEventListener('pointercancel', ends);
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoomBy(2 ** (-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  canvas.addEventListener('keydown', (event) => {
    const pan = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === '+' || event.key === '=') zoomBy(1.5);
    if (event.key === '-') zoomBy(1 / 1.5);
    if (event.key === '0') { fit(); moved(); }
    if (!pan[event.key]) return;
    event.preventDefault();
    state.camera.x += pan[event.key][0] * 60 / state.camera.scale;
    state.camera.y += pan[event.key][1] * 60 / state.camera.scale;
    moved();
  });
}

async function openBeside(file) {
  try {
    const page = new DOMParser().parseFromString(await file.text(), 'text/html');
    const read = await readSeries(page, file.name);
    if (read.length === 0) throw new Error(`${file.name}: no page of lacuna --view`);
    state.all.push(...read);
    state.right = read[0];
    state.mode = 'beside';
    fillRuns();
    update();
  } catch (error) {
    $('message').textContent = error.message;
  }
}

function listenToControls() {
  const on = (id, event, act) => $(id).addEventListener(event, act);
  on('left', 'change', () => { state.left = state.all[$('left').value]; state.chosen = null; update(); fit(); });
  on('right', 'change', () => {
    state.right = $('right').value === '' ? null : state.all[$('right').value];
    if (state.right && state.mode === 'one') state.mode = 'beside';
    update();
  });
  on('mode', 'change', () => { state.mode = $('mode').value; update(); });
  on('align', 'change', () => { state.align = $('align').value; request('paint'); });
  on('layer', 'change', () => { state.layer = $('layer').value; request('paint'); });
  on('time', 'input', () => setStep(Number($('time').value)));
  on('whole', 'change', () => setStep($('whole').checked ? -1 : Number($('time').value)));
  on('fixed', 'change', () => { state.fixed = $('fixed').checked; request('paint'); });
  on('play', 'click', play);
  on('in', 'click', () => zoomBy(1.6));
  on('out', 'click', () => zoomBy(1 / 1.6));
  on('fit', 'click', () => { fit(); moved(); });
  on('file', 'change', () => { if ($('file').files[0]) openBeside($('file').files[0]); });
  window.addEventListener('resize', () => request('size', 'words'));
}

async function begin() {
  maps.left = new DieMap($('map'));
  maps.right = new DieMap($('other'));
  try {
    state.all = await readSeries(document, '');
  } catch (error) {
    $('message').textContent = `This page could not be read: ${error.message}`;
    return;
  }
  [state.left] = state.all;
  listen($('map'));
  listen($('other'));
  listenToControls();
  fillRuns();
  update();
  $('message').textContent = '';
  resize();
  fit();
  // once all beside the map has its size
  requestAnimationFrame(() => { resize(); fit(); moved(); });
  document.body.dataset.ready = state.all.length;
}

begin();
