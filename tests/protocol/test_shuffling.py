"""The accountant beside the exact pair of the clones, and beside everything that n shuffled reports can show."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ldptrace.errors import InputError
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.limits import MAX_BATCH
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.protocol.shuffling import (
    central_epsilon,
    clones,
    divergence,
    local_epsilon,
    stated_epsilon,
)

# -- the exact pair ----------------------------------------------------------------------------------------


def exactly(n: int, local: float, central: float) -> mpmath.mpf:
    """The divergence of the two laws, number by number, to 50 digits."""
    with mpmath.workdps(50):
        p, e = mpmath.exp(-mpmath.mpf(local)), mpmath.exp(mpmath.mpf(central))
        more = 1 / (1 + p)
        one: dict[tuple[int, int], mpmath.mpf] = {}
        other: dict[tuple[int, int], mpmath.mpf] = {}
        for c in range(n):
            weight = mpmath.binomial(n - 1, c) * p**c * (1 - p) ** (n - 1 - c)
            for a in range(c + 1):
                chance = weight * mpmath.binomial(c, a) / mpmath.mpf(2) ** c
                for d, share in ((1, more), (0, 1 - more)):
                    here, there = (a + d, c - a + 1 - d), (a + 1 - d, c - a + d)
                    one[here] = one.get(here, 0) + chance * share
                    other[there] = other.get(there, 0) + chance * share
        return sum((max(value - e * other[key], 0) for key, value in one.items()), mpmath.mpf(0))


def nearly(n: int, local: float, central: float) -> float:
    """The same from the tails of scipy, for any n: correct to about nine digits."""
    p, e = math.exp(-local), math.exp(central)
    more, mean = 1 / (1 + p), (n - 1) * p
    reach = 11 * math.sqrt(mean * (1 - p)) + 40
    c = np.arange(max(math.floor(mean - reach), 0), min(math.ceil(mean + reach), n - 1) + 1)
    theta = (e * more - (1 - more)) / ((2 * more - 1) * (1 + e))
    first = np.floor(theta * (c + 1)) + 1
    at, above = stats.binom.sf(first - 2, c, 0.5), stats.binom.sf(first - 1, c, 0.5)
    gap = more * at + (1 - more) * above - e * ((1 - more) * at + more * above)
    return float(np.sum(stats.binom.pmf(c, n - 1, p) * np.maximum(gap, 0)))


def exact_epsilon(n: int, local: float, delta: float) -> float:
    low, high = 0.0, local
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if nearly(n, local, middle) <= delta else (middle, high)
    return high


@pytest.mark.parametrize("n", [1, 2, 3, 10, 40])
@pytest.mark.parametrize("local", [0.01, 0.5, 2, 8, 19])
def test_few_reports_beside_fifty_digits(n: int, local: float) -> None:
    for central in (local / 50, local / 3, 0.9 * local, 0.999 * local):
        exact = exactly(n, local, central)
        assert exact <= divergence(n, local, central) <= exact * 1.01 + 1e-15


def test_the_two_references_agree() -> None:
    assert nearly(40, 2, 0.7) == pytest.approx(float(exactly(40, 2, 0.7)), rel=1e-9)


CASES = [
    (n, local, delta)
    for n in (1_000, 20_000, 1_000_000, 10_000_000)
    for local in (0.5, 3, 5.5, 8)
    for delta in (1e-6, 1e-12)
]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "local", "delta"), CASES)
def test_what_a_plan_states_is_within_two_per_cent(n: int, local: float, delta: float) -> None:
    exact = exact_epsilon(n, local, delta)
    assert exact * (1 - 1e-6) <= central_epsilon(n, local, delta) <= exact * 1.003
    assert exact <= stated_epsilon(n, local, delta) * (1 + 1e-6) <= exact * 1.02


@pytest.mark.parametrize(
    ("n", "rows"),
    [
        (2_000, {2: 0.46, 3: 1.02, 4: 2.78}),
        (5_000, {2: 0.29, 3: 0.59, 4: 1.17, 5: 4.77}),
        (10_000, {2: 0.20, 3: 0.40, 4: 0.76, 5: 1.51}),
        (300_000, {3: 0.067, 4: 0.121, 5: 0.210, 6: 0.359}),
    ],
)
def test_values_of_another_implementation(n: int, rows: dict[int, float]) -> None:
    """Computed by other code with coarser steps, for delta 1e-8."""
    for local, central in rows.items():
        assert central_epsilon(n, local, 1e-8) == pytest.approx(central, rel=0.025)


# -- everything that n shuffled reports can show ----------------------------------------------------------

E = ratio_at_most(Fraction(1))
Law = dict[Hashable, Fraction]


def inputs(channel: Randomizer) -> list[tuple[int, ...]]:
    return [
        items for size in range(channel.capacity + 1) for items in combinations(range(channel.domain), size)
    ]


def laws_of(channel: Randomizer) -> list[Law]:
    return [{z: channel.probability(z, items) for z in channel.all_reports()} for items in inputs(channel)]


def drawn_question() -> list[Law]:
    """A device draws one of two questions, and answers it with its whole budget; (question, answer) is its report."""
    questions = ((Fraction(1, 3), GRR(3, 1, Fraction(5))), (Fraction(2, 3), PrivSet(2, 1, Fraction(5), 1)))
    return [
        {
            (number, z): share * channel.probability(z, items)
            for number, ((share, channel), items) in enumerate(zip(questions, person, strict=True))
            for z in channel.all_reports()
        }
        for person in (((0,), (0,)), ((1,), (0,)), ((2,), (1,)), ((), ()))
    ]


DEVICES = {
    "grr": (Fraction(3), laws_of(GRR(3, 1, Fraction(3)))),
    "grr-e": (E, laws_of(GRR(2, 1, E))),
    "oue": (Fraction(4), laws_of(OUE(2, 1, Fraction(4)))),
    "privset": (Fraction(6), laws_of(PrivSet(3, 2, Fraction(6), 1))),
    "subsets": (Fraction(3), laws_of(PrivSet(3, 1, Fraction(3), 2))),
    "drawn question": (Fraction(5), drawn_question()),
}


def added(batch: dict[tuple[int, ...], float], law: list[float]) -> dict[tuple[int, ...], float]:
    """The law of the mixed reports with one device more: how often each report is among them."""
    found: dict[tuple[int, ...], float] = {}
    for counts, chance in batch.items():
        for place, share in enumerate(law):
            if share:
                more = (*counts[:place], counts[place] + 1, *counts[place + 1 :])
                found[more] = found.get(more, 0.0) + chance * share
    return found


def shown(laws: list[Law], n: int, central: float) -> float:
    """The largest divergence of two batches that differ in one person, over all trips of her and of all others."""
    reports = sorted(set().union(*laws), key=repr)
    plain = [[float(law.get(report, 0)) for report in reports] for law in laws]

    @cache
    def batch(people: tuple[int, ...]) -> dict[tuple[int, ...], float]:
        return added(batch(people[:-1]), plain[people[-1]]) if people else {(0,) * len(reports): 1.0}

    def pairs() -> Iterator[float]:
        for others in combinations_with_replacement(range(len(laws)), n - 1):
            found = [added(batch(others), law) for law in plain]
            for one in found:
                for other in found:
                    yield sum(
                        max(chance - math.exp(central) * other.get(counts, 0.0), 0.0)
                        for counts, chance in one.items()
                    )

    return max(pairs())


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_nothing_shows_more_than_the_accountant_says(name: str, n: int) -> None:
    ratio, laws = DEVICES[name]
    local = math.log(ratio)
    for part in (0.1, 0.4, 0.8):
        assert shown(laws, n, part * local) <= divergence(n, local, part * local)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["grr", "grr-e", "oue", "drawn question"])
def test_nothing_of_eight_devices_shows_more(name: str) -> None:
    ratio, laws = DEVICES[name]
    local = math.log(ratio)
    n = {"grr": 8, "grr-e": 8, "oue": 6, "drawn question": 5}[name]
    for part in (0.2, 0.6):
        assert shown(laws, n, part * local) <= divergence(n, local, part * local)


def test_the_enumeration_notices_a_smaller_eps0() -> None:
    """Devices that keep less privacy than they claim show more than the accountant of their claim says."""
    honest, leaking = math.log(2), laws_of(GRR(2, 1, Fraction(4)))
    assert shown(leaking, 4, 0.5 * honest) > divergence(4, honest, 0.5 * honest)


def test_two_devices_of_two_answers_come_close_to_the_bound() -> None:
    """The bound is nearly reached, so no smaller one would hold for all devices."""
    local = math.log(3)
    bound = divergence(2, local, 0.8 * local)
    assert shown(laws_of(GRR(2, 1, Fraction(3))), 2, 0.8 * local) > 0.2 * bound


# -- properties --------------------------------------------------------------------------------------------

SIZES = st.integers(1, 200_000)
LOCALS = st.floats(0.05, 10)
PARTS = st.floats(0.02, 1.1)


@pytest.mark.slow
@given(SIZES, st.integers(0, 100_000), LOCALS, PARTS)
def test_more_reports_hide_more(n: int, more: int, local: float, part: float) -> None:
    central = max(part * local, 0.001)
    fewer, larger = divergence(n, local, central), divergence(n + more, local, central)
    assert larger <= fewer * 1.2 + 1e-20


@pytest.mark.slow
@given(SIZES, LOCALS, st.floats(0, 3), st.floats(0.001, 5))
def test_a_larger_eps0_shows_more(n: int, local: float, more: float, central: float) -> None:
    assert divergence(n, local, central) <= divergence(n, local + more, central) * 1.2 + 1e-20


@pytest.mark.slow
@given(SIZES, LOCALS, PARTS, st.floats(0, 2))
def test_a_larger_epsilon_needs_less_delta(n: int, local: float, part: float, more: float) -> None:
    central = max(part * local, 0.001)
    assert divergence(n, local, central + more) <= divergence(n, local, central) * (1 + 1e-9)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.integers(100, 100_000), st.floats(0.05, 4), st.sampled_from([1e-6, 1e-8, 1e-12]))
def test_the_inverse_stays_within_the_promise(n: int, central: float, delta: float) -> None:
    local = local_epsilon(n, central, delta)
    assert divergence(n, local, central / 1.01) <= delta or local <= central
    assert round(local, 3) == local
    assert stated_epsilon(n, local, delta) <= central * 1.001
    above = local + 0.05
    assert above > 20 or stated_epsilon(n, above, delta) > 0.99 * central


@given(SIZES, LOCALS)
def test_every_number_of_clones_is_counted(n: int, local: float) -> None:
    blocks, omitted = clones(n, local)
    assert math.fsum(share for _, share in blocks) == pytest.approx(1, abs=1e-12)
    assert 0 <= omitted < 1e-20
    assert all(share >= 0 for _, share in blocks)


def test_eps0_itself_needs_no_delta() -> None:
    assert divergence(1, 2, 2) == 0
    assert central_epsilon(1, 2, 1e-8) == pytest.approx(2, rel=1e-4)
    assert stated_epsilon(1, 2, 1e-8) == 2
    assert local_epsilon(1, 0.7, 1e-8) == 0.7


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: divergence(0, 1, 0.5), "number of shuffled reports"),
        (lambda: divergence(MAX_BATCH + 1, 1, 0.5), "number of shuffled reports"),
        (lambda: divergence(True, 1, 0.5), "number of shuffled reports"),
        (lambda: divergence(10, 0.001, 0.5), "from 0.01"),
        (lambda: divergence(10, 21, 0.5), "to 20"),
        (lambda: divergence(10, math.nan, 0.5), "nan"),
        (lambda: divergence(10, 1, 0), "at least 0.0001"),
        (lambda: divergence(10, 1, math.nan), "nan"),
        (lambda: central_epsilon(10, 1, 0), "delta"),
        (lambda: local_epsilon(10, 1, 1), "delta"),
        (lambda: local_epsilon(10, 0.0001, 1e-8), "at least 0.000101, got 0.0001"),
        (lambda: local_epsilon(10, 0.002, 1e-8), "10 honest devices hide a report .* more users"),
    ],
)
def test_numbers_that_are_refused(call: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        call()  # type: ignore[operator]
