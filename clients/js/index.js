// Device side of the ldptrace protocol, versions 1 and 2. The normative texts are protocol/v1.md and protocol/v2.md.
// No dependencies: Web Crypto for SHA-256 and random bytes, BigInt where exactness needs it.

export { Ledger } from "./src/ledger.js";
export { cellPath, localSeconds, tripOf } from "./src/grid.js";
export { readPlan } from "./src/plan.js";
export { PlanRefused, PROBLEMS, ReportRejected } from "./src/problems.js";
export { Source, systemBytes } from "./src/randomness.js";
export { Reporter } from "./src/reporter.js";
export { BrowserStorage } from "./src/storage.js";
export { readReport, tally } from "./src/reports.js";
export { shuffledPromise } from "./src/words.js";
