#!/usr/bin/env node
// The client driven by another program: plans and trips as JSON lines in, reports out (docs/how-to/audit-a-client.md).
// Ledgers with names are folders of a folder and outlive this program; without a name every report has a new ledger.

import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

import { Ledger, PlanRefused, readPlan, Reporter } from "../index.js";

const WORDS = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity };
const number = (value) => (typeof value === "number" ? value : (WORDS[value] ?? NaN));
const hex = (bytes) => Buffer.from(bytes).toString("hex");

/**
 * A text in a folder, for the processes of one machine. Every change makes the file with the next number, and the system
 * lets one process make it; another starts again from the new text. No lock is left behind by a process that was killed.
 */
class FolderStorage {
  constructor(folder) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  async change(key, work) {
    for (;;) {
      const newest = Math.max(0, ...readdirSync(this.folder).map(Number).filter(Number.isInteger));
      const found = newest === 0 ? null : readFileSync(this.#file(newest), "utf8");
      // Empty: another process made a newer one meanwhile.
      if (found === "") continue;
      const [text, result] = work(found);
      if (text === undefined || this.#keep(text, newest + 1)) return result;
    }
  }

  /** Whether this process made the file with this number. It is on the disk before anything is answered. */
  #keep(text, number) {
    const made = this.#write(text);
    try {
      linkSync(made, this.#file(number));
      // Windows has no handles of folders.
      if (process.platform !== "win32") synced(openSync(this.folder));
    } catch (error) {
      if (error.code === "EEXIST") return false;
      throw error;
    } finally {
      rmSync(made);
    }
    // Emptied, not deleted: a number that came free would be made a second time.
    if (number > 1) renameSync(this.#write(""), this.#file(number - 1));
    return true;
  }

  #write(text) {
    const path = this.#file(`new-${randomUUID()}`);
    const handle = openSync(path, "wx", 0o600);
    writeSync(handle, text);
    synced(handle);
    return path;
  }

  #file(name) {
    return join(this.folder, String(name));
  }
}

function synced(handle) {
  fsyncSync(handle);
  closeSync(handle);
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
      if (asked.check) return { check: await this.#reporter(asked).check(trips, asked.round, this.#now(asked)) };
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
    return hex(await reporter.report(trips, asked.round, this.#now(asked)));
  }

  /** Round and window of a report that arrived stand in its header. */
  async #sent(asked) {
    const [reporter, report] = [this.#reporter(asked), Buffer.from(asked.sent, "hex")];
    if (this.plan.shuffled === null) return reporter.sent(report[17], report.readUInt32BE(19));
    // What is sealed shows nothing: the ledger knows what it was.
    const waiting = await reporter.ledger.waiting(this.plan);
    return waiting !== null && report.equals(waiting.report) ? reporter.sent(waiting.round, waiting.window) : undefined;
  }

  #reporter({ ledger, limit }) {
    if (ledger !== undefined && !/^[a-z0-9-]{1,64}$/.test(ledger)) throw new Error(`this is no name of a ledger: ${ledger}`);
    const storage = ledger === undefined ? memory() : new FolderStorage(join(this.folder, ledger));
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
