from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace_lab.ngram.cells import randomized_sizes, stretched
from statistics_kit import assert_frequencies


@pytest.mark.parametrize("true", [1, 3, 5])
def test_lengths_go_through_randomized_response(true: int, rng: np.random.Generator) -> None:
    sizes = randomized_sizes(np.full(100_000, true), 5, 1.0, rng)
    chances = np.ones(5)
    chances[true - 1] = np.e
    assert_frequencies(np.bincount(sizes, minlength=6)[1:], chances / chances.sum())


def test_the_ratio_of_any_two_answers_is_bounded_by_epsilon(rng: np.random.Generator) -> None:
    epsilon, longest, many = 0.7, 4, 400_000
    shares = np.array(
        [
            np.bincount(randomized_sizes(np.full(many, true), longest, epsilon, rng), minlength=5)[1:] / many
            for true in (1, 2, 3, 4)
        ]
    )
    ratios = shares.max(axis=0) / shares.min(axis=0)
    # A share of at least 0.16 has a standard error of 0.0006, 0.4 % of it: six of them, on both sides.
    np.testing.assert_allclose(ratios, np.exp(epsilon), rtol=0.04)


def test_one_possible_length_is_no_secret(rng: np.random.Generator) -> None:
    assert randomized_sizes(np.array([0, 1, 7]), 1, 1.0, rng).tolist() == [1, 1, 1]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=8))
def test_stretching_keeps_the_order_and_the_ends(sizes: list[tuple[int, int]]) -> None:
    old, new = np.array(sizes).T
    offsets = np.concatenate(([0], np.cumsum(old)))
    positions, resized = stretched(offsets, new)
    assert np.diff(resized).tolist() == new.tolist()
    for k in range(len(old)):
        own = positions[resized[k] : resized[k + 1]]
        if old[k] == 0:
            assert np.all(own == offsets[-1])
            continue
        assert np.all(np.diff(own) >= 0)
        assert own[0] == offsets[k]
        if new[k] > 1:
            assert own[-1] == offsets[k + 1] - 1
        if new[k] == old[k]:
            assert own.tolist() == list(range(offsets[k], offsets[k + 1]))
