// Section 4 of the protocol: from points to a path on the grid, moves, links, bends, turns and districts.

import { ascending } from "./randomness.js";

const PAD = 0.000001;
const DI = [-1, 0, 1, -1, 1, -1, 0, 1];
const DJ = [1, 1, 1, 0, 0, -1, -1, -1];
const HEADING = [3, 2, 1, 4, 0, 5, 6, 7];

function axis(low, high, n) {
  const origin = low - PAD;
  return { origin, step: (high + PAD - origin) / n };
}

function index(value, { origin, step }, n) {
  const position = (value - origin) / step;
  if (!(position > 0)) return 0;
  if (position >= n) return n - 1;
  const found = Math.trunc(position);
  return found > 0 && value <= origin + step * (found - 1) + step ? found - 1 : found;
}

export const LAST_CLOCK = 1e12;
// Points of a trajectory that a device looks at.
export const MOST_POINTS = 4096;

/** x, y or t of a point as a double, NaN for what is no number: whatever is wrong with it, a device answers. */
export function part(point, place) {
  try {
    const value = point[place];
    return typeof value === "number" || typeof value === "bigint" ? Number(value) : NaN;
  } catch {
    return NaN;
  }
}

/** The points; none where they cannot be had. */
export function listed(points) {
  try {
    return [...points];
  } catch {
    return [];
  }
}

/** At most 4,096 of the points, from the first to the last. */
export function kept(points) {
  if (points.length <= MOST_POINTS) return points;
  const place = (i) => Math.floor((i * (points.length - 1)) / (MOST_POINTS - 1));
  return Array.from({ length: MOST_POINTS }, (_, i) => points[place(i)]);
}

/** Whether this begins with a number. NaN is one. */
function isPoint(item) {
  try {
    return typeof item !== "string" && ["number", "bigint"].includes(typeof item[0]);
  } catch {
    return false;
  }
}

const isRecording = (item) => item !== null && typeof item === "object" && "points" in item && !(Symbol.iterator in item);

/**
 * Trips as { points, arrival }. One trip is given as such an object or as a list of points; a list that holds at least
 * one point is one trip, any other is a list of trips.
 */
export function recordingsOf(trips) {
  if (isRecording(trips)) return [trips];
  const items = listed(trips);
  if (items.some(isPoint)) return [{ points: items }];
  return items.map((item) => (isRecording(item) ? item : { points: item }));
}

/** One of these lists of points, drawn at random, and how many there are. What has no points is no trip. */
export function occasionAmong(trajectories, grid, source) {
  const trips = trajectories.map(listed).filter((points) => points.length > 0);
  if (trips.length === 0) return { trip: tripOf([], grid), trips: 0 };
  return { trip: tripOf(trips[source.index(trips.length)], grid), trips: trips.length };
}

/** A time as the device's clock showed it, or null for what cannot be one. */
export function clock(point) {
  const seconds = part(point, 2);
  return Math.abs(seconds) < LAST_CLOCK ? seconds : null;
}

/** What the questions may look at: cells, points, and the device's clock at both ends where both are known. */
export function tripOf(points, grid) {
  const track = kept(listed(points));
  const [departure, arrival] = [clock(track[0]), clock(track.at(-1))];
  const known = departure !== null && arrival !== null;
  const places = track.map((point) => [part(point, 0), part(point, 1)]);
  return {
    path: cells(places, grid),
    points: places,
    departure: known ? departure : null,
    arrival: known ? arrival : null,
  };
}

/** Unix seconds as this device's own clock shows them: the t of a point. */
export function localSeconds(unix) {
  return unix - 60 * new Date(unix * 1000).getTimezoneOffset();
}

/** Cells of a trajectory of [x, y] points: adjacent, different, outsiders clamped. */
export function cellPath(points, grid) {
  return tripOf(points, grid).path;
}

function cells(places, { bounds, n }) {
  const [x0, y0, x1, y1] = bounds;
  const [x, y] = [axis(x0, x1, n), axis(y0, y1, n)];
  const path = [];
  let i = -1;
  let j = -1;
  for (const place of places) {
    const [i2, j2] = [index(place[0], x, n), index(place[1], y, n)];
    if (path.length === 0) {
      [i, j] = [i2, j2];
      path.push(i * n + j);
    }
    while (i !== i2 || j !== j2) {
      i += Math.sign(i2 - i);
      j += Math.sign(j2 - j);
      path.push(i * n + j);
    }
  }
  return path;
}

export function moveCount(n) {
  return 8 * n * n - 12 * n + 4;
}

function direction(here, there, n) {
  const di = Math.floor(there / n) - Math.floor(here / n);
  const dj = (there % n) - (here % n);
  return DI.findIndex((value, number) => value === di && DJ[number] === dj);
}

/** Directions out of a cell that stay on the grid, ascending. */
function feasible(cell, n) {
  const [i, j] = [Math.floor(cell / n), cell % n];
  return DI.map((_, number) => number).filter(
    (number) => i + DI[number] >= 0 && i + DI[number] < n && j + DJ[number] >= 0 && j + DJ[number] < n,
  );
}

const tables = new Map();

/** For each cell the numbers of its first move, of its first link and of its first bend. */
function table(n) {
  if (!tables.has(n)) {
    const [move, link, bend] = [[0], [0], [0]];
    for (let cell = 0; cell < n * n; cell += 1) {
      const directions = feasible(cell, n);
      move.push(move[cell] + directions.length);
      link.push(link[cell] + directions.filter((number) => DI[number] * n + DJ[number] > 0).length);
      bend.push(bend[cell] + (directions.length * (directions.length + 1)) / 2);
    }
    tables.set(n, { move, link, bend });
  }
  return tables.get(n);
}

/** Number of the move between two adjacent cells. */
export function moveItem(here, there, n) {
  return table(n).move[here] + feasible(here, n).indexOf(direction(here, there, n));
}

/** Number of the link between two adjacent cells. */
export function linkItem(here, there, n) {
  const [low, high] = here < there ? [here, there] : [there, here];
  const upward = feasible(low, n).filter((number) => DI[number] * n + DJ[number] > 0);
  return table(n).link[low] + upward.indexOf(direction(low, high, n));
}

export function bendCount(n) {
  return 36 * n * n - 84 * n + 48;
}

/** Number of two consecutive moves without their direction. */
export function bendItem(before, here, after, n) {
  const directions = feasible(here, n);
  const [low, high] = ascending([before, after].map((cell) => directions.indexOf(direction(here, cell, n))));
  return table(n).bend[here] + (high * (high + 1)) / 2 + low;
}

/** Number of the district that holds a cell. */
export function district(cell, n, districts) {
  return Math.floor((Math.floor(cell / n) * districts) / n) * districts + Math.floor(((cell % n) * districts) / n);
}

/** Angle between two consecutive moves in eighths of a full turn, 0 to 4. */
export function turn(first, second, third, n) {
  const bend = (HEADING[direction(second, third, n)] - HEADING[direction(first, second, n)] + 8) % 8;
  return bend > 4 ? 8 - bend : bend;
}
