"""The privacy promise of a file, a model or a plan, for the documents of a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date as Date
from typing import Any

from ldptrace.errors import InputError, PlanError
from ldptrace.protocol.canonical import dumps
from ldptrace.protocol.exact import decimal_text
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.words import promise as promised

# What stands where only the operator knows the answer.
OPERATOR = "To be filled in by the operator"
# Whose privacy it is, in words.
UNITS = {
    "user": "one person, with all of their trips in the collection",
    "trip": "one trip; a person with several trips is protected for each of them apart",
    "trajectory": "one trajectory, taken as one person's",
}


@dataclass(frozen=True)
class Operator:
    """The publisher of the data, which no file of the collection names."""

    name: str | None = None
    purpose: str | None = None
    region: str | None = None
    product: str = "Synthetic trips"
    sector: str = "Government"
    date: Date | None = None
    author: str | None = None
    url: str | None = None
    license: str | None = None

    @property
    def published(self) -> str:
        """The day of publication, which catalogues need; by default the present day."""
        return (self.date or Date.today()).isoformat()


@dataclass(frozen=True)
class Promise:
    """Epsilon, the unit that it protects, and everything that weakens the promise."""

    epsilon: str
    unit: str = "user"
    users: int | None = None
    method: str = "single-report"
    plan: Plan | None = None
    notes: tuple[str, ...] = ()
    # The time zone of the hours, where one is stated.
    timezone: str | None = None
    # Why the promise is weaker than epsilon says, one sentence for each reason.
    weaker: tuple[str, ...] = field(default=())
    # Whether the devices were simulated from trips that the publisher holds.
    simulated: bool = False

    @staticmethod
    def of_plan(plan: Plan) -> Promise:
        """Return the promise of a plan."""
        return Promise.of_provenance(promised(plan), what="the plan")

    @staticmethod
    def of_provenance(stated: Mapping[str, Any] | None, what: str) -> Promise:
        """Return the promise that is stored with a synthetic set."""
        if not stated or "epsilon" not in stated:
            raise InputError(
                f"{what} states no promise: a statement is made about synthetic trips, a model or a plan "
                "of ldptrace"
            )
        unit = str(stated.get("unit", "user"))
        weaker = []
        if unit == "trip":
            weaker.append(
                "The unit is a trip: epsilon holds for each trip of a person, not for all of them together."
            )
        if stated.get("leaks"):
            weaker.append(f"It is not epsilon-LDP as it stands: {stated['leaks']}.")
        if stated.get("experiment"):
            weaker.append(f"It is an experiment and not a release: {stated['experiment']}.")
        return Promise(
            str(stated["epsilon"]),
            unit,
            stated.get("users"),
            str(stated.get("method", "single-report")),
            _plan(stated.get("plan")),
            tuple(stated.get("notes") or ()),
            weaker=tuple(weaker),
            simulated=bool(stated.get("simulated")),
            timezone=stated.get("timezone"),
        )

    @property
    def unit_words(self) -> str:
        return UNITS.get(self.unit, self.unit)

    @property
    def central(self) -> bool:
        """Whether a trusted curator received the raw trips."""
        return any("central, not local" in sentence for sentence in self.weaker)

    @property
    def model_words(self) -> str:
        """The model of differential privacy, local or central, in words."""
        return f"{'central' if self.central else 'local'} differential privacy"

    @property
    def trust(self) -> str:
        """A sentence about who sees raw trips."""
        if self.central:
            return "Raw trips were handed to a trusted curator."
        if self.simulated:
            return (
                "The devices were simulated from trips that the publisher holds: the publisher is trusted "
                "with them, and "
                "epsilon holds for what is published."
            )
        return "Nobody but the device sees a trip. The curator, the network and readers are not trusted."

    @property
    def mechanisms(self) -> list[str]:
        """The randomizers of the plan, each with its questions."""
        asked: dict[str, list[str]] = {}
        for round_ in () if self.plan is None else self.plan.rounds:
            for ask in round_.asks:
                name = f"{type(ask.randomizer).__name__} ({ask.randomizer.about})"
                asked.setdefault(name, []).append(ask.question.name)
        return [f"{name} for {', '.join(questions)}" for name, questions in asked.items()]

    @property
    def renewal(self) -> str:
        """A sentence about whether and how the budget is renewed."""
        standing = None if self.plan is None else self.plan.standing
        if standing is None:
            return "Each device answers once. The budget does not renew."
        return (
            f"Each device answers once in every window of {_duration(standing.every)}, with epsilon "
            f"{self.epsilon} for "
            f"each answer, about one trip of the last {_duration(standing.recent)} or about none. All "
            "answers of a device "
            f"together stay within epsilon {decimal_text(standing.lifetime)}. What a person does every week is "
            "protected by that "
            "sum, not by the epsilon of one answer."
        )


def _plan(document: object) -> Plan | None:
    if document is None:
        return None
    try:
        return Plan.from_json(dumps(document))
    except (PlanError, TypeError, ValueError):
        return None


def _duration(seconds: int) -> str:
    """Return a duration in the largest unit that divides it.

    >>> _duration(604_800), _duration(5_400)
    ('7 days', '90 minutes')
    """
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds % size == 0:
            count = seconds // size
            return f"{count} {name}{'' if count == 1 else 's'}"
    return f"{seconds} seconds"
