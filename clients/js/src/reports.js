// Sections 8 and 10 of the protocol: the bytes of a report, and reading them again.

import { PROBLEMS, ReportRejected } from "./problems.js";

export const HEADER_BYTES = 39;
export const ID_BYTES = 16;
// First bytes of the fields of a header.
const [PLAN, ROUND, GROUP, WINDOW, ID] = [1, 17, 18, 19, 23];
const PLAN_BYTES = 16;

export const hexBytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** The asks that a member of this group answers. */
export function askedOf(round, group) {
  return round.assignment === "everyone" ? round.asks : [round.asks[group]];
}

/** A report from its parts; the payload is filled up with zeros. */
export function assemble(plan, number, { group, window, id, payload }) {
  const report = new Uint8Array(HEADER_BYTES + plan.rounds[number].payloadBytes);
  report[0] = plan.version;
  report.set(hexBytes(plan.id).subarray(0, PLAN_BYTES), PLAN);
  report[ROUND] = number;
  report[GROUP] = group;
  view(report).setUint32(WINDOW, window);
  report.set(id, ID);
  let position = HEADER_BYTES;
  for (const piece of payload) {
    report.set(piece, position);
    position += piece.length;
  }
  return report;
}

const view = (report) => new DataView(report.buffer, report.byteOffset, report.byteLength);

/** The window that a report of a standing plan answers. */
export const windowOf = (report) => view(report).getUint32(WINDOW);

/**
 * What a report names, ask by ask and slot by slot; throws ReportRejected with the first problem. Of a standing plan
 * reports of one `window` are read, or with null those of any.
 */
export function readReport(report, plan, number, window = null) {
  const round = plan.rounds[number];
  if (report.length > 0 && report[0] !== plan.version) throw new ReportRejected("unknown-version");
  if (report.length < HEADER_BYTES) throw new ReportRejected("wrong-size");
  if (hexBytes(plan.id).subarray(0, PLAN_BYTES).some((byte, at) => report[PLAN + at] !== byte)) {
    throw new ReportRejected("wrong-plan");
  }
  if (report[ROUND] !== number) throw new ReportRejected("wrong-round");
  if (report.length !== HEADER_BYTES + round.payloadBytes) throw new ReportRejected("wrong-size");
  const wanted = plan.standing === null ? 0 : window;
  if (wanted !== null && windowOf(report) !== wanted) throw new ReportRejected("wrong-window");
  const group = report[GROUP];
  if (group >= (round.assignment === "everyone" ? 1 : round.asks.length)) throw new ReportRejected("unknown-group");
  const asks = askedOf(round, group);
  const used = asks.reduce((sum, ask) => sum + ask.question.slots * ask.randomizer.payloadBytes, HEADER_BYTES);
  if (report.subarray(used).some((byte) => byte !== 0)) throw new ReportRejected("bad-padding");
  let position = HEADER_BYTES;
  return asks.map((ask) => {
    const slots = [];
    for (let slot = 0; slot < ask.question.slots; slot += 1) {
      const size = ask.randomizer.payloadBytes;
      const named = ask.randomizer.decode(report.subarray(position, position + size));
      if (named === null) throw new ReportRejected("bad-payload");
      position += size;
      slots.push(named);
    }
    return { ask, slots };
  });
}

/** Counts of a batch, and for each of its reports the number of its problem (0: counted). */
export function tally(batch, plan, number, window = null) {
  const round = plan.rounds[number];
  const counts = round.asks.map((ask) => new Array(ask.randomizer.outputs).fill(0));
  const users = round.asks.map(() => 0);
  const [seen, problems] = [new Set(), []];
  const size = HEADER_BYTES + round.payloadBytes;
  for (let start = 0; start < batch.length; start += size) {
    const report = batch.subarray(start, start + size);
    try {
      const answers = readReport(report, plan, number, window);
      const id = report.subarray(ID, ID + ID_BYTES).join();
      if (seen.has(id)) throw new ReportRejected("duplicate");
      seen.add(id);
      for (const { ask, slots } of answers) {
        const place = round.asks.indexOf(ask);
        users[place] += 1;
        for (const item of slots.flat()) counts[place][item] += 1;
      }
      problems.push(0);
    } catch (error) {
      if (!(error instanceof ReportRejected)) throw error;
      problems.push(PROBLEMS[error.problem.code].number);
    }
  }
  const asks = round.asks.map((ask, place) => ({
    counts: counts[place],
    reports: users[place] * ask.question.slots,
    users: users[place],
  }));
  return { problems, tally: { asks, format: "ldptrace-tally", plan: plan.id, round: number, version: 1, window } };
}
