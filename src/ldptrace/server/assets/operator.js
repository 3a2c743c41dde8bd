// The operator's page: campaigns, reports arriving, the live map, the release.

import { bars, cellName, errorCurve, GridMap, html, number, percent, rounded, streetsOf, timeline } from "./drawing.js";
import { campaignIn, follow, planIn, showPlan } from "./form.js";
import { LiveMap } from "./live.js";

const KEY = "ldptrace-token";
const EVERY = 2000;
// The file that states how well the model fits.
const FIT = "fit.json";
const at = (id) => document.getElementById(id);
const state = { campaigns: [], chosen: null, estimates: null, seen: null, card: null, asked: 0, answered: 0 };

class Failed extends Error {
  constructor(status, body) {
    super(body?.detail ?? body?.title ?? `The server answered ${status}.`);
    Object.assign(this, { status, code: body?.code });
  }
}

async function ask(path, { method = "GET", body, file } = {}) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY)}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(`/v1/operator/${path}`, { method, headers, body: file ?? (body && JSON.stringify(body)), cache: "no-store" });
  if (!answer.ok) throw new Failed(answer.status, await answer.json().catch(() => null));
  return answer;
}

function say(text, kind = "") {
  at("message").replaceChildren(...(text ? [html("p", { class: `notice ${kind}` }, text)] : []));
}

/** Run something a person asked for, and tell what went wrong. */
async function trying(work) {
  try {
    say("");
    await work();
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    if (error.status === 401) leave("This token is not valid.");
    else say(error.message, "bad");
  }
}

function leave(text = "") {
  stopLive();
  sessionStorage.removeItem(KEY);
  state.chosen = null;
  at("inside").hidden = at("leave").hidden = true;
  at("enter").hidden = false;
  at("token").value = "";
  say(text, text ? "bad" : "");
}

/** All campaigns that the token can see, answer by answer. */
async function everyCampaign() {
  const campaigns = [];
  for (;;) {
    const last = campaigns.at(-1)?.name;
    const found = await (await ask(last === undefined ? "campaigns" : `campaigns?after=${last}`)).json();
    campaigns.push(...found.campaigns);
    if (!found.more || found.campaigns.length === 0) return { ...found, campaigns };
  }
}

async function refresh() {
  if (!sessionStorage.getItem(KEY)) return;
  const turn = (state.asked += 1);
  const found = await everyCampaign();
  // An answer that a later one has overtaken is out of date.
  if (turn < state.answered) return;
  state.answered = turn;
  state.campaigns = found.campaigns;
  state.manage = found.scope === "manage";
  at("enter").hidden = true;
  at("inside").hidden = at("leave").hidden = false;
  at("new").hidden = !(state.manage && found.campaign === "*");
  if (!state.campaigns.some((one) => one.name === state.chosen)) state.chosen = state.campaigns[0]?.name ?? null;
  list();
  await show();
}

function list() {
  const focused = document.activeElement?.dataset?.name;
  const items = state.campaigns.map((one) => {
    const badge = html("span", { class: `badge ${one.state}` }, one.state);
    const button = html("button", { type: "button", "data-name": one.name, "aria-current": String(one.name === state.chosen) }, `${one.title} `, badge, html("br"), html("span", { class: "small soft" }, `${number(one.reports)} reports`));
    button.addEventListener("click", () => choose(one.name));
    return html("li", {}, button);
  });
  at("list").replaceChildren(...(items.length ? items : [html("li", { class: "soft" }, "There is none yet.")]));
  if (focused) at("list").querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus();
}

function choose(name) {
  stopLive();
  Object.assign(state, { chosen: name, estimates: null, seen: null, card: null });
  at("change").open = false;
  list();
  trying(show);
}

const current = () => state.campaigns.find((one) => one.name === state.chosen);

async function show() {
  const one = current();
  at("campaign").hidden = one === undefined;
  if (one === undefined) return;
  at("name").textContent = one.title === one.name ? one.name : `${one.title} (${one.name})`;
  at("state").textContent = one.standing && one.round > 0 ? `${one.state}, ${number(one.round)} windows` : one.rounds > 1 && one.round > 0 ? `${one.state}, round ${one.round} of ${one.rounds}` : one.state;
  at("state").className = `badge ${one.state}`;
  const counted = `${number(one.reports)} reports counted`;
  if (at("count").textContent !== counted) at("count").textContent = counted;
  at("progress").value = Math.min(1, (one.round_reports.at(-1)?.reports ?? 0) / one.expected);
  const epsilon = one.shuffled ? `${one.shuffled.epsilon} (${one.epsilon} if curator and shuffler work together)` : one.epsilon;
  at("needed").textContent = `${number(one.expected)} are expected in a ${one.standing ? "window" : "round"}, ${number(one.min_reports)} are needed before anything but counts is shown. Epsilon ${epsilon}, ${one.method}, plan ${one.plan.slice(0, 12)}.`;
  at("link").replaceChildren();
  if (one.state === "published") at("link").append("The release has a page: ", html("a", { href: `/c/${one.name}/release` }, `/c/${one.name}/release`), ".");
  if (one.releases.some((release) => release.state === "done")) at("link").append("Everybody can read the releases at ", html("a", { href: `/c/${one.name}/release` }, `/c/${one.name}/release`), ". ");
  const part = one.shuffled ? `${one.shuffled.address}/c/${one.plan}` : `/c/${one.name}`;
  if (one.state === "open") at("link").append("Contributors take part at ", html("a", { href: part }, part), ".");
  const running = one.release?.state === "running";
  at("open").hidden = !(one.state === "draft" || (one.state === "closed" && !one.standing && one.round < one.rounds));
  at("open").textContent = one.round > 0 ? `Open round ${one.round + 1}` : "Open";
  at("close").hidden = one.state !== "open";
  at("close").textContent = one.standing ? "Begin no further window" : "Close the round";
  at("publish").hidden = one.standing !== null || !(one.state === "closed" && one.round >= one.rounds) || running;
  at("publish").disabled = !one.enough;
  at("delete").hidden = one.state === "open";
  at("actions").hidden = !state.manage;
  at("change").hidden = !(state.manage && one.standing && one.state === "open");
  release(one);
  errors(one);
  table("rejected", ["problem", "reports"], Object.entries(one.rejected), "Every report was counted.");
  at("batches-card").hidden = one.shuffled === null;
  if (one.shuffled) batches(one);
  const several = new Set(one.round_reports.map((round) => round.plan)).size > 1;
  const begins = (round) => `${new Date(1000 * round.begin).toLocaleDateString("en", { dateStyle: "medium" })}${several ? `, plan ${round.plan.slice(0, 4)}` : ""}`;
  const released = new Map(one.releases.map((release) => [release.round, release.state === "running" ? `${release.percent} %` : release.state]));
  at("rounds-title").textContent = one.standing ? "Windows" : "Rounds";
  if (one.standing) table("rounds", ["window from", "state", "reports", "release"], one.round_reports.toReversed().slice(0, 60).map((round) => [begins(round), round.state, round.reports, page(one, round, released)]), "Nobody has answered yet.");
  else table("rounds", ["round", "state", "reports"], one.round_reports.map((round) => [round.round, round.state, round.reports]), "None was opened yet.");
  await estimates(one);
  await fit(one);
  await overTime(one);
  at("live-card").hidden = !(one.state === "published" || one.releases.some((release) => release.state === "done"));
}

/** What came from the shuffler, and both promises: as the plan states them, and as each batch achieves them. */
function batches(one) {
  const { shuffled } = one;
  const all = one.standing ? ` All answers of a person: ${shuffled.lifetime}, or ${one.standing.lifetime}.` : "";
  at("shuffled").textContent = `Reports come in batches of at least ${number(shuffled.batch)} from the shuffler of ${shuffled.operator} (${shuffled.address}). An answer costs epsilon ${shuffled.epsilon} (delta ${Number(shuffled.delta)}), or ${one.epsilon} if curator and shuffler work together.${all}${shuffled.until === null ? "" : ` The batch closes on ${new Date(1000 * shuffled.until).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" })}.`}`;
  const row = (batch) => [batch.window ?? "all", batch.reports, ...(batch.deleted ? ["deleted by the shuffler", "", ""] : [batch.counted, batch.honest, String(batch.epsilon)])];
  table("batches", ["window", "reports", "counted", "taken to be honest", "central epsilon achieved"], one.batches.toReversed().slice(0, 60).map(row), "No batch has arrived yet.");
}

/** How far the release of a window is, or the link to its page. */
function page(one, round, released) {
  const told = released.get(round.round) ?? "";
  return told === "done" ? html("a", { href: `/c/${one.name}/release/${round.round}` }, "published") : told;
}

/** Changes when estimates are to be read anew: with every report, but of a standing campaign twice a minute. */
const moment = (one) => `${one.name} ${one.standing ? Math.floor(performance.now() / 30_000) : one.reports}`;

/** Estimates over time of a standing campaign. */
async function overTime(one) {
  const key = moment(one);
  const shown = one.standing !== null && one.enough;
  at("series-card").hidden = !shown || state.series?.name !== one.name;
  if (!shown || state.seriesOf === key) return;
  const found = await (await ask(`campaigns/${one.name}/series`)).json();
  if (state.chosen !== one.name) return;
  Object.assign(state, { series: found, seriesOf: key });
  const select = at("line");
  const names = found.lines.map((line) => line.name);
  if (select.dataset.names !== names.join()) {
    select.dataset.names = names.join();
    select.replaceChildren(...names.map((name) => html("option", {}, name)));
  }
  at("series-card").hidden = false;
  drawSeries();
}

function drawSeries() {
  const { windows, lines, changes } = state.series;
  const line = lines.find((one) => one.name === at("line").value) ?? lines[0];
  const times = windows.map(({ begin }) => new Date(begin * 1000).toLocaleDateString("en", { month: "short", day: "numeric" }));
  timeline(at("series"), { times, ...line, label: `${line.name} over ${number(windows.length)} windows` });
  const newest = line.points.at(-1);
  const { half_life: half, effective } = windows.at(-1);
  const all = changes.length ? "all windows since the last change" : "all windows";
  const kept = half === "forever" ? `${all} count the same` : `the weight of a report halves in ${half}`;
  at("series-note").textContent = `${newest ? `Newest: ${rounded(newest[0])} ± ${rounded(newest[1])}. ` : ""}Visits are remembered: ${kept}, which is worth ${number(effective)} reports.${changes.length ? "" : " Where people go did not change beyond noise."}`;
  at("series-changes").replaceChildren(...changes.toReversed().slice(0, 12).map(({ text }) => html("li", {}, text)));
}

async function toggleLive() {
  if (state.live) {
    stopLive();
    return;
  }
  const one = current();
  await trying(async () => {
    const plan = await (await fetch(`/v1/campaigns/${one.name}/plan`)).json();
    const answer = await ask(`campaigns/${one.name}/travellers`);
    at("live-figure").hidden = false;
    at("live").textContent = "Stop";
    const told = ({ moving, rate }) => (at("live-told").textContent = `${number(moving)} on their way, ${Math.round(rate)} pictures per second`);
    state.live = new LiveMap(at("live-map"), { bounds: plan.grid.bounds.map(Number), geographic: ["EPSG:4326", "OGC:CRS84"].includes(plan.grid.crs), streets: await streetsOf(one.name), told });
    state.live.start(answer).catch(() => stopLive());
  });
}

function stopLive() {
  state.live?.stop();
  state.live = null;
  at("live-figure").hidden = true;
  at("live").textContent = "Show them moving";
  at("live-told").textContent = "";
}

function release(one) {
  at("release").hidden = !one.release;
  if (one.release) {
    at("release-progress").value = one.release.percent;
    const text = { running: `${one.release.stage} …`, done: "Published.", failed: `It failed: ${one.release.error}` }[one.release.state];
    if (at("release-text").textContent !== text) at("release-text").textContent = text;
  }
  at("downloads").hidden = one.files.length === 0;
  const wanted = one.files.map((file) => file.name).join();
  if (at("files").dataset.names === wanted) return;
  at("files").dataset.names = wanted;
  at("files").replaceChildren(
    ...one.files.map((file) => {
      const button = html("button", { type: "button", class: "plain" }, `${file.name} (${size(file.bytes)})`);
      button.addEventListener("click", () => trying(() => download(one.name, file.name)));
      return button;
    }),
  );
}

const size = (bytes) => (bytes > 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.ceil(bytes / 1e3)} kB`);

async function download(name, file) {
  const data = await (await ask(`campaigns/${name}/files/${file}`)).blob();
  const link = html("a", { href: URL.createObjectURL(data), download: `${name}-${file}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function errors(one) {
  const names = Object.keys(one.predicted[0].standard_errors);
  const select = at("question");
  if (select.dataset.names !== names.join()) {
    select.dataset.names = names.join();
    select.replaceChildren(...names.map((name) => html("option", {}, name)));
    if (names.includes("visits")) select.value = "visits";
  }
  const series = one.predicted.map((entry) => [entry.reports, entry.standard_errors[select.value]]);
  const reports = one.round_reports.at(-1)?.reports ?? 0;
  errorCurve(at("errors"), { series, reports, label: `Predicted standard error of ${select.value} from ${percent(series[0][1])} at ${number(series[0][0])} reports to ${percent(series.at(-1)[1])} at ${number(series.at(-1)[0])}` });
  table("errors-table", ["reports", `standard error of ${select.value}`], series.map(([count, error]) => [count, percent(error)]), "");
}

/** The map, where there are enough reports for one. */
async function estimates(one) {
  const key = moment(one);
  if (one.enough && state.seen !== key) {
    const found = await (await ask(`campaigns/${one.name}/estimates`)).json();
    if (state.chosen !== one.name) return;
    if (state.streets?.name !== one.name) state.streets = { name: one.name, drawing: await streetsOf(one.name) };
    Object.assign(state, { estimates: found, seen: key });
    // Shown before it is drawn: a chart is as wide as its place.
    at("lengths-card").hidden = !found.lengths;
    draw();
  }
  const shown = one.enough && state.estimates?.name === one.name;
  at("hidden-yet").hidden = shown;
  at("hidden-yet").textContent = `A map is shown from ${number(one.min_reports)} reports on; there are ${number(one.reports)}. Until then there are counts and predicted errors only.`;
  at("map-choice").hidden = at("map-figure").hidden = at("map-table").hidden = !shown;
  at("lengths-card").hidden = !(shown && state.estimates.lengths);
}

/** How the model of a release matches the answers, beside what the map alone gives where trips follow one. */
async function fit(one) {
  const made = one.files.some((file) => file.name === FIT);
  at("fit-card").hidden = !made || state.card !== one.name;
  if (!made || state.card === one.name) return;
  const card = await (await ask(`campaigns/${one.name}/files/${FIT}`)).json();
  if (state.chosen !== one.name) return;
  state.card = one.name;
  const alone = new Map((card.map_alone ?? []).map((match) => [match.question, match.chi2]));
  const heads = ["question", "answered by", "model", ...(alone.size ? ["map alone"] : []), "noise"];
  const rows = card.fit.map((match) => [match.question, match.users, match.chi2.toFixed(2), ...(alone.size ? [alone.get(match.question)?.toFixed(2) ?? ""] : []), match.noise.toFixed(2)]);
  table("fit", heads, rows, "This kind of model was not compared with the answers.");
  at("fit-note").textContent = (card.notes ?? []).join(" ");
  at("fit-card").hidden = false;
}

function draw() {
  const { grid, density, flows, lengths } = state.estimates;
  const map = new GridMap(at("map"), { ...grid, geographic: ["EPSG:4326", "OGC:CRS84"].includes(grid.crs) }, "Estimated density and flows; a table follows");
  map.streets(state.streets?.drawing);
  map.scale();
  const strongest = density ? ` The strongest blue is ${percent(Math.max(...density.values))} of the people.` : "";
  if (density && at("show-density").checked) {
    const top = Math.max(...density.values, 1e-9);
    density.values.forEach((value, cell) => {
      const error = density.std_errors[cell];
      const title = `${cellName(cell, grid.n)}: ${percent(value)} ± ${percent(error)}`;
      if (value > 0) map.layers.cells.append(map.cell(cell, { class: "density", opacity: (0.85 * value) / top }));
      // What is not two standard errors above zero may be nothing but noise: hatched.
      map.layers.cells.append(map.cell(cell, { class: value < 2 * error ? "unsure" : "sure", "fill-opacity": value < 2 * error ? 0.8 : 0 }, title));
    });
  }
  if (at("show-flows").checked) {
    const clear = flows.filter((flow) => flow.value >= 2 * flow.std_error);
    const top = Math.max(...flows.map((flow) => flow.value), 1e-9);
    const wide = Math.min(map.width, map.height) / grid.n / 5;
    for (const flow of clear) {
      const title = `${cellName(flow.from, grid.n)} to ${cellName(flow.to, grid.n)}: ${percent(flow.value)} ± ${percent(flow.std_error)}`;
      map.layers.flows.append(map.flow(flow.from, flow.to, { class: "flow", "stroke-width": Math.max(1, (wide * flow.value) / top), "stroke-opacity": Math.min(1, 0.25 + (0.15 * flow.value) / flow.std_error) }, title));
    }
    at("map-legend").textContent = `Blue: share of people who cross a cell; hatched where it is less than two standard errors above zero. Orange: flows between neighbouring cells that are at least two standard errors above zero, ${number(clear.length)} of ${number(flows.length)}; the surer, the stronger.${strongest}`;
  } else at("map-legend").textContent = "Blue: share of people who cross a cell; hatched where it is less than two standard errors above zero." + strongest;
  if (density) {
    const order = density.values.map((value, cell) => [cell, value, density.std_errors[cell]]).sort((a, b) => b[1] - a[1]);
    table("cells", ["cell", "share", "standard error"], order.slice(0, 20).map(([cell, value, error]) => [cellName(cell, grid.n), percent(value), percent(error)]), "");
  }
  if (lengths) bars(at("lengths"), { values: lengths.values, errors: lengths.std_errors, label: "Distribution of the lengths of trips", unit: "cells" });
}

function table(id, heads, rows, empty) {
  if (rows.length === 0) {
    at(id).replaceChildren(html("p", { class: "soft" }, empty));
    return;
  }
  const cell = (kind, value, place) => html(kind, place > 0 ? { class: "number" } : {}, value instanceof Node ? value : typeof value === "number" ? number(value) : String(value));
  const head = html("thead", {}, html("tr", {}, ...heads.map((text, place) => cell("th", text, place))));
  const body = html("tbody", {}, ...rows.map((row) => html("tr", {}, ...row.map((value, place) => cell("td", value, place)))));
  at(id).replaceChildren(html("table", {}, head, body));
}

/** Ask before something that cannot be taken back. */
function sure(text) {
  at("sure-text").textContent = text;
  at("sure").showModal();
  return new Promise((resolve) => {
    at("yes").onclick = () => (at("sure").close(), resolve(true));
    at("no").onclick = () => (at("sure").close(), resolve(false));
    at("sure").oncancel = () => resolve(false);
  });
}

const QUESTIONS = {
  open: "Open the round? From then on its plan cannot change.",
  close: "Close the round? It cannot be opened again; later reports are refused.",
  publish: "Publish? Estimates, model and synthetic trips are made, and the ids of the reports are deleted.",
  delete: "Delete the campaign with everything that was counted?",
};

async function act(verb) {
  const name = state.chosen;
  if (!(await sure(QUESTIONS[verb]))) return;
  await trying(async () => {
    if (verb === "delete") await ask(`campaigns/${name}`, { method: "DELETE" });
    else await ask(`campaigns/${name}/${verb}`, { method: "POST", body: verb === "publish" ? {} : undefined });
    await refresh();
  });
}

async function create(event) {
  event.preventDefault();
  const { body, roads } = campaignIn(at("create"));
  await trying(async () => {
    await ask("campaigns", { method: "POST", body });
    state.chosen = body.name;
    for (const file of roads) await ask(`campaigns/${body.name}/roads/${encodeURIComponent(file.name)}`, { method: "PUT", file });
    at("create").reset();
    at("new").open = false;
    await refresh();
  });
}

/** What the plan of now is, when the form for another one is opened. */
async function openChange() {
  const one = current();
  if (!at("change").open || !one) return;
  await trying(async () => {
    state.plan = await (await fetch(`/v1/campaigns/${one.name}/plan`, { cache: "no-store" })).json();
    showPlan(at("change-form"), state.plan, one.expected);
  });
}

async function change(event) {
  event.preventDefault();
  const one = current();
  if (!(await sure("Go on with this plan? The plan of now begins no further window."))) return;
  await trying(async () => {
    const streets = (await streetsOf(one.name)) !== null;
    await ask(`campaigns/${one.name}/plan`, { method: "POST", body: planIn(at("change-form"), state.plan, streets) });
    at("change").open = false;
    await refresh();
  });
}

follow(at("create"));
follow(at("change-form"));
at("change").addEventListener("toggle", openChange);
at("change-form").addEventListener("submit", change);
for (const verb of ["open", "close", "publish", "delete"]) at(verb).addEventListener("click", () => act(verb));
for (const id of ["show-density", "show-flows"]) at(id).addEventListener("change", draw);
at("line").addEventListener("change", drawSeries);
at("live").addEventListener("click", toggleLive);
at("question").addEventListener("change", () => errors(current()));
at("create").addEventListener("submit", create);
at("leave").addEventListener("click", () => leave());
at("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(KEY, at("token").value.trim());
  trying(refresh);
});
setInterval(() => {
  if (!document.hidden && sessionStorage.getItem(KEY)) refresh().catch((error) => (error.status === 401 ? leave("This token is not valid any more.") : say("The server cannot be reached; trying again.", "bad")));
}, EVERY);
if (sessionStorage.getItem(KEY)) trying(refresh);
else leave();
