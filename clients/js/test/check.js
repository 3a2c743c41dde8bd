// Every vector of protocol/vectors against the module; the same file runs in Node and in a browser.

import { divergence } from "../src/accountant.js";
import { canonical } from "../src/canonical.js";
import { moveItem, occasionAmong } from "../src/grid.js";
import { question } from "../src/questions.js";
import { randomizer } from "../src/randomizers.js";
import { eligible, shown } from "../src/standing.js";
import * as ldptrace from "../index.js";

export const FILES = [
  "integers",
  "paths",
  "questions",
  "randomizers",
  "plans",
  "reports",
  "tallies",
  "refused_plans",
  "rejected_reports",
  "ledgers",
  "occasions",
  "windows",
];

/** Those of version 2, apart from seals. */
export const SHUFFLED_FILES = ["accountant", "plans", "reports", "tallies", "refused_plans", "rejected_reports", "sums"];

/** All vectors by their kind; `load` reads a file of protocol/vectors/v1 or v2. */
export async function gather(load, files = FILES) {
  const vectors = Object.fromEntries(files.map((kind) => [kind, []]));
  for (const file of await load("index.json")) {
    const [folder, name] = file.includes("/") ? file.split("/") : [null, file];
    const found = await load(file);
    if (folder === "questions") vectors.questions.push(...found);
    else if (folder === "plans") {
      vectors.plans.push(found);
      for (const kind of ["reports", "tallies", "rejected_reports"]) {
        vectors[kind].push(...found[kind].map((vector) => ({ plan: found.name, ...vector })));
      }
    } else if (name === "ledgers.json" && files !== FILES) vectors.sums.push(...found);
    else if (name !== "seals.json") vectors[name.replace(".json", "")].push(...found);
  }
  return vectors;
}

export const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
export const hex = (data) => Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Bytes, and as many zeros after them. */
const padded = (text, zeros) => Uint8Array.from([...bytes(text), ...new Uint8Array(zeros)]);

/** A source that hands out given bytes and knows whether all were used. */
function replay(text) {
  const data = bytes(text);
  let position = 0;
  const source = new ldptrace.Source((count) => {
    if (position + count > data.length) throw new Error("the random bytes ran out");
    position += count;
    return data.slice(position - count, position);
  });
  return { source, used: () => position === data.length };
}

const numbers = (points) => points.map((point) => point.map(Number));
const time = (text) => (text === undefined || text === null ? null : Number(text));

const plans = new Map();

export async function planOf(name, vectors) {
  if (!plans.has(name)) {
    const { document } = vectors.plans.find((plan) => plan.name === name);
    plans.set(name, await ldptrace.readPlan(document));
  }
  return plans.get(name);
}

const checks = {
  integers(v) {
    const { source, used } = replay(v.random);
    const value = v.below === undefined ? source.subset(v.subset, v.size) : String(source.below(BigInt(v.below)));
    return same(value, v.value) && used();
  },
  paths(v) {
    const grid = { bounds: v.bounds.map(Number), n: v.n };
    const trip = ldptrace.tripOf(numbers(v.points), grid);
    const path = ldptrace.cellPath(numbers(v.points), grid);
    return same([path, trip.path, trip.departure, trip.arrival], [v.path, v.path, time(v.departure), time(v.arrival)]);
  },
  questions(v) {
    const asked = question(v.n, v.question);
    const points = numbers(v.points ?? []);
    const trip = { path: v.path, points, departure: time(v.departure), arrival: time(v.arrival) };
    const { source, used } = replay(v.random);
    const slots = asked.answer({ trip, trips: v.trips }, source);
    return same([asked.domain, asked.capacity, slots], [v.domain, v.capacity, v.slots]) && used();
  },
  randomizers(v) {
    const [numerator, denominator] = v.randomizer.ratio.map(BigInt);
    const channel = randomizer({ ...v.randomizer, numerator, denominator });
    const { source, used } = replay(v.random);
    const named = channel.perturb(v.items, source);
    return same([named, hex(channel.encode(named)), channel.decode(bytes(v.payload))], [v.named, v.payload, v.named]) && used();
  },
  async plans(v) {
    const plan = await ldptrace.readPlan(v.document, { planId: v.id });
    const sizes = plan.rounds.map((round) => 39 + round.payloadBytes);
    const answered = await problemOf(() => new ldptrace.Reporter(plan, { ledger: "none" }));
    const allowed = v.private ? answered === null : answered === "plan-not-private";
    const hidden = plan.shuffled?.hidden;
    return same([plan.root, plan.chain, plan.epsilon, sizes, hidden], [v.root, v.chain, v.epsilon, v.report_bytes, v.hidden]) && allowed;
  },
  async reports(v, vectors) {
    const reporter = new ldptrace.Reporter(await planOf(v.plan, vectors), { ledger: "none" });
    const { source, used } = replay(v.random);
    const occasion = { trip: ldptrace.tripOf(numbers(v.points), reporter.plan.grid), trips: v.trips };
    return hex(reporter.drawAbout(occasion, v.round, source, v.window)) === v.report && used();
  },
  async tallies(v, vectors) {
    const found = ldptrace.tally(padded(v.batch, v.zeros), await planOf(v.plan, vectors), v.round, v.window);
    return same([found.problems, canonical(found.tally)], [v.problems, v.tally]);
  },
  async refused_plans(v) {
    return (await problemOf(() => ldptrace.readPlan(v.document + " ".repeat(v.spaces)))) === v.problem;
  },
  async rejected_reports(v, vectors) {
    const plan = await planOf(v.plan, vectors);
    return (await problemOf(() => ldptrace.readReport(padded(v.report, v.zeros), plan, v.round))) === v.problem;
  },
  async ledgers(v) {
    const documents = Object.entries(v.plans).map(async ([name, document]) => [name, await ldptrace.readPlan(document)]);
    const read = Object.fromEntries(await Promise.all(documents));
    const storage = memory();
    let ledger = new ldptrace.Ledger(storage, { limit: v.limit });
    const reports = [];
    for (const [number, step] of v.steps.entries()) {
      reports.push(null);
      if (step.do === "restart") ledger = new ldptrace.Ledger(storage, { limit: v.limit });
      else if (step.do === "sent") await new ldptrace.Reporter(read[step.plan], { ledger }).sent(step.round);
      else {
        const problem = await problemOf(async () => {
          reports[number] = hex(await new ldptrace.Reporter(read[step.plan], { ledger }).report([[0.5, 0.5]], step.round));
        });
        const first = reports.indexOf(reports[number]);
        if ((problem ?? (first === number ? "fresh" : first)) !== step.result) return false;
      }
      if ((await ledger.spent()) !== step.spent) return false;
    }
    return true;
  },
  accountant(v) {
    const found = divergence(v.n, Number(v.local), Number(v.central));
    if (v.delta !== undefined) return found <= Number(v.delta) === v.fits;
    const wanted = Number(v.divergence);
    return Math.abs(found - wanted) <= 1e-6 * wanted;
  },
  /** The ledgers of version 2, with two sums. */
  async sums(v) {
    const documents = Object.entries(v.plans).map(async ([name, document]) => [name, await ldptrace.readPlan(document)]);
    const read = Object.fromEntries(await Promise.all(documents));
    const [storage, settings, reports] = [memory(), {}, []];
    for (const step of v.steps) {
      reports.push(null);
      const ledger = new ldptrace.Ledger(storage, settings);
      const reporter = step.plan && new ldptrace.Reporter(read[step.plan], { ledger });
      if (step.do === "set") {
        for (const [name, key] of [["limit", "limit"], ["local_limit", "localLimit"], ["most_local", "mostLocal"]]) {
          if (step[name] !== undefined) settings[key] = step[name];
        }
        if (step.shuffled !== undefined) settings.shuffled = step.shuffled === "yes";
      } else if (step.do === "sent") await reporter.sent();
      else if (step.do === "accept") {
        let window = null;
        const problem = await problemOf(async () => {
          window = (await ledger.accept(read[step.plan], Number(step.now), replay(step.random).source)).window;
        });
        if ((problem ?? String(window)) !== step.result) return false;
      } else if (step.do === "report") {
        if ((await askedSealed(reporter, Number(step.now), reports)) !== step.result) return false;
      }
      const cost = await new ldptrace.Ledger(storage, settings).cost();
      if (!same([cost.spent, cost.local, cost.delta], [step.spent, step.local, step.delta])) return false;
    }
    return true;
  },
  occasions(v) {
    const arrivals = v.arrivals.map(Number);
    const places = eligible(v.standing, arrivals, v);
    const { source, used } = replay(v.random);
    const grid = { bounds: [0, 0, 60, 60], n: 60 };
    const { trip, trips } = occasionAmong(places.map((place) => [[place, 0]]), grid, source);
    const chosen = trip.points[0]?.[0] ?? null;
    return same([places, chosen, trips], [v.eligible, v.chosen, v.trips]) && used();
  },
  async windows(v) {
    const documents = Object.entries(v.plans).map(async ([name, document]) => [name, await ldptrace.readPlan(document)]);
    const read = Object.fromEntries(await Promise.all(documents));
    const storage = memory();
    let limit = v.limit;
    const ledger = () => new ldptrace.Ledger(storage, { limit });
    const reports = [];
    for (const step of v.steps) {
      reports.push(null);
      const reporter = step.plan && new ldptrace.Reporter(read[step.plan], { ledger: ledger() });
      if (step.do === "limit") limit = step.limit;
      else if (step.do === "sent") await reporter.sent(0, step.window);
      else if (step.do === "accept") {
        const { source, used } = replay(step.random);
        const row = await ledger().accept(read[step.plan], Number(step.now), source);
        const first = v.steps.find((one) => one.do === "accept" && one.plan === step.plan) === step;
        if (!same([row.phase, row.window, used()], [step.phase, step.window, first])) return false;
      } else if (step.do === "report") {
        if ((await asked(reporter, Number(step.now), reports)) !== step.result) return false;
      }
      if ((await ledger().spent()) !== step.spent) return false;
    }
    return true;
  },
};

/** What asking for a report gives, in the words of the vectors. */
async function asked(reporter, now, reports) {
  let report = null;
  const problem = await problemOf(async () => {
    const trips = [{ points: [[0.5, 0.5]], arrival: 1.7e9 }];
    report = hex(await reporter.report(trips, 0, now));
  });
  if (problem !== null) return problem;
  if (reports.includes(report)) return String(reports.indexOf(report));
  reports[reports.length - 1] = report;
  return `fresh:${parseInt(report.slice(38, 46), 16)}`;
}

/** The same where a report is sealed, so that only the ledger tells its window. */
async function askedSealed(reporter, now, reports) {
  let report = null;
  const problem = await problemOf(async () => {
    report = hex(await reporter.report([], 0, now));
  });
  if (problem !== null) return problem;
  if (reports.includes(report)) return String(reports.indexOf(report));
  reports[reports.length - 1] = report;
  const row = (await reporter.ledger.standing()).find((one) => one.plan === reporter.plan.id);
  return `fresh:${row?.window ?? 0}`;
}

/** A storage of this program alone. */
export function memory() {
  const kept = new Map();
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) };
}

function same(found, expected) {
  return JSON.stringify(found) === JSON.stringify(expected);
}

export async function problemOf(action) {
  try {
    await action();
    return null;
  } catch (error) {
    return error.problem?.code ?? String(error);
  }
}

/** Names of the vectors of one file that the module does not reproduce. */
export async function failures(file, vectors) {
  const failed = [];
  for (const [number, vector] of vectors[file].entries()) {
    let passed = false;
    try {
      passed = await checks[file](vector, vectors);
    } catch (error) {
      failed.push(`${file} ${number} ${vector.name ?? vector.plan}: ${error}`);
      continue;
    }
    if (!passed) failed.push(`${file} ${number} ${vector.name ?? vector.plan}`);
  }
  return failed;
}

/** What is not in the vectors: refusals of a device, and trajectories of all kinds. */
export async function deviceFailures(vectors) {
  const failed = [];
  const expect = (name, truth) => truth || failed.push(name);
  const storage = memory();
  const first = await planOf("paper, first round", vectors);
  const second = await planOf("paper, second round", vectors);
  const other = await planOf("many questions, privset", vectors);
  const ledger = new ldptrace.Ledger(storage, { limit: "1" });
  const one = new ldptrace.Reporter(first, { ledger });
  const report = await one.report([[1, 1]]);
  expect("the same bytes again", hex(await one.report([[5, 5]])) === hex(report));
  await one.sent();
  expect("answered", (await problemOf(() => one.report([]))) === "plan-answered");
  const two = new ldptrace.Reporter(second, { ledger });
  expect("a later round is covered", (await two.report([[1, 1]])).length === 39 + second.rounds[1].payloadBytes);
  expect("an earlier round is not answered twice", (await problemOf(() => two.report([], 0))) === "plan-answered");
  expect("no such round", (await problemOf(() => two.report([], 2))) === "plan-no-such-round");
  const three = new ldptrace.Reporter(other, { ledger });
  expect("over the limit", (await problemOf(() => three.report([]))) === "plan-over-limit");
  expect("other coordinates", (await problemOf(() => new ldptrace.Reporter(other, { ledger: "none", crs: "EPSG:3857" }))) === "plan-other-coordinates");
  expect("another plan", (await problemOf(() => ldptrace.readPlan(first.document, { planId: second.id }))) === "plan-changed");
  const free = new ldptrace.Reporter(other, { ledger: "none" });
  const reports = await Promise.all(Array.from({ length: 50 }, () => free.report([[-8.6, 41.1]])));
  const draws = reports.map(hex);
  expect("fresh draws differ", new Set(draws).size === draws.length);
  const clock = ldptrace.localSeconds(1.7e9);
  expect("the local clock", new Date(1.7e12).getHours() === Math.floor(clock / 3600) % 24);
  expect("a broken clock shows the time before the start", [NaN, Infinity, -1e13, "7", null].every((now) => shown(now, { start: 7 }) === 6));
  const broken = { get 0() { throw new Error("no such thing"); } };
  const odd = [null, undefined, 7, {}, "xy", [null], [undefined, {}, "xy", 5], [broken], [[null, undefined, null]]];
  odd.push([[10n ** 400n, -(10n ** 400n)]], [["1", true, "noon"]], [[Symbol("x"), broken]], [[NaN, Infinity, -Infinity]]);
  odd.push((function* () { yield [1, 1]; throw new Error("the sensor fell off"); })());
  for (const [number, points] of odd.entries()) {
    const answer = await problemOf(() => free.report(points));
    expect(`odd trajectory ${number} is answered`, answer === null);
  }
  for (const wrong of [undefined, null, "ledger", {}]) {
    const answer = await problemOf(() => new ldptrace.Reporter(other, { ledger: wrong }));
    expect(`without a ledger: ${wrong}`, answer?.includes("needs a Ledger"));
  }
  const walk = [[-8.6, 41.1], [-8.5, 41.2]];
  for (const [trips, wanted] of [[walk, 1], [[walk], 1], [{ points: walk }, 1], [[walk, { points: walk }], 2], [[], 0], [null, 0]]) {
    const [first] = await free.check(trips);
    expect(`${wanted} trips are seen`, first.startsWith(`Trips: ${wanted}, with ${2 * wanted} point`));
  }
  const [, spread, why] = await free.check([[2.3, 48.9]]);
  expect("another city is seen", spread.includes("outside the bounds") && why.includes("another area"));
  expect("a check stores nothing", (await new ldptrace.Reporter(other, { ledger }).check(walk)).length > 1 && (await ledger.spent()) === "1");
  const square = { bounds: [0, 0, 6, 6], n: 6 };
  const path = ldptrace.cellPath([[10n ** 400n, -(10n ** 400n)], [null, 10n ** 400n]], square);
  expect("huge numbers are at the border, what is no number in the first row", same(path, [30, 25, 20, 15, 10, 5]));
  expect("text and truth values are no numbers", same(ldptrace.cellPath([["5", true]], square), [0]));
  expect("moves have their numbers", moveItem(0, 1, 2) === 0);
  return failed;
}
