"""At the sizes of a real plan: the frequency of every output of the code that devices run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.protocol.randomness import BytesReader, Source
from statistics_kit import assert_frequencies, assert_proportions

E = ratio_at_most(Fraction(1))
TRIALS = 6000
CHANNELS: list[Randomizer] = [
    OUE(36, 1, E),
    GRR(24, 1, E),
    PrivSet(36, 1, E, 10),
    PrivSet(110, 5, E, 11),
    PrivSet(36, 4, E, 3),
]


def frequencies(channel: Randomizer, items: Sequence[int], seed: int = 1) -> np.ndarray:
    source, counts = Source(random.Random(seed).randbytes), np.zeros(channel.outputs, dtype=int)
    for _ in range(TRIALS):
        counts[list(channel.perturb(items, source))] += 1
    return counts


def expected(channel: Randomizer, items: Sequence[int]) -> np.ndarray:
    p, q = (float(value) for value in channel.probabilities)
    chances = np.full(channel.outputs, q)
    chances[channel.filled(items)] = p
    return chances


@pytest.mark.slow
@pytest.mark.parametrize("channel", CHANNELS, ids=repr)
def test_every_output_is_named_as_often_as_it_should(channel: Randomizer) -> None:
    last = channel.domain - 1
    for items in ([], [0], [last], list(range(last, last - channel.capacity, -1))):
        assert_proportions(frequencies(channel, items), TRIALS, expected(channel, items))


class OneItemTooRare(PrivSet):
    """Never names the last item of the domain unless it is the user's own."""

    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        named = super().perturb(items, source)
        return named if self.domain - 1 in items else tuple(i for i in named if i != self.domain - 1)


class LastBitKept(OUE):
    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        named = super().perturb(items, source)
        kept = tuple(item for item in items if item == self.domain - 1)
        return tuple(item for item in named if item != self.domain - 1) + kept


class TrueBitNeverCleared(OUE):
    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        named = set(super().perturb((), source))
        return tuple(sorted(named | set(items if source.below(2) else ())))


@pytest.mark.slow
@pytest.mark.parametrize(
    "broken", [OneItemTooRare(36, 2, E, 6), LastBitKept(36, 1, E), TrueBitNeverCleared(36, 1, E)], ids=repr
)
def test_the_marginals_go_red_for_broken_randomizers(broken: Randomizer) -> None:
    inputs = ([], [broken.domain - 1])
    counts = np.array([frequencies(broken, items) for items in inputs])
    chances = np.array([expected(broken, items) for items in inputs])
    with pytest.raises(AssertionError, match="is not a proportion"):
        assert_proportions(counts, TRIALS, chances)


@pytest.mark.parametrize("bound", [3, 5, 200, 257])
def test_integers_are_uniform(bound: int) -> None:
    source = Source(random.Random(2).randbytes)
    drawn = [source.below(bound) for _ in range(20_000)]
    assert_frequencies(np.bincount(drawn, minlength=bound), np.full(bound, 1 / bound))


def test_subsets_are_uniform() -> None:
    source = Source(random.Random(3).randbytes)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(20_000):
        chosen = tuple(source.subset(range(6), 3))
        counts[chosen] = counts.get(chosen, 0) + 1
    assert_frequencies(list(counts.values()), np.full(20, 1 / 20))
    assert len(counts) == 20


@given(st.integers(1, 1 << 50), st.data())
def test_flags_are_draws_one_after_another(bound: int, data: st.DataObject) -> None:
    limit = data.draw(st.integers(0, bound))
    stream = random.Random(data.draw(st.integers(0, 1 << 30))).randbytes(4000)
    one, other = Source(BytesReader(stream)), Source(BytesReader(stream))
    assert list(one.flags(limit, bound, 100)) == [other.below(bound) < limit for _ in range(100)]
    assert one.take(8) == other.take(8)
