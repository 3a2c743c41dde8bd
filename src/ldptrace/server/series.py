"""Estimates over time: one point for each window of a standing campaign, with its standard error, and where something
has changed.

The share of people with a trip and the trips per person are estimated from each window alone. Visits of cells are
estimated from the memory of several windows, which reduces their noise. If another plan replaces the plan, a new memory
begins.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ldptrace.curator import Estimates, Tally
from ldptrace.curator.estimates import trips_per_person
from ldptrace.curator.memory import Change, Memory, level_changes
from ldptrace.models.observation import SINGLE, Share, first_guess
from ldptrace.models.path.model import observed
from ldptrace.protocol.plan import CampaignName, Plan
from ldptrace.protocol.questions import TIME_QUESTIONS, Trips
from ldptrace.protocol.questions.base import cell_words
from ldptrace.server.registry import Campaign
from ldptrace.server.rounds import tallies_of
from ldptrace.server.storage import Session
from ldptrace.streams.now import LEAST
from ldptrace.web.problems import wrong_state

FILE = "series.json"
# Cells whose visits are shown, the busiest of the last window.
BUSIEST = 12
Point = tuple[float, float]
# Windows after which the memory is kept: those that are open, and some more.
KEPT = 5


@dataclass(frozen=True, eq=False)
class Recalled:
    """One window: its own answers, the estimates from this window and earlier ones, and what changed."""

    plan: Plan
    tally: Tally
    own: Estimates
    now: Estimates
    changes: tuple[Change, ...]
    # The half-life of a report's weight, in words, and how many reports that count fully would say as much.
    half_life: str
    effective: float

    @property
    def begin(self) -> int:
        return begin_of(self.plan, self.tally)


@lru_cache(maxsize=16)
def recollection(campaign: CampaignName | None) -> Recollection:
    """Return the cached windows of a campaign, which is identified by its nonce."""
    return Recollection()


class Recollection:
    """A cache of windows, so that unchanged windows are not computed again for pages that ask often."""

    def __init__(self) -> None:
        self._found: list[Recalled] = []
        # After each of the last few windows, the memory of each plan.
        self._memories: dict[int, dict[str, Memory]] = {}
        self._lock = threading.Lock()

    def windows(self, tallies: Sequence[tuple[Plan, Tally]]) -> list[Recalled]:
        """Return the windows of a campaign in order, each with the memory at its end."""
        ordered = sorted(tallies, key=lambda one: begin_of(*one))
        with self._lock:
            known = self._same(ordered)
            memories = dict(self._memories.get(known, {}))
            self._memories = {place: kept for place, kept in self._memories.items() if place <= known}
            del self._found[known:]
            for plan, tally in ordered[known:]:
                assert plan.standing is not None
                memory = memories.get(plan.id) or Memory(plan, float(plan.standing.every))
                memories = {**memories, plan.id: memory.copy()}
                self._found.append(_recall(memories[plan.id], plan, tally))
                self._memories[len(self._found)] = memories
            self._memories = dict(sorted(self._memories.items())[-KEPT:])
            return list(self._found)

    def _same(self, ordered: Sequence[tuple[Plan, Tally]]) -> int:
        """Return how many of the first windows are unchanged, up to a window whose memory is stored."""
        same = 0
        for one, (plan, tally) in zip(self._found, ordered, strict=False):
            if one.plan.id != plan.id or one.tally != tally:
                break
            same += 1
        return max((place for place in self._memories if place <= same), default=0)


def _recall(memory: Memory, plan: Plan, tally: Tally) -> Recalled:
    assert plan.standing is not None
    own = Estimates.from_tally(plan, tally)
    weight = float(np.clip(1 - without_trip(own).value, LEAST, 1.0))
    changes = memory.add(tally, float(begin_of(plan, tally) + plan.standing.every), weight)
    return Recalled(plan, tally, own, memory.estimates, changes, memory.words, memory.effective)


def begin_of(plan: Plan, tally: Tally) -> int:
    """Return when a window begins, as Unix time."""
    assert plan.standing is not None
    assert tally.window is not None
    return plan.standing.begin(tally.window)


def without_trip(estimates: Estimates) -> Share:
    """Estimate the share of devices without a trip from the answers."""
    return first_guess(observed(estimates.without(*TIME_QUESTIONS, Trips.name)))


def series(session: Session, campaign: Campaign) -> dict[str, Any]:
    """Return the estimates over time for operators, from windows with enough reports."""
    if campaign.plan.standing is None:
        raise wrong_state(f"campaign {campaign.name} is not standing: it has no windows")
    windows = recollection(campaign.plan.campaign).windows(tallies_of(session, campaign))
    return {"name": campaign.name} | over_time(windows)


def over_time(windows: Sequence[Recalled]) -> dict[str, Any]:
    """Return the series as plain data: windows, lines with a point for each window, and changes in words."""
    changed, last = [place for place, one in enumerate(windows) if one.changes], windows[-1]
    shares, each = [_with_trip(one) for one in windows], [_trips_each(one.own) for one in windows]
    lines = [
        ("share with a trip", shares, level_changes(shares)),
        ("trips per person", each, level_changes(each)),
    ]
    for cell in _busiest(last.now):
        name = f"visits of {cell_words(cell, last.plan.grid.n)}"
        lines.append((name, [_visits(one.now, cell) for one in windows], changed))
    return {
        "windows": [
            {
                "window": one.tally.window,
                "begin": one.begin,
                "reports": sum(one.tally.users),
                "half_life": one.half_life,
                "effective": round(one.effective),
            }
            for one in windows
        ],
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
            {"window": windows[place].tally.window, "text": f"{change.words('windows')}."}
            for place in changed
            for change in windows[place].changes
        ],
    }


def _with_trip(one: Recalled) -> Point | None:
    """Return the share of people with a trip, and its standard error if these people are a random sample."""
    share = without_trip(one.own)
    if not math.isfinite(share.std_error):
        return None
    inside = min(max(share.value, 0.0), 1.0)
    asked = sum(one.own[name].users for name in SINGLE if name in one.own)
    return 1 - share.value, math.hypot(share.std_error, math.sqrt(inside * (1 - inside) / asked))


def _trips_each(estimates: Estimates) -> Point | None:
    trips = trips_per_person(estimates)
    return None if trips is None else (trips.value, trips.std_error)


def _busiest(estimates: Estimates) -> list[int]:
    """Return the cells with most visits, of those that stand out from the noise, by number."""
    visits = estimates.get("visits")
    if visits is None or not visits.users:
        return []
    clear = np.flatnonzero(visits.frequencies > 2 * visits.std_errors)
    return sorted(clear[np.argsort(-visits.frequencies[clear])][:BUSIEST].tolist())


def _visits(estimates: Estimates, cell: int) -> Point | None:
    visits = estimates.get("visits")
    if visits is None or not visits.users or cell >= len(visits.frequencies):
        return None
    return float(visits.frequencies[cell]), float(visits.std_errors[cell])
