// Properties of the device that no list of vectors can show; the same file runs in Node and in a browser.

import { canonical } from "../src/canonical.js";
import * as ldptrace from "../index.js";
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

/** Whether the report is what follows from these bytes alone, read in order. */
function follows(reporter, points, round, report, handed) {
  let position = 0;
  const source = new ldptrace.Source((count) => {
    if (position + count > handed.length) throw new Error("the random bytes ran out");
    position += count;
    return handed.slice(position - count, position);
  });
  const again = hex(reporter.draw(points, round, source)) === hex(report);
  return again && handed.length - position < 512 && hex(report.subarray(23, 39)) === hex(handed.subarray(0, 16));
}

/** Reports of every plan, long ones too, must follow from fresh bytes of the system and from nothing else. */
export async function sourceFailures(vectors) {
  const failed = [];
  const walk = [[-8.69, 41.01, 0], [-8.41, 41.39, 600], [3, 3, 700], [0.1, 5.9, 900]];
  for (const { name, private: answered } of vectors.plans.filter((plan) => !plan.name.startsWith("most"))) {
    const plan = await planOf(name, vectors);
    if (!answered || plan.standing !== null) continue;
    const reporter = new ldptrace.Reporter(plan);
    const round = reporter.plan.rounds.length - 1;
    const seen = new Set();
    for (let draw = 0; draw < 12; draw += 1) {
      const { result, handed } = await watched(() => reporter.report(walk));
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
