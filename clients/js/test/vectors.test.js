import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { PROBLEMS } from "../index.js";
import { deviceFailures, failures, FILES, gather, SHUFFLED_FILES } from "./check.js";
import { clockFailures, delayFailures, ledgerFailures, otherFailures, sourceFailures, unreadableFailures } from "./properties.js";
import { sealFailures } from "./seals.js";
import { directFailures, shuffledFailures } from "./shuffled.js";

const protocol = new URL("../../../protocol/", import.meta.url);
const load = (name) => JSON.parse(readFileSync(new URL(name, protocol), "utf8"));
const vectors = await gather((file) => load(`vectors/v1/${file}`));

for (const file of FILES) {
  test(file, async () => assert.deepEqual(await failures(file, vectors), []));
}

const shuffled = await gather((file) => load(`vectors/v2/${file}`), SHUFFLED_FILES);

for (const file of SHUFFLED_FILES) {
  test(`${file} of version 2`, async () => assert.deepEqual(await failures(file, shuffled), []));
}

test("seals", async () => assert.deepEqual(await sealFailures(load("vectors/v2/seals.json")), []));

test("sealed reports go to the shuffler alone", async () => assert.deepEqual(await shuffledFailures(shuffled), []));

test("a report that nobody counted is kept", async () => assert.deepEqual(await directFailures(vectors), []));

test("what a device refuses and remembers", async () => assert.deepEqual(await deviceFailures(vectors), []));

test("reports follow from fresh bytes of the system alone", async () => {
  assert.deepEqual(await sourceFailures(vectors), []);
});

test("how long a report waits is drawn anew", async () => assert.deepEqual(await delayFailures(vectors), []));

test("a ledger keeps to the limit, whatever is published and asked for", async () => {
  let answered = 0;
  for (let seed = 1; seed <= 150; seed += 1) {
    const { failed, answers } = await ledgerFailures(seed);
    assert.deepEqual(failed, []);
    answered += answers;
  }
  assert.ok(answered > 250, `only ${answered} answers in all histories`);
});

test("a clock that jumps gets one answer per window, and no more than the lifetime", async () => {
  assert.deepEqual(await clockFailures(1), []);
  assert.deepEqual(await clockFailures(2, { asks: 3000, recent: 2 * 86400 }), []);
  assert.deepEqual(await clockFailures(3, { asks: 3000, limit: "21" }), []);
});

test("a ledger that cannot be read stops everything", async () => assert.deepEqual(await unreadableFailures(), []));

test("ids are compared in full, campaigns differ, trips are drawn", async () => {
  assert.deepEqual(await otherFailures(), []);
});

test("the problems are those of the protocol", () => {
  assert.deepEqual(Object.values(PROBLEMS), load("v2/problems.json"));
});
