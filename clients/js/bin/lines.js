#!/usr/bin/env node
// The client driven by another program: plans and trips as JSON lines in, reports out (docs/how-to/audit-a-client.md).
// Ledgers with names are files of a folder and outlive this program; without a name every report has a new ledger.

import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

import { Ledger, PlanRefused, readPlan, Reporter } from "../index.js";

const WORDS = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity };
const number = (value) => (typeof value === "number" ? value : (WORDS[value] ?? NaN));
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const clock = new Int32Array(new SharedArrayBuffer(4));

/** A text in a file, for the processes of one machine: one change at a time, on the disk before anything is answered. */
class FileStorage {
  constructor(path) {
    this.path = path;
  }

  async change(key, work) {
    this.#lock();
    try {
      const [text, result] = work(existsSync(this.path) ? readFileSync(this.path, "utf8") : null);
      if (text !== undefined) this.#write(text);
      return result;
    } finally {
      rmSync(`${this.path}.lock`);
    }
  }

  /** A file that one process makes; one that was killed leaves it behind, with its number inside. */
  #lock() {
    for (;;) {
      try {
        writeFileSync(`${this.path}.lock`, String(process.pid), { flag: "wx" });
        return;
      } catch (error) {
        if (error.code !== "EEXIST") throw error;
        if (isGone(`${this.path}.lock`)) rmSync(`${this.path}.lock`, { force: true });
        else Atomics.wait(clock, 0, 0, 2);
      }
    }
  }

  #write(text) {
    const handle = openSync(`${this.path}.new`, "w", 0o600);
    writeSync(handle, text);
    fsyncSync(handle);
    closeSync(handle);
    renameSync(`${this.path}.new`, this.path);
  }
}

/** Whether the process that made a lock has ended. */
function isGone(path) {
  try {
    const owner = Number(readFileSync(path, "utf8"));
    if (owner > 0) process.kill(owner, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

/** A ledger that is forgotten with its report. */
function memory() {
  const kept = new Map();
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) };
}

const trip = ({ points, arrival }) => ({ points: points.map((point) => point.map(number)), arrival: number(arrival) });

class Lines {
  constructor(folder) {
    this.folder = folder;
    this.document = null;
    this.plan = null;
  }

  /** The answer to one line. */
  async answer(line) {
    try {
      return await this.#answer(JSON.parse(line));
    } catch (error) {
      return error instanceof PlanRefused ? { problem: error.problem.code } : { error: String(error) };
    }
  }

  async #answer(asked) {
    if (asked.plan !== undefined && asked.plan !== this.document) [this.document, this.plan] = [asked.plan, null];
    this.plan ??= await readPlan(String(this.document));
    if (asked.accept) await this.#reporter(asked).accept(this.#now(asked));
    else if (asked.sent) await this.#sent(asked);
    else {
      const trips = asked.trips.map(trip);
      if (asked.count === undefined) return { report: await this.#report(asked, trips) };
      const reports = [];
      while (reports.length < asked.count) reports.push(await this.#report(asked, trips));
      return { reports };
    }
    return {};
  }

  async #report(asked, trips) {
    const reporter = this.#reporter(asked);
    if (typeof asked.accepted === "number") await reporter.accept(asked.accepted);
    if (this.plan.standing !== null) return hex(await reporter.reportWindow(trips, this.#now(asked)));
    return hex(await reporter.reportOneOf(trips.map(({ points }) => points), asked.round));
  }

  /** Round and window of a report that arrived stand in its header. */
  async #sent(asked) {
    const report = Buffer.from(asked.sent, "hex");
    await this.#reporter(asked).sent(report[17], report.readUInt32BE(19));
  }

  #reporter({ ledger, limit }) {
    if (ledger !== undefined && !/^[a-z0-9-]{1,64}$/.test(ledger)) throw new Error(`this is no name of a ledger: ${ledger}`);
    const storage = ledger === undefined ? memory() : new FileStorage(join(this.folder, `${ledger}.json`));
    return new Reporter(this.plan, { ledger: new Ledger(storage, limit === undefined ? {} : { limit }) });
  }

  #now({ now }) {
    return now === undefined || now === null ? Date.now() / 1000 : number(now);
  }
}

const { values } = parseArgs({ options: { ledgers: { type: "string" } }, allowPositionals: true });
if (values.ledgers === undefined) {
  process.stderr.write("error: give --ledgers FOLDER\n");
  process.exit(2);
}
const lines = new Lines(values.ledgers);
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await lines.answer(line))}\n`);
}
