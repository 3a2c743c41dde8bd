"""What can be asked of an occasion. A question is one class, and similar ones share a file. Devices run this, so it
needs the standard library only.

The simulator has compiled counterparts of the common ones (`ldptrace.simulation.answers`), tested to agree, and
runs the others as they are.
"""

from __future__ import annotations

from typing import Any

from ldptrace.errors import PlanError
from ldptrace.protocol.questions.base import Question, Slots
from ldptrace.protocol.questions.paths import (
    Bends,
    CombinedSteps,
    CutEnd,
    End,
    Length,
    Links,
    Moves,
    Pairs,
    Start,
    Steps,
    Terminals,
    Turns,
    Visits,
)
from ldptrace.protocol.questions.times import Departure, Pace, Tides, Trips

QUESTIONS: dict[str, type[Question]] = {
    kind.name: kind
    for kind in (
        *(Length, Start, End, CutEnd, Terminals, Visits, Moves, Links, Turns, Steps, CombinedSteps),
        *(Departure, Pace, Tides, Trips, Pairs, Bends),
    )
}

TIME_QUESTIONS = tuple(name for name, kind in QUESTIONS.items() if kind.about_time)


def question_from(n: int, parameters: dict[str, Any]) -> Question:
    """Make the question that a plan document describes."""
    name = str(parameters.get("name"))
    if name not in QUESTIONS:
        raise PlanError(f"unknown question {name[:40]!r}; known are {', '.join(sorted(QUESTIONS))}")
    wanted = set(QUESTIONS[name].fields) - {"n"}
    if set(parameters) != wanted | {"name"}:
        raise PlanError(f"question {name!r} takes {sorted(wanted)}, got {sorted(parameters)[:8]}")
    return QUESTIONS[name](n, **{field: parameters[field] for field in wanted})


__all__ = [
    "QUESTIONS",
    "TIME_QUESTIONS",
    "Bends",
    "CombinedSteps",
    "CutEnd",
    "Departure",
    "End",
    "Length",
    "Links",
    "Moves",
    "Pace",
    "Pairs",
    "Question",
    "Slots",
    "Start",
    "Steps",
    "Terminals",
    "Tides",
    "Trips",
    "Turns",
    "Visits",
    "question_from",
]
