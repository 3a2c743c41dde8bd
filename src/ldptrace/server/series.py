"""Estimates over time: one point for each window, with its standard error, and where something has changed.

The share of people with a trip and the trips per person are estimated from each window alone. Visits of cells are
estimated from the memory of several windows (`ldptrace.server.remembered`), which reduces their noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ldptrace.curator import Estimates
from ldptrace.curator.changes import Change, level_changes
from ldptrace.curator.trips import trips_per_person
from ldptrace.models.observation import SINGLE
from ldptrace.server.registry import Campaign, day
from ldptrace.server.remembered import Recalled, recalled_so_far
from ldptrace.server.storage import Session
from ldptrace.server.tallies import tallies_of
from ldptrace.web.problems import wrong_state

FILE = "series.json"
# Cells whose visits are shown, the busiest of the last window.
BUSIEST = 12
Point = tuple[float, float]


def series(session: Session, campaign: Campaign) -> dict[str, Any]:
    """Return the estimates over time for operators, from windows with enough reports."""
    if campaign.plan.standing is None:
        raise wrong_state(f"campaign {campaign.name} is not standing: it has no windows")
    return {"name": campaign.name} | over_time(recalled_so_far(campaign, tallies_of(session, campaign)))


def over_time(windows: Sequence[Recalled]) -> dict[str, Any]:
    """Return the series as plain data: windows, lines with a point for each window, and changes in words."""
    changed = [place for place, one in enumerate(windows) if one.changes]
    lines = []
    for name, points in (
        ("share with a trip", [_with_trip(one) for one in windows]),
        ("trips per person", [_trips_each(one.own) for one in windows]),
    ):
        lines.append((name, points, level_changes(points)))
    for cell in _busiest(windows[-1].now):
        lines.append((f"visits of cell {cell}", [_visits(one.now, cell) for one in windows], changed))
    return {
        "windows": [_window(one) for one in windows],
        "lines": [
            {
                "name": name,
                "points": [point and [float(f"{value:.5g}") for value in point] for point in points],
                "changes": places,
            }
            for name, points, places in lines
            if any(point is not None for point in points)
        ],
        "changes": [
            {"window": windows[place].tally.window, "text": change_words(change)}
            for place in changed
            for change in windows[place].changes
        ],
    }


def change_words(change: Change) -> str:
    """Return a change in words. The numbers are shares of the devices.

    >>> change_words(Change("visits", 1803859200.0, 3, "cell 0,3", 0.1, 0.25, 1e-4))
    'More cell 0,3 since 2027-03-01 (question visits: 0.100 before, 0.250 now; by chance in 1 of 10,000 windows).'
    """
    way = "More" if change.after > change.before else "Less"
    return (
        f"{way} {change.where} since {day(round(change.since))} (question {change.question}: "
        f"{change.before:.3f} before, {change.after:.3f} now; {change.chance_words('windows')})."
    )


def _window(one: Recalled) -> dict[str, Any]:
    return {
        "window": one.tally.window,
        "begin": one.begin,
        "reports": sum(one.tally.users),
        "half_life": one.half_life,
        "effective": round(one.effective),
    }


def _with_trip(one: Recalled) -> Point | None:
    """Return the share of people with a trip, and its standard error if these people are a random sample."""
    found = one.without_trip
    if not math.isfinite(found.std_error):
        return None
    inside = min(max(found.value, 0.0), 1.0)
    asked = sum(one.own[name].users for name in SINGLE if name in one.own)
    return 1 - found.value, math.hypot(found.std_error, math.sqrt(inside * (1 - inside) / asked))


def _trips_each(estimates: Estimates) -> Point | None:
    found = trips_per_person(estimates)
    return None if found is None else (found.value, found.std_error)


def _busiest(estimates: Estimates) -> list[int]:
    found = estimates.get("visits")
    if found is None or not found.users:
        return []
    clear = np.flatnonzero(found.frequencies > 2 * found.std_errors)
    return sorted(clear[np.argsort(-found.frequencies[clear])][:BUSIEST].tolist())


def _visits(estimates: Estimates, cell: int) -> Point | None:
    found = estimates.get("visits")
    if found is None or not found.users or cell >= len(found.frequencies):
        return None
    return float(found.frequencies[cell]), float(found.std_errors[cell])
