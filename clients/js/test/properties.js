// Properties of the device that no list of vectors can show; the same file runs in Node and in a browser.

import { canonical } from "../src/canonical.js";
import * as ldptrace from "../index.js";
import { occasionAmong } from "../src/grid.js";
import { hex, memory, planOf, problemOf } from "./check.js";

// -- the random source -------------------------------------------------------------------------------------

/** Runs the action and returns its result with the bytes that the system handed out meanwhile. */
export async function watched(action) {
  const { crypto } = globalThis;
  const real = crypto.getRandomValues.bind(crypto);
  const handed = [];
  const take = (array) => {
    real(array);
    handed.push(...array);
    return array;
  };
  Object.defineProperty(crypto, "getRandomValues", { value: take, configurable: true, writable: true });
  try {
    return { result: await action(), handed: Uint8Array.from(handed) };
  } finally {
    delete crypto.getRandomValues;
  }
}

/** A device and its way to one answer: about a trip of the window that ended last, where the plan is standing. */
async function ready(plan, points) {
  if (plan.standing === null) {
    const reporter = new ldptrace.Reporter(plan, { ledger: "none" });
    return { reporter, answer: () => reporter.report(points) };
  }
  const { start, every, lifetime } = plan.standing;
  const reporter = new ldptrace.Reporter(plan, { ledger: new ldptrace.Ledger(memory(), { limit: lifetime }) });
  // Arrivals in the first two days of 1970 are no dates.
  const window = Math.max(10, Math.ceil((200_000 - start) / every));
  const { phase } = await reporter.accept(start + (window - 1) * every);
  const arrival = start + window * every + phase;
  return { reporter, answer: () => reporter.report([{ points, arrival }], 0, arrival) };
}

/** Whether the report is what follows from these bytes alone, read in order. */
function follows(reporter, points, round, report, handed) {
  let position = 0;
  const source = new ldptrace.Source((count) => {
    if (position + count > handed.length) throw new Error("the random bytes ran out");
    position += count;
    return handed.slice(position - count, position);
  });
  const occasion = occasionAmong([points], reporter.plan.grid, source);
  const window = new DataView(report.buffer, report.byteOffset).getUint32(19);
  const again = hex(reporter.drawAbout(occasion, round, source, window)) === hex(report);
  return again && handed.length - position < 512 && hex(report.subarray(23, 39)) === hex(handed.subarray(0, 16));
}

/** Reports of every plan, long ones too, must follow from fresh bytes of the system and from nothing else. */
export async function sourceFailures(vectors) {
  const failed = [];
  const walk = [[-8.69, 41.01, 0], [-8.41, 41.39, 600], [3, 3, 700], [0.1, 5.9, 900]];
  for (const { name, private: answered } of vectors.plans.filter((plan) => !plan.name.startsWith("most"))) {
    const plan = await planOf(name, vectors);
    if (!answered) continue;
    const round = plan.rounds.length - 1;
    const seen = new Set();
    for (let draw = 0; draw < 12; draw += 1) {
      const { reporter, answer } = await ready(plan, walk);
      const { result, handed } = await watched(answer);
      try {
        if (!follows(reporter, walk, round, result, handed)) failed.push(`${name}: not from the system's bytes`);
      } catch (error) {
        failed.push(`${name}: ${error}`);
      }
      seen.add(hex(handed.subarray(0, 64)));
    }
    if (seen.size < 12) failed.push(`${name}: bytes were used before`);
  }
  const plan = await planOf("three questions", vectors);
  const ledger = new ldptrace.Ledger(memory());
  const reporter = new ldptrace.Reporter(plan, { ledger });
  const first = hex(await reporter.report(walk));
  const retry = await watched(() => reporter.report([]));
  if (hex(retry.result) !== first || retry.handed.length > 0) failed.push("a retry draws");
  const poor = new ldptrace.Reporter(plan, { ledger: new ldptrace.Ledger(memory(), { limit: "0.5" }) });
  const { result: refused, handed } = await watched(() => problemOf(() => poor.report(walk)));
  if (refused !== "plan-over-limit" || handed.length > 0) failed.push("a refusal draws");
  const pieces = [0, 1, 16, 495, 1, 511, 512, 513, 70000, 3, 700, 0, 5];
  const stream = await watched(() => {
    const take = ldptrace.systemBytes();
    return pieces.map((count) => [...take(count)]);
  });
  const sizes = stream.result.map((piece) => piece.length).join();
  const inOrder = stream.result.flat().every((byte, at) => stream.handed[at] === byte);
  if (sizes !== pieces.join() || !inOrder) failed.push("the stream is not read in order");
  return failed;
}

/** How long a report waits before it is sent is drawn anew, from all the time there is. */
export async function delayFailures(vectors) {
  const failed = [];
  for (const name of ["three questions", "standing"]) {
    const plan = await planOf(name, vectors);
    const reporter = new ldptrace.Reporter(plan, { ledger: "none" });
    const longest = plan.standing?.grace ?? 3600;
    const usual = Array.from({ length: 200 }, () => reporter.delay());
    if (new Set(usual).size < 150 || Math.max(...usual) < 0.8 * longest) failed.push(`${name}: delays repeat`);
    if (Math.min(...usual) < 0 || Math.max(...usual) > longest) failed.push(`${name}: delays are too long`);
    const few = new Set(Array.from({ length: 200 }, () => reporter.delay(3)));
    if ([...few].sort().join() !== "0,1,2,3" || reporter.delay(0) !== 0) failed.push(`${name}: delays are not even`);
  }
  return failed;
}

// -- the ledger --------------------------------------------------------------------------------------------

/** A small generator of numbers that are the same every time: a failure can be repeated by its seed. */
export function lottery(seed) {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
}

// Ratios of rounds that cost 0.01, 0.1, 0.45 and 0.9.
const RATIOS = [
  ["555280951673", "549755813888"],
  ["37973383597", "34359738368"],
  ["1724377483929", "1099511627776"],
  ["2704362220431", "1099511627776"],
];
const EPSILONS = ["0.5", "1", "1.000000000000000001"];
const LIMITS = ["0.5", "1", "2.5", "4"];

function roundOf(ratio, name, padded) {
  const randomizer = { capacity: 1, domain: 4, kind: "grr", ratio };
  return { asks: [{ question: { name }, randomizer, share: 65536 }], assignment: "everyone", padded };
}

async function published(document) {
  const plan = await ldptrace.readPlan(canonical(document));
  return { document, plan };
}

/** Everything that the plan was before rounds were added, itself first, by contents and not by ids. */
function before({ document }) {
  if (document.extends === null) return [canonical(document)];
  const rounds = document.rounds.map((_, number) => document.rounds.slice(0, number + 1));
  return rounds.map((part) => canonical({ ...document, rounds: part, extends: part.length > 1 || null })).reverse();
}

const nameOf = (known) => before(known)[0];
const firstOf = (known) => before(known).at(-1);

/** Section 9 of the protocol, from the contents of plans: what asking for this round must give. */
function predicted(known, round, answers, limit) {
  if (known.document.rounds.some((part) => !part.padded)) return "plan-not-private";
  const family = answers.filter((answer) => firstOf(answer.known) === firstOf(known));
  const answer = family.find((one) => one.round === round);
  if (answer !== undefined) {
    return nameOf(answer.known) === nameOf(known) && !answer.sent ? answer.report : "plan-answered";
  }
  if (family.some((one) => !before(known).includes(nameOf(one.known)))) return "plan-forked";
  const costs = new Map([...answers, { known }].map((one) => [firstOf(one.known), one.known.document.epsilon]));
  return units([...costs.values()]) > units([limit]) ? "plan-over-limit" : "fresh";
}

/** Sum of decimals in units of 10^-18. */
function units(decimals) {
  return decimals
    .map((text) => text.split("."))
    .reduce((sum, [whole, rest = ""]) => sum + BigInt(whole + rest.padEnd(18, "0")), 0n);
}

/** One random history: publish, extend, fork, ask, retry, confirm, restart, a storage that is full. */
export async function ledgerFailures(seed, { steps = 60, storage = memory() } = {}) {
  const draw = lottery(seed);
  const pick = (list) => list[draw(list.length)];
  const limit = pick(LIMITS);
  let ledger = new ldptrace.Ledger(storage, { limit });
  const plans = [];
  const answers = [];
  const failed = [];
  const someRound = () => roundOf(pick(RATIOS), pick(["start", "end"]), draw(10) > 0);
  const publish = async (document) => {
    // A plan that overspends is nobody's to answer.
    if ((await problemOf(() => published(document))) === null) plans.push(await published(document));
  };
  for (let step = 0; step < steps; step += 1) {
    const what = plans.length === 0 ? 0 : draw(10);
    if (what === 0) {
      const grid = { bounds: ["0", "0", "1", "1"], crs: null, n: 2 };
      const head = { format: "ldptrace-plan", version: 1, method: pick(["a", "b"]), grid, epsilon: pick(EPSILONS) };
      await publish({ ...head, campaign: null, standing: null, extends: null, rounds: [someRound()] });
    } else if (what <= 3) {
      const { document, plan } = pick(plans);
      if (document.extends !== null || document.rounds.length === 1) {
        await publish({ ...document, extends: plan.id, rounds: [...document.rounds, someRound()] });
      }
    } else if (what === 4) {
      await publish({ ...pick(plans).document, extends: null });
    } else if (what <= 7) {
      const retry = answers.length > 0 && draw(3) === 0 ? pick(answers) : null;
      const known = retry?.known ?? pick(plans);
      const last = known.document.rounds.length - 1;
      const round = retry?.round ?? Math.max(last - draw(3), 0);
      const wanted = predicted(known, round, answers, limit);
      let report = null;
      const problem = await problemOf(async () => {
        report = hex(await new ldptrace.Reporter(known.plan, { ledger }).report([[0.5, 0.5]], round));
      });
      const fresh = report !== null && !answers.some((one) => one.report === report);
      if (fresh) answers.push({ known, round, report, sent: false });
      if ((problem ?? (fresh ? "fresh" : report)) !== wanted) failed.push(`seed ${seed}, step ${step}: ${problem ?? report}, not ${wanted}`);
    } else if (what === 8 && answers.length > 0) {
      const answer = pick(answers);
      await new ldptrace.Reporter(answer.known.plan, { ledger }).sent(answer.round);
      answer.sent = true;
    } else {
      ledger = new ldptrace.Ledger(storage, { limit });
      const fail = () => { throw new Error("the storage is full"); };
      const change = (key, work) => storage.change(key, (text) => (work(text)[0] === undefined ? [] : fail()));
      const full = storage.change ? { change } : { getItem: storage.getItem, setItem: fail };
      const known = pick(plans);
      const round = known.document.rounds.length - 1;
      if (predicted(known, round, answers, limit) === "fresh") {
        const crashed = new ldptrace.Ledger(full, { limit });
        const lost = await problemOf(() => new ldptrace.Reporter(known.plan, { ledger: crashed }).report([], round));
        if (!String(lost).includes("full")) failed.push(`seed ${seed}, step ${step}: a report that was not stored`);
      }
    }
    const roots = new Map(answers.map((one) => [firstOf(one.known), one.known.document.epsilon]));
    if (units([await ledger.spent()]) !== units([...roots.values()])) failed.push(`seed ${seed}, step ${step}: spent`);
    for (const [root, epsilon] of roots) {
      const given = answers.filter((one) => firstOf(one.known) === root);
      const budget = given.reduce((sum, one) => sum + budgetOf(one), 0);
      if (budget > Number(epsilon) + 1e-9) failed.push(`seed ${seed}, step ${step}: ${budget} answered of ${epsilon}`);
    }
    const kept = (await ledger.entries()).map((entry) => entry.report === null);
    if (kept.join() !== answers.map((one) => one.sent).join()) failed.push(`seed ${seed}, step ${step}: what was sent`);
  }
  return { failed, answers: answers.length };
}

function budgetOf({ known, round }) {
  const [numerator, denominator] = known.document.rounds[round].asks[0].randomizer.ratio.map(Number);
  return Math.log(numerator / denominator);
}

// -- standing plans ----------------------------------------------------------------------------------------

const DAY = 86400;
const T0 = 1.7e9;

async function standingPlan(standing, campaign = null) {
  const grid = { bounds: ["0", "0", "2", "2"], crs: null, n: 2 };
  const head = { format: "ldptrace-plan", version: 1, method: "clocks", grid, epsilon: "1", campaign, extends: null };
  const rounds = [roundOf(RATIOS[3], "start", true)];
  return (await published({ ...head, rounds, standing: { grace: 0, start: 345600, ...standing } })).plan;
}

/** A ledger asked many times by a clock that jumps: one answer per window, within the lifetime, each trip once. */
export async function clockFailures(seed, { asks = 10000, recent = 7 * DAY, limit = "900", storage = memory() } = {}) {
  const draw = lottery(seed);
  const uniform = (low, high) => low + ((high - low) * draw(1 << 30)) / (1 << 30);
  const plan = await standingPlan({ every: 7 * DAY, recent, lifetime: "40" });
  const trips = Array.from({ length: 200 }, (_, k) => ({ points: [[1, 1]], arrival: T0 + uniform(-50, 500) * DAY + k / 8 }));
  const [entered, given, failed] = [[], [], []];
  // Which trips an answer may be about is seen by which points are read.
  const watched = trips.map(({ points, arrival }) => ({
    arrival,
    get points() {
      entered.push(arrival);
      return points;
    },
  }));
  const most = Math.min(40, Number(limit));
  const ledger = () => new ldptrace.Ledger(storage, { limit });
  const { phase, window } = await ledger().accept(plan, T0);
  const end = (k) => 345600 + k * 7 * DAY + phase;
  let [last, kept] = [window, null];
  for (let step = 0; step < asks; step += 1) {
    const ahead = [uniform(-3, 3), uniform(-1, 1), uniform(-400, 0)][draw(3)];
    const now = draw(20) < 18 ? T0 + ((400 * step) / asks + ahead) * DAY : [0, 1e13, NaN][draw(3)];
    const reporter = new ldptrace.Reporter(plan, { ledger: ledger() });
    if (draw(20) === 0) {
      await reporter.sent();
      kept = null;
    }
    const before = entered.length;
    let report = null;
    const problem = await problemOf(async () => {
      report = hex(await reporter.report(watched, 0, now));
    });
    let ended = last;
    while (end(ended + 1) <= now && now < 1e12) ended += 1;
    const fail = (what) => failed.push(`seed ${seed}, step ${step}: ${what}, ${problem ?? report}`);
    if (ended > last && given.length < most) {
      if (report === null || report === kept) fail("a window was not answered");
      else if (parseInt(report.slice(38, 46), 16) !== ended) fail("another window");
      given.push(ended);
      [last, kept] = [ended, report];
    } else if (ended > last) {
      if (problem !== (Number(limit) < 40 ? "plan-over-limit" : "plan-lifetime")) fail("beyond what is left");
    } else {
      if (report !== kept || (report === null && problem !== "plan-not-due")) fail("a window answered again");
      if (entered.length !== before) fail("trips were looked at");
    }
    if ((await ledger().standing())[0].phase !== phase) fail("another phase");
  }
  if (new Set(entered).size !== entered.length) failed.push(`seed ${seed}: a trip in two answers`);
  if ((await ledger().spent()) !== String(given.length) || given.length <= 10) failed.push(`seed ${seed}: ${given.length} answers`);
  return failed;
}

/** A ledger that is no ledger is refused, never taken as an empty one. */
export async function unreadableFailures() {
  const failed = [];
  const plan = await standingPlan({ every: 7 * DAY, recent: 1, lifetime: "40" });
  const row = { plan: "a", epsilon: "1", phase: 0, accepted: 0, window: 0, answers: 0, report: null };
  const head = { format: "ldptrace-ledger", version: 1 };
  const broken = ["", "{", "null", "[]", "7", { ...head, version: 2, entries: [], standing: [] }, { ...head, entries: [] }];
  broken.push({ ...head, entries: [], standing: [{ ...row, phase: 0.5 }] }, { ...head, entries: [{}], standing: [] });
  broken.push({ ...head, entries: [], standing: [{ ...row, epsilon: "much" }] }, { format: "x", entries: [], standing: [] });
  for (const content of broken) {
    const storage = memory();
    const text = typeof content === "string" ? content : JSON.stringify(content);
    storage.setItem("ldptrace-ledger", text);
    const reporter = new ldptrace.Reporter(plan, { ledger: new ldptrace.Ledger(storage) });
    const problem = await problemOf(() => reporter.report([], 0, T0 + 99 * DAY));
    if (problem === null || problem.startsWith("plan-")) failed.push(`${text} is taken: ${problem}`);
    if (storage.getItem("ldptrace-ledger") !== text) failed.push(`${text} was replaced`);
  }
  return failed;
}

/** Ids are compared in full, and every trip of several is drawn now and then. */
export async function otherFailures() {
  const failed = [];
  const settings = { every: 7 * DAY, recent: 7 * DAY, lifetime: "40" };
  const campaign = { name: "a", nonce: "0".repeat(32) };
  const plan = await standingPlan(settings, campaign);
  for (const id of [plan.id.slice(0, 32), plan.id.slice(0, 32) + "0".repeat(32), `${plan.id.slice(0, 63)}x`, plan.id.toUpperCase()]) {
    if ((await problemOf(() => ldptrace.readPlan(plan.document, { planId: id }))) !== "plan-changed") failed.push(`id ${id}`);
  }
  const other = await standingPlan(settings, { ...campaign, nonce: "1".repeat(32) });
  const ledger = new ldptrace.Ledger(memory());
  await ledger.accept(plan, T0);
  await ledger.accept(other, T0);
  if ((await ledger.standing()).length !== 2 || plan.id === other.id) failed.push("two campaigns are one");
  const seen = new Set();
  const trips = [[[0.5, 0.5]], [[0.5, 1.5]], [], [[1.5, 0.5]]];
  for (let k = 0; k < 200; k += 1) {
    const { trip, trips: count } = occasionAmong(trips, { bounds: [0, 0, 2, 2], n: 2 }, new ldptrace.Source());
    seen.add(trip.path[0]);
    if (count !== 3) failed.push(`${count} trips`);
  }
  if (seen.size !== 3) failed.push(`of three trips ${seen.size} are drawn`);
  return failed;
}
