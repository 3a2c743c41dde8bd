// Section 9 of the protocol: what this person has said, and what it cost.
// Plans of one root share one budget, which is safe only while all answers are rounds of one chain. A standing plan has
// one row: the phase that was drawn once, the last window, the number of answers. A shuffled answer costs its central
// epsilon and its delta; its eps0 counts in a second sum, for the case that shuffler and curator work together.

import { PlanRefused } from "./problems.js";
import { Source } from "./randomness.js";
import { end, latest, shown } from "./standing.js";
import { changing } from "./storage.js";

const KEY = "ldptrace-ledger";
const DECIMAL = /^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/;
// Digits after the point of an epsilon or a limit: sums are integers of this unit.
const DIGITS = 18;
const LOCAL_LIMIT = "30";
const MOST_DELTA = "0.00001";

/**
 * A ledger in a storage: a BrowserStorage, or anything with getItem and setItem that only this program uses.
 * `limit` is the most epsilon this person gives away in all plans together, a decimal in a string. For shuffled plans:
 * `localLimit` is the same if shuffler and curator work together (30, or the limit if that is larger), `mostLocal` that
 * of one answer; `shuffled` says whether they are answered at all.
 */
export class Ledger {
  constructor(storage, { limit = "5", localLimit = null, mostLocal = "6", shuffled = true } = {}) {
    for (const given of [limit, localLimit ?? LOCAL_LIMIT, mostLocal]) {
      if (units(given) === null) throw new Error(`a limit is a decimal with at most ${DIGITS} digits, got ${given}`);
    }
    this.storage = changing(storage);
    this.limit = limit;
    this.localLimit = localLimit ?? (units(limit) > units(LOCAL_LIMIT) ? limit : LOCAL_LIMIT);
    this.mostLocal = mostLocal;
    this.shuffled = shuffled;
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
    return (await this.cost()).spent;
  }

  /** The same as `spent`, with `delta`, and `local`: the sum of epsilon if shuffler and curator work together. */
  async cost() {
    const { central, delta, local } = await this.#change((book) => [undefined, costOf(book)]);
    return { spent: decimal(central), delta: decimal(delta), local: decimal(local) };
  }

  /** The report to this plan that was not sent yet, and its window (null without windows); null if there is none. */
  waiting(plan) {
    return this.#change((book) => {
      const row = book.standing.find((one) => one.plan === plan.id);
      const found = row ?? book.entries.findLast((entry) => entry.plan === plan.id && entry.report !== null);
      if (!found || found.report === null) return [undefined, null];
      return [undefined, { report: Uint8Array.from(found.report), round: found.round ?? 0, window: row?.window ?? null }];
    });
  }

  /**
   * The report for this round: the one drawn before, or a new one that is stored before it is returned. `sealed` turns a
   * report into the bytes that are sent and stored, where the plan is shuffled.
   */
  answer(plan, round, draw, sealed = null) {
    return this.#settle((book) => {
      this.#checkWanted(plan);
      const earlier = book.entries.filter((entry) => entry.root === plan.root);
      const known = earlier.find((entry) => entry.round === round);
      if (known !== undefined) {
        if (known.report === null || known.plan !== plan.id) throw new PlanRefused("plan-answered");
        return { bytes: Uint8Array.from(known.report) };
      }
      if (earlier.some((entry) => !plan.chain.includes(entry.plan))) throw new PlanRefused("plan-forked");
      this.#checkMost(plan);
      this.#check(book, earlier.length > 0 ? FREE : answerCost(plan));
      const entry = { root: plan.root, epsilon: plan.epsilon, plan: plan.id, round, ...promised(plan) };
      return { due: null, kept: (report) => ({ ...book, entries: [...book.entries, { ...entry, report: Array.from(report) }] }) };
    }, draw, sealed);
  }

  /** Takes part in a standing plan from `now` on. The phase is drawn here, once and never again. */
  accept(plan, now, source = new Source()) {
    return this.#change((book) => {
      this.#checkWanted(plan);
      const known = book.standing.find((row) => row.plan === plan.id);
      if (known !== undefined) return [undefined, known];
      const total = totalOf(plan);
      if (total !== null) {
        this.#checkMost(plan);
        this.#check(book, { ...FREE, local: total });
      }
      const { start, every } = plan.standing;
      const phase = source.index(every);
      const accepted = shown(now, plan.standing);
      // Windows that ended before now are over: nothing could be said about them.
      const window = Math.max(-1, Math.floor((accepted - start - phase) / every));
      const row = { plan: plan.id, epsilon: plan.epsilon, phase, accepted, window, answers: 0, report: null, ...promised(plan) };
      if (total !== null) row.total = decimal(total);
      return [withRow(book, row), row];
    });
  }

  /** The report about the latest window that has ended by `now`; `draw` gets the row with that window. */
  async answerWindow(plan, now, draw, sealed = null) {
    await this.accept(plan, now);
    return this.#settle((book) => {
      this.#checkWanted(plan);
      const row = book.standing.find((one) => one.plan === plan.id);
      const window = latest(plan.standing, now, row.phase);
      if (window <= row.window) {
        if (row.report !== null) return { bytes: Uint8Array.from(row.report) };
        throw new PlanRefused("plan-not-due", `due at Unix time ${end(plan.standing, row.window + 1, row.phase)}`);
      }
      if (BigInt(row.answers + 1) * units(plan.epsilon) > units(plan.standing.lifetime)) {
        throw new PlanRefused("plan-lifetime");
      }
      this.#checkMost(plan);
      this.#check(book, answerCost(plan));
      const due = { ...row, window, answers: row.answers + 1 };
      return { due, kept: (report) => withRow(book, { ...due, report: Array.from(report) }) };
    }, draw, sealed);
  }

  /**
   * `decide` finds the bytes that were given before, or what is due. One change from reading to writing: two tabs that both
   * found the round open would give two answers. A report is sealed between two changes, because sealing takes its time;
   * the second change stores it only if what is due is still the same.
   */
  async #settle(decide, draw, sealed) {
    if (sealed === null) {
      return this.#change((book) => {
        const { bytes, due, kept } = decide(book);
        if (bytes !== undefined) return [undefined, bytes];
        const report = draw(due);
        return [kept(report), report];
      });
    }
    for (;;) {
      const first = await this.#change((book) => [undefined, decide(book)]);
      if (first.bytes !== undefined) return first.bytes;
      const report = await sealed(draw(first.due), first.due?.window ?? null);
      const found = await this.#change((book) => {
        const { bytes, due, kept } = decide(book);
        if (bytes !== undefined) return [undefined, bytes];
        return due?.window === first.due?.window ? [kept(report), report] : [undefined, null];
      });
      if (found !== null) return found;
    }
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

  #checkWanted(plan) {
    if (plan.shuffled !== null && !this.shuffled) throw new PlanRefused("plan-not-wanted");
  }

  #checkMost(plan) {
    if (plan.shuffled !== null && units(plan.epsilon) > units(this.mostLocal)) throw new PlanRefused("plan-over-limit");
  }

  #check(book, cost) {
    const spent = costOf(book);
    const over = (name, limit) => spent[name] + cost[name] > units(limit);
    if (over("central", this.limit) || over("delta", MOST_DELTA) || over("local", this.localLimit)) {
      throw new PlanRefused("plan-over-limit");
    }
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

const isPromise = ({ central, delta, total }) =>
  central === undefined
    ? delta === undefined && total === undefined
    : [central, delta, ...(total === undefined ? [] : [total])].every((text) => units(text) !== null);

function isEntry(entry) {
  const { root, epsilon, plan, round, report } = entry ?? {};
  const named = typeof root === "string" && typeof plan === "string";
  return named && units(epsilon) !== null && Number.isInteger(round) && isReport(report) && isPromise(entry);
}

function isRow(row) {
  const { plan, epsilon, phase, accepted, window, answers, report } = row ?? {};
  const whole = [phase, accepted, window, answers].every(Number.isInteger) && phase >= 0 && answers >= 0;
  return typeof plan === "string" && units(epsilon) !== null && whole && isReport(report) && isPromise(row);
}

const FREE = { central: 0n, delta: 0n, local: 0n };

/** What an entry or a row holds of the central promise of a plan. */
const promised = ({ shuffled }) => (shuffled === null ? {} : { central: shuffled.epsilon, delta: shuffled.delta });

/** What one answer costs; eps0 of a standing shuffled plan is counted at acceptance. */
function answerCost({ epsilon, shuffled, standing }) {
  const local = shuffled !== null && standing !== null ? 0n : units(epsilon);
  return { central: units(shuffled?.epsilon ?? epsilon), delta: units(shuffled?.delta ?? "0"), local };
}

/** Epsilon of all answers that the lifetime of a standing shuffled plan allows, if shuffler and curator work together. */
function totalOf({ epsilon, shuffled, standing }) {
  return shuffled === null ? null : (units(standing.lifetime) / units(epsilon)) * units(epsilon);
}

function costOf({ entries, standing }) {
  const costs = new Map(entries.map((entry) => [entry.root, costOfAnswers(entry, 1n)]));
  const given = standing.map((row) => costOfAnswers(row, BigInt(row.answers)));
  return [...costs.values(), ...given].reduce((sum, cost) => ({
    central: sum.central + cost.central,
    delta: sum.delta + cost.delta,
    local: sum.local + cost.local,
  }), FREE);
}

function costOfAnswers({ epsilon, central = epsilon, delta = "0", total }, answers) {
  const local = total === undefined ? units(epsilon) * answers : units(total);
  return { central: units(central) * answers, delta: units(delta) * answers, local };
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
