"""The memory of a standing campaign, whose steps are its windows. If another plan replaces the plan, a new memory
begins.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ldptrace.curator import Estimates, Tally
from ldptrace.curator.changes import Change
from ldptrace.curator.memory import Memory
from ldptrace.models.observation import Share, first_guess
from ldptrace.models.path.model import observed
from ldptrace.protocol.plan import CampaignName, Plan
from ldptrace.protocol.questions import TIME_QUESTIONS, Trips
from ldptrace.server.registry import Campaign
from ldptrace.streams.now import LEAST

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

    @property
    def without_trip(self) -> Share:
        """The share of devices without a trip in this window."""
        return without_trip(self.own)


def recalled(tallies: Sequence[tuple[Plan, Tally]]) -> list[Recalled]:
    """Return the windows of a campaign in order, each with the memory at its end."""
    return Recollection().windows(tallies)


def recalled_so_far(campaign: Campaign, tallies: Sequence[tuple[Plan, Tally]]) -> list[Recalled]:
    """Do the same as `recalled`, with a cache for pages that ask often."""
    return _recollection(campaign.plan.campaign).windows(tallies)


@lru_cache(maxsize=16)
def _recollection(campaign: CampaignName | None) -> Recollection:
    """Return the cached windows of a campaign, which is identified by its nonce."""
    return Recollection()


class Recollection:
    """A cache of windows, so that unchanged windows are not computed again."""

    def __init__(self) -> None:
        self._found: list[Recalled] = []
        # After each of the last few windows, the memory of each plan.
        self._memories: dict[int, dict[str, Memory]] = {}
        self._lock = threading.Lock()

    def windows(self, tallies: Sequence[tuple[Plan, Tally]]) -> list[Recalled]:
        """Return the windows, as `recalled` does."""
        ordered = sorted(tallies, key=lambda one: begin_of(*one))
        with self._lock:
            known = self._same(ordered)
            memories = dict(self._memories.get(known, {}))
            self._memories = {place: kept for place, kept in self._memories.items() if place <= known}
            del self._found[known:]
            for plan, tally in ordered[known:]:
                memories = {**memories, plan.id: _memory(memories, plan).copy()}
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


def _memory(memories: Mapping[str, Memory], plan: Plan) -> Memory:
    assert plan.standing is not None
    return memories.get(plan.id) or Memory(plan, float(plan.standing.every))


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
    return plan.standing.start + tally.window * plan.standing.every


def without_trip(estimates: Estimates) -> Share:
    """Estimate the share of devices without a trip from the answers."""
    return first_guess(observed(estimates.without(*TIME_QUESTIONS, Trips.name)))
