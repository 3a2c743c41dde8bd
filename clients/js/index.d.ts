/** Device side of the ldptrace protocol, versions 1 and 2. */

export interface Problem {
  readonly number: number;
  readonly code: string;
  readonly status: number;
  readonly sentence: string;
}

/** Every problem of the protocol by its code. */
export const PROBLEMS: Readonly<Record<string, Problem>>;

/** A plan that is not answered. */
export class PlanRefused extends Error {
  readonly problem: Problem;
}

/** A report that is not counted. */
export class ReportRejected extends Error {
  readonly problem: Problem;
}

/** t is in seconds since the beginning of 1970 on the device's own clock (see `localSeconds`). */
/** What is no number, or no point at all, is answered like everything else. */
export type Point = readonly [x: number, y: number] | readonly [x: number, y: number, t: number | null];

/** All that a question may look at. */
export interface Trip {
  readonly path: readonly number[];
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly departure: number | null;
  readonly arrival: number | null;
}

/** What a question looks at: one trip, and how many it was drawn from. */
export interface Occasion {
  readonly trip: Trip;
  readonly trips: number;
}

/** A trip of a device; `arrival` is the Unix time of its last point, recorded once and never changed. */
export interface Recording {
  readonly points: Iterable<Point>;
  readonly arrival?: number | null;
}

/** One trip, or a list of trips: a list that holds at least one point is one trip. */
export type Trips = Recording | Iterable<Point> | Iterable<Recording | Iterable<Point>>;

export interface Grid {
  readonly bounds: readonly [x0: number, y0: number, x1: number, y1: number];
  readonly n: number;
}

export interface Question {
  readonly name: string;
  readonly domain: number;
  readonly capacity: number;
  readonly slots: number;
  answer(occasion: Occasion, source: Source): number[][];
}

export interface Randomizer {
  readonly domain: number;
  readonly outputs: number;
  readonly numerator: bigint;
  readonly denominator: bigint;
  readonly payloadBytes: number;
  perturb(items: readonly number[], source: Source): number[];
  encode(named: readonly number[]): Uint8Array;
  /** The named outputs, or null for bytes that `encode` cannot have written. */
  decode(bytes: Uint8Array): number[] | null;
}

export interface Ask {
  readonly question: Question;
  readonly randomizer: Randomizer;
  readonly share: number;
}

export interface Round {
  readonly assignment: "everyone" | "partition";
  readonly padded: boolean;
  readonly asks: readonly Ask[];
  readonly payloadBytes: number;
}

/** Which collection a plan belongs to: one nonce for everybody. */
export interface Campaign {
  readonly name: string;
  readonly nonce: string;
}

/** Windows of a standing plan, in seconds; `lifetime` is a decimal. */
export interface Standing {
  readonly every: number;
  readonly recent: number;
  readonly start: number;
  readonly lifetime: string;
  readonly grace: number;
}

/** How the reports of a shuffled plan are mixed, and the promise that holds if shuffler and curator do not work together. */
export interface Shuffled {
  readonly key: Uint8Array;
  readonly batch: number;
  readonly honest: string;
  readonly delta: string;
  readonly epsilon: string;
  readonly lifetime: string | null;
  readonly until: number | null;
  /** Who runs the shuffler, in words: to show before anything is sent. */
  readonly operator: string;
  readonly address: string;
  /** Honest devices in every batch. */
  readonly hidden: number;
}

export interface Plan {
  /** 2 for shuffled plans, otherwise 1. */
  readonly version: number;
  readonly document: string;
  readonly id: string;
  readonly root: string;
  /** Ids of the plans that this one extends, from the first to its own. */
  readonly chain: readonly string[];
  readonly method: string;
  readonly grid: Grid;
  readonly crs: string | null;
  /** A decimal. */
  readonly epsilon: string;
  readonly campaign: Campaign | null;
  readonly standing: Standing | null;
  readonly shuffled: Shuffled | null;
  readonly rounds: readonly Round[];
}

/** The plan in a document; rejects with PlanRefused. With `planId` it is refused unless this is its id. */
export function readPlan(
  document: string | Uint8Array | ArrayBuffer,
  options?: { planId?: string },
): Promise<Plan>;

/** Cells of a trajectory on the grid. */
export function cellPath(points: Iterable<Point>, grid: Grid): number[];

/** What a device knows of its trajectory: cells, points and times. */
export function tripOf(points: Iterable<Point>, grid: Grid): Trip;

/** Unix seconds as this device's own clock shows them: the t of a point. */
export function localSeconds(unix: number): number;

/** A function that hands out secure random bytes of the system. */
export function systemBytes(): (count: number) => Uint8Array;

export class Source {
  /** `take` hands out random bytes; the system's secure ones if absent. Others are for tests only. */
  constructor(take?: (count: number) => Uint8Array);
  readonly take: (count: number) => Uint8Array;
  below(bound: bigint): bigint;
  index(bound: number): number;
  subset(list: readonly number[], size: number): number[];
  places(length: number, size: number): number[];
}

export interface LedgerEntry {
  readonly root: string;
  readonly epsilon: string;
  readonly plan: string;
  readonly round: number;
  /** The bytes of the report until it was sent. */
  readonly report: readonly number[] | null;
}

/** A standing plan that was accepted. */
export interface Acceptance {
  readonly plan: string;
  readonly epsilon: string;
  readonly phase: number;
  readonly accepted: number;
  /** The last window that is over for this device. */
  readonly window: number;
  readonly answers: number;
  readonly report: readonly number[] | null;
}

/** Where a ledger is kept: a change reads, decides and writes, and nobody else gets in between. */
export interface LedgerStorage {
  /** `work` gets the text under the key (null: none) and returns [text to keep (undefined: as it is), result]. */
  change<T>(key: string, work: (text: string | null) => [text?: string, result?: T]): Promise<T>;
}

/** A ledger for all tabs of an origin, in the browser's database (IndexedDB). */
export class BrowserStorage implements LedgerStorage {
  constructor(options?: { name?: string });
  /** Asks the browser never to clear this data by itself; whether it agreed. Asked by itself before the first change. */
  persist(): Promise<boolean>;
  change<T>(key: string, work: (text: string | null) => [text?: string, result?: T]): Promise<T>;
}

/** What is sent and stored in place of a report. */
type Sealed = ((report: Uint8Array, window: number | null) => Promise<Uint8Array>) | null;

/** What this person has said and what it cost. */
export class Ledger {
  /** A storage with getItem and setItem must be this program's own; localStorage is refused, tabs share it. */
  constructor(
    storage: LedgerStorage | { getItem(key: string): string | null; setItem(key: string, text: string): void },
    options?: { limit?: string; localLimit?: string | null; mostLocal?: string; shuffled?: boolean },
  );
  readonly limit: string;
  /** The limit if shuffler and curator work together: 30, or the limit if that is larger. */
  readonly localLimit: string;
  /** The same for one answer: 6. */
  readonly mostLocal: string;
  /** Whether shuffled plans are answered at all. */
  readonly shuffled: boolean;
  entries(): Promise<readonly LedgerEntry[]>;
  /** Epsilon given away so far, a decimal. */
  spent(): Promise<string>;
  /** The same as `spent`, with `delta`, and `local`: the sum if shuffler and curator work together. */
  cost(): Promise<{ spent: string; delta: string; local: string }>;
  /** The report to this plan that was not sent yet. */
  waiting(plan: Plan): Promise<{ report: Uint8Array; round: number; window: number | null } | null>;
  standing(): Promise<readonly Acceptance[]>;
  answer(plan: Plan, round: number, draw: () => Uint8Array, sealed?: Sealed): Promise<Uint8Array>;
  accept(plan: Plan, now: number, source?: Source): Promise<Acceptance>;
  answerWindow(plan: Plan, now: number, draw: (row: Acceptance) => Uint8Array, sealed?: Sealed): Promise<Uint8Array>;
  sent(plan: Plan, round: number, window?: number | null): Promise<void>;
}

/** What a server answered; nothing where it could not be reached. `code` is a problem of the protocol or of the server. */
export interface Sent {
  readonly arrived: boolean;
  readonly status: number | null;
  readonly code: string | null;
  readonly title: string | null;
}

/** Answers the rounds of one plan. */
export class Reporter {
  /** A ledger, or the word "none": then every call is a fresh draw, for measurements only. */
  constructor(plan: Plan, options: { ledger: Ledger | "none"; crs?: string | null });
  readonly plan: Plan;
  /**
   * The bytes to send about these trips, of which one is drawn at random; a list of points is one trip. The newest round
   * if none is named; of a standing plan the latest window that has ended at the Unix time `now`.
   */
  report(trips: Trips, round?: number, now?: number): Promise<Uint8Array>;
  /** What the device would make of these trips, in sentences: nothing is drawn, stored, spent or sent. */
  check(trips: Trips, round?: number, now?: number): Promise<string[]>;
  /** Takes part in a standing plan: the phase is drawn and stored, once. `now` is a Unix time. */
  accept(now?: number): Promise<Acceptance>;
  /** Random seconds to wait before sending: up to an hour, or in a standing plan the time a report may take to arrive. */
  delay(most?: number): number;
  /**
   * Sends a report once, after `delay()` seconds: a direct plan to the campaign at `url`, a shuffled one to the shuffler that it
   * names, and never to anybody else. Tells the ledger if it arrived; otherwise the same bytes are sent again later.
   */
  send(report: Uint8Array, options?: { url?: string | null; admission?: string | null }): Promise<Sent>;
  /** Tells the ledger that the report arrived. */
  sent(round?: number, window?: number | null): Promise<void>;
  /** A fresh report, for measurements and tests. */
  draw(points: Iterable<Point>, round: number, source?: Source): Uint8Array;
  drawAbout(occasion: Occasion, round: number, source?: Source, window?: number): Uint8Array;
}

/** What a shuffled plan promises and who shuffles, in sentences; nothing for a direct plan. */
export function shuffledPromise(plan: Plan): string[];

export interface Answer {
  readonly ask: Ask;
  readonly slots: number[][];
}

/** What a report says; throws ReportRejected. */
export function readReport(report: Uint8Array, plan: Plan, round: number, window?: number | null): Answer[];

export interface TallyDocument {
  asks: { counts: number[]; reports: number; users: number }[];
  format: "ldptrace-tally";
  plan: string;
  round: number;
  version: 1;
  window: number | null;
}

/** Counts of a batch, and the number of each report's problem (0: counted). */
export function tally(
  batch: Uint8Array,
  plan: Plan,
  round: number,
  window?: number | null,
): { problems: number[]; tally: TallyDocument };
