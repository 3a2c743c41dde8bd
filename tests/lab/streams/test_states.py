from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace_lab.streams.methods import (
    WAYS,
    CellStreams,
    Clock,
    Population,
    Settings,
    States,
    oue_frequencies,
)


def test_the_domain_is_that_of_the_paper() -> None:
    """220 moves, 36 stays, 36 entrances, 36 quits on 6 x 6 cells."""
    states = States(6)
    assert states.possible.sum() == 328
    assert np.all(states.targets[:, 4] == np.arange(36))
    assert states.targets[0, 8] == 7


def test_everybody_does_one_thing_in_a_tick() -> None:
    streams = CellStreams(
        np.int32([0, 1, 1, 8, 5]),
        np.array([0, 4, 4, 5]),
        np.array([1, 0, 4]),
        Grid((0.0, 0.0, 3.0, 3.0), 3),
        Clock(0.0, 1.0, 6),
    )
    states = States(3)
    events = states.events(streams)
    enter, leave = WAYS * 9, (WAYS + 1) * 9
    found = [[(int(item), int(owner)) for item, owner in zip(*events[t], strict=True)] for t in range(6)]
    assert found == [
        [],
        [(enter + 0, 0)],
        [(0 * WAYS + 5, 0)],
        [(1 * WAYS + 4, 0)],
        # From cell 1 to cell 8 is too far: a quit where it was.
        [(leave + 1, 0), (enter + 5, 2)],
        [(leave + 8, 0), (leave + 5, 2)],
    ]


def test_a_vector_of_items_has_three_parts() -> None:
    ways, enter, leave = States(2).split(np.arange(44.0))
    assert ways.shape == (4, 9)
    assert enter.tolist() == [36, 37, 38, 39]
    assert leave.tolist() == [40, 41, 42, 43]


@given(st.integers(1, 6), st.lists(st.integers(0, 30), min_size=1, max_size=25), st.integers(0, 1000))
def test_nobody_reports_twice_in_a_window(window: int, counts: list[int], seed: int) -> None:
    people = Population(States(2), 12, Settings(1.0, window=window), np.random.default_rng(seed))
    owners, items = np.arange(12), np.zeros(12, dtype=np.int64)
    reports = []
    for tick, count in enumerate(counts):
        before = people.free(owners, tick)
        _, asked = people.report(items, owners, tick, count)
        assert asked == min(count, len(before))
        reports.append(asked)
        assert sum(reports[max(0, tick - window + 1) :]) <= 12
        assert len(people.free(owners, tick)) == len(before) - asked


def test_frequencies_are_unbiased_and_have_their_variance(rng: np.random.Generator) -> None:
    states, items = States(3), np.repeat([4, 13], [6000, 4000])
    found = np.array([oue_frequencies(items, states, 1.0, rng) for _ in range(400)])
    settings = Population(states, 1, Settings(1.0), rng)
    error = np.sqrt(settings.variance(10_000))
    assert abs(found[:, 4].mean() - 0.6) < 5 * 2 * error / 20
    assert abs(found[:, 13].mean() - 0.4) < 5 * 2 * error / 20
    # Half of what is zero is above zero by chance, and its square has the variance.
    others = found[:, states.possible & ~np.isin(np.arange(len(states.possible)), [4, 13])]
    assert abs(2 * (others**2).mean() / error**2 - 1) < 0.1
    assert np.all(found[:, ~states.possible] == 0)
    assert oue_frequencies(items[:0], states, 1.0, rng).sum() == 0


@pytest.mark.parametrize(
    ("epsilon", "options", "message"),
    [(0.0, {}, "epsilon"), (1.0, {"window": 0}, "window"), (1.0, {"mean_ticks": -1.0}, "mean_ticks")],
)
def test_settings_are_checked(epsilon: float, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Settings(epsilon, **options)
