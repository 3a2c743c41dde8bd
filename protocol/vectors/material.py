"""Plans that ask every question with every randomizer, plans at the limits, and trajectories to answer them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

from ldptrace.protocol.exact import epsilon_fraction, ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.limits import (
    MAX_COUNT,
    MAX_EVERY,
    MAX_LIFETIME,
    MAX_N,
    MAX_ROUNDS,
    MAX_START,
    MAX_WORK,
    RATIO_BITS,
)
from ldptrace.protocol.plan import CampaignName, Plan
from ldptrace.protocol.questions import QUESTIONS, CombinedSteps, Length, Moves, Question, Start, Steps
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.protocol.round import SHARES, Ask, Round
from ldptrace.protocol.standing import Standing

Points = list[tuple[float, ...]]
# Parameters to try where one value for all of them, from the lowest to the highest, will not do.
EXAMPLES: dict[str, list[dict[str, int]]] = {
    "departure": [
        {"days": 1, "reach": 0},
        {"days": 7, "reach": 0},
        {"days": 1, "reach": 1},
        {"days": 7, "reach": 11},
    ],
    "pace": [
        {"x_scale": 1000, "y_scale": 1000, "slowest": 2000, "classes": 26, "reach": 1},
        {"x_scale": 1, "y_scale": 1, "slowest": 1, "classes": 2, "reach": 0},
        {"x_scale": 10**12, "y_scale": 88_000_000, "slowest": 10**9, "classes": 64, "reach": 31},
    ],
    "tides": [{"centre": 0}, {"centre": 3}],
    "pairs": [{"districts": 2}],
}


# Questions of the plans that ask many at once. It stays as it is: a new question has a plan of its own, so that no
# vector of another changes.
MANY = (
    *("length", "start", "end", "cut-end", "terminals", "visits", "moves", "links", "turns"),
    *("departure", "pace", "tides"),
)


def plans() -> dict[str, Plan]:
    """A plan for every question, plans that ask many with every randomizer, standing ones, and plans at the limits."""
    square, city = Grid((0, 0, 6, 6), 6), Grid((-8.7, 41.0, -8.4, 41.4), 6)
    made = {
        "paper, first round": Plan.paper(square, 1),
        "paper, second round": Plan.paper(square, 1).paper_second_round(4),
        "combtran": Plan.paper(city, "0.5", method="combtran", crs="EPSG:4326").paper_second_round(3),
        "randsyn": Plan.paper(square, 2, method="randsyn").paper_second_round(2),
        "not private": Plan.paper(square, 1, method="paper-unpadded").paper_second_round(4),
    }
    ratio = ratio_at_most(epsilon_fraction("1.5"))
    kinds: dict[str, Callable[[Question], Randomizer]] = {
        "privset": lambda question: PrivSet.best(question.domain, question.capacity, ratio),
        "privset of one": lambda question: PrivSet(question.domain, question.capacity, ratio, 1),
        "grr": lambda question: GRR(question.domain, question.capacity, ratio),
        "oue": lambda question: OUE(question.domain, question.capacity, ratio),
    }
    three = ((Length(6, 9), 10000), (Start(6), 10000), (Moves(6, 3), SHARES - 20000))
    asks = tuple(Ask(question, kinds["privset"](question), share) for question, share in three)
    made["three questions"] = Plan(
        "vectors", city, Fraction(3, 2), (Round(asks, "partition"),), crs="EPSG:4326"
    )
    for label, channel in kinds.items():
        asks = []
        for kind in (QUESTIONS[name] for name in MANY):
            question = middle_question(kind, city.n)
            if question.capacity == 1 or label.startswith("privset"):
                asks.append((question, channel(question)))
        shares = _shares(len(asks))
        round_ = Round(tuple(Ask(*ask, share) for ask, share in zip(asks, shares, strict=True)), "partition")
        made[f"many questions, {label}"] = Plan("vectors", city, Fraction(3, 2), (round_,), crs="EPSG:4326")
    for name, kind in QUESTIONS.items():
        question = middle_question(kind, square.n)
        each = ratio_at_most(Fraction(3, 2) / question.slots)
        best = PrivSet.best(question.domain, question.capacity, each)
        made[f"question {name}"] = _one("vectors", square, "1.5", question, best)
    spring = CampaignName("spring-2026", "00112233445566778899aabbccddeeff")
    made["campaign"] = made["question start"].changed(campaign=spring)
    made["another nonce"] = made["question start"].changed(
        campaign=CampaignName(spring.name, "f" + spring.nonce[1:])
    )
    week = Standing(604_800, 604_800, 345_600, Fraction(10), 86_400)
    made["standing"] = made["three questions"].changed(campaign=spring, standing=week)
    made["standing, shortest windows"] = made["question trips"].changed(
        standing=Standing(60, 1, 0, Fraction(3, 2), 0)
    )
    made["standing, longest windows"] = made["question trips"].changed(
        standing=Standing(MAX_EVERY, MAX_EVERY, MAX_START, Fraction(MAX_LIFETIME), MAX_EVERY)
    )
    tiny = ratio_at_most(epsilon_fraction("0.00001"))
    longest = Steps(2, MAX_COUNT)
    made["most slots"] = _one("vectors", Grid((0, 0, 1, 1), 2), 1, longest, OUE(longest.domain, 1, tiny))
    small = ratio_at_most(epsilon_fraction("0.000000000000000001") + Fraction(1, 10**11))
    made["least epsilon"] = _one("v", square, "0.00000000002", Start(6), GRR(36, 1, small))
    made["most epsilon"] = _one("v", square, 20, Start(6), GRR(36, 1, ratio_at_most(Fraction(20))))
    wide = Start(MAX_N)
    made["most cells"] = _one(
        "v", Grid((0, 0, 1, 1), MAX_N), 1, wide, PrivSet(wide.domain, 1, ratio_at_most(Fraction(1)), 4096)
    )
    # As large, and as much work, as the limits allow, to the last byte and step; lengths come last in both.
    least = Fraction((1 << RATIO_BITS) + 1, 1 << RATIO_BITS)
    large = [Steps(2, MAX_COUNT), CombinedSteps(2, 43_688), Length(2, 16)]
    made["most payload"] = _all(
        Grid((0, 0, 1, 1), 2), [OUE(question.domain, 1, least) for question in large], large
    )
    hard: list[Question] = [Steps(6, MAX_COUNT), CombinedSteps(6, 7_826)]
    ones: list[Randomizer] = [GRR(question.domain, 1, least) for question in hard]
    rest = MAX_WORK - sum(question.slots * one.outputs for question, one in zip(hard, ones, strict=True))
    made["most work"] = _all(square, [*ones, OUE(rest, 1, least)], [*hard, Length(6, rest)])
    chain = _one("rounds", square, 1, Start(6), GRR(36, 1, ratio_at_most(Fraction(1, 20))))
    for _ in range(MAX_ROUNDS - 1):
        chain = chain.extended(chain.rounds[0])
    made["most rounds, one after another"] = chain
    made["most rounds, at once"] = chain.changed(extends=None)
    return made


def trajectories(grid: Grid) -> dict[str, Points]:
    n, last = grid.n, grid.n - 1

    def centre(i: int, j: int) -> tuple[float, float]:
        a, b, c, d = grid.cell_bounds(i * n + j)
        return (a + c) / 2, (b + d) / 2

    return {
        "no points": [],
        "first cell": [centre(0, 0)],
        "last cell": [centre(last, last)],
        "across": [centre(0, last), centre(last, 0)],
        "round": [centre(0, 0), centre(last, 0), centre(last, last), centre(0, last), centre(0, 0)] * 2,
        "into town at eight": [
            (*centre(0, 0), 1.7e9),
            (*centre(1, 1), 1.7e9 + 600),
            (*centre(2, 3), 1.7e9 + 1300.5),
        ],
        "broken times": [(*centre(0, 0), float("nan")), (*centre(2, 3), 7200.0)],
    }


def middle_question(kind: type[Question], n: int) -> Question:
    if kind.name in EXAMPLES:
        return kind(n, **EXAMPLES[kind.name][0])
    return kind(n, **{name: 3 for name in kind.fields if name != "n"})


def _all(grid: Grid, channels: Sequence[Randomizer], questions: Sequence[Question]) -> Plan:
    asks = tuple(map(Ask, questions, channels))
    return Plan("vectors", grid, Fraction(1), (Round(asks, "everyone"),))


def _one(method: str, grid: Grid, epsilon: Any, question: Question, channel: Randomizer) -> Plan:
    return Plan(method, grid, epsilon_fraction(epsilon), (Round((Ask(question, channel),), "everyone"),))


def _shares(count: int) -> list[int]:
    """Shares that differ, the first one the smallest possible."""
    weights = list(accumulate(range(1, count)))
    shares = [1] + [SHARES * weight // sum(weights) for weight in weights]
    shares[-1] += SHARES - sum(shares)
    return shares
