// Small SVG pieces: elements, a map of the grid, bars and a curve.

const NAMESPACE = "http://www.w3.org/2000/svg";

/** An SVG element with attributes and children. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** An HTML element with attributes and children. */
export function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export const number = (value) => Number(value).toLocaleString("en");
export const rounded = (value) => String(Number(Number(value).toPrecision(2)));
/** A share in percent. */
export const percent = (share) => `${rounded(100 * share)} %`;

/** The name of a cell as on a chessboard, the same as in the words about plans and reports: letters from west to east, numbers from south to north. */
export function cellName(cell, n) {
  let letters = "";
  for (let left = Math.floor(cell / n) + 1; left > 0; left = Math.floor((left - 1) / 26)) letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters;
  return `cell ${letters}${(cell % n) + 1}`;
}

const DEGREE = 111_195;

/** The map of a plan: its bounds, its cells, and whatever is drawn on them. */
export class GridMap {
  constructor(root, { bounds, n, geographic }, label) {
    [this.x0, this.y0, this.x1, this.y1] = bounds;
    this.n = n;
    // A degree of longitude is shorter than one of latitude.
    const stretch = geographic ? Math.cos(((this.y0 + this.y1) / 2) * (Math.PI / 180)) : 1;
    const ratio = ((this.y1 - this.y0) / (this.x1 - this.x0)) / Math.max(stretch, 0.01);
    this.width = 600;
    this.height = Math.min(Math.max(600 * ratio, 150), 1500);
    this.unit = Math.min(this.width, this.height) / 600;
    this.root = root;
    // Units of the drawing for a metre; plane maps are in metres.
    this.perUnit = this.width / ((this.x1 - this.x0) * (geographic ? DEGREE * Math.max(stretch, 0.01) : 1));
    root.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    root.setAttribute("class", "map");
    root.style.setProperty("--ratio", this.width / this.height);
    root.setAttribute("role", "img");
    root.setAttribute("aria-label", label);
    root.replaceChildren();
    const hatch = svg("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
    hatch.append(svg("line", { x1: 0, y1: 0, x2: 0, y2: 6, "stroke-width": 3, class: "hatchline" }));
    this.layers = {};
    root.append(svg("defs", {}, hatch));
    for (const name of ["streets", "grid", "cells", "flows", "names", "scale", "track", "top"]) {
      this.layers[name] = svg("g", { class: `layer-${name}` });
      root.append(this.layers[name]);
    }
    for (let line = 1; line < n; line += 1) {
      const [x, y] = [(this.width * line) / n, (this.height * line) / n];
      this.layers.grid.append(
        svg("line", { x1: x, x2: x, y1: 0, y2: this.height, class: "gridline" }),
        svg("line", { x1: 0, x2: this.width, y1: y, y2: y, class: "gridline" }),
      );
    }
  }

  /** Streets and names under everything else, as `/streets` has them; without any, the lines of the grid stay alone. */
  streets(drawing) {
    if (!drawing) return;
    const [across, up] = [this.width / drawing.steps, this.height / drawing.steps];
    const round = (value) => Math.round(value * 10) / 10;
    drawing.lines.forEach((lines, rank) => {
      const parts = lines.map(([x, y, ...steps]) => {
        const way = [`M${round(x * across)} ${round(this.height - y * up)}`];
        for (let at = 0; at < steps.length; at += 2) way.push(`l${round(steps[at] * across)} ${round(-steps[at + 1] * up)}`);
        return way.join("");
      });
      if (parts.length > 0) this.layers.streets.prepend(svg("path", { d: parts.join(""), class: `street rank${rank}` }));
    });
    // Of one size on any screen, in units of the drawing.
    const size = (12 * this.width) / (this.root.clientWidth || this.width);
    for (const [x, y, name] of drawing.names) {
      this.layers.names.append(svg("text", { x: x * across, y: this.height - y * up, class: "place", "font-size": size, "stroke-width": size / 4, "text-anchor": "middle" }, name));
    }
    this.root.classList.add("with-streets");
  }

  /** A line of a round length in the lower left corner. */
  scale() {
    const most = this.width / 4 / this.perUnit;
    const power = 10 ** Math.floor(Math.log10(most));
    const length = [5, 2, 1].map((part) => part * power).find((found) => found <= most);
    const metres = length >= 1000 ? `${number(length / 1000)} km` : `${number(length)} m`;
    const [x, y, size] = [10 * this.unit, this.height - 12 * this.unit, (12 * this.width) / (this.root.clientWidth || this.width)];
    const end = x + length * this.perUnit;
    this.layers.scale.append(
      svg("path", { d: `M${x} ${y - 6 * this.unit}V${y}H${end}V${y - 6 * this.unit}`, class: "scale", "stroke-width": 2 * this.unit }),
      svg("text", { x: end + 5 * this.unit, y, class: "length", "font-size": size, "stroke-width": size / 4 }, metres),
    );
  }

  /** Show the map larger or smaller around a point of the drawing; the whole map is the smallest. */
  zoom(factor, [x, y] = this.centre()) {
    const before = this.view ?? [0, 0, this.width, this.height];
    const wide = Math.min(Math.max(before[2] / factor, this.width / 16), this.width);
    const high = (wide * this.height) / this.width;
    const at = (place, start, size, now, whole) => Math.min(Math.max(place - ((place - start) / size) * now, 0), whole - now);
    this.view = [at(x, before[0], before[2], wide, this.width), at(y, before[1], before[3], high, this.height), wide, high];
    this.root.setAttribute("viewBox", this.view.join(" "));
  }

  centre() {
    const [x, y, wide, high] = this.view ?? [0, 0, this.width, this.height];
    return [x + wide / 2, y + high / 2];
  }

  /** Zoom by the wheel, and move by dragging. A drag is no click. */
  zoomable() {
    const { root } = this;
    const drawn = (event) => {
      const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(root.getScreenCTM().inverse());
      return [x, y];
    };
    root.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.25 : 0.8, drawn(event));
    }, { passive: false });
    let from = null;
    let dragged = false;
    root.addEventListener("pointerdown", (event) => {
      [from, dragged] = [event, false];
    });
    root.addEventListener("pointermove", (event) => {
      if (from === null || event.buttons === 0 || !this.view) return;
      if (!dragged && Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) < 6) return;
      dragged = true;
      const [[x0, y0], [x1, y1]] = [drawn(from), drawn(event)];
      const [x, y, wide, high] = this.view;
      this.view = [Math.min(Math.max(x + x0 - x1, 0), this.width - wide), Math.min(Math.max(y + y0 - y1, 0), this.height - high), wide, high];
      root.setAttribute("viewBox", this.view.join(" "));
      from = event;
    });
    // Before all others: what ends a drag draws no point.
    root.addEventListener("click", (event) => {
      if (dragged) event.stopImmediatePropagation();
      [from, dragged] = [null, false];
    }, { capture: true });
  }

  /** Where a point of the map's coordinates is drawn. */
  place([x, y]) {
    const inside = (value) => Math.min(Math.max(value, 0), 1);
    return [
      inside((x - this.x0) / (this.x1 - this.x0)) * this.width,
      inside((this.y1 - y) / (this.y1 - this.y0)) * this.height,
    ];
  }

  /** The point of the map's coordinates under the pointer. */
  pointAt(event) {
    // By the matrix of the drawing: the element may be wider than what is drawn in it.
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.root.getScreenCTM().inverse());
    return [this.x0 + (x / this.width) * (this.x1 - this.x0), this.y1 - (y / this.height) * (this.y1 - this.y0)];
  }

  /** The middle of a cell, as drawn. */
  middle(cell) {
    const [i, j] = [Math.floor(cell / this.n), cell % this.n];
    return [((i + 0.5) * this.width) / this.n, this.height - ((j + 0.5) * this.height) / this.n];
  }

  cell(cell, attributes, title) {
    const [i, j] = [Math.floor(cell / this.n), cell % this.n];
    const [wide, high] = [this.width / this.n, this.height / this.n];
    const square = svg("rect", { x: i * wide, y: this.height - (j + 1) * high, width: wide, height: high, ...attributes });
    if (title) square.append(svg("title", {}, title));
    return square;
  }

  /** A line between the middles of two cells, a little short of both. */
  flow(from, to, attributes, title) {
    const [[x1, y1], [x2, y2]] = [this.middle(from), this.middle(to)];
    const part = 0.18;
    const line = svg("line", {
      x1: x1 + part * (x2 - x1), y1: y1 + part * (y2 - y1), x2: x2 - part * (x2 - x1), y2: y2 - part * (y2 - y1), ...attributes,
    });
    if (title) line.append(svg("title", {}, title));
    return line;
  }

  /** Trips: their lines, their points, and the cells that they are reduced to. Points that are nowhere are not drawn. */
  trips(trips, cells) {
    const lines = trips.map((trip) => trip.filter((point) => point.slice(0, 2).every(Number.isFinite)).map((point) => this.place(point)));
    const dots = lines.flatMap((line) => (line.length > 300 ? [line[0], line.at(-1)] : line));
    this.layers.track.replaceChildren(
      ...[...new Set(cells)].map((cell) => this.cell(cell, { class: "pathcell" })),
      ...lines.map((line) => svg("polyline", { points: line.map((pair) => pair.join()).join(" "), class: "track", "stroke-width": 3 })),
      ...dots.map(([x, y]) => svg("circle", { cx: x, cy: y, r: 4, class: "point" })),
    );
  }

  clear(...names) {
    for (const name of names) this.layers[name].replaceChildren();
  }
}

/** The streets of a campaign; null where it has none, or they cannot be had. */
export async function streetsOf(name) {
  try {
    const answer = await fetch(`/v1/campaigns/${name}/streets`, { credentials: "omit", referrerPolicy: "no-referrer" });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

/** The width of a chart: that of its place, so that its texts have the size of the others. */
const wide = (root) => Math.round(Math.min(Math.max(root.getBoundingClientRect().width, 300), 600));

/** Bars of shares with whiskers of two standard errors. */
export function bars(root, { values, errors, label, unit }) {
  const [width, height, left, bottom] = [wide(root), 240, 56, 26];
  const top = Math.max(...values.map((value, place) => value + 2 * errors[place]), 1e-9);
  const low = Math.min(0, ...values.map((value, place) => value - 2 * errors[place]));
  const y = (value) => 8 + ((top - value) / (top - low)) * (height - bottom - 8);
  const step = (width - left) / values.length;
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", label);
  const parts = [svg("line", { x1: left, x2: width, y1: y(0), y2: y(0), class: "axis" })];
  parts.push(svg("text", { x: left - 4, y: y(top) + 10, "text-anchor": "end" }, percent(top)));
  parts.push(svg("text", { x: left - 4, y: y(0) + 4, "text-anchor": "end" }, "0"));
  values.forEach((value, place) => {
    const x = left + place * step;
    const bar = svg("rect", { x: x + step * 0.12, width: step * 0.76, y: y(Math.max(value, 0)), height: Math.abs(y(0) - y(value)), class: "bar" });
    bar.append(svg("title", {}, `${place + 1} ${unit}: ${percent(value)} ± ${percent(errors[place])}`));
    const middle = x + step / 2;
    parts.push(bar, svg("line", { x1: middle, x2: middle, y1: y(value - 2 * errors[place]), y2: y(value + 2 * errors[place]), class: "whisker" }));
    const every = Math.ceil(values.length / 10);
    if (place % every === 0) parts.push(svg("text", { x: middle, y: height - 8, "text-anchor": "middle" }, String(place + 1)));
  });
  root.replaceChildren(...parts);
}

/** One line over time with bands of two standard errors; changes are marked by dots. */
export function timeline(root, { times, points, changes, label }) {
  const [width, height, left, bottom] = [wide(root), 190, 56, 26];
  const known = points.flatMap((point, place) => (point ? [[place, ...point]] : []));
  const top = Math.max(...known.map(([, value, error]) => value + 2 * error));
  const low = Math.min(0, ...known.map(([, value, error]) => value - 2 * error));
  const x = (place) => left + ((place + 0.5) / points.length) * (width - left - 8);
  const y = (value) => 8 + ((top - value) / (top - low || 1)) * (height - bottom - 8);
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", label);
  const upper = known.map(([place, value, error]) => `${x(place)},${y(value + 2 * error)}`);
  const lower = known.map(([place, value, error]) => `${x(place)},${y(value - 2 * error)}`).reverse();
  const parts = [
    svg("line", { x1: left, x2: width, y1: y(0), y2: y(0), class: "axis" }),
    svg("polygon", { points: [...upper, ...lower].join(" "), class: "band" }),
    svg("polyline", { points: known.map(([place, value]) => `${x(place)},${y(value)}`).join(" "), class: "curve", "stroke-width": 2 }),
    svg("text", { x: left - 4, y: y(top) + 10, "text-anchor": "end" }, rounded(top)),
    svg("text", { x: left - 4, y: y(0) + 4, "text-anchor": "end" }, "0"),
  ];
  for (const [place, value, error] of known) {
    const mark = svg("circle", { cx: x(place), cy: y(value), r: changes.includes(place) ? 6 : 3, class: changes.includes(place) ? "dot" : "still" });
    mark.append(svg("title", {}, `${times[place]}: ${rounded(value)} ± ${rounded(error)}${changes.includes(place) ? ", changed" : ""}`));
    parts.push(mark);
  }
  const every = Math.ceil((points.length * 80) / (width - left));
  times.forEach((time, place) => {
    if (place % every === 0) parts.push(svg("text", { x: x(place), y: height - 8, "text-anchor": "middle" }, time));
  });
  root.replaceChildren(...parts);
}

/** Predicted standard error against the number of reports, with a mark where the campaign is. */
export function errorCurve(root, { series, reports, label }) {
  const [width, height, left, bottom] = [wide(root), 270, 62, 40];
  const [first, last] = [series[0], series.at(-1)];
  const x = (count) => left + ((Math.log(count) - Math.log(first[0])) / (Math.log(last[0]) - Math.log(first[0]))) * (width - left - 14);
  const [high, low] = [Math.log(first[1]), Math.log(last[1])];
  const y = (value) => 12 + ((high - Math.log(value)) / (high - low)) * (height - bottom - 20);
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", label);
  const parts = [
    svg("line", { x1: left, x2: left, y1: 8, y2: height - bottom, class: "axis" }),
    svg("line", { x1: left, x2: width, y1: height - bottom, y2: height - bottom, class: "axis" }),
    svg("polyline", { points: series.map(([count, error]) => `${x(count)},${y(error)}`).join(" "), class: "curve", "stroke-width": 2 }),
  ];
  const short = (count) => Intl.NumberFormat("en", { notation: "compact" }).format(count);
  let edge = -Infinity;
  for (const [count, error] of series) {
    parts.push(svg("text", { x: left - 6, y: y(error) + 4, "text-anchor": "end" }, percent(error)));
    if (x(count) - edge > 56) {
      parts.push(svg("text", { x: x(count), y: height - bottom + 17, "text-anchor": "middle" }, short(count)));
      edge = x(count);
    }
  }
  // Labels of the errors that would overlap are left out, from the bottom up.
  let taken = Infinity;
  for (const text of parts.filter((part) => part.getAttribute("text-anchor") === "end").reverse()) {
    if (taken - Number(text.getAttribute("y")) < 17) parts.splice(parts.indexOf(text), 1);
    else taken = Number(text.getAttribute("y"));
  }
  parts.push(svg("text", { x: width - 4, y: height - 4, "text-anchor": "end" }, "reports"));
  const here = series.find(([count]) => count === reports);
  if (here) parts.push(svg("circle", { cx: x(here[0]), cy: y(here[1]), r: 6, class: "dot" }, svg("title", {}, `now: ${number(reports)} reports`)));
  root.replaceChildren(...parts);
}
