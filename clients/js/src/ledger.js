// Section 9 of the protocol: what this person has said, and what it cost.
// Plans of one root share one budget, which is safe only while all answers are rounds of one chain.

import { PlanRefused } from "./problems.js";
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

  /** All answers that were given. */
  entries() {
    return this.storage.change(KEY, (text) => [undefined, entriesIn(text)]);
  }

  /** Epsilon given away so far, a decimal: every root costs its epsilon once. */
  async spent() {
    return decimal(spentUnits(await this.entries()));
  }

  /** The report for this round: the one drawn before, or a new one that is stored before it is returned. */
  answer(plan, round, draw) {
    // One change from reading to writing: two tabs that both found the round open would give two answers.
    return this.storage.change(KEY, (text) => {
      const entries = entriesIn(text);
      const earlier = entries.filter((entry) => entry.root === plan.root);
      const known = earlier.find((entry) => entry.round === round);
      if (known !== undefined) {
        if (known.report === null || known.plan !== plan.id) throw new PlanRefused("plan-answered");
        return [undefined, Uint8Array.from(known.report)];
      }
      if (earlier.some((entry) => !plan.chain.includes(entry.plan))) throw new PlanRefused("plan-forked");
      const cost = earlier.length > 0 ? 0n : units(plan.epsilon);
      if (spentUnits(entries) + cost > units(this.limit)) throw new PlanRefused("plan-over-limit");
      const report = draw();
      const entry = { root: plan.root, epsilon: plan.epsilon, plan: plan.id, round, report: Array.from(report) };
      return [textOf([...entries, entry]), report];
    });
  }

  /** The report has arrived: its bytes are forgotten, that it was given is kept. */
  sent(plan, round) {
    const arrived = (entry) => entry.plan === plan.id && entry.round === round;
    return this.storage.change(KEY, (text) => [
      textOf(entriesIn(text).map((entry) => (arrived(entry) ? { ...entry, report: null } : entry))),
    ]);
  }
}

/** The answers in a ledger's text. What cannot be read is an error: an empty ledger would spend twice. */
function entriesIn(text) {
  if (text === null) return [];
  const book = JSON.parse(text);
  const known = book?.format === KEY && book.version === 1 && Array.isArray(book.entries);
  if (!known || !book.entries.every(isEntry)) throw new Error("the ledger cannot be read");
  return book.entries;
}

const textOf = (entries) => JSON.stringify({ format: KEY, version: 1, entries });

function isEntry(entry) {
  const { root, epsilon, plan, round, report } = entry ?? {};
  const bytes = report === null || (Array.isArray(report) && report.every((byte) => byte >= 0 && byte < 256));
  return typeof root === "string" && units(epsilon) !== null && typeof plan === "string" && Number.isInteger(round) && bytes;
}

function spentUnits(entries) {
  const costs = new Map(entries.map((entry) => [entry.root, units(entry.epsilon)]));
  return [...costs.values()].reduce((sum, cost) => sum + cost, 0n);
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
