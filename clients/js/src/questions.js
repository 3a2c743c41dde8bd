// Section 5 of the protocol: what is asked of an occasion.

import { bendCount, bendItem, district, linkItem, moveCount, moveItem, turn } from "./grid.js";
import { ascending } from "./randomness.js";

const MOST = 256;
const COUNT = 65536;
const DISTRICTS = 32;
const ABOUT_TIME = ["departure", "pace", "tides"];

const cells = (n) => n * n;
const links = (n) => moveCount(n) / 2;
const steps = (path) => path.slice(1).map((cell, number) => [path[number], cell]);
const moves = (path, n) => steps(path).map(([here, there]) => moveItem(here, there, n));

/** The different items at `most` random positions, ascending. */
function pick(list, most, source) {
  if (list.length <= most) return ascending(new Set(list));
  return ascending(new Set(source.places(list.length, most).map((place) => list[place])));
}

function inOrder(path, n, count) {
  const taken = moves(path.slice(0, count + 1), n).map((item) => [item]);
  return [...taken, ...Array.from({ length: count - taken.length }, () => [])];
}

// Four classes of speed to a doubling.
const ROOTS = [1.0, 1.189207115002721, 1.4142135623730951, 1.681792830507429];
// Night, morning, midday, evening.
const PART_OF_HOUR = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 0, 0, 0, 0];

// Trips from which each class begins.
const TRIP_CLASSES = [1, 2, 3, 4, 6];

const modulo = (a, b) => ((a % b) + b) % b;
const hoursOf = (departure) => Math.floor(Math.floor(departure) / 3600);
const distance = (cell, centre, n) =>
  (Math.floor(cell / n) - Math.floor(centre / n)) ** 2 + ((cell % n) - (centre % n)) ** 2;

/** An item of an ordered domain with its neighbours, round the corner where the domain ends. */
function nearby(item, reach, domain) {
  return ascending(new Set(Array.from({ length: 2 * reach + 1 }, (_, k) => modulo(item + k - reach, domain))));
}

/** Length along the points in millimetres, added up in their order. */
function way(points, xScale, yScale) {
  let total = 0;
  for (let k = 1; k < points.length; k += 1) {
    const x = (points[k][0] - points[k - 1][0]) * xScale;
    const y = (points[k][1] - points[k - 1][1]) * yScale;
    total += Math.sqrt(x * x + y * y);
  }
  return total;
}

// parameters: [name, lowest, highest, others refused]; domain, capacity and slots from n and the parameters; the
// answer from a path, n, the first parameter, the source, and for some the trip, all parameters and the number of trips.
const KINDS = {
  length: {
    parameters: [["cap", 2, () => COUNT]],
    domain: (n, cap) => cap,
    answer: (path, n, cap) => [[Math.min(path.length, cap) - 1]],
  },
  start: { domain: cells, answer: (path) => [[path[0]]] },
  end: { domain: cells, answer: (path) => [[path.at(-1)]] },
  "cut-end": {
    parameters: [["cells", 1, () => COUNT]],
    domain: cells,
    answer: (path, n, count) => [[path[Math.min(path.length, count) - 1]]],
  },
  terminals: {
    domain: cells,
    capacity: () => 2,
    answer: (path) => [ascending(new Set([path[0], path.at(-1)]))],
  },
  visits: {
    parameters: [["most", 1, (n) => Math.min(cells(n), MOST)]],
    domain: cells,
    capacity: (most) => most,
    answer: (path, n, most, source) => [pick(path, most, source)],
  },
  moves: {
    parameters: [["most", 1, (n) => Math.min(moveCount(n), MOST)]],
    domain: moveCount,
    capacity: (most) => most,
    answer: (path, n, most, source) => [pick(moves(path, n), most, source)],
  },
  links: {
    parameters: [["most", 1, (n) => Math.min(links(n), MOST)]],
    domain: links,
    capacity: (most) => most,
    answer: (path, n, most, source) => [
      pick(
        steps(path).map(([here, there]) => linkItem(here, there, n)),
        most,
        source,
      ),
    ],
  },
  turns: {
    domain: () => 5,
    answer: (path, n, _, source) => {
      if (path.length < 3) return [[]];
      const first = source.index(path.length - 2);
      return [[turn(path[first], path[first + 1], path[first + 2], n)]];
    },
  },
  pairs: {
    parameters: [["districts", 2, (n) => Math.min(n, DISTRICTS)]],
    domain: (n, districts) => districts ** 4,
    answer: (path, n, districts) => [
      [district(path[0], n, districts) * districts ** 2 + district(path.at(-1), n, districts)],
    ],
  },
  bends: {
    parameters: [["most", 1, (n) => Math.min(bendCount(n), MOST)]],
    domain: bendCount,
    capacity: (most) => most,
    answer: (path, n, most, source) => [
      pick(
        path.slice(2).map((after, at) => bendItem(path[at], path[at + 1], after, n)),
        most,
        source,
      ),
    ],
  },
  steps: {
    parameters: [["count", 1, () => COUNT]],
    domain: moveCount,
    slots: (count) => count,
    answer: inOrder,
  },
  "combined-steps": {
    parameters: [["count", 1, () => COUNT]],
    domain: (n) => moveCount(n) + 2 * cells(n),
    slots: (count) => count + 2,
    answer: (path, n, count) => {
      const last = path[Math.min(path.length, count + 1) - 1];
      return [[moveCount(n) + path[0]], ...inOrder(path, n, count), [moveCount(n) + cells(n) + last]];
    },
  },
  departure: {
    parameters: [
      ["days", 1, () => 7, (days) => days === 1 || days === 7],
      ["reach", 0, () => 11],
    ],
    domain: (n, days) => 24 * days,
    capacity: (days, { reach }) => 2 * reach + 1,
    answer: (path, n, days, source, trip, { reach }) => {
      if (trip.departure === null) return [[]];
      const hours = hoursOf(trip.departure);
      const day = days === 1 ? 0 : modulo(Math.floor(hours / 24) + 3, 7);
      return [nearby(24 * day + modulo(hours, 24), reach, 24 * days)];
    },
  },
  pace: {
    parameters: [
      ["x_scale", 1, () => 1e12],
      ["y_scale", 1, () => 1e12],
      ["slowest", 1, () => 1e9],
      ["classes", 2, () => 64],
      ["reach", 0, (n, { classes }) => Math.floor((classes - 1) / 2)],
    ],
    domain: (n, _, { classes }) => classes,
    capacity: (_, { reach }) => 2 * reach + 1,
    answer: (path, n, _, source, trip, { x_scale, y_scale, slowest, classes, reach }) => {
      if (trip.departure === null || !(trip.arrival > trip.departure)) return [[]];
      const speed = (way(trip.points, x_scale, y_scale) * 3.6) / (trip.arrival - trip.departure);
      if (!(speed >= 0 && speed < Infinity)) return [[]];
      let item = 0;
      while (item < classes - 1 && speed >= slowest * ROOTS[item % 4] * 2 ** Math.floor(item / 4)) item += 1;
      return [nearby(item, reach, classes)];
    },
  },
  tides: {
    parameters: [["centre", 0, (n) => cells(n) - 1]],
    domain: () => 8,
    answer: (path, n, centre, source, trip) => {
      if (trip.departure === null) return [[]];
      const [before, after] = [path[0], path.at(-1)].map((cell) => distance(cell, centre, n));
      if (before === after) return [[]];
      const part = PART_OF_HOUR[modulo(hoursOf(trip.departure), 24)];
      return [[2 * part + (after > before ? 1 : 0)]];
    },
  },
  trips: {
    domain: () => TRIP_CLASSES.length,
    answer: (path, n, _, source, trip, parameters, trips) => [
      trips > 0 ? [TRIP_CLASSES.filter((first) => first <= trips).length - 1] : [],
    ],
  },
};

/** The question that a document describes, or null if it does not describe one. */
export function question(n, document) {
  const kind = Object.hasOwn(KINDS, document.name) ? KINDS[document.name] : null;
  if (kind === null || typeof document.name !== "string") return null;
  const parameters = kind.parameters ?? [];
  const keys = ["name", ...parameters.map(([name]) => name)];
  if (Object.keys(document).length !== keys.length || !keys.every((key) => Object.hasOwn(document, key))) return null;
  for (const [name, low, high, allowed] of parameters) {
    const given = document[name];
    if (!(Number.isInteger(given) && given >= low && given <= high(n, document) && (allowed?.(given) ?? true))) return null;
  }
  const value = document[parameters[0]?.[0]];
  const slots = kind.slots?.(value) ?? 1;
  return {
    name: document.name,
    aboutTime: ABOUT_TIME.includes(document.name),
    domain: kind.domain(n, value, document),
    capacity: kind.capacity?.(value, document) ?? 1,
    slots,
    answer: ({ trip, trips }, source) =>
      trip.path.length === 0
        ? Array.from({ length: slots }, () => [])
        : kind.answer(trip.path, n, value, source, trip, document, trips),
  };
}
