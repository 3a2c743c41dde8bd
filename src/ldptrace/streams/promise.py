"""The privacy promise of a stream, in words and as plain data for files."""

from __future__ import annotations

import math
from typing import Any

from ldptrace.core.trajectories import Trajectories
from ldptrace.methods.public import Public
from ldptrace.protocol.exact import decimal_text, epsilon_fraction
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.units import duration_words
from ldptrace.protocol.words import NOBODY, explain, trusted
from ldptrace.simulation.streams import EXPERIMENT
from ldptrace.streams.settings import Settings


def notes_of(settings: Settings, trips: Trajectories, every: float, span: float, public: Public) -> list[str]:
    """Return sentences about how often a device answers in a stream of `span` seconds, whom the promise protects, and
    what is public."""
    notes = []
    if settings.presence == "hidden":
        answers = max(1, math.ceil(span / every))
        notes.append(
            f"Every device answers once in {duration_words(max(round(every), 1))}, at a moment of its own that does "
            f"not depend on its trips; epsilon holds for each answer, of which there are at most {answers} here."
        )
    if _of_users(settings, trips):
        return notes + public.notes
    return [
        *notes,
        "The unit is the trip: a person with k trips is protected with k epsilon only.",
        *public.notes,
    ]


def promise_of(
    epsilon: float, settings: Settings, trips: Trajectories, plan: Plan | None, notes: list[str], users: int
) -> dict[str, Any]:
    """Return the promise to `users` devices. For a method of another package, `plan` is None."""
    return {
        "method": settings.method,
        **_trusted(epsilon, plan),
        "leaks": settings.leaks,
        "unit": "user" if plan is not None and _of_users(settings, trips) else "trip",
        "users": users,
        "experiment": None if settings.seed is None else EXPERIMENT,
        "sample_seed": None,
        "timezone": trips.timezone,
        "notes": notes,
        "explanation": [] if plan is None else explain(plan),
        "plan": None if plan is None else plan.document(),
        "plan_id": None if plan is None else plan.id,
    }


def _trusted(epsilon: float, plan: Plan | None) -> dict[str, Any]:
    """Return what an answer costs, and whom one must trust for that."""
    if plan is not None:
        return trusted(plan)
    text = decimal_text(epsilon_fraction(epsilon))
    return {"epsilon": text, "delta": "0", "local_epsilon": text, "batch": None, "trust": NOBODY}


def _of_users(settings: Settings, trips: Trajectories) -> bool:
    """Whether a device belongs to a user, who may have several trips."""
    return trips.user is not None and settings.presence == "hidden"
