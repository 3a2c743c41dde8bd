// Sections 3.5 and 9.2 of the protocol: windows of a standing plan, in whole seconds of Unix time.

import { LAST_CLOCK } from "./grid.js";

export const MAX_WINDOW = 2 ** 32 - 1;
// Arrivals below this are times of a day without a date.
const UNDATED = 172800;

/** Whole seconds of a clock; start - 1 for a clock that is broken. */
export function shown(now, standing) {
  return typeof now === "number" && Math.abs(now) < LAST_CLOCK ? Math.floor(now) : standing.start - 1;
}

/** Unix time at which this window of a device ends. */
export const end = (standing, window, phase) => standing.start + window * standing.every + phase;

/** The last window that has ended when the clock shows `now`; -1 where none has. */
export function latest(standing, now, phase) {
  const window = Math.floor((shown(now, standing) - standing.start - phase) / standing.every);
  return window >= 0 && window <= MAX_WINDOW ? window : -1;
}

/** Whether an arrival can be a Unix time: neither broken nor a time of a day without a date. */
export const dated = (arrival) =>
  typeof arrival === "number" && Math.abs(arrival) < LAST_CLOCK && Math.abs(arrival) >= UNDATED;

/** Places of the arrivals that this window may be answered about. Each belongs to one window at most. */
export function eligible(standing, arrivals, { window, phase, accepted }) {
  const last = end(standing, window, phase);
  const first = Math.max(last - standing.recent, accepted);
  return arrivals.flatMap((arrival, place) =>
    dated(arrival) && arrival > first && arrival <= last ? [place] : [],
  );
}
