// A standing campaign for one person: whether they take part, what they have given, and when the next answer is due.

import { end, latest } from "./client/src/standing.js";

const now = () => Date.now() / 1000;

/** What the ledger says of a standing plan, whose lifetime allows `most` answers. `window` is the one that is due now, null where none is. */
export async function standingState(ledger, plan) {
  const row = (await ledger.standing()).find((one) => one.plan === plan.id);
  const room = (units, each = plan.epsilon) => Math.floor(units / Number(each) + 1e-9);
  // What is left of the campaign's lifetime, or of the person's own limit.
  const given = row?.answers ?? 0;
  const most = room(Number(plan.standing.lifetime));
  const left = Math.min(most - given, room(Number(ledger.limit) - Number(await ledger.spent()), plan.shuffled?.epsilon));
  if (row === undefined) return { accepted: false, answers: 0, left, most, window: null };
  const last = latest(plan.standing, now(), row.phase);
  const due = last > row.window && left > 0;
  const to = end(plan.standing, due ? last : row.window + 1, row.phase);
  return {
    accepted: true,
    answers: row.answers,
    left,
    waiting: row.report !== null,
    window: due ? last : null,
    from: Math.max(to - plan.standing.recent, row.accepted),
    to,
  };
}

/** A trip that is drawn on the map is one of the time that is asked for. */
export const drawnNow = (trips, own) => trips.map(({ points }) => ({ points, arrival: own.to }));

/** The trips that arrived in the time that is asked for. */
export const asked = (trips, own) => trips.filter(({ arrival }) => arrival > own.from && arrival <= own.to);
