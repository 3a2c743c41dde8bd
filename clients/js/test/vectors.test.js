import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { PROBLEMS } from "../index.js";
import { deviceFailures, failures, FILES } from "./check.js";

const protocol = new URL("../../../protocol/", import.meta.url);
const load = (name) => JSON.parse(readFileSync(new URL(name, protocol), "utf8"));
const vectors = Object.fromEntries(FILES.map((file) => [file, load(`vectors/v1/${file}.json`)]));

for (const file of FILES) {
  test(file, async () => assert.deepEqual(await failures(file, vectors), []));
}

test("what a device refuses and remembers", async () => assert.deepEqual(await deviceFailures(vectors), []));

test("the problems are those of the protocol", () => {
  assert.deepEqual(Object.values(PROBLEMS), load("v1/problems.json"));
});
