// protocol/v2/problems.json: [number, code, HTTP status, sentence].

const LIST = [
  [1, "unknown-version", 400, "The version of the report is not one that the receiver speaks."],
  [2, "wrong-size", 400, "The report does not have the size that its plan and round fix."],
  [3, "wrong-plan", 409, "The report answers another plan."],
  [4, "wrong-round", 409, "The report answers another round of the plan."],
  [5, "unknown-group", 400, "The report names a group that the round does not have."],
  [6, "bad-padding", 400, "The bytes after the payload of the report's group are not all zero."],
  [7, "bad-payload", 400, "No device that follows the plan can have written this payload."],
  [8, "duplicate", 409, "A report with this id was counted before."],
  [9, "wrong-window", 409, "The report answers a time window that is not being counted."],
  [20, "plan-too-large", 413, "The plan or what it asks for exceeds the limits of the protocol."],
  [21, "plan-malformed", 422, "The plan is not a canonical document of the protocol."],
  [22, "plan-unknown-version", 422, "The version of the plan is not one that the device speaks."],
  [23, "plan-overspends", 422, "The rounds of the plan together spend more than its epsilon."],
  [24, "plan-changed", 409, "The plan is not the one whose id the device was given."],
  [25, "plan-not-private", 403, "The plan lets the number or size of messages reveal something about the trajectory."],
  [26, "plan-no-such-round", 404, "The plan does not have this round."],
  [27, "plan-over-limit", 403, "The epsilon of the plan exceeds what is left of the person's limit of epsilon."],
  [28, "plan-answered", 409, "The device has already answered this round of the plan."],
  [29, "plan-other-coordinates", 409, "The bounds of the plan are in other coordinates than the trajectory."],
  [30, "plan-forked", 409, "The device has answered another continuation of the same first plan, which this plan does not extend."],
  [31, "plan-not-due", 409, "No time window of the plan has ended since the device joined the plan or last answered it."],
  [32, "plan-lifetime", 403, "The device has given all answers that the lifetime budget of the plan allows."],
  [33, "plan-promises-too-much", 422, "The central epsilon of the plan is smaller than its batch, its share of honest devices and its delta allow."],
  [34, "plan-not-wanted", 403, "The person does not take part in shuffled plans."],
];

export const PROBLEMS = Object.freeze(
  Object.fromEntries(
    LIST.map(([number, code, status, sentence]) => [code, Object.freeze({ number, code, status, sentence })]),
  ),
);

class ProblemError extends Error {
  constructor(code, detail) {
    super(`${code}: ${detail ?? PROBLEMS[code].sentence}`);
    this.problem = PROBLEMS[code];
  }
}

/** A plan that is not answered. */
export class PlanRefused extends ProblemError {}

/** A report that is not counted. */
export class ReportRejected extends ProblemError {}
