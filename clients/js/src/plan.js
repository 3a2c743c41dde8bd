// Section 3 of the protocol: the plan document, read with every check; version 2, section 2: shuffled plans.

import { divergence } from "./accountant.js";
import { canonical, decimal, parse } from "./canonical.js";
import { fraction, overspends } from "./exact.js";
import { PlanRefused } from "./problems.js";
import { question } from "./questions.js";
import { randomizer } from "./randomizers.js";
import { hexBytes } from "./reports.js";
import { publicKey } from "./seals.js";

const MAX_DOCUMENT = 65536;
const MAX_PAYLOAD = 262144;
const MAX_WORK = 16777216;
const SHARES = 65536;
const KEYS = ["campaign", "epsilon", "extends", "format", "grid", "method", "rounds", "standing", "version"];
const LIFETIME = /^(0|[1-9][0-9]{0,2})(\.[0-9]{0,17}[1-9])?$/;
const MAX_LIFETIME = "999";
const MAX_EVERY = 31622400;
const MAX_START = 253402300799;
const SHUFFLED_KEYS = ["address", "batch", "delta", "epsilon", "honest", "key", "lifetime", "operator", "until"];
const OPERATOR = /^[!#-;=?-Z^-z|~]([ !#-;=?-Z^-z|~]{0,198}[!#-;=?-Z^-z|~])?$/;
const ADDRESS = /^https?:\/\/[A-Za-z0-9._~:/%-]{1,200}$/;
const [MIN_LOCAL, MIN_CENTRAL, MIN_DELTA, MAX_DELTA] = ["0.01", "0.0001", "0.000000000000001", "0.000001"];
const MAX_BATCH = 10000000;
const EPSILON = /^(0|[1-9][0-9]?)(\.[0-9]{0,17}[1-9])?$/;

/**
 * The plan in a document (text or bytes); throws PlanRefused with the problem.
 * With `planId` the plan is refused unless this is its id.
 */
export async function readPlan(document, { planId } = {}) {
  const bytes = typeof document === "string" ? new TextEncoder().encode(document) : new Uint8Array(document);
  if (bytes.length > MAX_DOCUMENT) throw new PlanRefused("plan-too-large");
  if (bytes.some((byte) => byte > 127)) malformed("the document is not ASCII");
  const text = new TextDecoder().decode(bytes);
  const data = parse(text);
  if (data === undefined) malformed("the document is not canonical JSON");
  const plan = { document: text, ...checked(data) };
  if (plan.shuffled !== null) await publicKey(plan.shuffled.key).catch(() => malformed("key"));
  plan.id = await sha256(text);
  plan.chain = Object.freeze(await chainOf(data, plan.id));
  plan.root = plan.chain[0];
  if (planId !== undefined && planId !== plan.id) throw new PlanRefused("plan-changed");
  return Object.freeze(plan);
}

function checked(data) {
  if (!isObject(data) || data.format !== "ldptrace-plan") malformed("the format is not ldptrace-plan");
  const mixed = data.version === 2 && Object.hasOwn(data, "shuffled");
  if (data.version !== 1 && !mixed) throw new PlanRefused("plan-unknown-version");
  keys(data, mixed ? [...KEYS, "shuffled"].sort() : KEYS, "the plan");
  if (!matches(data.method, /^[a-z0-9-]{1,32}$/)) malformed("method");
  if (!matches(data.epsilon, EPSILON) || !isBudget(data.epsilon)) malformed("epsilon");
  const grid = gridOf(data.grid);
  const rounds = list(data.rounds, 1, 16, "rounds").map((entry) => roundOf(entry, grid.n));
  const asks = rounds.flatMap((round) => round.asks);
  const work = asks.reduce((sum, { question, randomizer }) => sum + question.slots * randomizer.outputs, 0);
  if (work > MAX_WORK) throw new PlanRefused("plan-too-large");
  if (overspends(rounds, data.epsilon)) throw new PlanRefused("plan-overspends");
  const standing = data.standing === null ? null : standingOf(data.standing, data.epsilon);
  if (standing !== null && (rounds.length !== 1 || data.extends !== null)) malformed("a standing plan has one round");
  const campaign = data.campaign === null ? null : campaignOf(data.campaign);
  if (data.extends !== null && !matches(data.extends, /^[0-9a-f]{64}$/)) malformed("extends");
  const known = { version: data.version, method: data.method, grid, crs: data.grid.crs, epsilon: data.epsilon, campaign, standing };
  return { ...known, shuffled: mixed ? shuffledOf(data.shuffled, { ...data, rounds }) : null, rounds };
}

/** Above 0 and at most 20, exactly. */
function isBudget(epsilon) {
  const [numerator, denominator] = fraction(epsilon);
  return numerator > 0n && numerator <= 20n * denominator;
}

/** Whether a decimal is at most another. */
function atMost(small, large) {
  const [[a, b], [c, d]] = [fraction(small), fraction(large)];
  return a * d <= c * b;
}

/** Section 3.4. */
function campaignOf(data) {
  keys(data, ["name", "nonce"], "campaign");
  if (!matches(data.name, /^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/)) malformed("the name of the campaign");
  if (!matches(data.nonce, /^[0-9a-f]{32}$/)) malformed("nonce");
  return Object.freeze({ ...data });
}

/** Section 3.5. */
function standingOf(data, epsilon) {
  keys(data, ["every", "grace", "lifetime", "recent", "start"], "standing");
  integer(data.every, 60, MAX_EVERY, "every");
  integer(data.recent, 1, data.every, "recent");
  integer(data.grace, 0, data.every, "grace");
  integer(data.start, 0, MAX_START, "start");
  const { lifetime } = data;
  if (!matches(lifetime, LIFETIME) || !atMost(epsilon, lifetime) || !atMost(lifetime, MAX_LIFETIME)) malformed("lifetime");
  return Object.freeze({ ...data });
}

/** Version 2, sections 2 and 3. The plan is refused if the central epsilon is smaller than that of its honest devices. */
function shuffledOf(data, { epsilon: local, extends: extended, rounds, standing }) {
  keys(data, SHUFFLED_KEYS, "shuffled");
  const { key, batch, honest, delta, epsilon, lifetime, until, operator, address } = data;
  if (!matches(key, /^04[0-9a-f]{128}$/)) malformed("key");
  integer(batch, 2, MAX_BATCH, "batch");
  if (!matches(honest, /^(0\.[0-9]{0,3}[1-9]|1)$/)) malformed("honest");
  const [numerator, denominator] = fraction(honest);
  const hidden = Number((numerator * BigInt(batch)) / denominator);
  if (hidden < 1) malformed("no honest device");
  if (!matches(delta, /^0\.[0-9]{0,17}[1-9]$/) || !atMost(MIN_DELTA, delta) || !atMost(delta, MAX_DELTA)) malformed("delta");
  if (!matches(epsilon, EPSILON) || !atMost(MIN_CENTRAL, epsilon) || !atMost(epsilon, local)) malformed("the central epsilon");
  if (!atMost(MIN_LOCAL, local)) malformed("epsilon");
  if (standing === null) {
    if (lifetime !== null) malformed("the central lifetime");
    integer(until, 0, MAX_START, "until");
  } else {
    if (until !== null) malformed("until");
    if (!matches(lifetime, LIFETIME) || !atMost(epsilon, lifetime) || !atMost(lifetime, MAX_LIFETIME)) malformed("the central lifetime");
  }
  if (!matches(operator, OPERATOR)) malformed("operator");
  if (!matches(address, ADDRESS)) malformed("address");
  if (rounds.length !== 1 || extended !== null) malformed("a shuffled plan has one round");
  if (!rounds[0].padded) throw new PlanRefused("plan-not-private");
  if (divergence(hidden, Number(local), Number(epsilon)) > Number(delta)) throw new PlanRefused("plan-promises-too-much");
  return Object.freeze({ ...data, key: hexBytes(key), hidden });
}

function gridOf(data) {
  keys(data, ["bounds", "crs", "n"], "grid");
  const bounds = list(data.bounds, 4, 4, "bounds").map(decimal);
  const [x0, y0, x1, y1] = bounds;
  if (!bounds.every(Number.isFinite) || !(x0 < x1 && y0 < y1)) malformed("bounds");
  if (data.crs !== null && !matches(data.crs, /^[A-Za-z0-9:._/-]{1,64}$/)) malformed("crs");
  return { bounds, n: integer(data.n, 2, 256, "n") };
}

function roundOf(data, n) {
  keys(data, ["asks", "assignment", "padded"], "a round");
  if (data.assignment !== "everyone" && data.assignment !== "partition") malformed("assignment");
  if (typeof data.padded !== "boolean") malformed("padded");
  const asks = list(data.asks, 1, 255, "asks").map((entry) => askOf(entry, n));
  if (new Set(asks.map((ask) => ask.question.name)).size !== asks.length) malformed("a question is asked twice");
  const everyone = data.assignment === "everyone";
  const shares = asks.reduce((sum, ask) => sum + ask.share, 0);
  if (everyone ? asks.some((ask) => ask.share !== SHARES) : shares !== SHARES) malformed("shares");
  const sizes = asks.map((ask) => ask.question.slots * ask.randomizer.payloadBytes);
  const payloadBytes = everyone ? sizes.reduce((sum, size) => sum + size, 0) : Math.max(...sizes);
  if (payloadBytes > MAX_PAYLOAD) throw new PlanRefused("plan-too-large");
  return { assignment: data.assignment, padded: data.padded, asks, payloadBytes };
}

function askOf(data, n) {
  keys(data, ["question", "randomizer", "share"], "an ask");
  const asked = isObject(data.question) ? question(n, data.question) : null;
  if (asked === null) malformed("question");
  const parameters = data.randomizer;
  const kind = isObject(parameters) ? parameters.kind : undefined;
  if (!["grr", "oue", "privset"].includes(kind)) malformed("kind");
  keys(parameters, ["capacity", "domain", "kind", "ratio", ...(kind === "privset" ? ["size"] : [])], "a randomizer");
  const { domain, capacity } = parameters;
  if (domain !== asked.domain || capacity !== asked.capacity || capacity > domain) malformed("domain or capacity");
  if (capacity > (kind === "privset" ? 256 : 1) || domain > 1 << 20) malformed("domain or capacity");
  if (kind === "privset") integer(parameters.size, 1, Math.min(domain, 4096), "size");
  const [numerator, denominator] = ratioOf(parameters.ratio);
  return {
    question: asked,
    randomizer: randomizer({ kind, domain, capacity, numerator, denominator, size: parameters.size }),
    share: integer(data.share, 1, SHARES, "share"),
  };
}

function ratioOf(data) {
  const texts = list(data, 2, 2, "ratio");
  if (!texts.every((text) => matches(text, /^[1-9][0-9]{0,21}$/))) malformed("ratio");
  const [numerator, denominator] = texts.map(BigInt);
  const powerOfTwo = (1n << 40n) % denominator === 0n;
  // Of a power of two and another number, the common factors are powers of two.
  const lowest = denominator === 1n || numerator % 2n === 1n;
  if (!powerOfTwo || !lowest || numerator <= denominator || numerator >= 1n << 70n) malformed("ratio");
  return [numerator, denominator];
}

/** Section 3.3: the ids of the plans that this one extends, from the first to its own. */
async function chainOf(data, id) {
  if (data.extends === null) return [id];
  const ids = [];
  for (let count = 1; count < data.rounds.length; count += 1) {
    const earlier = { ...data, rounds: data.rounds.slice(0, count), extends: ids.at(-1) ?? null };
    ids.push(await sha256(canonical(earlier)));
  }
  if (ids.at(-1) !== data.extends) malformed("the plan does not extend the plan it names");
  return [...ids, id];
}

async function sha256(text) {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined) throw new Error("ldptrace needs Web Crypto: use https or localhost");
  const hash = new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function malformed(detail) {
  throw new PlanRefused("plan-malformed", detail);
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function matches(value, pattern) {
  return typeof value === "string" && pattern.test(value);
}

function keys(value, wanted, where) {
  if (!isObject(value)) malformed(`${where} must be an object`);
  const found = Object.keys(value).sort();
  if (found.length !== wanted.length || found.some((key, at) => key !== wanted[at])) malformed(`keys of ${where}`);
}

function list(value, low, high, where) {
  if (!Array.isArray(value) || value.length < low || value.length > high) malformed(where);
  return value;
}

function integer(value, low, high, where) {
  if (!Number.isInteger(value) || value < low || value > high) malformed(where);
  return value;
}
