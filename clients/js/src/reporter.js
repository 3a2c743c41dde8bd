// Section 8 and 9 of the protocol: plan + trajectories -> report.

import { occasionAmong } from "./grid.js";
import { PlanRefused } from "./problems.js";
import { Source } from "./randomness.js";
import { askedOf, assemble, ID_BYTES } from "./reports.js";
import { eligible } from "./standing.js";

const SHARES = 65536;
const HOUR = 3600;
const systemNow = () => Date.now() / 1000;

/**
 * Answers the rounds of one plan, or the windows of a standing one. Without a ledger every call is a fresh draw, for
 * measurements only.
 */
export class Reporter {
  constructor(plan, { ledger = null, crs = null } = {}) {
    if (plan.rounds.some((round) => !round.padded)) throw new PlanRefused("plan-not-private");
    if (crs !== null && plan.crs !== null && crs !== plan.crs) throw new PlanRefused("plan-other-coordinates");
    this.plan = plan;
    this.ledger = ledger;
  }

  /** The bytes to send for a person with these [x, y] or [x, y, t] points; the newest round if none is named. */
  report(points, round) {
    return this.reportOneOf([points], round);
  }

  /** The bytes to send for a person with several trajectories, each a list of points: one is drawn at random. */
  async reportOneOf(trajectories, round = this.plan.rounds.length - 1) {
    if (this.plan.standing !== null) throw new Error("a standing plan is answered window by window: use reportWindow");
    if (!Number.isInteger(round) || round < 0 || round >= this.plan.rounds.length) {
      throw new PlanRefused("plan-no-such-round");
    }
    const fresh = () => this.drawAbout(occasionAmong(trajectories, this.plan.grid, new Source()), round);
    return this.ledger === null ? fresh() : this.ledger.answer(this.plan, round, fresh);
  }

  /** Takes part in a standing plan from `now` on, a Unix time: its phase is drawn and stored, once. */
  accept(now = systemNow()) {
    return this.#neededLedger().accept(this.plan, now);
  }

  /**
   * The bytes to send for the latest window of a standing plan that has ended; `plan-not-due` if it was answered.
   * `recordings` are { points, arrival }: arrival is the Unix time of the last point, recorded once. One of those that
   * arrived in the window is drawn at random. The first call accepts the plan.
   */
  async reportWindow(recordings, now = systemNow()) {
    const { plan } = this;
    return this.#neededLedger().answerWindow(plan, now, (row) => {
      const arrivals = recordings.map((recording) => recording.arrival);
      const trajectories = eligible(plan.standing, arrivals, row).map((place) => recordings[place].points);
      return this.drawAbout(occasionAmong(trajectories, plan.grid, new Source()), 0, new Source(), row.window);
    });
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
