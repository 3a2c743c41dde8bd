// The contributor's page: what is asked, the trip, agreement, the report. Only the report is ever sent.

import { BrowserStorage, cellPath, Ledger, PlanRefused, readPlan, readReport, Reporter, shuffledPromise } from "./client/index.js";
import { linkItem, moveItem } from "./client/src/grid.js";
import { HEADER_BYTES } from "./client/src/reports.js";
import { SEAL_BYTES } from "./client/src/seals.js";
import { GridMap, html, streetsOf } from "./drawing.js";
import { date, dateTime, fillIn, known, number, say } from "./language.js";
import { asked, drawnNow, standingState } from "./standing.js";
import { BadFile, tripsIn } from "./trips.js";

const LIMIT = "5";
// Seconds that a report waits at most before it is sent: the moment must not follow from the trip. Tests have none.
const LONGEST_WAIT = globalThis.ldptraceLongestWait ?? 20;
const name = location.pathname.split("/").filter(Boolean).at(-1);
// A shuffler serves this page for a plan, by its id; a curator for a campaign, by its name.
const mixed = /^[0-9a-f]{64}$/.test(name);
const base = mixed ? `/v2/plans/${name}` : `/v1/campaigns/${name}`;
const SHARES = 65536;
const at = (id) => document.getElementById(id);
// The trips that may be answered about, as { points, arrival }; null: none were chosen yet. A drawn trip is the only one.
const state = { trips: null, drawn: false };

function tell(text, kind = "") {
  at("message").replaceChildren(...(text ? [html("p", { class: `notice ${kind}` }, text)] : []));
}

async function load(path, type = "json") {
  const answer = await fetch(path, { cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" });
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).title ?? say("answered", { status: answer.status }));
  return type === "json" ? answer.json() : answer.arrayBuffer();
}

async function start() {
  const campaign = await load(mixed ? `${base}/about` : base);
  introduce(campaign);
  const plan = await readPlan(await load(mixed ? base : `${base}/plan`, "bytes"), { planId: mixed ? name : campaign.plan });
  const words = await load(`${base}/words`);
  Object.assign(state, { campaign, plan, words, round: plan.standing ? 0 : campaign.round - 1 });
  explain();
  if (campaign.state !== "open") {
    tell(say("closed"));
    if (campaign.state === "published") at("message").firstChild.append(" ", html("a", { href: `/c/${name}/release` }, say("release")));
    return;
  }
  if (plan.shuffled !== null && !mixed) {
    // Whoever serves the page sees who opens it, and makes its code: that is the shuffler, not the curator.
    const place = `${plan.shuffled.address.replace(/\/+$/, "")}/c/${plan.id}`;
    tell(`${say("elsewhere", plan.shuffled)} `);
    at("message").firstChild.append(html("a", { href: place, rel: "noreferrer" }, say("toShuffler")));
    return;
  }
  state.streets = mixed ? null : await streetsOf(name);
  state.ledger = new Ledger(new BrowserStorage(), { limit: LIMIT });
  state.reporter = new Reporter(plan, { ledger: state.ledger });
  if (plan.standing) {
    await startStanding();
    return;
  }
  await showLedger();
  const entry = (await state.ledger.entries()).find((one) => one.plan === plan.id && one.round === state.round);
  if (entry?.report) {
    at("pending").hidden = false;
    at("admission-field").hidden = !campaign.admission;
    at("again").before(at("admission-field"));
  } else if (entry) {
    tell(say("done"), "good");
  } else if (Number(await state.ledger.spent()) + Number(cost()) > Number(LIMIT)) {
    tell(say("over"), "bad");
  } else {
    prepare();
  }
}

/** What one answer takes of the limit. */
const cost = () => state.plan.shuffled?.epsilon ?? state.plan.epsilon;

/** Who runs it, until when, whom to ask, and the notice. */
function introduce(campaign) {
  document.title = `${campaign.title} · ${say("page")}`;
  at("title").textContent = campaign.title;
  const shown = known(`state.${campaign.state}`) ?? campaign.state;
  at("state").textContent = campaign.rounds > 1 ? say("round", { ...campaign, state: shown }) : shown;
  at("state").classList.add(campaign.state);
  at("state").hidden = false;
  const who = [
    campaign.organiser && say("runBy", campaign),
    campaign.until !== null && campaign.state === "open" && say("until", { date: date(campaign.until) }),
    campaign.contact && say("ask", campaign),
  ].filter(Boolean);
  at("who").textContent = who.join(" ");
  at("who").hidden = who.length === 0;
  at("release-link").hidden = !campaign.standing;
  at("release-link").replaceChildren(html("a", { href: `/c/${campaign.name}/release` }, say("release")));
  const isLink = /^https?:\/\/\S+$/.test(campaign.notice);
  at("notice-link").hidden = !isLink;
  at("notice-fold").hidden = isLink || campaign.notice === "";
  if (isLink) at("notice-link").replaceChildren(html("a", { href: campaign.notice, rel: "noopener noreferrer" }, say(mixed ? "noticeThere" : "notice")));
  else at("notice").replaceChildren(...campaign.notice.split(/\n\s*\n/).map((part) => html("p", {}, part)));
}

/** The plan in numbers, behind a fold. */
function explain() {
  const { plan, words, round } = state;
  const lines = words.asking ?? asking(plan, words);
  const list = html("ul", { class: "asks" });
  const parts = [];
  for (const line of lines) {
    if (line.startsWith("  ")) list.append(html("li", {}, line.trim()));
    else parts.push(html("p", {}, line), ...(line.endsWith(":") ? [list] : []));
  }
  at("asking").replaceChildren(...parts);
  state.geographic = ["EPSG:4326", "OGC:CRS84"].includes(plan.crs);
  state.area = { ...plan.grid, geographic: state.geographic };
  const size = HEADER_BYTES + plan.rounds[round].payloadBytes + (plan.shuffled === null ? 0 : SEAL_BYTES);
  at("size").textContent = say("bytes", { bytes: number(size) });
  at("shuffler").hidden = plan.shuffled === null;
  if (plan.shuffled !== null) at("shuffler").textContent = say("shuffler", { ...plan.shuffled, batch: number(plan.shuffled.batch) });
  at("plan").textContent = say("planId", { plan: plan.id });
}

/** What a shuffled plan asks. Its shuffler has no explanation of the whole plan, only of each question. */
function asking(plan, words) {
  const line = ({ share, about, named: [truth, lie] }, place) => {
    const items = plan.rounds[0].asks[place].question.domain;
    const habit = `a true one is named with probability ${truth.toFixed(3)}, an untrue one with ${lie.toFixed(3)}`;
    return `  ${((100 * share) / SHARES).toFixed(1)} %: ${about} (${items} possible items; ${habit})`;
  };
  return [
    ...shuffledPromise(plan),
    "One question is drawn at random, without looking at your trajectory; only it is answered:",
    ...words.questions.map(line),
  ];
}

/** A standing campaign: take part, wait until an answer is due, give it. */
async function startStanding() {
  const own = await showStanding();
  if (own.waiting && own.window === null) {
    at("pending").hidden = false;
    at("admission-field").hidden = !state.campaign.admission;
    at("again").before(at("admission-field"));
  } else if (own.window !== null) prepare();
}

async function showStanding() {
  const { ledger, plan } = state;
  const own = await standingState(ledger, plan);
  state.own = own;
  const spent = (await ledger.spent()) || "0";
  at("given").textContent = own.answers === 0 ? say("given0") : say("givenSome", { count: number(own.answers) });
  if (own.waiting) at("given").append(` ${say("waiting")}`);
  const times = { from: dateTime(own.from ?? 0), to: dateTime(own.to ?? 0), date: dateTime(own.to ?? 0) };
  at("due").textContent = own.left <= 0 ? say("spentAll") : !own.accepted ? say("accept1", { every: days(plan.standing.every) }) : `${say(own.window === null ? "due" : "dueNow", times)} ${say("left", { count: number(own.left) })}`;
  at("due").hidden = false;
  at("accept").hidden = own.accepted;
  at("meter").value = Number(spent) / Number(ledger.limit);
  at("ledger").textContent = say("budgetStanding", { spent, limit: ledger.limit, epsilon: cost() });
  await showLocal();
  at("stop").hidden = !own.waiting;
  at("you").hidden = false;
  return own;
}

const days = (seconds) => (seconds % 86_400 === 0 ? say("days", { count: number(seconds / 86_400) }) : say("hours", { count: number(seconds / 3600) }));

/** The second sum, for the case that shuffler and curator work together. */
async function showLocal() {
  const { ledger, plan } = state;
  if (plan.shuffled === null) return;
  const { local } = await ledger.cost();
  at("ledger").append(` ${say("budgetLocal", { local: local || "0", limit: ledger.localLimit, epsilon: plan.epsilon })}`);
  // A person agrees to the total at once, by taking part.
  const own = plan.standing === null ? null : state.own;
  if (own && !own.accepted) at("ledger").append(` ${say("budgetTotal", { count: number(own.most), total: Number((own.most * Number(plan.epsilon)).toPrecision(12)) })}`);
}

async function accept() {
  try {
    await state.reporter.accept();
  } catch (error) {
    tell(say("notSent", { reason: error instanceof PlanRefused ? error.problem.sentence : `${error.message}.` }), "bad");
    return;
  }
  await navigator.storage?.persist?.();
  await startStanding();
}

/** What was given and what is left, before anything is asked for. */
async function showLedger() {
  const { ledger, plan, round } = state;
  const spent = (await ledger.spent()) || "0";
  const entry = (await ledger.entries()).find((one) => one.plan === plan.id && one.round === round);
  at("given").textContent = say(entry === undefined ? "given0" : entry.report ? "waiting" : "given1");
  at("meter").value = Number(spent) / Number(ledger.limit);
  at("ledger").textContent = say("budget", { spent, limit: ledger.limit, epsilon: cost() });
  await showLocal();
  at("stop").hidden = !entry?.report;
  at("you").hidden = false;
}

/** Forget the answer that was not sent; that it was drawn stays in the ledger. */
async function stop() {
  await state.reporter.sent(state.round);
  for (const id of ["pending", "stop"]) at(id).hidden = true;
  tell(say("stopped"), "good");
  await (state.plan.standing ? showStanding() : showLedger());
}

/** Let the person choose a trip. */
function prepare() {
  for (const id of ["trip", "agree"]) at(id).hidden = false;
  at("admission-field").hidden = !state.campaign.admission;
  state.map = new GridMap(at("map"), state.area, say("mapLabel"));
  state.map.streets(state.streets);
  state.map.zoomable();
  state.map.scale();
  at("map").classList.add("drawing");
  at("map").addEventListener("click", (event) => add(state.map.pointAt(event)));
  at("map").addEventListener("keydown", keys);
  for (const [id, factor] of [["closer", 1.6], ["farther", 1 / 1.6]]) {
    at(id).setAttribute("aria-label", say(id));
    at(id).addEventListener("click", () => state.map.zoom(factor));
  }
  at("undo").addEventListener("click", () => take(shorter(), true));
  at("clear").addEventListener("click", () => take(null, false));
  at("none").addEventListener("click", () => take([], false, say("noTripChosen")));
  at("file").addEventListener("change", () => open(at("file").files[0]));
  const drop = at("drop");
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (event) => hover(event, true));
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, (event) => hover(event, false));
  drop.addEventListener("drop", (event) => open(event.dataTransfer.files[0]));
  at("consent").addEventListener("change", ready);
  at("admission").addEventListener("input", ready);
  at("send").addEventListener("click", send);
}

function hover(event, over) {
  event.preventDefault();
  at("drop").classList.toggle("over", over);
}

async function open(file) {
  if (!file) return;
  tell("");
  try {
    const trips = await tripsIn(file, state);
    const found = state.plan.standing ? asked(trips, state.own) : trips;
    const none = say(trips.length === 0 ? "empty" : "otherTime", { count: number(trips.length) });
    const many = found.length > 1 ? `${say("many", { count: number(found.length) })} ` : "";
    take(found, false, found.length === 0 ? none : many);
  } catch (error) {
    take(null, false);
    if (!(error instanceof BadFile)) throw error;
    tell(say(error.message), "bad");
  }
}

function add(point) {
  at("file").value = "";
  take([{ points: [...(state.drawn ? state.trips[0].points : []), point] }], true);
}

/** The drawn trip without its last point; null: none. */
function shorter() {
  const points = state.trips[0].points.slice(0, -1);
  return points.length === 0 ? null : [{ points }];
}

/** The trips are now these; null: none were chosen. */
function take(trips, drawn, note = "") {
  Object.assign(state, { trips, drawn: drawn && trips !== null });
  const lines = (trips ?? []).map(({ points }) => points);
  const cells = lines.flatMap((points) => cellPath(points, state.plan.grid));
  state.map.trips(lines, cells);
  at("undo").disabled = !state.drawn;
  at("clear").disabled = trips === null;
  at("found").textContent = trips === null ? "" : `${note}${described(lines.flat(), cells)}`;
  at("consent").checked = false;
  ready();
  check(state.trips);
}

/** What the device would make of the trips, in the sentences that developers read too. */
async function check(trips) {
  const lines = trips === null ? [] : await state.reporter.check(about(trips), state.round);
  // Other trips may have been chosen meanwhile.
  if (trips === state.trips) at("checked").replaceChildren(...lines.map((line) => html("li", {}, line)));
}

/** The trips as the device takes them. */
const about = (trips) => (state.plan.standing && state.drawn ? drawnNow(trips, state.own) : trips);

function described(trip, cells) {
  if (trip.length === 0) return "";
  const [x0, y0, x1, y1] = state.plan.grid.bounds;
  const outside = trip.filter(([x, y]) => !(x >= x0 && x <= x1 && y >= y0 && y <= y1)).length;
  const beyond = outside ? ` ${say("outside", { count: number(outside) })}` : "";
  const inside = trip.length === 1 ? say("found1") : say("found", { points: number(trip.length), cells: number(new Set(cells).size) });
  return `${inside}${beyond}`;
}

function ready() {
  const admitted = !state.campaign.admission || at("admission").value.trim() !== "";
  at("send").disabled = !(state.trips !== null && at("consent").checked && admitted);
}

const STEPS = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

function keys(event) {
  const { map, plan } = state;
  const [x0, y0, x1, y1] = plan.grid.bounds;
  state.cursor ??= [(x0 + x1) / 2, (y0 + y1) / 2];
  const step = STEPS[event.key];
  if (step) {
    const finer = event.shiftKey ? 0.2 : 1;
    state.cursor = [
      Math.min(Math.max(state.cursor[0] + (finer * step[0] * (x1 - x0)) / plan.grid.n, x0), x1),
      Math.min(Math.max(state.cursor[1] + (finer * step[1] * (y1 - y0)) / plan.grid.n, y0), y1),
    ];
  } else if (event.key === "Enter" || event.key === " ") add(state.cursor);
  else if (event.key === "Backspace" && state.drawn) take(shorter(), true);
  else return;
  event.preventDefault();
  const [x, y] = map.place(state.cursor);
  map.layers.top.replaceChildren();
  const mark = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  for (const [key, value] of Object.entries({ cx: x, cy: y, r: 9, class: "cursor", "stroke-width": 2 })) mark.setAttribute(key, value);
  map.layers.top.append(mark);
}

/** Draw the report, keep it, send it, show it. */
async function send() {
  const { reporter, round } = state;
  const trips = about(state.trips ?? []);
  for (const id of ["send", "again", "stop", "consent", "file", "undo", "clear", "none"]) at(id).disabled = true;
  tell("");
  let report;
  try {
    report = await reporter.report(trips, round);
  } catch (error) {
    // What has no place in the ledger is not sent.
    tell(say("notSent", { reason: error instanceof PlanRefused ? error.problem.sentence : `${error.message}.` }), "bad");
    return;
  }
  await (state.plan.standing ? showStanding() : showLedger());
  show(report);
  await post(report);
}

/** Send what was kept. If a later window has ended meanwhile, its answer is due, about its own trips. */
async function resend() {
  if (state.plan.standing && (await standingState(state.ledger, state.plan)).window !== null) location.reload();
  else await send();
}

async function post(report) {
  const wait = state.reporter.delay(LONGEST_WAIT);
  if (wait > 0) at("outcome").textContent = say("waits", { count: number(LONGEST_WAIT) });
  await new Promise((resolve) => setTimeout(resolve, 1000 * wait));
  at("outcome").textContent = say("sending");
  const url = state.plan.shuffled === null ? new URL(base, location.href).href : null;
  const admission = state.campaign.admission ? at("admission").value.trim() : null;
  const { arrived, status, code, title } = await state.reporter.send(report, { url, admission });
  if (status === null) return again(say("unreachable"));
  if (arrived) {
    at("pending").hidden = true;
    at("outcome").textContent = say(url === null ? "taken" : "counted");
    await (state.plan.standing ? showStanding() : showLedger());
    return undefined;
  }
  const later = status >= 500 || status === 429 || status === 408 || code === "not-admitted";
  const text = say("refused", { reason: title ?? say("answered", { status }) });
  if (later) return again(`${text} ${say("kept")}`);
  at("outcome").textContent = text;
  return undefined;
}

function again(text) {
  at("outcome").textContent = text;
  at("pending").hidden = false;
  for (const id of ["again", "stop"]) at(id).disabled = false;
  at("stop").hidden = false;
  at("again").before(at("admission-field"));
}

/** The report byte for byte and in words. */
function show(report) {
  const { plan, round, words } = state;
  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  for (const id of ["trip", "agree"]) at(id).hidden = true;
  at("sent").hidden = false;
  at("sent").focus();
  if (plan.shuffled !== null) {
    at("bytes").replaceChildren(hex(report));
    at("byte-note").textContent = say("sealedNote");
    at("meaning").replaceChildren(html("p", {}, say("sealed")));
    for (const id of ["chance", "said-figure"]) at(id).hidden = true;
    return;
  }
  at("bytes").replaceChildren(html("span", { class: "head" }, hex(report.subarray(0, HEADER_BYTES))), " ", hex(report.subarray(HEADER_BYTES)));
  at("byte-note").textContent = say("byteNote", { header: HEADER_BYTES });
  const map = new GridMap(at("said"), state.area, say("said"));
  map.streets(state.streets);
  const parts = [];
  let places = 0;
  for (const { ask, slots } of readReport(report, plan, round)) {
    const worded = words.questions[plan.rounds[round].asks.indexOf(ask)];
    parts.push(html("p", {}, say("about", { question: known(`questions.${worded.name}`) ?? worded.about })));
    const list = html("ul", {});
    slots.forEach((items, slot) => {
      const named = items.map((item) => (item >= ask.question.domain ? say("nothing") : (worded.items?.[item] ?? say("item", { item: item + 1, items: ask.question.domain }))));
      const place = slots.length > 1 ? `${slot + 1}: ` : "";
      if (slots.length > 1 || named.length === 0) list.append(html("li", {}, `${place}${named.join("; ") || say("noItem")}`));
      else list.append(...named.map((text) => html("li", {}, text)));
      for (const item of items) places += draw(map, ask.question, item);
    });
    parts.push(list);
  }
  at("meaning").replaceChildren(...parts);
  at("said-figure").hidden = places === 0;
  map.trips((state.trips ?? []).map(({ points }) => points), []);
}

/** Draw an item that has a place; how many were drawn. */
function draw(map, question, item) {
  const { n } = state.plan.grid;
  if (item >= question.domain) return 0;
  if (question.domain === n * n) {
    map.layers.cells.append(map.cell(item, { class: "named" }));
    return 1;
  }
  const itemOf = { moves: moveItem, steps: moveItem, links: linkItem }[question.name];
  if (itemOf === undefined) return 0;
  for (let here = 0; here < n * n; here += 1) {
    for (const step of [1, n - 1, n, n + 1, -1, 1 - n, -n, -n - 1]) {
      const there = here + step;
      const close = there >= 0 && there < n * n && Math.abs((there % n) - (here % n)) <= 1;
      if (close && itemOf(here, there, n) === item) {
        map.layers.flows.append(map.flow(here, there, { class: "namedflow", "stroke-width": 5 }));
        return 1;
      }
    }
  }
  return 0;
}

fillIn(document, at("language"));
at("again").addEventListener("click", resend);
at("stop").addEventListener("click", stop);
at("accept").addEventListener("click", accept);
start().catch((error) => tell(error.message, "bad"));
