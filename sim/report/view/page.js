// SPDX-License-Identifier: Apache-2.0
// The page: what is shown, the controls, and what is said of the units in view and of the chosen.
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
    : layer.timed ? `${number(value)} ${layer.unit} / cycle` : `${number(value)} ${layer.unit}`);
  const two = state.mode === 'difference';
  $('low').textContent = text(two ? -most : 0);
  $('high').textContent = text(most);
  $('meaning').textContent = `${layer.doc} ${layer.timed ? '' : 'Of the whole run. '}`
    + (two ? 'Left less right.' : '');
}

function showTime() {
  const { left, step } = state;
  const cycles = left.ends[left.steps - 1];
  if (step < 0) {
    $('when').textContent = `whole run, ${number(left.cycles)} cycles`;
    return;
  }
  const micros = (cycle) => (cycle / left.clock_ghz / 1000).toPrecision(4);
  const name = left.step_names ? `${left.step_names[step]}: ` : '';
  $('when').textContent = `${name}step ${step + 1} of ${left.steps}, cycles `
    + `${number(left.starts[step])} to ${number(left.ends[step])} of ${number(cycles)} `
    + `(${micros(left.ends[step])} us)`;
}

function stackRows(series, parts) {
  const total = parts.reduce((sum, each) => sum + each, 0);
  return series.stack.map((part, i) => ({ part, cycles: parts[i], share: total ? parts[i] / total : 0 }));
}

function showStack(place, title, series, parts) {
  const rows = stackRows(series, parts);
  const box = element('section', '');
  box.append(element('h3', title));
  const bar = element('div', '', { class: 'bar' });
  for (const { part, share } of rows) {
    const piece = element('i', '', { title: `${part.name} ${percent(share)}` });
    piece.style.width = `${100 * share}%`;
    piece.style.background = COLOURS[part.layer];
    bar.append(piece);
  }
  box.append(bar);
  const table = element('table', '');
  for (const { part, cycles, share } of rows) {
    if (cycles === 0) continue;
    const line = element('tr', '', { title: part.doc });
    const key = element('td', '');
    const mark = element('i', '', { class: 'key' });
    mark.style.background = COLOURS[part.layer];
    key.append(mark, `${part.layer} ${part.name}`);
    line.append(key, element('td', number(Math.round(cycles))), element('td', percent(share)));
    table.append(line);
  }
  box.append(table);
  place.append(box);
}

function shownSeries() {
  return state.mode === 'one' ? [state.left] : [state.left, state.right];
}

function showWords() {
  const [width, height] = size();
  const place = $('words');
  place.textContent = '';
  for (const series of shownSeries()) {
    const step = stepOf(series);
    const view = series.whole(state.camera.inView(series.columns, series.rows, width, height));
    const all = view.left === 0 && view.top === 0 && view.right === series.columns
      && view.bottom === series.rows;
    const what = all ? `all ${series.unit}s` : `${series.unit}s in view, rows ${view.top} to `
      + `${view.bottom - 1}, columns ${view.left} to ${view.right - 1}`;
    const title = `${shownSeries().length > 1 ? `${series.title}: ` : ''}${what}`;
    showStack(place, title, series, series.stackIn(view, step));
    showCritical(place, series, step);
    showWindow(place, series, step);
  }
  if (state.chosen) showChosen(place);
}

/** Of a chip: whom the others waited for in a step, or the critical path of the whole run. */
function showCritical(place, series, step) {
  if (step < 0) {
    const path = series.criticalPath();
    if (path === null) return;
    showStack(place, `critical path: in each step a ${series.unit} that the others waited for`,
      series, path);
    return;
  }
  const at = series.critical(step);
  if (at === null) return;
  const line = element('p', 'the others waited for ');
  const button = element('button', series.nameOf(at.row, at.column));
  button.addEventListener('click', () => {
    state.chosen = at;
    request('words');
  });
  line.append(button);
  place.append(line);
}

const PATH_COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442',
  '#999999', '#8a5fbf', '#5b8c2a', '#b05050', '#3fb0a0', '#a08030', '#6070d0', '#c06090', '#707070'];
const MOST_STEPS = 120; // of a path in the list

function pathColour(what) { return PATH_COLOURS[what % PATH_COLOURS.length]; }

/** What each moment of the window waited for, or how to ask for that. */
function showWindow(place, series, step) {
  if (series.window_path === undefined) {
    showRequest(place, series, step);
    return;
  }
  const path = series.window_path;
  const box = element('section', '');
  box.append(element('h3', `what each moment waited for, cycles ${number(path.from)} to `
    + `${number(path.to)} of the run, columns ${path.column} to ${path.column + path.columns - 1}, `
    + `rows ${path.row} to ${path.row + path.rows - 1}`));
  const sums = path.whats.map((name, what) => ({ name, what, cycles: 0 }));
  for (const [, , , what, from, to] of path.steps) sums[what].cycles += to - from;
  sums.sort((a, b) => b.cycles - a.cycles);
  const bar = element('div', '', { class: 'bar' });
  const table = element('table', '');
  for (const { name, what, cycles } of sums) {
    const share = cycles / (path.to - path.from);
    const piece = element('i', '', { title: `${name} ${percent(share)}` });
    piece.style.width = `${100 * share}%`;
    piece.style.background = pathColour(what);
    bar.append(piece);
    const key = element('td', '');
    const mark = element('i', '', { class: 'key' });
    mark.style.background = pathColour(what);
    key.append(mark, name);
    const line = element('tr', '');
    line.append(key, element('td', number(cycles)), element('td', percent(share)));
    table.append(line);
  }
  box.append(bar, table, stepsOf(series, step));
  place.append(box);
}

/** Where the path was in a step, or in all: a click leads there. */
function stepsOf(series, step) {
  const shown = series.pathIn(step);
  const list = element('ol', '', { class: 'path' });
  for (const [where, row, column, what, from, to] of shown.slice(0, MOST_STEPS)) {
    const item = element('li', '');
    const place = ['core', 'router', 'edge', 'outside'][where];
    const button = element('button', `${place} r${row}.c${column}`);
    button.addEventListener('click', () => {
      state.chosen = { row, column };
      request('words');
    });
    const mark = element('i', '', { class: 'key' });
    mark.style.background = pathColour(what);
    item.append(mark, `${number(from)} to ${number(to)} `, button,
      ` ${series.window_path.whats[what]}`);
    list.append(item);
  }
  if (shown.length > MOST_STEPS) {
    list.append(element('li', `and ${number(shown.length - MOST_STEPS)} more: slide to see them`));
  }
  return list;
}

/** The options that have the critical path of what is in view on the page. */
function showRequest(place, series, step) {
  if (series.numbers !== null) return;
  const view = state.camera.inView(series.columns, series.rows, ...size());
  const side = (from, to) => `${from}-${Math.min(to, from + 64) - 1}`;
  const from = step < 0 ? 0 : series.starts[step];
  const to = Math.min(step < 0 ? series.cycles : series.ends[step], from + 10000);
  const text = element('p', 'What each moment waited for: run it again with ');
  text.append(element('code', `--view --view-path ${from}:${to} --view-cores `
    + `${side(view.left, view.right)}x${side(view.top, view.bottom)}`));
  place.append(text);
}

function showChosen(place) {
  const { row, column } = state.chosen;
  for (const series of shownSeries()) {
    if (row >= series.rows || column >= series.columns || !series.isUnit(row, column)) continue;
    const step = stepOf(series);
    const parts = series.stack.map((part) => series.value(part, step,
      series.rowOf(part, row) * series.timedColumns + series.columnOf(part, column)));
    const many = series.unitsIn(series.stack[0], row, column);
    const name = series.nameOf(row, column);
    showStack(place, many === 1 ? name : `the ${many} ${series.unit}s around ${name}`, series, parts);
    const box = place.lastChild;
    const list = element('ul', '');
    for (const note of [series.row_notes && series.row_notes[row],
      series.column_notes && series.column_notes[column],
      step >= 0 && series.step_names && `runs ${series.step_names[step]}`]) {
      if (note) list.append(element('li', note));
    }
    for (const layer of series.layers) {
      if (layer.group === 'stack') continue;
      const cell = series.rowOf(layer, row) * series.columnsOf(layer) + series.columnOf(layer, column);
      const value = series.value(layer, step, cell);
      const when = layer.timed && step >= 0 ? ' in this step' : ' in the whole run';
      list.append(element('li', `${layer.name}: ${number(value)} ${layer.unit}${when}`,
        { title: layer.doc }));
    }
    const strip = element('canvas', '', { width: 600, height: 80, role: 'img',
      'aria-label': 'cycle stack over time' });
    drawStrip(strip, series, row, column, step);
    box.append(strip, list);
  }
}

/** The layers of the stack of one unit over all steps. */
function drawStrip(canvas, series, row, column, step) {
  const context = canvas.getContext('2d');
  const end = series.ends[series.steps - 1];
  const at = (cycle) => cycle / end * canvas.width;
  for (let s = 0; s < series.steps; s++) {
    let total = 0;
    const values = series.stack.map((part) => series.value(part, s,
      series.rowOf(part, row) * series.timedColumns + series.columnOf(part, column)));
    for (const value of values) total += value;
    let y = canvas.height;
    for (const name of Object.keys(COLOURS)) {
      let height = 0;
      series.stack.forEach((part, i) => { if (part.layer === name) height += values[i]; });
      height *= total ? canvas.height / total : 0;
      context.fillStyle = COLOURS[name];
      context.fillRect(at(series.starts[s]), y - height,
        at(series.ends[s]) - at(series.starts[s]) + 0.5, height);
      y -= height;
    }
  }
  if (step >= 0) {
    context.fillStyle = '#000';
    context.fillRect(at(series.starts[step]) - 1, 0, 2, canvas.height);
  }
}

function showFacts() {
  const place = $('facts');
  place.textContent = '';
  for (const series of shownSeries()) {
    place.append(element('p', `${series.title}: ${number(series.units)} ${series.unit}s, `
      + `${number(series.cycles)} cycles${series.exact ? '' : ', not exact'}. ${series.loss}`));
  }
}

function fillChoices() {
  const layers = $('layer');
  layers.textContent = '';
  const common = state.left.choices.filter((each) => state.mode === 'one'
    || layerOf(state.right, each.name));
  const groups = { sum: 'Cycles', stack: 'Where cycles went', count: 'Counted over time',
    whole: 'Counted over the whole run' };
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
  resize();
  fit();
  $('message').textContent = '';
  document.body.dataset.ready = state.all.length;
}

begin();
