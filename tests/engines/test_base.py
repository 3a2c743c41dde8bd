from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_data import drifting_walks
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines import base
from ldptrace.engines.base import Aside, Crowd, Made, T, Work
from ldptrace.errors import InputError
from ldptrace.io.account import Account
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import Collection
from ldptrace.simulation.unit import Unit


@given(st.lists(st.integers(0, 9), max_size=60), st.lists(st.integers(0, 60), max_size=5), st.integers(1, 12))
def test_blocks_do_not_depend_on_batches(sizes: list[int], at: list[int], points: int) -> None:
    """The same from batches cut anywhere as from all at once, and never more than allowed but for a single one."""
    offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    trips = Trajectories(np.arange(offsets[-1]), np.zeros(offsets[-1]), offsets)
    borders = [0, *sorted(min(cut, len(sizes)) for cut in at), len(sizes)]
    batches = [trips.part(start, stop) for start, stop in itertools.pairwise(borders)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "POINTS", points)
        patch.setattr(base, "CHUNK", 7)
        expected = list(base.in_blocks([trips]))
        found = list(base.in_blocks(batches))
    assert sum(len(block) for block in found) == len(sizes)
    for block, whole in zip(found, expected, strict=True):
        assert np.array_equal(block.x, whole.x)
        assert np.array_equal(block.offsets, whole.offsets)
        assert len(block) <= 7
        assert block.points <= points or len(block) == 1
    for block, later in itertools.pairwise(found):
        assert len(block) == 7 or block.points + int(later.sizes[0]) > points


GRID = Grid((0.0, 0.0, 10.0, 10.0), 4)


class Streamed(Crowd):
    """Trips that nobody holds at once: blocks of seven."""

    users, dated, account = 50, False, Account()

    def blocks(self) -> list[Trajectories]:
        walks = drifting_walks(50, 1)
        return [walks[start : start + 7] for start in range(0, 50, 7)]

    def add_up(self, work: Work[T], nothing: T) -> T:
        for number, block in enumerate(self.blocks()):
            nothing = nothing + work(block, number)
        return nothing

    def put_aside(self, work: object, nothing: T) -> tuple[Aside[object], T]:
        raise NotImplementedError

    def play_devices(self, unit: str, rng: np.random.Generator) -> Unit:
        raise NotImplementedError


def test_a_tally_is_added_up_from_blocks() -> None:
    plan = Plan.single_report(GRID, 1.0)
    collection = Collection(plan, np.random.default_rng(3))
    tally = Streamed().collect(collection)
    assert sum(tally.users) == 50
    total = collection.nothing
    for number, block in enumerate(Streamed().blocks()):
        total = total + collection(block, number)
    assert tally == total


@pytest.mark.parametrize("ask", [lambda crowd: crowd.whole(), lambda crowd: crowd.paths(GRID)])
def test_what_is_streamed_is_never_whole(ask: Callable[[Crowd], object]) -> None:
    with pytest.raises(InputError, match="needs all trajectories in memory"):
        ask(Streamed())


def test_trips_in_memory_say_how_many_points_they_have() -> None:
    assert Made(Trajectories([0, 1, 2], [0, 1, 2], [0, 2, 3])).trip_points == 1.5
    assert Made(Trajectories.concat([])).trip_points == 0
