// What a device makes of trips, in sentences for the developer or the person. Nothing is drawn, stored, spent or sent: a
// device answers for any trips, so mistakes in a program that hands over trips stay unseen in its reports.

import { clock, kept, LAST_CLOCK, listed, MOST_POINTS, part } from "./grid.js";
import { dated, eligible, end, latest } from "./standing.js";

const GEOGRAPHIC = ["EPSG:4326", "OGC:CRS84"];
// The smallest and largest degrees.
const DEGREES = [-180, -90, 180, 90];
// The last second of the year 9999.
const LAST_DATE = 253402300799;

/** `known` is what the ledger says of this plan: { entries, row }. */
export function checkTrips(plan, round, recordings, { entries, row }, now) {
  const tracks = recordings.map(trackOf);
  const full = tracks.filter((track) => track.size > 0);
  const lines = [...sizes(tracks, full), ...places(full, plan)];
  if (plan.rounds[round].asks.some((ask) => ask.question.aboutTime)) lines.push(...times(full));
  if (plan.standing === null) return [...lines, ...earlier(entries, plan, round), outcome(full.length)];
  return [...lines, ...arrivals(full), ...windows(plan.standing, row, full, now)];
}

function trackOf({ points, arrival }) {
  const all = listed(points);
  return { points: kept(all).map((point) => [0, 1, 2].map((axis) => part(point, axis))), size: all.length, arrival };
}

/** A line about some of many; none where there are none. */
const share = (label, number, whole) => (number === 0 ? [] : [`${label}: ${number} of ${whole}.`]);
const count = (list, which) => list.filter(which).length;
const inside = ([x, y], [x0, y0, x1, y1]) => x0 <= x && x <= x1 && y0 <= y && y <= y1;

function sizes(tracks, full) {
  const points = tracks.reduce((sum, track) => sum + track.size, 0);
  const large = count(full, (track) => track.size > MOST_POINTS);
  return [
    `Trips: ${tracks.length}, with ${points} point${points === 1 ? "" : "s"}.`,
    ...share("Trips without points, which do not count", tracks.length - full.length, tracks.length),
    ...share(`Trips with more than ${MOST_POINTS} points, of which ${MOST_POINTS} are used`, large, tracks.length),
  ];
}

function places(full, plan) {
  const box = plan.grid.bounds;
  const all = full.flatMap((track) => track.points);
  const readable = all.filter(([x, y]) => !Number.isNaN(x) && !Number.isNaN(y));
  const outside = readable.filter((point) => !inside(point, box));
  const [x0, y0, x1, y1] = box.map(general);
  return [
    ...share("Points whose x or y is no number, which count as the lowest x or y of the bounds", all.length - readable.length, all.length),
    ...share(`Points outside the bounds (${x0}, ${y0}) to (${x1}, ${y1}), which count for the nearest cell`, outside.length, all.length),
    ...(outside.length > 0 && outside.length === readable.length ? [elsewhere(outside, plan)] : []),
  ];
}

/** Why all points may be outside. */
function elsewhere(points, plan) {
  const box = plan.grid.bounds;
  if (points.every(([x, y]) => inside([y, x], box))) {
    return "All points are outside, and all would be inside with x and y exchanged: x (the longitude or the easting) comes first.";
  }
  if (GEOGRAPHIC.includes(plan.crs) && !points.some((point) => inside(point, DEGREES))) {
    return "All points are outside: the bounds are in degrees, the points are not.";
  }
  const small = inside(box.slice(0, 2), DEGREES) && inside(box.slice(2), DEGREES);
  if (!small && points.every((point) => inside(point, DEGREES))) {
    return "All points are outside: they look like degrees, and the bounds are in other units.";
  }
  return "All points are outside: the trips are from another area than the plan, or in other coordinates.";
}

function times(full) {
  const ends = full.map(({ points }) => [points[0], points.at(-1)]);
  const label = "Trips without a time at the first or the last point (the plan asks about time; t is in local seconds)";
  return [
    ...share(label, count(ends, (pair) => pair.some((point) => clock(point) === null)), full.length),
    ...milliseconds("times", ends.flat().map((point) => point[2])),
    ...share("Trips that end before they begin", count(ends, ([first, last]) => first[2] > last[2]), full.length),
  ];
}

function arrivals(full) {
  const found = full.map(({ arrival }) => (typeof arrival === "number" ? arrival : NaN));
  const label = "Trips without an arrival (the Unix time at which the trip ended), which belong to no window";
  return [...share(label, count(found, (arrival) => !dated(arrival)), full.length), ...milliseconds("arrivals", found)];
}

function milliseconds(what, values) {
  if (!values.some((value) => Number.isFinite(value) && Math.abs(value) >= LAST_CLOCK)) return [];
  return [`Some ${what} are so large that they seem to be milliseconds; they count as unknown.`];
}

function windows(standing, row, full, now) {
  if (row === undefined) return ["The plan was not accepted yet: the first call accepts it, and answers nothing."];
  const last = latest(standing, now, row.phase);
  const window = Math.max(last, row.window + 1);
  const to = end(standing, window, row.phase);
  const recent = eligible(standing, full.map((track) => track.arrival), { ...row, window }).length;
  const from = moment(Math.max(to - standing.recent, row.accepted));
  const span = `Trips that arrived after ${from} and not after ${moment(to)}: ${recent} of ${full.length}.`;
  if (last > row.window) return ["An answer is due now.", span, outcome(recent)];
  const lines = [`No answer is due before ${moment(to)}.`, span];
  return row.report === null ? lines : [...lines, "The last report was not sent: its bytes are returned again."];
}

function earlier(entries, plan, round) {
  const known = entries.find((entry) => entry.root === plan.root && entry.round === round);
  if (known === undefined) return [];
  return known.report === null || known.plan !== plan.id
    ? ["This round was answered: the device refuses to answer it again."]
    : ["This round was answered: the device returns the same bytes, whatever these trips are."];
}

function outcome(trips) {
  if (trips === 0) return "The answer says that there is no trip, in a report that looks like any other.";
  if (trips === 1) return "The answer is about this one trip.";
  return `The answer is about one of ${trips} trips, which is drawn at random.`;
}

/** A Unix time for people. */
export function moment(unix) {
  return unix > LAST_DATE ? `Unix time ${unix}` : new Date(1000 * unix).toISOString().replace(".000Z", "Z");
}

/** A number with six digits, as `%g` writes it. */
export function general(value) {
  if (value === 0) return "0";
  const [digits, power] = value.toExponential(5).split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(Number(value.toPrecision(6)));
  const sign = exponent < 0 ? "-" : "+";
  return `${Number(digits)}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
