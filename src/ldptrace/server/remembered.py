"""What a standing campaign remembers: its windows are the steps of a memory, in the order of their times.

A memory belongs to one plan; one that replaces it begins anew.
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
    """One window: its own answers, what is known after it with those before, and what changed with it."""

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
        """The share of the window's devices without a trip."""
        return without_trip(self.own)


def recalled(tallies: Sequence[tuple[Plan, Tally]]) -> list[Recalled]:
    """The windows of a campaign in the order of their times, each with what is remembered at its end."""
    return Recollection().windows(tallies)


def recalled_so_far(campaign: Campaign, tallies: Sequence[tuple[Plan, Tally]]) -> list[Recalled]:
    """The same for a page that asks again and again."""
    return _recollection(campaign.plan.campaign).windows(tallies)


@lru_cache(maxsize=16)
def _recollection(campaign: CampaignName | None) -> Recollection:
    """What was recalled of a campaign; its nonce tells it from any other."""
    return Recollection()


class Recollection:
    """Windows as they were recalled last: those that are the same are not added up again."""

    def __init__(self) -> None:
        self._found: list[Recalled] = []
        # After each of the last few windows, the memory of each plan.
        self._memories: dict[int, dict[str, Memory]] = {}
        self._lock = threading.Lock()

    def windows(self, tallies: Sequence[tuple[Plan, Tally]]) -> list[Recalled]:
        """As `recalled`."""
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
        """How many of these windows have been recalled as they are, up to one whose memory is kept."""
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
    """When a window begins, as Unix time."""
    assert plan.standing is not None
    assert tally.window is not None
    return plan.standing.start + tally.window * plan.standing.every


def without_trip(estimates: Estimates) -> Share:
    """The share of devices without a trip, by the answers themselves."""
    return first_guess(observed(estimates.without(*TIME_QUESTIONS, Trips.name)))
