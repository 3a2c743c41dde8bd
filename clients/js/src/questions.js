// Section 5 of the protocol: what is asked of a path.

import { linkItem, moveCount, moveItem, turn } from "./grid.js";
import { ascending } from "./randomness.js";

const MOST = 256;
const COUNT = 65536;

const cells = (n) => n * n;
const links = (n) => moveCount(n) / 2;
const steps = (path) => path.slice(1).map((cell, number) => [path[number], cell]);
const moves = (path, n) => steps(path).map(([here, there]) => moveItem(here, there, n));

/** The different items at `most` random positions, ascending. */
function pick(list, most, source) {
  if (list.length <= most) return ascending(new Set(list));
  const positions = source.subset(list.keys(), most);
  return ascending(new Set(positions.map((position) => list[position])));
}

function inOrder(path, n, count) {
  const taken = moves(path.slice(0, count + 1), n).map((item) => [item]);
  return [...taken, ...Array.from({ length: count - taken.length }, () => [])];
}

// parameter: [name, lowest, highest]; domain, capacity and slots from n and the parameter; answer of a path.
const KINDS = {
  length: {
    parameter: ["cap", 2, () => COUNT],
    domain: (n, cap) => cap,
    answer: (path, n, cap) => [[Math.min(path.length, cap) - 1]],
  },
  start: { domain: cells, answer: (path) => [[path[0]]] },
  end: { domain: cells, answer: (path) => [[path.at(-1)]] },
  "cut-end": {
    parameter: ["cells", 1, () => COUNT],
    domain: cells,
    answer: (path, n, count) => [[path[Math.min(path.length, count) - 1]]],
  },
  terminals: {
    domain: cells,
    capacity: () => 2,
    answer: (path) => [ascending(new Set([path[0], path.at(-1)]))],
  },
  visits: {
    parameter: ["most", 1, (n) => Math.min(cells(n), MOST)],
    domain: cells,
    capacity: (most) => most,
    answer: (path, n, most, source) => [pick(path, most, source)],
  },
  moves: {
    parameter: ["most", 1, (n) => Math.min(moveCount(n), MOST)],
    domain: moveCount,
    capacity: (most) => most,
    answer: (path, n, most, source) => [pick(moves(path, n), most, source)],
  },
  links: {
    parameter: ["most", 1, (n) => Math.min(links(n), MOST)],
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
  steps: {
    parameter: ["count", 1, () => COUNT],
    domain: moveCount,
    slots: (count) => count,
    answer: inOrder,
  },
  "combined-steps": {
    parameter: ["count", 1, () => COUNT],
    domain: (n) => moveCount(n) + 2 * cells(n),
    slots: (count) => count + 2,
    answer: (path, n, count) => {
      const last = path[Math.min(path.length, count + 1) - 1];
      return [[moveCount(n) + path[0]], ...inOrder(path, n, count), [moveCount(n) + cells(n) + last]];
    },
  },
};

/** The question that a document describes, or null if it does not describe one. */
export function question(n, document) {
  const kind = Object.hasOwn(KINDS, document.name) ? KINDS[document.name] : null;
  if (kind === null || typeof document.name !== "string") return null;
  const [name, low, high] = kind.parameter ?? [];
  const keys = name === undefined ? ["name"] : ["name", name];
  if (Object.keys(document).length !== keys.length || !keys.every((key) => Object.hasOwn(document, key))) return null;
  const value = document[name];
  if (name !== undefined && !(Number.isInteger(value) && value >= low && value <= high(n))) return null;
  const slots = kind.slots?.(value) ?? 1;
  return {
    name: document.name,
    domain: kind.domain(n, value),
    capacity: kind.capacity?.(value) ?? 1,
    slots,
    answer: (path, source) =>
      path.length === 0 ? Array.from({ length: slots }, () => []) : kind.answer(path, n, value, source),
  };
}
