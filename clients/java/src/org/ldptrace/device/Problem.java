package org.ldptrace.device;

/** Why a plan is not answered or a report is not counted: section 11 of the protocol. */
public enum Problem {
    UNKNOWN_VERSION(1, "unknown-version", 400, "The version of the report is not one that the receiver speaks."),
    WRONG_SIZE(2, "wrong-size", 400, "The report does not have the size that its plan and round fix."),
    WRONG_PLAN(3, "wrong-plan", 409, "The report answers another plan."),
    WRONG_ROUND(4, "wrong-round", 409, "The report answers another round of the plan."),
    UNKNOWN_GROUP(5, "unknown-group", 400, "The report names a group that the round does not have."),
    BAD_PADDING(6, "bad-padding", 400, "The bytes after the payload of the report's group are not all zero."),
    BAD_PAYLOAD(7, "bad-payload", 400, "No device that follows the plan can have written this payload."),
    DUPLICATE(8, "duplicate", 409, "A report with this id was counted before."),
    WRONG_WINDOW(9, "wrong-window", 409, "The report answers a time window that is not being counted."),
    PLAN_TOO_LARGE(20, "plan-too-large", 413, "The plan or what it asks for exceeds the limits of the protocol."),
    PLAN_MALFORMED(21, "plan-malformed", 422, "The plan is not a canonical document of the protocol."),
    PLAN_UNKNOWN_VERSION(22, "plan-unknown-version", 422, "The version of the plan is not one that the device speaks."),
    PLAN_OVERSPENDS(23, "plan-overspends", 422, "The rounds of the plan together spend more than its epsilon."),
    PLAN_CHANGED(24, "plan-changed", 409, "The plan is not the one whose id the device was given."),
    PLAN_NOT_PRIVATE(25, "plan-not-private", 403, "The plan lets the number or size of messages reveal something about the trajectory."),
    PLAN_NO_SUCH_ROUND(26, "plan-no-such-round", 404, "The plan does not have this round."),
    PLAN_OVER_LIMIT(27, "plan-over-limit", 403, "The epsilon of the plan exceeds what is left of the person's limit of epsilon."),
    PLAN_ANSWERED(28, "plan-answered", 409, "The device has already answered this round of the plan."),
    PLAN_OTHER_COORDINATES(29, "plan-other-coordinates", 409, "The bounds of the plan are in other coordinates than the trajectory."),
    PLAN_FORKED(30, "plan-forked", 409, "The device has answered another continuation of the same first plan, which this plan does not extend."),
    PLAN_NOT_DUE(31, "plan-not-due", 409, "No time window of the plan has ended since the device joined the plan or last answered it."),
    PLAN_LIFETIME(32, "plan-lifetime", 403, "The device has given all answers that the lifetime budget of the plan allows."),
    PLAN_PROMISES_TOO_MUCH(33, "plan-promises-too-much", 422, "The central epsilon of the plan is smaller than its batch, its share of honest devices and its delta allow."),
    PLAN_NOT_WANTED(34, "plan-not-wanted", 403, "The person does not take part in shuffled plans.");

    public final int number;
    public final String code;
    public final int status;
    public final String sentence;

    Problem(int number, String code, int status, String sentence) {
        this.number = number;
        this.code = code;
        this.status = status;
        this.sentence = sentence;
    }
}
