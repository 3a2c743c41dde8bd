// Section 9 of the protocol: what this person has said, and what it cost.

import { fraction } from "./exact.js";
import { PlanRefused } from "./problems.js";

const KEY = "ldptrace-ledger";

/**
 * A ledger in a storage with getItem and setItem, such as localStorage.
 * `limit` is the most epsilon this person gives away in all plans together, a decimal in a string.
 */
export class Ledger {
  constructor(storage, { limit = "5" } = {}) {
    this.storage = storage;
    this.limit = limit;
  }

  get entries() {
    const text = this.storage.getItem(KEY);
    if (text === null || text === undefined) return [];
    const book = JSON.parse(text);
    if (book.format !== KEY || book.version !== 1 || !Array.isArray(book.entries)) {
      throw new Error("the ledger cannot be read; nothing is sent");
    }
    return book.entries;
  }

  /** The report for this round: the one drawn before, or a new one that is stored before it is returned. */
  answer(plan, round, draw) {
    const entries = this.entries;
    const known = entries.find((entry) => entry.root === plan.root && entry.round === round);
    if (known !== undefined) {
      if (known.report === null || known.plan !== plan.id) throw new PlanRefused("plan-answered");
      return Uint8Array.from(known.report);
    }
    const costs = new Map(entries.map((entry) => [entry.root, entry.epsilon]));
    costs.set(plan.root, plan.epsilon);
    if (exceeds([...costs.values()], this.limit)) throw new PlanRefused("plan-over-limit");
    const report = draw();
    const entry = { root: plan.root, epsilon: plan.epsilon, plan: plan.id, round, report: Array.from(report) };
    this.#write([...entries, entry]);
    return report;
  }

  /** The report has arrived: its bytes are forgotten, that it was given is kept. */
  sent(plan, round) {
    this.#write(
      this.entries.map((entry) =>
        entry.plan === plan.id && entry.round === round ? { ...entry, report: null } : entry,
      ),
    );
  }

  #write(entries) {
    this.storage.setItem(KEY, JSON.stringify({ format: KEY, version: 1, entries }));
  }
}

/** Whether decimals add up to more than a limit, exactly. */
function exceeds(decimals, limit) {
  const unit = 10n ** 40n;
  const scaled = (text) => {
    const [numerator, denominator] = fraction(text);
    return (numerator * unit) / denominator;
  };
  return decimals.map(scaled).reduce((sum, value) => sum + value, 0n) > scaled(limit);
}
