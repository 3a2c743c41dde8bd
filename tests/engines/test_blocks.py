from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.trajectories import Trajectories
from ldptrace.engines import blocks


@given(st.lists(st.integers(0, 9), max_size=60), st.lists(st.integers(0, 60), max_size=5), st.integers(1, 12))
def test_blocks_do_not_depend_on_batches(sizes: list[int], at: list[int], points: int) -> None:
    """The same from batches cut anywhere as from all at once, and never more than allowed but for a single one."""
    offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    trips = Trajectories(np.arange(offsets[-1]), np.zeros(offsets[-1]), offsets)
    borders = [0, *sorted(min(cut, len(sizes)) for cut in at), len(sizes)]
    batches = [trips.part(start, stop) for start, stop in itertools.pairwise(borders)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "POINTS", points)
        patch.setattr(blocks, "CHUNK", 7)
        expected = blocks.cuts(offsets)
        found = list(blocks.in_blocks(batches))
    assert [len(block) for block in found] == [stop - start for start, stop in expected]
    assert sum(len(block) for block in found) == len(sizes)
    for block, (start, stop) in zip(found, expected, strict=True):
        assert np.array_equal(block.x, trips.part(start, stop).x)
        assert len(block) <= 7
        assert block.points <= points or len(block) == 1
