from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import InputError
from ldptrace_lab.streams.population import Population, Settings, oue_frequencies
from ldptrace_lab.streams.states import States


@given(st.integers(1, 6), st.lists(st.integers(0, 30), min_size=1, max_size=25), st.integers(0, 1000))
def test_nobody_reports_twice_in_a_window(window: int, counts: list[int], seed: int) -> None:
    people = Population(States(2), 12, Settings(1.0, window), np.random.default_rng(seed))
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
    others = found[:, states.possible & ~np.isin(np.arange(states.size), [4, 13])]
    assert abs(2 * (others**2).mean() / error**2 - 1) < 0.1
    assert np.all(found[:, ~states.possible] == 0)
    assert oue_frequencies(items[:0], states, 1.0, rng).sum() == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0.0,), "epsilon"), ((1.0, 0), "window"), ((1.0, 2, -1.0), "mean number of ticks")],
)
def test_settings_are_checked(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Settings(*arguments)  # type: ignore[arg-type]
