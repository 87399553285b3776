// SPDX-License-Identifier: Apache-2.0
// What is said of the units in view, of the critical path and of the chosen unit.
'use strict';

/** A bar of parts and a table of them; a part is { name, hint, doc, colour, count }. */
function partsSection(title, parts) {
  const total = parts.reduce((sum, each) => sum + each.count, 0);
  const share = (each) => (total ? each.count / total : 0);
  const box = element('section', '');
  const bar = element('div', '', { class: 'bar' });
  const table = element('table', '');
  for (const each of parts) {
    const piece = element('i', '', { title: `${each.hint} ${percent(share(each))}` });
    piece.style.width = `${100 * share(each)}%`;
    piece.style.background = each.colour;
    bar.append(piece);
    if (each.count === 0) continue;
    const line = element('tr', '', { title: each.doc });
    const key = element('td', '');
    key.append(colourMark(each.colour), each.name);
    line.append(key, element('td', number(Math.round(each.count))), element('td', percent(share(each))));
    table.append(line);
  }
  box.append(element('h3', title), bar, table);
  return box;
}

function colourMark(colour) {
  const mark = element('i', '', { class: 'key' });
  mark.style.background = colour;
  return mark;
}

/** A button that chooses a unit. */
function unitButton(text, unit) {
  const button = element('button', text);
  button.addEventListener('click', () => {
    state.chosen = unit;
    request('words');
  });
  return button;
}

function showStack(place, title, series, parts) {
  place.append(partsSection(title, series.stack.map((part, i) => ({
    name: `${part.layer} ${part.name}`, hint: part.name, doc: part.doc, colour: COLOURS[part.layer],
    count: parts[i] }))));
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
  line.append(unitButton(series.nameOf(at.row, at.column), at));
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
  const sums = path.whats.map((name, what) => ({ name, hint: name, doc: '', colour: pathColour(what), count: 0 }));
  for (const [, , , what, from, to] of path.steps) sums[what].count += to - from;
  sums.sort((a, b) => b.count - a.count);
  const box = partsSection(`what each moment waited for, cycles ${number(path.from)} to `
    + `${number(path.to)} of the run, columns ${path.column} to ${path.column + path.columns - 1}, `
    + `rows ${path.row} to ${path.row + path.rows - 1}`, sums);
  box.append(stepsOf(series, step));
  place.append(box);
}

/** Where the path was in a step, or in all: a click leads there. */
function stepsOf(series, step) {
  const shown = series.pathIn(step);
  const list = element('ol', '', { class: 'path' });
  for (const [where, row, column, what, from, to] of shown.slice(0, MOST_STEPS)) {
    const item = element('li', '');
    const place = ['core', 'router', 'edge', 'outside'][where];
    item.append(colourMark(pathColour(what)), `${number(from)} to ${number(to)} `,
      unitButton(`${place} r${row}.c${column}`, { row, column }), ` ${series.window_path.whats[what]}`);
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
      step >= 0 && series.step_names && series.numbers !== null && `runs ${series.step_names[step]}`]) {
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

/** The layers of the stack of one unit over all steps; steps that a pixel holds are one bar. */
function drawStrip(canvas, series, row, column, step) {
  const context = canvas.getContext('2d');
  const at = (cycle) => cycle / series.ends[series.steps - 1] * canvas.width;
  const cells = series.stack.map((part) =>
    series.rowOf(part, row) * series.timedColumns + series.columnOf(part, column));
  const sums = Object.fromEntries(Object.keys(COLOURS).map((name) => [name, 0]));
  let begin = 0;
  for (let s = 0; s < series.steps; s++) {
    series.stack.forEach((part, i) => { sums[part.layer] += series.value(part, s, cells[i]); });
    const end = at(series.ends[s]);
    if (end - begin < 1 && s + 1 < series.steps) continue;
    const total = Object.values(sums).reduce((sum, each) => sum + each, 0);
    let y = canvas.height;
    for (const name of Object.keys(sums)) {
      const height = total ? sums[name] * canvas.height / total : 0;
      context.fillStyle = COLOURS[name];
      context.fillRect(begin, y - height, end - begin + 0.5, height);
      y -= height;
      sums[name] = 0;
    }
    begin = end;
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
      + `${number(series.cycles)} ${series.ticks}${series.exact ? '' : ', not exact'}. ${series.loss}`));
  }
}
