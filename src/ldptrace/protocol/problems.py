"""Everything that the protocol calls a problem: one enumeration for devices, curators and servers.

`protocol/v2/problems.json` is the same list for other languages, and `protocol/v1/problems.json` the part of it that
version 1 knows; tests keep them equal.
"""

from __future__ import annotations

from enum import Enum

from ldptrace.errors import PlanError, ProtocolError


class Numbered(Enum):
    """Problems by their number, HTTP status and sentence; their name is also their code, such as `wrong-size`."""

    def __init__(self, number: int, status: int, sentence: str) -> None:
        self.number = number
        self.code = self.name.lower().replace("_", "-")
        self.urn = f"urn:ldptrace:problem:{self.code}"
        self.status = status
        self.sentence = sentence


class Problem(Numbered):
    """Why a report was not counted or a plan was not answered."""

    UNKNOWN_VERSION = 1, 400, "The version of the report is not one that the receiver speaks."
    WRONG_SIZE = 2, 400, "The report does not have the size that its plan and round fix."
    WRONG_PLAN = 3, 409, "The report answers another plan."
    WRONG_ROUND = 4, 409, "The report answers another round of the plan."
    UNKNOWN_GROUP = 5, 400, "The report names a group that the round does not have."
    BAD_PADDING = 6, 400, "The bytes after the payload of the report's group are not all zero."
    BAD_PAYLOAD = 7, 400, "No device that follows the plan can have written this payload."
    DUPLICATE = 8, 409, "A report with this id was counted before."
    WRONG_WINDOW = 9, 409, "The report answers a time window that is not being counted."

    PLAN_TOO_LARGE = 20, 413, "The plan or what it asks for exceeds the limits of the protocol."
    PLAN_MALFORMED = 21, 422, "The plan is not a canonical document of the protocol."
    PLAN_UNKNOWN_VERSION = 22, 422, "The version of the plan is not one that the device speaks."
    PLAN_OVERSPENDS = 23, 422, "The rounds of the plan together spend more than its epsilon."
    PLAN_CHANGED = 24, 409, "The plan is not the one whose id the device was given."
    PLAN_NOT_PRIVATE = (
        25,
        403,
        "The plan lets the number or size of messages reveal something about the trajectory.",
    )
    PLAN_NO_SUCH_ROUND = 26, 404, "The plan does not have this round."
    PLAN_OVER_LIMIT = (
        27,
        403,
        "The epsilon of the plan exceeds what is left of the person's limit of epsilon.",
    )
    PLAN_ANSWERED = 28, 409, "The device has already answered this round of the plan."
    PLAN_OTHER_COORDINATES = 29, 409, "The bounds of the plan are in other coordinates than the trajectory."

    PLAN_FORKED = (
        30,
        409,
        "The device has answered another continuation of the same first plan, which this plan does not extend.",
    )
    PLAN_NOT_DUE = (
        31,
        409,
        "No time window of the plan has ended since the device joined the plan or last answered it.",
    )
    PLAN_LIFETIME = 32, 403, "The device has given all answers that the lifetime budget of the plan allows."

    # Problems of version 2.
    PLAN_PROMISES_TOO_MUCH = (
        33,
        422,
        "The central epsilon of the plan is smaller than its batch, its share of honest devices and its delta allow.",
    )
    PLAN_NOT_WANTED = 34, 403, "The person does not take part in shuffled plans."

    @classmethod
    def of_number(cls, number: int) -> Problem:
        return next(problem for problem in cls if problem.number == number)


class ReportRejected(ProtocolError):
    """A report that is not counted."""

    def __init__(self, problem: Problem, detail: str = "") -> None:
        super().__init__(f"{problem.code}: {detail or problem.sentence}")
        self.problem = problem


class PlanRefused(PlanError):
    """A plan that is not answered."""

    def __init__(self, problem: Problem, detail: str = "") -> None:
        super().__init__(f"{problem.code}: {detail or problem.sentence}")
        self.problem = problem
