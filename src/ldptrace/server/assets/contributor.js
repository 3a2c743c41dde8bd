// The contributor's page: what is asked, the trip, agreement, the report. Only the report is ever sent.

import { BrowserStorage, cellPath, Ledger, PlanRefused, readPlan, readReport, Reporter } from "./client/index.js";
import { linkItem, moveItem } from "./client/src/grid.js";
import { GridMap, html, number } from "./drawing.js";
import { BadFile, chosen, tripsIn } from "./trips.js";

const HEADER = 35;
const LIMIT = "5";
const name = location.pathname.split("/").filter(Boolean).at(-1);
const base = `/v1/campaigns/${name}`;
const at = (id) => document.getElementById(id);
const state = { points: null, drawn: false };

function say(text, kind = "") {
  at("message").replaceChildren(...(text ? [html("p", { class: `notice ${kind}` }, text)] : []));
}

async function load(path, type = "json") {
  const answer = await fetch(path, { cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" });
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).title ?? `The server answered ${answer.status}.`);
  return type === "json" ? answer.json() : answer.arrayBuffer();
}

async function start() {
  const campaign = await load(base);
  document.title = `${campaign.title} · take part`;
  at("title").textContent = campaign.title;
  at("state").textContent = campaign.rounds > 1 ? `${campaign.state}, round ${campaign.round} of ${campaign.rounds}` : campaign.state;
  at("state").classList.add(campaign.state);
  at("state").hidden = false;
  const plan = await readPlan(await load(`${base}/plan`, "bytes"), { planId: campaign.plan });
  const words = await load(`${base}/words`);
  Object.assign(state, { campaign, plan, words, round: campaign.round - 1 });
  explain();
  if (campaign.state !== "open") {
    say("This campaign is closed: reports are no longer counted.");
    return;
  }
  state.ledger = new Ledger(new BrowserStorage(), { limit: LIMIT });
  state.reporter = new Reporter(plan, { ledger: state.ledger });
  await showLedger();
  const entry = (await state.ledger.entries()).find((one) => one.plan === plan.id && one.round === state.round);
  if (entry?.report) {
    at("pending").hidden = false;
    at("admission-field").hidden = !campaign.admission;
    at("again").before(at("admission-field"));
  } else if (entry) {
    say("You have answered this round. Nothing more is asked of you; thank you.", "good");
  } else {
    prepare();
  }
}

function explain() {
  const { plan, words, round } = state;
  const lines = words.asking;
  at("short").textContent = `${lines[0]} ${lines.at(-2)}`;
  const list = html("ul", { class: "asks" });
  const parts = [];
  for (const line of lines.slice(1)) {
    if (line.startsWith("  ")) list.append(html("li", {}, line.trim()));
    else parts.push(html("p", {}, line), ...(line.endsWith(":") ? [list] : []));
  }
  at("asking").replaceChildren(...parts);
  state.geographic = ["EPSG:4326", "OGC:CRS84"].includes(plan.crs);
  state.area = { ...plan.grid, geographic: state.geographic };
  state.size = HEADER + plan.rounds[round].payloadBytes;
}

async function showLedger() {
  const { ledger } = state;
  at("ledger").textContent = `This browser has given away epsilon ${(await ledger.spent()) || "0"} so far, of ${ledger.limit} that it gives at most in all campaigns.`;
}

/** Let the person choose a trip. */
function prepare() {
  for (const id of ["trip", "agree"]) at(id).hidden = false;
  at("admission-field").hidden = !state.campaign.admission;
  state.map = new GridMap(at("map"), state.area, "Map of the campaign. Click to draw a trip.");
  at("map").classList.add("drawing");
  at("map").addEventListener("click", (event) => add(state.map.pointAt(event)));
  at("map").addEventListener("keydown", keys);
  at("undo").addEventListener("click", () => take(state.points.slice(0, -1), true));
  at("clear").addEventListener("click", () => take(null, false));
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
  say("");
  try {
    const trips = await tripsIn(file, state);
    const many = trips.length > 1 ? `${number(trips.length)} trips are in this file; one of them was drawn by lot. ` : "";
    take(chosen(trips), false, many);
  } catch (error) {
    take(null, false);
    if (!(error instanceof BadFile)) throw error;
    say(error.message, "bad");
  }
}

function add(point) {
  at("file").value = "";
  take([...(state.drawn ? state.points : []), point], true);
}

/** The trip is now this one; null: none. */
function take(points, drawn, note = "") {
  Object.assign(state, { points: points?.length === 0 && drawn ? null : points, drawn });
  const trip = state.points ?? [];
  const cells = cellPath(trip, state.plan.grid);
  state.map.trip(trip.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y)), cells);
  at("undo").disabled = !drawn || state.points === null;
  at("clear").disabled = state.points === null;
  at("found").textContent = state.points === null ? "" : `${note}${described(trip, cells)}`;
  at("consent").checked = false;
  ready();
}

function described(trip, cells) {
  if (trip.length === 0) return "There is no trip in this file. You can take part all the same: the report is then made for somebody who did not travel.";
  const [x0, y0, x1, y1] = state.plan.grid.bounds;
  const outside = trip.filter(([x, y]) => !(x >= x0 && x <= x1 && y >= y0 && y <= y1)).length;
  const beyond = outside ? ` ${number(outside)} of them lie outside the map and count for the nearest cell.` : "";
  return `${number(trip.length)} ${trip.length === 1 ? "point" : "points"} in ${number(new Set(cells).size)} cells.${beyond}`;
}

function ready() {
  const admitted = !state.campaign.admission || at("admission").value.trim() !== "";
  at("send").disabled = !(state.points !== null && at("consent").checked && admitted);
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
  else if (event.key === "Backspace" && state.drawn && state.points) take(state.points.slice(0, -1), true);
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
  const { reporter, round, points } = state;
  for (const id of ["send", "again", "consent", "file", "undo", "clear"]) at(id).disabled = true;
  say("");
  let report;
  try {
    report = await reporter.report(points ?? [], round);
  } catch (error) {
    // What has no place in the ledger is not sent.
    say(`Nothing was sent. ${error instanceof PlanRefused ? error.problem.sentence : `${error.message}.`}`, "bad");
    return;
  }
  await showLedger();
  show(report);
  await post(report);
}

async function post(report) {
  at("outcome").textContent = "Sending …";
  const headers = { "Content-Type": "application/vnd.ldptrace.reports" };
  if (state.campaign.admission) headers["Ldptrace-Admission"] = at("admission").value.trim();
  let answer;
  try {
    answer = await fetch(`${base}/reports`, { method: "POST", body: report, headers, credentials: "omit", referrerPolicy: "no-referrer" });
  } catch {
    return again("The server could not be reached. The report is kept in this browser and can be sent again.");
  }
  const body = await answer.json().catch(() => ({}));
  if (answer.ok || body.code === "duplicate") {
    await state.reporter.sent(state.round);
    at("pending").hidden = true;
    at("outcome").textContent = "Your report was counted. Thank you.";
    return undefined;
  }
  const later = answer.status >= 500 || answer.status === 429 || answer.status === 408 || body.code === "not-admitted";
  const text = `The report was not counted: ${body.title ?? `the server answered ${answer.status}.`}`;
  if (later) return again(`${text} It is kept in this browser and can be sent again.`);
  at("outcome").textContent = text;
  return undefined;
}

function again(text) {
  at("outcome").textContent = text;
  at("pending").hidden = false;
  at("again").disabled = false;
  at("again").before(at("admission-field"));
}

/** The report byte for byte and in words. */
function show(report) {
  const { plan, round, words } = state;
  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  at("bytes").replaceChildren(html("span", { class: "head" }, hex(report.subarray(0, HEADER))), " ", hex(report.subarray(HEADER)));
  const map = new GridMap(at("said"), state.area, "What the report names on the map");
  const parts = [];
  let places = 0;
  for (const { ask, slots } of readReport(report, plan, round)) {
    const known = words.questions[plan.rounds[round].asks.indexOf(ask)];
    parts.push(html("p", {}, `To the question about ${known.about}:`));
    const list = html("ul", {});
    slots.forEach((items, slot) => {
      const named = items.map((item) => (item >= ask.question.domain ? "nothing" : (known.items?.[item] ?? `item ${item + 1} of ${ask.question.domain}`)));
      const place = slots.length > 1 ? `${slot + 1}: ` : "";
      if (slots.length > 1 || named.length === 0) list.append(html("li", {}, `${place}${named.join("; ") || "(no item)"}`));
      else list.append(...named.map((text) => html("li", {}, text)));
      for (const item of items) places += draw(map, ask.question, item);
    });
    parts.push(list);
  }
  at("meaning").replaceChildren(...parts);
  at("said-figure").hidden = places === 0;
  if (state.points) map.trip(state.points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y)), []);
  for (const id of ["trip", "agree"]) at(id).hidden = true;
  at("sent").hidden = false;
  at("sent").focus();
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

at("again").addEventListener("click", send);
start().catch((error) => say(error.message, "bad"));
