"""Every output marginal of every simulated randomizer, and the two speeds of OUE against each other."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.simulation.collect import tally_of
from statistics_kit import assert_proportions, assert_same_law, assert_standard_normal

RATIO = Fraction(5, 2)
CHANNELS: list[Randomizer] = [
    OUE(9, 1, RATIO),
    GRR(9, 1, RATIO),
    PrivSet(9, 1, RATIO, 3),
    PrivSet(12, 4, RATIO, 3),
    PrivSet(12, 4, RATIO, 1),
    PrivSet(6, 3, RATIO, 5),
]


@pytest.mark.parametrize("mode", ["counts", "devices"])
@pytest.mark.parametrize("channel", CHANNELS, ids=repr)
def test_the_marginal_of_every_output(channel: Randomizer, mode: str, rng: np.random.Generator) -> None:
    reports = 40_000
    p, q = (float(value) for value in channel.probabilities)
    for items in ([], [channel.domain - 1], [0, 5, 2][: channel.capacity]):
        rows = np.full((reports, channel.capacity), -1, dtype=np.int32)
        rows[:, : len(items)] = items
        counts = tally_of(channel, rows, rng, mode)  # type: ignore[arg-type]
        chance = np.full(channel.outputs, q)
        chance[items] = p
        nulls = channel.outputs - channel.domain
        chance[channel.domain : channel.domain + min(nulls, channel.capacity - len(items))] = p
        assert_proportions(counts, reports, chance)


@pytest.mark.slow
def test_both_speeds_of_oue_have_one_distribution() -> None:
    channel = OUE(3, 1, RATIO)
    rows = np.array([[0]] * 30 + [[1]] * 5 + [[-1]] * 5, dtype=np.int32)
    rng = np.random.default_rng(7)
    fast = np.array([tally_of(channel, rows, rng, "counts") for _ in range(4000)])
    slow = np.array([tally_of(channel, rows, rng, "devices") for _ in range(4000)])
    for item in range(3):
        assert_same_law(fast[:, item], slow[:, item])


@pytest.mark.parametrize("channel", CHANNELS, ids=repr)
def test_estimates_are_unbiased_with_the_stated_variance(
    channel: Randomizer, rng: np.random.Generator
) -> None:
    reports, repeats = 3000, 300
    held = np.zeros(channel.domain)
    held[[0, 1, channel.domain - 1]] = [1500, 1000, 500]
    rows = np.full((reports, channel.capacity), -1, dtype=np.int32)
    rows[:, 0] = np.repeat([0, 1, channel.domain - 1], [1500, 1000, 500])
    estimates = np.array(
        [
            channel.debias(tally_of(channel, rows, rng, "devices"), reports)[: channel.domain]
            for _ in range(repeats)
        ]
    )
    scores = (estimates - held) / np.sqrt(channel.variance(reports, held))
    for item in range(channel.domain):
        assert_standard_normal(scores[:, item])


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(1).integers(0, 9, size=(100_000, 1)).astype(np.int32)
    many = tally_of(GRR(9, 1, RATIO), rows, np.random.default_rng(2), "devices")
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    one = tally_of(GRR(9, 1, RATIO), rows, np.random.default_rng(2), "devices")
    assert np.array_equal(many, one)
