// Section 9 of the protocol: what this person has said, and what it cost.
// Plans of one root share one budget, which is safe only while all answers are rounds of one chain. A standing plan has
// one row: the phase that was drawn once, the last window, the number of answers.

import { PlanRefused } from "./problems.js";
import { Source } from "./randomness.js";
import { end, latest, shown } from "./standing.js";
import { changing } from "./storage.js";

const KEY = "ldptrace-ledger";
const DECIMAL = /^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/;
// Digits after the point of an epsilon or a limit: sums are integers of this unit.
const DIGITS = 18;

/**
 * A ledger in a storage: a BrowserStorage, or anything with getItem and setItem that only this program uses.
 * `limit` is the most epsilon this person gives away in all plans together, a decimal in a string.
 */
export class Ledger {
  constructor(storage, { limit = "5" } = {}) {
    if (units(limit) === null) throw new Error(`a limit is a decimal with at most ${DIGITS} digits, got ${limit}`);
    this.storage = changing(storage);
    this.limit = limit;
  }

  /** All rounds that were answered. */
  entries() {
    return this.#change((book) => [undefined, book.entries]);
  }

  /** All standing plans that were accepted. */
  standing() {
    return this.#change((book) => [undefined, book.standing]);
  }

  /** Epsilon given away so far, a decimal: every root costs its epsilon once, every answer to a standing plan its own. */
  async spent() {
    return decimal(await this.#change((book) => [undefined, spentUnits(book)]));
  }

  /** The report for this round: the one drawn before, or a new one that is stored before it is returned. */
  answer(plan, round, draw) {
    // One change from reading to writing: two tabs that both found the round open would give two answers.
    return this.#change((book) => {
      const earlier = book.entries.filter((entry) => entry.root === plan.root);
      const known = earlier.find((entry) => entry.round === round);
      if (known !== undefined) {
        if (known.report === null || known.plan !== plan.id) throw new PlanRefused("plan-answered");
        return [undefined, Uint8Array.from(known.report)];
      }
      if (earlier.some((entry) => !plan.chain.includes(entry.plan))) throw new PlanRefused("plan-forked");
      this.#checkLimit(book, earlier.length > 0 ? 0n : units(plan.epsilon));
      const report = draw();
      const entry = { root: plan.root, epsilon: plan.epsilon, plan: plan.id, round, report: Array.from(report) };
      return [{ ...book, entries: [...book.entries, entry] }, report];
    });
  }

  /** Takes part in a standing plan from `now` on. The phase is drawn here, once and never again. */
  accept(plan, now, source = new Source()) {
    return this.#change((book) => {
      const known = book.standing.find((row) => row.plan === plan.id);
      if (known !== undefined) return [undefined, known];
      const { start, every } = plan.standing;
      const phase = source.index(every);
      const accepted = shown(now, plan.standing);
      // Windows that ended before now are over: nothing could be said about them.
      const window = Math.max(-1, Math.floor((accepted - start - phase) / every));
      const row = { plan: plan.id, epsilon: plan.epsilon, phase, accepted, window, answers: 0, report: null };
      return [withRow(book, row), row];
    });
  }

  /** The report about the latest window that has ended by `now`; `draw` gets the row with that window. */
  async answerWindow(plan, now, draw) {
    await this.accept(plan, now);
    return this.#change((book) => {
      const row = book.standing.find((one) => one.plan === plan.id);
      const window = latest(plan.standing, now, row.phase);
      if (window <= row.window) {
        if (row.report !== null) return [undefined, Uint8Array.from(row.report)];
        throw new PlanRefused("plan-not-due", `due at Unix time ${end(plan.standing, row.window + 1, row.phase)}`);
      }
      if (BigInt(row.answers + 1) * units(plan.epsilon) > units(plan.standing.lifetime)) {
        throw new PlanRefused("plan-lifetime");
      }
      this.#checkLimit(book, units(plan.epsilon));
      const due = { ...row, window, answers: row.answers + 1 };
      const report = draw(due);
      return [withRow(book, { ...due, report: Array.from(report) }), report];
    });
  }

  /** The report has arrived: its bytes are forgotten, that it was given is kept. */
  sent(plan, round, window = null) {
    const arrived = (entry) => entry.plan === plan.id && entry.round === round;
    const answered = (row) => row.plan === plan.id && (window === null || row.window === window);
    const forgotten = (list, which) => list.map((one) => (which(one) ? { ...one, report: null } : one));
    return this.#change((book) => [
      { entries: forgotten(book.entries, arrived), standing: forgotten(book.standing, answered) },
    ]);
  }

  #checkLimit(book, cost) {
    if (spentUnits(book) + cost > units(this.limit)) throw new PlanRefused("plan-over-limit");
  }

  /** `work` gets the book and returns [book to keep, result]; undefined keeps what is there. */
  #change(work) {
    return this.storage.change(KEY, (text) => {
      const [book, result] = work(bookIn(text));
      return [book === undefined ? undefined : JSON.stringify({ format: KEY, version: 1, ...book }), result];
    });
  }
}

/** What a ledger's text says. What cannot be read is an error: an empty ledger would spend twice. */
function bookIn(text) {
  if (text === null) return { entries: [], standing: [] };
  const book = JSON.parse(text);
  const known = book?.format === KEY && book.version === 1 && Array.isArray(book.entries) && Array.isArray(book.standing);
  if (!known || !book.entries.every(isEntry) || !book.standing.every(isRow)) throw new Error("the ledger cannot be read");
  return { entries: book.entries, standing: book.standing };
}

function withRow(book, row) {
  const others = book.standing.filter((one) => one.plan !== row.plan);
  return { ...book, standing: [...others, row] };
}

const isReport = (report) =>
  report === null || (Array.isArray(report) && report.every((byte) => Number.isInteger(byte) && byte >= 0 && byte < 256));

function isEntry(entry) {
  const { root, epsilon, plan, round, report } = entry ?? {};
  const named = typeof root === "string" && typeof plan === "string";
  return named && units(epsilon) !== null && Number.isInteger(round) && isReport(report);
}

function isRow(row) {
  const { plan, epsilon, phase, accepted, window, answers, report } = row ?? {};
  const whole = [phase, accepted, window, answers].every(Number.isInteger) && phase >= 0 && answers >= 0;
  return typeof plan === "string" && units(epsilon) !== null && whole && isReport(report);
}

function spentUnits({ entries, standing }) {
  const costs = new Map(entries.map((entry) => [entry.root, units(entry.epsilon)]));
  const given = standing.map((row) => units(row.epsilon) * BigInt(row.answers));
  return [...costs.values(), ...given].reduce((sum, cost) => sum + cost, 0n);
}

/** A decimal as an integer of 10^-18, or null if it is none. */
function units(text) {
  if (typeof text !== "string" || !DECIMAL.test(text)) return null;
  const [whole, digits = ""] = text.split(".");
  return digits.length > DIGITS ? null : BigInt(whole + digits.padEnd(DIGITS, "0"));
}

function decimal(value) {
  const text = value.toString().padStart(DIGITS + 1, "0");
  return `${text.slice(0, -DIGITS)}.${text.slice(-DIGITS)}`.replace(/\.?0+$/, "");
}
