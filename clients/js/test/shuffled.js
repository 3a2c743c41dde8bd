// What the vectors of version 2 do not show: seals in the ledger, and where they are sent.

import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";

import * as ldptrace from "../index.js";
import { labelBytes, boundInfo } from "../src/seals.js";
import { bytes, hex, memory, problemOf } from "./check.js";
import { open } from "./seals.js";

/** A curator's key pair. */
function curator() {
  const { x, y, d } = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" });
  const [left, right, secret] = [x, y, d].map((text) => Buffer.from(text, "base64url"));
  return { point: Uint8Array.from([4, ...left, ...right]), secret: Uint8Array.from(secret) };
}

/** A server that gives these answers, one after the other, and keeps what it was asked. */
async function taker(answers, run) {
  const asked = [];
  const server = createServer((request, response) => {
    const body = [];
    request.on("data", (piece) => body.push(piece));
    request.on("end", () => {
      asked.push({ method: request.method, path: request.url, headers: request.headers, body: hex(Buffer.concat(body)) });
      const [status, problem] = answers[asked.length - 1];
      response.writeHead(status, { "Content-Type": "application/json", ...(status === 302 ? { Location: "/elsewhere" } : {}) });
      response.end(JSON.stringify(problem ? { type: `urn:ldptrace:problem:${problem}`, title: problem } : {}));
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    await run(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
  return asked;
}

/** The plan of a vector with another key and another shuffler. */
function planWith(vectors, name, { point }, address) {
  const { document } = vectors.plans.find((plan) => plan.name === name);
  return ldptrace.readPlan(document.replace(/"key":"[0-9a-f]+"/, `"key":"${hex(point)}"`).replace(/"address":"[^"]*"/, `"address":"${address}"`));
}

export async function shuffledFailures(vectors) {
  const failed = [];
  const expect = (name, truth) => truth || failed.push(name);
  const key = curator();
  let place = null;
  const asked = await taker([[503, "busy"], [409, "duplicate"], [302], [200], [200]], async (address) => {
    const plan = await planWith(vectors, "shuffled", key, address);
    const ledger = new ldptrace.Ledger(memory());
    const reporter = new ldptrace.Reporter(plan, { ledger });
    const sealed = await reporter.report([[-8.6, 41.1]]);
    const report = await open({ ...key, info: boundInfo(plan.id), label: labelBytes(null) }, sealed);
    expect("the curator can open it", report !== null && report[0] === 2 && report.length + 81 === sealed.length);
    expect("a report is read", ldptrace.readReport(report, plan, 0).length === 1);
    expect("a retry is the same", hex(await reporter.report([])) === hex(sealed));
    expect("both sums", JSON.stringify(await ledger.cost()) === JSON.stringify({ spent: plan.shuffled.epsilon, delta: plan.shuffled.delta, local: plan.epsilon }));
    expect("not to a campaign", (await problemOf(() => reporter.send(sealed, { url: address }))).includes("is sent to its shuffler"));
    const changed = Uint8Array.from(sealed, (byte, at) => (at === sealed.length - 1 ? byte ^ 1 : byte));
    for (const bytes of [report, changed]) {
      expect("not other bytes", (await problemOf(() => reporter.send(bytes))).includes("not the report to this plan"));
    }
    for (const [status, code] of [[503, "busy"], [409, "duplicate"], [null, null]]) {
      const answer = await reporter.send(sealed, { admission: "a-code" });
      expect(`${code} is no arrival`, !answer.arrived && answer.status === status && answer.code === code);
    }
    expect("it is kept", (await ledger.waiting(plan)) !== null);
    expect("acknowledged", (await reporter.send(sealed, { admission: "a-code" })).arrived);
    expect("answered", (await problemOf(() => reporter.report([]))) === "plan-answered");
    const week = await planWith(vectors, "shuffled, standing", key, `${address}/`);
    const weekly = new ldptrace.Reporter(week, { ledger });
    await weekly.accept(1.7e9);
    const due = await weekly.report([], 0, 1.7e9 + 1209600);
    const { window } = await ledger.waiting(week);
    const inside = await open({ ...key, info: boundInfo(week.id), label: labelBytes(window) }, due);
    expect("the window inside is that outside", inside !== null && new DataView(inside.buffer).getUint32(19) === window);
    expect("a window is sent", (await weekly.send(due)).arrived);
    expect("the person sees who shuffles", ldptrace.shuffledPromise(plan)[0].includes(`${plan.shuffled.operator}, ${address}`));
    place = `/v2/plans/${week.id}/windows/${window}/reports`;
  });
  const plan = await planWith(vectors, "shuffled", key, "http://127.0.0.1:9");
  const ledger = new ldptrace.Ledger(memory());
  const tabs = Array.from({ length: 8 }, () => new ldptrace.Reporter(plan, { ledger }).report([]));
  expect("programs at once give one answer", new Set((await Promise.all(tabs)).map(hex)).size === 1);
  expect("and pay once", (await ledger.cost()).spent === plan.shuffled.epsilon);
  const last = asked.at(-1);
  expect("addresses", asked.slice(0, 4).every(({ method, path }) => method === "POST" && /^\/v2\/plans\/[0-9a-f]{64}\/reports$/.test(path)));
  expect("the address of a window", last.path === place);
  expect("one media type", asked.every(({ headers }) => headers["content-type"] === "application/vnd.ldptrace.sealed"));
  expect("the same bytes every time", new Set(asked.slice(0, 4).map(({ body }) => body)).size === 1 && bytes(last.body).length > 81);
  return failed;
}

/** Only a server that has counted a report of a direct plan makes the ledger forget its bytes. */
export async function directFailures(vectors) {
  const failed = [];
  const expect = (name, truth) => truth || failed.push(name);
  const answers = [[302], [400, "malformed"], [409, "wrong-window"], [409], [503, "duplicate"], [409, "duplicate"]];
  const asking = globalThis.fetch;
  const options = [];
  const asked = await taker(answers, async (address) => {
    globalThis.fetch = (place, given) => (options.push(given), asking(place, given));
    const ledger = new ldptrace.Ledger(memory());
    const reporter = new ldptrace.Reporter(await ldptrace.readPlan(vectors.plans[0].document), { ledger });
    const report = await reporter.report([]);
    for (const [status] of [[null], ...answers.slice(1, -1)]) {
      const answer = await reporter.send(report, { url: address });
      expect(`${status} is no arrival`, !answer.arrived && answer.status === status);
      expect("it is kept", hex(await reporter.report([])) === hex(report));
    }
    expect("counted before", (await reporter.send(report, { url: address })).arrived);
    expect("answered", (await problemOf(() => reporter.report([]))) === "plan-answered");
  }).finally(() => (globalThis.fetch = asking));
  expect("nothing tells who asks", options.length > 0 && options.every((one) => one.credentials === "omit" && one.referrerPolicy === "no-referrer" && one.cache === "no-store"));
  expect("nobody else is asked", asked.length === answers.length && asked.every(({ method, path }) => method === "POST" && path === "/reports"));
  return failed;
}
