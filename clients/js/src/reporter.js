// Section 8 and 9 of the protocol: plan + trajectories -> report.

import { checkTrips } from "./checks.js";
import { occasionAmong, recordingsOf } from "./grid.js";
import { Ledger } from "./ledger.js";
import { PlanRefused } from "./problems.js";
import { Source } from "./randomness.js";
import { askedOf, assemble, ID_BYTES } from "./reports.js";
import { boundInfo, labelBytes, seal } from "./seals.js";
import { send } from "./sending.js";
import { eligible } from "./standing.js";

const SHARES = 65536;
const HOUR = 3600;
const systemNow = () => Date.now() / 1000;

/**
 * Answers the rounds of one plan, or the windows of a standing one. `ledger` is a Ledger, or the word "none": then every
 * call is a fresh draw, for measurements only.
 */
export class Reporter {
  constructor(plan, { ledger, crs = null } = {}) {
    if (ledger !== "none" && !(ledger instanceof Ledger)) {
      throw new Error('a reporter needs a Ledger, or the word "none" for measurements');
    }
    if (plan.rounds.some((round) => !round.padded)) throw new PlanRefused("plan-not-private");
    if (crs !== null && plan.crs !== null && crs !== plan.crs) throw new PlanRefused("plan-other-coordinates");
    this.plan = plan;
    this.ledger = ledger === "none" ? null : ledger;
  }

  /**
   * The bytes to send; of a shuffled plan the sealed report. `trips` is a list of all trips of the person, of which one is drawn at random; a list of points is
   * one trip. A trip is a list of [x, y] or [x, y, t] points, or { points, arrival }. Any trips are answered; `check`
   * says what they are taken for. The newest round, if none is named.
   *
   * A standing plan is answered for the latest window that has ended at the Unix time `now`, about a trip whose arrival,
   * the Unix time of its last point, recorded once, is recent; `plan-not-due` if it was answered. The first call accepts
   * the plan.
   */
  async report(trips, round = this.plan.rounds.length - 1, now = systemNow()) {
    const { plan } = this;
    this.#checkRound(round);
    const sealed = plan.shuffled === null ? null : (report, window) => this.#seal(report, window);
    if (plan.standing !== null) {
      return this.#neededLedger().answerWindow(plan, now, (row) => this.#ofWindow(trips, row), sealed);
    }
    const fresh = () => this.drawAbout(occasionAmong(recordingsOf(trips).map(({ points }) => points), plan.grid, new Source()), round);
    if (this.ledger === null) return sealed === null ? fresh() : sealed(fresh(), null);
    return this.ledger.answer(plan, round, fresh, sealed);
  }

  /** What leaves the device of a shuffled plan: the report, encrypted for the curator and bound to its window. */
  #seal(report, window) {
    const { id, shuffled } = this.plan;
    return seal(shuffled.key, boundInfo(id), labelBytes(window), report);
  }

  /** What the device would make of these trips, in sentences: nothing is drawn, stored, spent or sent. */
  async check(trips, round = this.plan.rounds.length - 1, now = systemNow()) {
    const { plan, ledger } = this;
    this.#checkRound(round);
    const entries = (await ledger?.entries()) ?? [];
    const row = (await ledger?.standing())?.find((one) => one.plan === plan.id);
    return checkTrips(plan, round, recordingsOf(trips), { entries, row }, now);
  }

  /** Takes part in a standing plan from `now` on, a Unix time: its phase is drawn and stored, once. */
  accept(now = systemNow()) {
    return this.#neededLedger().accept(this.plan, now);
  }

  #checkRound(round) {
    if (!Number.isInteger(round) || round < 0 || round >= this.plan.rounds.length) {
      throw new PlanRefused("plan-no-such-round");
    }
  }

  #ofWindow(trips, row) {
    const { plan } = this;
    const recordings = recordingsOf(trips);
    const arrivals = recordings.map(({ arrival }) => arrival);
    const recent = eligible(plan.standing, arrivals, row).map((place) => recordings[place].points);
    return this.drawAbout(occasionAmong(recent, plan.grid, new Source()), 0, new Source(), row.window);
  }

  #neededLedger() {
    if (this.ledger === null) throw new Error("a standing plan needs a ledger: it holds the phase and what was answered");
    return this.ledger;
  }

  /**
   * Seconds to wait before sending, drawn anew for every report and without regard to trips. At most `most`; by default
   * an hour, or in a standing plan its grace: how long a finished report may take to arrive.
   */
  delay(most = this.plan.standing?.grace ?? HOUR) {
    return new Source().index(most + 1);
  }

  /**
   * Sends a report, after `delay()` seconds, and tells the ledger if it arrived: a direct plan to the campaign at `url`,
   * a shuffled one to the shuffler that it names, and never to anybody else. Whether it arrived, and the server's answer.
   */
  send(report, options) {
    return send(this, report, options);
  }

  /** Tells the ledger that the report arrived; of a standing plan that of this window, or the last one. */
  async sent(round = this.plan.rounds.length - 1, window = null) {
    await this.ledger?.sent(this.plan, round, window);
  }

  /** A fresh report about one trajectory from this source of randomness. */
  draw(points, number, source = new Source()) {
    return this.drawAbout(occasionAmong([points], this.plan.grid, source), number, source);
  }

  /** A fresh report about an occasion: a trip, and how many there were. */
  drawAbout(occasion, number, source = new Source(), window = 0) {
    const round = this.plan.rounds[number];
    const id = source.take(ID_BYTES);
    const group = groupOf(round, source);
    const payload = askedOf(round, group).flatMap(({ question, randomizer }) =>
      question.answer(occasion, source).map((items) => randomizer.encode(randomizer.perturb(items, source))),
    );
    return assemble(this.plan, number, { group, window, id, payload });
  }
}

/** The number of the ask to answer, drawn by the shares without looking at the trajectory. */
function groupOf(round, source) {
  if (round.assignment === "everyone") return 0;
  let drawn = source.index(SHARES);
  let group = 0;
  for (; drawn >= round.asks[group].share; group += 1) drawn -= round.asks[group].share;
  return group;
}
