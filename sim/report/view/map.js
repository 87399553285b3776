// SPDX-License-Identifier: Apache-2.0
// The picture of a die: a pixel for each unit, painted when the step or the layer changes, and
// placed by what is in view. Scales: viridis (van der Walt, Smith; CC0) and Moreland's cool to warm.
'use strict';

const VIRIDIS = ['440154', '48186a', '472d7b', '424086', '3b528b', '33638d', '2c728e', '26828e',
  '21918c', '1fa088', '28ae80', '3fbc73', '5ec962', '84d44b', 'addc30', 'd8e219', 'fde725'];
const COOLWARM = ['3b4cc0', '4e68d8', '6282ea', '779af7', '8db0fe', 'a3c2fe', 'b9d0f9', 'ccd9ed',
  'dddcdc', 'ecd3c5', 'f5c4ac', 'f7b093', 'f4987a', 'eb7d62', 'dd5f4b', 'ca3b37', 'b40426'];

function rgbOf(anchors, share) {
  const at = Math.min(Math.max(share, 0), 1) * (anchors.length - 1);
  const low = Math.min(Math.floor(at), anchors.length - 2);
  return [0, 2, 4].map((i) => {
    const a = parseInt(anchors[low].slice(i, i + 2), 16);
    const b = parseInt(anchors[low + 1].slice(i, i + 2), 16);
    return Math.round(a + (b - a) * (at - low));
  });
}

/** 256 colours as the words of an ImageData. */
function ramp(anchors) {
  const words = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    const [r, g, b] = rgbOf(anchors, i / 255);
    words[i] = (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  }
  return words;
}

const RAMPS = { one: ramp(VIRIDIS), two: ramp(COOLWARM) };

/** Where the die is on the screen: `scale` pixels a unit, `x` and `y` the unit at the corner. */
class Camera {
  constructor() { this.scale = 1; this.x = 0; this.y = 0; }

  fit(columns, rows, width, height) {
    this.scale = Math.min(width / columns, height / rows);
    this.x = (columns - width / this.scale) / 2;
    this.y = (rows - height / this.scale) / 2;
  }

  /** Zooms so that what is under (px, py) stays there. */
  zoom(factor, px, py, most) {
    const before = this.scale;
    this.scale = Math.min(Math.max(before * factor, 0.05), most);
    this.x += px / before - px / this.scale;
    this.y += py / before - py / this.scale;
  }

  /** Keeps some of the die in sight. */
  hold(columns, rows, width, height) {
    const keep = (at, units, pixels) => {
      const shown = pixels / this.scale;
      if (shown >= units) return (units - shown) / 2;
      return Math.min(Math.max(at, 0), units - shown);
    };
    this.x = keep(this.x, columns, width);
    this.y = keep(this.y, rows, height);
  }

  inView(columns, rows, width, height) {
    const cut = (value, most) => Math.min(Math.max(value, 0), most);
    return {
      left: cut(Math.floor(this.x), columns), right: cut(Math.ceil(this.x + width / this.scale), columns),
      top: cut(Math.floor(this.y), rows), bottom: cut(Math.ceil(this.y + height / this.scale), rows),
    };
  }
}

class DieMap {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.picture = document.createElement('canvas');
  }

  /** Paints a layer of `series`, or what it has more than `other`; `most` is the end of the scale. */
  paint(series, layer, step, most, other) {
    const { columns, rows } = series;
    if (this.picture.width !== columns || this.picture.height !== rows) {
      this.picture.width = columns;
      this.picture.height = rows;
    }
    const context = this.picture.getContext('2d');
    if (!this.image || this.image.width !== columns || this.image.height !== rows) {
      this.image = context.createImageData(columns, rows);
      this.words = new Uint32Array(this.image.data.buffer);
    }
    const tints = this.tint(series, layer, step, most, other);
    for (let row = 0; row < rows; row++) {
      const from = tints.rowOf(row) * columns;
      this.words.set(tints.words.subarray(from, from + columns), row * columns);
    }
    context.putImageData(this.image, 0, 0);
  }

  /** The colours of all rows that differ: rows that are alike are painted once. */
  tint(series, layer, step, most, other) {
    const rows = new Map();
    const place = new Int32Array(series.rows);
    for (let row = 0; row < series.rows; row++) {
      let key = series.rowOf(layer, row);
      if (series.numbers !== null) key = key * series.stored_rows + series.source[row];
      if (other) key = `${key} ${other.series.rowOf(other.layer, row)}`;
      if (!rows.has(key)) rows.set(key, [rows.size, row]);
      place[row] = rows.get(key)[0];
    }
    const words = new Uint32Array(rows.size * series.columns);
    for (const [index, row] of rows.values()) {
      this.tintRow(words.subarray(index * series.columns), series, layer, step, most, other, row);
    }
    return { words, rowOf: (row) => place[row] };
  }

  tintRow(words, series, layer, step, most, other, row) {
    const scale = most > 0 ? 255 / most : 0;
    const first = series.rowOf(layer, row) * series.columnsOf(layer);
    const wide = layer.timed ? series.block[0] : 1;
    const each = layer.timed ? scale / series.length(step) : scale;
    for (let c = 0; c < series.columns; c++) {
      if (!series.isUnit(row, c)) continue;
      if (other) {
        const mine = series.rate(layer, step, row, c);
        const difference = mine - other.series.rate(other.layer, other.step, row, c);
        words[c] = RAMPS.two[Math.min(Math.max(Math.round(127.5 + difference * scale / 2), 0), 255)];
        continue;
      }
      let at = series.value(layer, step, first + (wide === 1 ? c : Math.floor(c / wide))) * each;
      if (wide !== 1) at /= series.unitsIn(layer, row, c);
      words[c] = RAMPS.one[at > 255 ? 255 : at | 0];
    }
  }

  /** Puts the picture on the screen. */
  draw(camera, series, chosen, step) {
    const { width, height } = this.canvas;
    const ratio = this.ratio || 1;
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.clearRect(0, 0, width, height);
    const scale = camera.scale * ratio;
    this.context.imageSmoothingEnabled = scale < 1;
    this.context.setTransform(scale, 0, 0, scale, -camera.x * scale, -camera.y * scale);
    this.context.drawImage(this.picture, 0, 0);
    if (camera.scale >= 12) this.grid(series, camera, ratio);
    this.way(series.pathIn(step), scale);
    if (chosen) this.mark(chosen, scale);
  }

  /** The way of a critical path over the die; of a long one some places. */
  way(steps, scale) {
    const places = steps.filter(([where]) => where !== 3);
    if (places.length === 0) return;
    const every = Math.ceil(places.length / 2000);
    const context = this.context;
    context.beginPath();
    places.forEach(([, row, column], i) => {
      if (i % every === 0) context.lineTo(column + 0.5, row + 0.5);
    });
    context.lineJoin = 'round';
    for (const [colour, wide] of [['#000', 4], ['#ff5a36', 2]]) {
      context.lineWidth = wide / scale;
      context.strokeStyle = colour;
      context.stroke();
    }
    const [, row, column] = places[places.length - 1];
    context.beginPath();
    context.arc(column + 0.5, row + 0.5, 5 / scale, 0, 2 * Math.PI);
    context.fillStyle = '#ff5a36';
    context.fill();
  }

  grid(series, camera, ratio) {
    const view = camera.inView(series.columns, series.rows, this.canvas.width / ratio,
      this.canvas.height / ratio);
    this.context.lineWidth = 1 / (camera.scale * ratio);
    this.context.strokeStyle = 'rgba(128, 128, 128, 0.5)';
    this.context.beginPath();
    for (let c = view.left; c <= view.right; c++) {
      this.context.moveTo(c, view.top);
      this.context.lineTo(c, view.bottom);
    }
    for (let r = view.top; r <= view.bottom; r++) {
      this.context.moveTo(view.left, r);
      this.context.lineTo(view.right, r);
    }
    this.context.stroke();
    if (camera.scale >= 44) this.names(series, camera, ratio, view);
  }

  /** Names of units, in pixels of the screen so that their letters are sharp. */
  names(series, camera, ratio, view) {
    const context = this.context;
    context.save();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = '11px Arial, Helvetica, sans-serif';
    context.textAlign = 'center';
    context.lineWidth = 3;
    context.lineJoin = 'round';
    context.strokeStyle = '#000';
    context.fillStyle = '#fff';
    for (let r = view.top; r < view.bottom; r++) {
      for (let c = view.left; c < view.right; c++) {
        if (!series.isUnit(r, c)) continue;
        const name = series.numbers ? series.nameOf(r, c).split(' ')[1] : `${r},${c}`;
        const x = (c + 0.5 - camera.x) * camera.scale;
        const y = (r + 0.5 - camera.y) * camera.scale + 4;
        context.strokeText(name, x, y);
        context.fillText(name, x, y);
      }
    }
    context.restore();
  }

  mark(chosen, scale) {
    for (const [colour, wide] of [['#000', 5], ['#fff', 2]]) {
      this.context.lineWidth = wide / scale;
      this.context.strokeStyle = colour;
      const out = Math.max(0, 6 / scale - 0.5);
      this.context.strokeRect(chosen.column - out, chosen.row - out, 1 + 2 * out, 1 + 2 * out);
    }
  }
}
