// SPDX-License-Identifier: Apache-2.0
// What a data set of the page holds, and the numbers asked of it. Nothing here draws.
'use strict';

/** Bytes of a zlib stream in base64, by the browser's own inflater. */
async function inflate(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** `count` numbers of `width` bytes that lie in planes, the lowest bytes first. */
function unplane(bytes, offset, width, count) {
  const Numbers = width === 1 ? Uint8Array : width === 2 ? Uint16Array
    : width <= 4 ? Uint32Array : Float64Array;
  const numbers = new Numbers(count);
  for (let plane = 0; plane < width; plane++) {
    const weight = 2 ** (8 * plane);
    const begin = offset + plane * count;
    for (let i = 0; i < count; i++) numbers[i] += bytes[begin + i] * weight;
  }
  return numbers;
}

/** A run of one operation: where units are on the die, and what each counted, step by step. */
class Series {
  constructor(head, bytes) {
    Object.assign(this, head);
    this.block = head.block || [1, 1];
    this.tick = head.tick || 'cycle'; // what time is counted in
    this.ticks = head.tick || 'cycles';
    this.timedColumns = Math.ceil(this.columns / this.block[0]);
    this.timedRows = head.timed_rows;
    this.cells = this.timedColumns * this.timedRows;
    this.steps = head.ends.length;
    this.starts = [0, ...head.ends.slice(0, -1)];
    this.source = head.source.flatMap(([row, times]) => new Array(times).fill(row));
    this.timed = head.timed;
    this.layers = head.channels.map((channel) => this.read(channel, bytes));
    this.stack = this.layers.filter((layer) => layer.group === 'stack');
    this.numbers = head.numbers ? unplane(bytes, head.numbers.offset, head.numbers.width,
      head.numbers.count) : null;
    this.addSums();
  }

  read(channel, bytes) {
    const count = channel.timed ? this.steps * this.cells : this.stored_rows * this.columns;
    const layer = { ...channel, values: unplane(bytes, channel.offset, channel.width, count) };
    if (channel.timed) {
      layer.whole = new Float64Array(this.cells);
      for (let i = 0; i < count; i++) layer.whole[i % this.cells] += layer.values[i];
    }
    return layer;
  }

  /** Busy, waiting, and each layer of the stack as a colour of its own. */
  addSums() {
    const sum = (name, doc, parts) => {
      if (parts.length === 0) return null;
      return { name, doc, unit: this.ticks, group: 'sum', timed: true, parts };
    };
    const of = (...names) => this.stack.filter((layer) => names.includes(layer.layer));
    const time = this.tick === 'cycle' ? 'Cycles' : 'Time';
    this.sums = [
      sum('busy', `${time} of compute and exchange.`, of('compute', 'exchange')),
      sum('waiting', `${time} of sync, stall and imbalance.`, of('sync', 'stall', 'imbalance')),
    ].filter((each) => each !== null);
    this.choices = [...this.sums, ...this.layers];
  }

  /** The stored row whose numbers a row of the picture has; of layers over time, of blocks. */
  rowOf(layer, row) {
    const stored = this.source[row];
    return layer.timed ? this.timed[Math.floor(stored / this.block[1])] : stored;
  }

  columnsOf(layer) { return layer.timed ? this.timedColumns : this.columns; }
  columnOf(layer, column) {
    return layer.timed ? Math.floor(column / this.block[0]) : column;
  }

  /** Of a cell (stored row times columns, plus column); `step` -1: the whole run. */
  value(layer, step, cell) {
    if (layer.parts) {
      let sum = 0;
      for (const part of layer.parts) sum += this.value(part, step, cell);
      return sum;
    }
    if (!layer.timed) return layer.values[cell];
    return step < 0 ? layer.whole[cell] : layer.values[step * this.cells + cell];
  }

  /** Units that the numbers of a place of the picture are of; fewer at the far edges. */
  unitsIn(layer, row, column) {
    if (!layer.timed) return 1;
    const left = (size, block, at) => Math.min(block, size - Math.floor(at / block) * block);
    return left(this.columns, this.block[0], column)
      * (this.block[1] === 1 ? 1 : left(this.rows, this.block[1], row));
  }

  /** Cycles that a step has; of the whole run all, in which a row waits for its first word too. */
  length(step) {
    return step < 0 ? this.ends[this.steps - 1] : this.ends[step] - this.starts[step];
  }

  isUnit(row, column) {
    return this.numbers === null || this.numbers[this.source[row] * this.columns + column] !== 0;
  }

  /** "core r3.c7" or "tile 12". */
  nameOf(row, column) {
    if (this.numbers === null) return `${this.unit} r${row}.c${column}`;
    return `${this.unit} ${this.numbers[this.source[row] * this.columns + column] - 1}`;
  }

  /** A part of the picture, grown to whole blocks. */
  whole(view) {
    const [wide, high] = this.block;
    return {
      left: Math.floor(view.left / wide) * wide,
      right: Math.min(Math.ceil(view.right / wide) * wide, this.columns),
      top: Math.floor(view.top / high) * high,
      bottom: Math.min(Math.ceil(view.bottom / high) * high, this.rows),
    };
  }

  /** What the units of a part of the picture, in whole blocks, counted. */
  stackIn(view, step) {
    const parts = new Array(this.stack.length).fill(0);
    const layer = this.stack[0];
    const rows = new Map();
    for (let row = view.top; row < view.bottom; row += this.block[1]) {
      const from = this.rowOf(layer, row);
      rows.set(from, (rows.get(from) || 0) + 1);
    }
    const first = this.columnOf(layer, view.left);
    const last = this.columnOf(layer, Math.max(view.left, view.right - 1));
    this.stack.forEach((part, index) => {
      for (const [row, times] of rows) {
        let sum = 0;
        for (let c = first; c <= last; c++) {
          sum += this.value(part, step, row * this.timedColumns + c);
        }
        parts[index] += sum * times;
      }
    });
    return parts;
  }

  /** The largest value of a layer in any step, or in the whole run. */
  most(layer, step) {
    const key = step < 0 ? 'mostWhole' : 'mostStep';
    if (layer[key] !== undefined) return layer[key];
    let most = 0;
    const cells = layer.timed ? this.cells : this.stored_rows * this.columns;
    const steps = step < 0 || !layer.timed ? [step] : [...Array(this.steps).keys()];
    for (const each of steps) {
      const scale = layer.timed ? this.length(each) : 1;
      for (let cell = 0; cell < cells; cell++) {
        most = Math.max(most, this.value(layer, each, cell) / scale);
      }
    }
    layer[key] = layer.timed ? most / (this.block[0] * this.block[1]) : most;
    return layer[key];
  }

  /** What a unit has of a layer: cycles of each cycle, counts of each cycle, or a number. */
  rate(layer, step, row, column) {
    const cell = this.rowOf(layer, row) * this.columnsOf(layer) + this.columnOf(layer, column);
    const scale = layer.timed ? this.length(step) * this.unitsIn(layer, row, column) : 1;
    return this.value(layer, step, cell) / scale;
  }

  /**
   * The place of a unit that the others waited for in a step: of a chip one that never waits for
   * others, neither at the barrier nor for the end of an exchange. Null if there is none, or if
   * units do not wait for all others.
   */
  critical(step) {
    const waits = this.stack.filter((part) => part.layer === 'imbalance' || part.layer === 'idle');
    if (this.numbers === null || this.block[0] !== 1) return null;
    for (let row = 0; row < this.rows; row++) {
      for (let column = 0; column < this.columns; column++) {
        if (!this.isUnit(row, column)) continue;
        const cell = this.rowOf(waits[0], row) * this.timedColumns + column;
        if (waits.every((part) => this.value(part, step, cell) === 0)) return { row, column };
      }
    }
    return null;
  }

  /**
   * The critical path of a chip: what the unit that all waited for did, step by step. Its parts add
   * up to the cycles of the steps. Null if some step has no such unit.
   */
  criticalPath() {
    if (this.path !== undefined) return this.path;
    const parts = new Array(this.stack.length).fill(0);
    this.path = parts;
    for (let step = 0; step < this.steps; step++) {
      const at = this.critical(step);
      if (at === null) {
        this.path = null;
        break;
      }
      const cell = this.rowOf(this.stack[0], at.row) * this.timedColumns + at.column;
      this.stack.forEach((part, i) => { parts[i] += this.value(part, step, cell); });
    }
    return this.path;
  }

  /** The steps of the path of a window that meet a step of time, or all. */
  pathIn(step) {
    if (this.window_path === undefined) return [];
    const { steps } = this.window_path;
    if (step < 0) return steps;
    let first = 0;
    for (let many = steps.length; many > 0;) { // the first that ends after the step begins
      const half = many >> 1;
      if (steps[first + half][5] <= this.starts[step]) {
        first += half + 1;
        many -= half + 1;
      } else {
        many = half;
      }
    }
    let last = first;
    while (last < steps.length && steps[last][4] < this.ends[step]) last++;
    return steps.slice(first, last);
  }

  /** The step at a share of the run, or at a cycle. */
  stepAt(cycle) {
    let step = 0;
    while (step + 1 < this.steps && this.ends[step] <= cycle) step++;
    return step;
  }
}

/** All data sets of a page: its own, or another's that was opened beside it. */
async function readSeries(page, origin) {
  const series = [];
  for (const block of page.querySelectorAll('script[type="application/json"][data-view]')) {
    const head = JSON.parse(block.textContent);
    if (head.format !== 'lacuna view 1') {
      throw new Error(`${origin}: its data are '${head.format}', not 'lacuna view 1'`);
    }
    const data = page.getElementById(block.dataset.view);
    const one = new Series(head, await inflate(data.textContent));
    one.origin = origin;
    // the ends of scales take long to find: not while somebody slides
    for (const layer of one.choices) one.most(layer, 0);
    data.textContent = '';
    series.push(one);
  }
  return series;
}
