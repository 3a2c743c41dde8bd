"""Frequent patterns beside a plain dictionary of them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import random_paths
from evaluation_data import drifting_walks
from ldptrace.core.parallel import NOTHING
from ldptrace.core.paths import CellPaths
from ldptrace.evaluation.patterns import mine, support
from ldptrace.protocol.grid import Grid


def mined_by_hand(paths: CellPaths) -> list[tuple[tuple[int, ...], int]]:
    """As the reference does it: a dictionary in order of size, then of the data; a stable sort by count."""
    found: Counter[tuple[int, ...]] = Counter()
    for size in range(2, 9):
        for start, stop in itertools.pairwise(paths.offsets.tolist()):
            path = paths.cells[start:stop].tolist()
            for first in range(len(path) - size + 1):
                found[tuple(path[first : first + size])] += 1
    return sorted(found.items(), key=lambda item: -item[1])


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(0, 120), st.integers(2, 6), st.integers(1, 14))
def test_patterns_and_their_ties_are_those_of_a_dictionary(
    seed: int, size: int, n: int, longest: int
) -> None:
    rng = np.random.default_rng(seed)
    grid = Grid((0, 0, 1, 1), n)
    paths = random_paths(size, grid, rng, longest)
    expected = mined_by_hand(paths)
    found = mine(lambda work: work(paths, 0))
    rows = [tuple(row[row >= 0].tolist()) for row in found.cells]
    assert list(zip(rows, found.counts.tolist(), strict=True)) == expected[:100]
    other = random_paths(size, grid, rng, longest)
    known = dict(mined_by_hand(other))
    assert support(other, found).tolist() == [known.get(row, 0) for row in rows]


@pytest.mark.parametrize("half", [2, 4, 7])
def test_patterns_do_not_depend_on_blocks_and_passes(monkeypatch: pytest.MonkeyPatch, half: int) -> None:
    grid = Grid((0, 0, 10, 10), 6)
    paths = CellPaths.from_trajectories(drifting_walks(300, 1), grid)
    whole = mine(lambda work: work(paths, 0))
    monkeypatch.setattr("ldptrace.evaluation.patterns.HALF", half)

    def passes(work: Callable[[CellPaths, int], Any]) -> Any:
        total = NOTHING
        for number, start in enumerate(range(0, 300, 7)):
            total = total + work(paths.part(start, min(start + 7, 300)), number)
        return total

    parts = mine(passes)
    assert np.array_equal(whole.cells, parts.cells)
    assert np.array_equal(whole.counts, parts.counts)
