"""Estimates over time: one point for each window, with its standard error, and where something has changed.

Windows are compared as samples of people: errors are those of the randomised answers together with those of who was
asked which question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.curator import Estimate, Estimates, Tally
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions.trips import CLASSES
from ldptrace.server.registry import Campaign
from ldptrace.server.storage import Session
from ldptrace.server.tallies import tallies_of

# Questions of one item: everybody with a trip names one, so what is missing are people without any.
ONE_ITEM = ("length", "start", "end")
# Cells whose visits are shown, the busiest of the last window.
BUSIEST = 12
# A difference of this many standard errors from the window before is marked: one in a thousand by chance.
MARKED = 3.3


def series(session: Session, campaign: Campaign) -> dict[str, Any]:
    """What an operator sees over time, of the windows with enough reports."""
    found = sorted(tallies_of(session, campaign), key=lambda one: _begin(*one))
    estimates = [Estimates.from_tally(plan, tally) for plan, tally in found]
    cells = _busiest(estimates[-1])
    lines: dict[str, list[tuple[float, float] | None]] = {
        "share with a trip": [with_trip(one) for one in estimates],
        "trips per person": [trips_each(one) for one in estimates],
    }
    for cell in cells:
        lines[f"visits of cell {cell}"] = [_visits(one, cell) for one in estimates]
    return {
        "name": campaign.name,
        "windows": [
            {"window": tally.window, "begin": _begin(plan, tally), "reports": sum(tally.users)}
            for plan, tally in found
        ],
        "lines": [
            {"name": name, "points": [_point(point) for point in points], "changes": changes(points)}
            for name, points in lines.items()
            if any(point is not None for point in points)
        ],
        "changed": [
            place for place in range(1, len(estimates)) if differs(*estimates[place - 1 : place + 1])
        ],
    }


def with_trip(estimates: Estimates) -> tuple[float, float] | None:
    """The share of people with a trip and its standard error: all answers together, weighted by their precision."""
    parts: list[tuple[float, float]] = []
    for name in ONE_ITEM:
        found = estimates.get(name)
        if found is not None and found.users and found.nulls is not None and found.nulls_error:
            share = 1 - found.nulls
            parts.append((share, math.hypot(found.nulls_error, _sampled(share, found.users))))
    if not parts:
        return None
    weights = np.array([error**-2.0 for _, error in parts])
    return float(weights @ [share for share, _ in parts] / weights.sum()), float(weights.sum() ** -0.5)


def trips_each(estimates: Estimates) -> tuple[float, float] | None:
    """Trips per person in the time that a window asks about; of the last class its smallest number."""
    found = estimates.get("trips")
    if found is None or not found.users:
        return None
    ends = (*(end - 1 for end in CLASSES[1:]), CLASSES[-1])
    middle = np.array([(first + last) / 2 for first, last in zip(CLASSES, ends, strict=True)])
    mean = float(middle @ found.frequencies)
    spread = max(float(middle**2 @ found.frequencies) - mean**2, 0.0)
    return mean, math.sqrt(float(middle**2 @ found.std_errors**2) + spread / found.users)


def _sampled(share: float, users: int) -> float:
    """Standard error of a share among this many people who were drawn by lot.

    >>> _sampled(0.5, 100)
    0.05
    """
    inside = min(max(share, 0.0), 1.0)
    return math.sqrt(inside * (1 - inside) / users)


def changes(points: Sequence[tuple[float, float] | None]) -> list[int]:
    """Places whose value differs from the one before by more than chance makes likely.

    >>> changes([(0.5, 0.01), (0.51, 0.01), (0.6, 0.01), None])
    [2]
    """
    marked = []
    for place in range(1, len(points)):
        before, here = points[place - 1], points[place]
        if before is None or here is None:
            continue
        if abs(here[0] - before[0]) > MARKED * math.hypot(before[1], here[1]):
            marked.append(place)
    return marked


def differs(before: Estimates, here: Estimates) -> bool:
    """Whether the map as a whole has changed: the squared differences of all cells, beyond what noise gives."""
    one, two = before.get("visits"), here.get("visits")
    if (
        one is None
        or two is None
        or not one.users
        or not two.users
        or len(one.frequencies) != len(two.frequencies)
    ):
        return False
    squares = (one.frequencies - two.frequencies) ** 2 / (_variances(one) + _variances(two))
    return bool((squares.sum() - len(squares)) / math.sqrt(2 * len(squares)) > MARKED)


def _busiest(estimates: Estimates) -> list[int]:
    found = estimates.get("visits")
    if found is None or not found.users:
        return []
    clear = np.flatnonzero(found.frequencies > 2 * found.std_errors)
    return sorted(clear[np.argsort(-found.frequencies[clear])][:BUSIEST].tolist())


def _visits(estimates: Estimates, cell: int) -> tuple[float, float] | None:
    found: Estimate | None = estimates.get("visits")
    if found is None or not found.users or cell >= len(found.frequencies):
        return None
    return float(found.frequencies[cell]), float(np.sqrt(_variances(found)[cell]))


def _variances(found: Estimate) -> NDArray[np.float64]:
    """Squared standard errors of shares among people who were drawn by lot."""
    inside = np.clip(found.frequencies, 0.0, 1.0)
    return found.std_errors**2 + inside * (1 - inside) / found.users


def _begin(plan: Plan, tally: Tally) -> int:
    """When a window begins, as Unix time; the number of the round where there are no windows."""
    if plan.standing is None or tally.window is None:
        return tally.round
    return plan.standing.start + tally.window * plan.standing.every


def _point(point: tuple[float, float] | None) -> list[float] | None:
    return None if point is None else [float(f"{value:.5g}") for value in point]
