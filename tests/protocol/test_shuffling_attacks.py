"""The best attack on the mixed reports of a real plan, drawn many times: it sees what its exact law says, and never
more than the accountant allows.

The attacker knows the trip of everybody but one person, whose trip is one of two, and sees the mixed reports. A
report z of the others, all with the same trip o, has the probability R(o)(z). The likelihood ratio of the batches is

    L = sum_z R(a)(z) / R(o)(z)  :  sum_z R(b)(z) / R(o)(z)      over the reports z of the batch,

and no attack is better than one that looks at L. What matters of a report is whether it meets the answers of a, b, o.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from numpy.typing import NDArray

from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import GRR, PrivSet, Randomizer
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.round import SHARES
from ldptrace.protocol.shuffling import divergence
from ldptrace.protocol.trips import Occasion, Trip
from statistics_kit import assert_frequencies

pytestmark = pytest.mark.slow

# Nothing in common: two people who differ in every answer, and what all others do.
TRIPS = {"a": (0, 1), "b": (15, 11, 6), "o": (3, 7, 2, 6, 9)}
PATTERNS = list(product((False, True), repeat=3))
# Six standard errors: a correct accountant fails once in a billion.
ERRORS = 6


@cache
def plan_of(local: str) -> Plan:
    return Plan.single_report(Grid((0, 0, 1, 1), 4), local)


def answers(plan: Plan) -> list[tuple[float, Randomizer, list[list[int]]]]:
    """For each question its share, its randomizer, and what stands for the answers of a, b and o."""
    found = []
    for ask in plan.rounds[0].asks:
        sets = [ask.question.answer(Occasion(Trip(path)), Source(bytes))[0] for path in TRIPS.values()]
        found.append((ask.share / SHARES, ask.randomizer, [list(items) for items in sets]))
    return found


def chances(channel: Randomizer, sets: list[list[int]], own: int) -> list[float]:
    """How likely a report meets exactly these of the three answers, from the person with the answer `own`."""
    if not isinstance(channel, PrivSet):
        found = dict.fromkeys(PATTERNS, 0.0)
        for z in channel.all_reports():
            met = tuple(not set(z).isdisjoint(channel.filled(items)) for items in sets)
            found[met] += float(channel.probability(z, sets[own]))
        return list(found.values())
    filled = [set(channel.filled(items)) for items in sets]

    def missing(which: tuple[int, ...]) -> int:
        union = set().union(*(filled[place] for place in which))
        return math.comb(channel.outputs - len(union), channel.size)

    weight = math.comb(channel.outputs, channel.size)
    hit, miss = float(channel.ratio), 1.0
    whole = hit * (weight - missing((own,))) + miss * missing((own,))
    result = []
    for pattern in PATTERNS:
        missed = tuple(place for place in range(3) if not pattern[place])
        others = [place for place in range(3) if pattern[place]]
        number = sum(
            (-1) ** sum(some) * missing((*missed, *(o for o, yes in zip(others, some, strict=True) if yes)))
            for some in product((0, 1), repeat=len(others))
        )
        result.append(number * (hit if pattern[own] else miss) / whole)
    return result


@cache
def kinds(device: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Kinds of reports: (R(a)/R(o), R(b)/R(o)) of each, and how likely each is from a, b and o.

    A device is a plan's eps0, or `grr` with its eps0: one question with three answers.
    """
    ratios: dict[tuple[float, float], list[float]] = {}
    kind, local = device.split()
    asked = [(1.0, GRR(3, 1, ratio_at_most(Fraction(local))), [[0], [1], [2]])]
    for share, channel, sets in asked if kind == "grr" else answers(plan_of(local)):
        laws = [chances(channel, sets, own) for own in range(3)]
        for place in range(len(PATTERNS)):
            law = [laws[own][place] for own in range(3)]
            if law[2] > 0:
                key = (round(law[0] / law[2], 9), round(law[1] / law[2], 9))
                row = ratios.setdefault(key, [0.0] * 3)
                for own in range(3):
                    row[own] += share * law[own]
    return np.array(list(ratios)), np.array(list(ratios.values())).T


def seen(device: str, counts: NDArray[np.int64], central: float) -> NDArray[np.float64]:
    """The part of each batch by which its probability exceeds e^central times that of the other batch."""
    values, _ = kinds(device)
    sums = counts @ values
    return np.maximum(1 - math.exp(central) * sums[:, 1] / sums[:, 0], 0)


def attacked(device: str, n: int, central: float, draws: int) -> tuple[float, float]:
    """Delta as the best attack sees it, with its standard error."""
    _, laws = kinds(device)
    rng = np.random.default_rng(20_261_118)
    own = rng.multinomial(1, laws[0] / laws[0].sum(), size=draws)
    part = seen(device, own + rng.multinomial(n - 1, laws[2] / laws[2].sum(), size=draws), central)
    return float(part.mean()), float(part.std() / math.sqrt(draws))


def exact_delta(device: str, n: int, central: float) -> float:
    """The same from every batch of n reports."""
    _, laws = kinds(device)
    some = len(laws[0])
    rows = np.array(
        [np.bincount(kind, minlength=some) for kind in combinations_with_replacement(range(some), n - 1)]
    )
    logs = np.array([math.lgamma(k + 1) for k in range(n)])
    weights = np.exp(logs[n - 1] - logs[rows].sum(axis=1) + rows @ np.log(laws[2]))
    assert weights.sum() == pytest.approx(1)
    return float(
        sum(
            laws[0][kind] * np.sum(weights * seen(device, rows + np.eye(some, dtype=np.int64)[kind], central))
            for kind in range(some)
        )
    )


def test_kinds_of_reports_are_those_of_the_device() -> None:
    """Reports of the code that devices run, of each question, meet the answers as often as counted."""
    for _, channel, sets in answers(plan_of("2")):
        law = chances(channel, sets, 0)
        counts = dict.fromkeys(PATTERNS, 0)
        source = Source()
        for _ in range(3000):
            z = set(channel.perturb(sets[0], source))
            counts[tuple(not z.isdisjoint(channel.filled(items)) for items in sets)] += 1
        assert_frequencies(list(counts.values()), law)


@pytest.mark.parametrize(
    ("device", "n", "central"),
    [
        ("plan 2", 7, 1.2),
        ("plan 2", 12, 1.1),
        ("plan 3", 12, 2.1),
        ("plan 4", 12, 3.3),
        ("grr 1", 50, 0.25),
        ("grr 2", 50, 0.8),
        ("grr 3", 50, 2),
    ],
)
def test_the_attack_sees_what_its_exact_law_says(device: str, n: int, central: float) -> None:
    local = float(device.split()[1])
    exact = exact_delta(device, n, central)
    delta, error = attacked(device, n, central, 400_000)
    assert 1e-4 < exact < 2e-2
    assert abs(delta - exact) < ERRORS * error
    assert exact <= divergence(n, local, central)


@pytest.mark.parametrize(
    ("device", "n", "central"),
    [
        ("plan 1", 200, 0.1),
        ("plan 2", 200, 0.3),
        ("plan 2", 1000, 0.12),
        ("plan 3", 500, 0.35),
        ("plan 3", 3000, 0.12),
        ("plan 4", 2000, 0.3),
        ("grr 2", 2000, 0.15),
    ],
)
def test_the_attack_never_sees_more_than_the_accountant_allows(device: str, n: int, central: float) -> None:
    delta, error = attacked(device, n, central, 200_000)
    assert 1e-4 < delta < 2e-2
    assert delta - ERRORS * error <= divergence(n, float(device.split()[1]), central)


def test_an_attack_on_fewer_reports_passes_the_bound() -> None:
    """If a shuffler mixed a tenth of the batch, the attack would show it."""
    delta, error = attacked("grr 2", 200, 0.15, 200_000)
    assert delta - ERRORS * error > divergence(2000, 2.0, 0.15)
