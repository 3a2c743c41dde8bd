"""What a ledger holds: the answers of a person, what they cost, and what the person allows.

An answer to a shuffled plan has two costs. If shuffler and curator do not work together, it costs the plan's central
epsilon (and delta); if they do, it costs eps0. So a ledger keeps two sums, each with a limit of its own. A direct
answer costs its epsilon in both.
"""

from __future__ import annotations

import base64
import binascii
import json
from fractions import Fraction

from ldptrace.protocol.exact import budget_fraction, decimal_text, epsilon_fraction
from ldptrace.protocol.limits import MAX_EPSILON, MAX_LIFETIME
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.records import Record

FORMAT = "ldptrace-ledger"
# Version 2 knows shuffled plans. A ledger without them is written as version 1.
VERSIONS = DIRECT, SHUFFLED = 1, 2
DEFAULT_LIMIT = "5"
DEFAULT_LOCAL_LIMIT = "30"
DEFAULT_MOST_LOCAL = "6"
# The deltas of all answers together.
MAX_DELTAS = Fraction(1, 10**5)
# Fields that an entry has only for a shuffled plan.
OF_SHUFFLED = ("central", "delta", "total")


class Entry(Record):
    """One answered round. `report` (base64) is stored until it is sent; that of a shuffled plan is sealed. `epsilon` is
    eps0, and `central` and `delta` are the cost of a shuffled answer within the limit."""

    root: str
    epsilon: str
    plan: str
    round: int
    report: str | None
    central: str | None = None
    delta: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.root, str) or not isinstance(self.plan, str) or type(self.round) is not int:
            raise ValueError("an entry has the ids of its root and its plan, and the number of its round")

    @property
    def cost(self) -> Cost:
        """What the answer has cost."""
        return Cost.of_entry(self, 1)


class Acceptance(Record):
    """A standing plan that the person takes part in. `window` is the last window that was handled. `total` is the eps0
    of all answers that the lifetime of a shuffled plan allows."""

    plan: str
    epsilon: str
    phase: int
    accepted: int
    window: int
    answers: int = 0
    report: str | None = None
    central: str | None = None
    delta: str | None = None
    total: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.plan, str):
            raise ValueError("a standing plan is named by its id")
        whole = (self.phase, self.accepted, self.window, self.answers)
        if any(type(value) is not int for value in whole) or self.phase < 0 or self.answers < 0:
            raise ValueError(f"phase, accepted, window and answers must be whole numbers, got {whole}")

    @property
    def given(self) -> Fraction:
        """Epsilon of all answers so far; of a shuffled plan, eps0."""
        return Fraction(self.epsilon) * self.answers

    @property
    def cost(self) -> Cost:
        """What the answers have cost. The total of a shuffled plan counts from acceptance on, as the person agreed."""
        given = Cost.of_entry(self, self.answers)
        if self.total is None:
            return given
        return given.changed(local=budget_fraction(self.total, MAX_LIFETIME, "a total"))


class Cost(Record):
    """What answers reveal: `central` and `delta` if shuffler and curator do not work together, `local` if they do."""

    central: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    local: Fraction = Fraction(0)

    @staticmethod
    def of_answer(plan: Plan) -> Cost:
        """Return what one answer to a plan costs; the eps0 of a standing shuffled plan is counted at acceptance."""
        if plan.shuffled is None:
            return Cost(plan.epsilon, Fraction(0), plan.epsilon)
        local = plan.epsilon if plan.standing is None else Fraction(0)
        return Cost(plan.shuffled.epsilon, plan.shuffled.delta, local)

    @staticmethod
    def of_acceptance(plan: Plan) -> Cost:
        """Return what the acceptance of a standing plan costs: the eps0 of all answers to a shuffled plan."""
        if plan.shuffled is None or plan.standing is None:
            return Cost()
        return Cost(local=plan.standing.answers(plan.epsilon) * plan.epsilon)

    @staticmethod
    def of_entry(row: Entry | Acceptance, number: int) -> Cost:
        """Return what this number of answers to the plan of an entry has cost."""
        local = epsilon_fraction(row.epsilon)
        central = local if row.central is None else epsilon_fraction(row.central)
        delta = Fraction(0) if row.delta is None else budget_fraction(row.delta, 1, "delta")
        return Cost(central * number, delta * number, local * number)


class Limits(Record):
    """What a person allows: `limit` for the first sum; for shuffled plans `local` for the second sum (None: 30, or the
    limit if that is larger), the most eps0 of one answer, and whether they are answered at all."""

    limit: Fraction = Fraction(DEFAULT_LIMIT)
    local: Fraction | None = None
    most_local: Fraction = Fraction(DEFAULT_MOST_LOCAL)
    shuffled: bool = True

    @property
    def local_limit(self) -> Fraction:
        return max(Fraction(DEFAULT_LOCAL_LIMIT), self.limit) if self.local is None else self.local


class Book(Record):
    """The content of a ledger."""

    limits: Limits = Limits()
    entries: tuple[Entry, ...] = ()
    standing: tuple[Acceptance, ...] = ()

    @property
    def cost(self) -> Cost:
        """What all answers cost: each chain of plans once, and each answer to a standing plan."""
        once = {entry.root: entry.cost for entry in self.entries}
        costs = (*once.values(), *(row.cost for row in self.standing))
        return Cost(*(sum((getattr(cost, name) for cost in costs), Fraction(0)) for name in Cost.fields))

    def accepted(self, plan: Plan) -> Acceptance | None:
        """Return the entry of a standing plan."""
        return next((row for row in self.standing if row.plan == plan.id), None)

    def with_standing(self, new: Acceptance) -> Book:
        """Return the ledger with this entry, which replaces an earlier entry for the same plan."""
        rows = {row.plan: row for row in self.standing} | {new.plan: new}
        return self.changed(standing=tuple(rows.values()))

    def check_wanted(self, plan: Plan) -> None:
        """Refuse a shuffled plan if the person takes part in none."""
        if plan.shuffled is not None and not self.limits.shuffled:
            raise PlanRefused(Problem.PLAN_NOT_WANTED)

    def check_local(self, plan: Plan) -> None:
        """Refuse a shuffled plan whose eps0 is larger than the person allows for one answer."""
        if plan.shuffled is not None and plan.epsilon > self.limits.most_local:
            raise PlanRefused(
                Problem.PLAN_OVER_LIMIT,
                f"if shuffler and curator work together, one answer costs epsilon {decimal_text(plan.epsilon)}, "
                f"more than {decimal_text(self.limits.most_local)}, which you allow for one answer",
            )

    def check(self, cost: Cost) -> None:
        """Refuse what would exceed a limit of the person."""
        spent, limits = self.cost, self.limits
        if spent.central + cost.central > limits.limit:
            raise _over(cost.central, spent.central, limits.limit, "the plan costs epsilon")
        if spent.delta + cost.delta > MAX_DELTAS:
            raise _over(cost.delta, spent.delta, MAX_DELTAS, "the plan costs delta")
        if spent.local + cost.local > limits.local_limit:
            what = "if shuffler and curator work together, the plan costs epsilon"
            raise _over(cost.local, spent.local, limits.local_limit, what)

    def to_json(self) -> str:
        """Return the text of the file."""
        limits = self.limits
        rows: tuple[Entry | Acceptance, ...] = (*self.entries, *self.standing)
        direct = limits == Limits(limits.limit) and all(row.central is None for row in rows)
        of_shuffled = {
            "local_limit": None if limits.local is None else decimal_text(limits.local),
            "most_local": decimal_text(limits.most_local),
            "shuffled": limits.shuffled,
        }
        data = {
            "format": FORMAT,
            "version": DIRECT if direct else SHUFFLED,
            "limit": decimal_text(limits.limit),
            **({} if direct else of_shuffled),
            "entries": [_plain(row) for row in self.entries],
            "standing": [_plain(row) for row in self.standing],
        }
        return json.dumps(data, indent=1)

    @staticmethod
    def from_json(text: str) -> Book:
        """Read the text of the file; a `ValueError`, `KeyError`, `TypeError` or the like if it is no ledger."""
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("version") not in VERSIONS:
            raise ValueError(f"expected format {FORMAT!r} version {DIRECT} or {SHUFFLED}")
        limit = budget_fraction(data["limit"], MAX_LIFETIME, "a limit")
        limits = Limits(limit)
        if data["version"] == SHUFFLED:
            local, shuffled = data["local_limit"], data["shuffled"]
            if not isinstance(shuffled, bool):
                raise ValueError(
                    f"whether shuffled plans are answered must be true or false, got {shuffled!r}"
                )
            limits = Limits(
                limit,
                None if local is None else budget_fraction(local, MAX_LIFETIME, "a local limit"),
                budget_fraction(data["most_local"], MAX_EPSILON, "the most epsilon of one answer"),
                shuffled,
            )
        entries = tuple(Entry(**item) for item in data["entries"])
        standing = tuple(Acceptance(**item) for item in data["standing"])
        rows: tuple[Entry | Acceptance, ...] = (*entries, *standing)
        for row in rows:
            epsilon_fraction(row.epsilon)
            if (row.central is None) != (row.delta is None):
                raise ValueError("a shuffled answer has a central epsilon and a delta")
            base64.b64decode(row.report or "", validate=True)
        book = Book(limits, entries, standing)
        book.cost  # noqa: B018 - raises for numbers that are none
        return book


# What `Book.from_json` raises.
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError, binascii.Error)


def stored(report: bytes) -> str:
    """Return the bytes of a report as a ledger holds them."""
    return base64.b64encode(report).decode("ascii")


def _over(cost: Fraction, spent: Fraction, limit: Fraction, what: str) -> PlanRefused:
    left = decimal_text(max(limit - spent, Fraction(0)))
    return PlanRefused(
        Problem.PLAN_OVER_LIMIT,
        f"{what} {decimal_text(cost)}, {left} is left of the limit {decimal_text(limit)}",
    )


def _plain(record: Record) -> dict[str, object]:
    return {
        name: value for name, value in record.values().items() if name not in OF_SHUFFLED or value is not None
    }
