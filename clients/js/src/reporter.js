// Section 8 and 9 of the protocol: plan + trajectory -> report.

import { tripOf } from "./grid.js";
import { PlanRefused } from "./problems.js";
import { Source } from "./randomness.js";
import { askedOf, assemble, ID_BYTES } from "./reports.js";

const SHARES = 65536;

/** Answers the rounds of one plan. Without a ledger every call is a fresh draw, for measurements only. */
export class Reporter {
  constructor(plan, { ledger = null, crs = null } = {}) {
    if (plan.rounds.some((round) => !round.padded)) throw new PlanRefused("plan-not-private");
    if (crs !== null && plan.crs !== null && crs !== plan.crs) throw new PlanRefused("plan-other-coordinates");
    this.plan = plan;
    this.ledger = ledger;
  }

  /** The bytes to send for these [x, y] or [x, y, t] points; the newest round if none is named. */
  async report(points, round = this.plan.rounds.length - 1) {
    if (!Number.isInteger(round) || round < 0 || round >= this.plan.rounds.length) {
      throw new PlanRefused("plan-no-such-round");
    }
    if (this.ledger === null) return this.draw(points, round);
    return this.ledger.answer(this.plan, round, () => this.draw(points, round));
  }

  /** Tells the ledger that the report arrived. */
  async sent(round = this.plan.rounds.length - 1) {
    await this.ledger?.sent(this.plan, round);
  }

  /** A fresh report from this source of randomness. */
  draw(points, number, source = new Source()) {
    const round = this.plan.rounds[number];
    const trip = tripOf(points, this.plan.grid);
    const id = source.take(ID_BYTES);
    const group = groupOf(round, source);
    const payload = askedOf(round, group).flatMap(({ question, randomizer }) =>
      question.answer(trip, source).map((items) => randomizer.encode(randomizer.perturb(items, source))),
    );
    return assemble(this.plan, number, group, id, payload);
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
