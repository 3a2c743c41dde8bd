"""The plan of a collection: public, immutable, versioned. Who is asked what, and what that costs.

A plan has rounds. In a round with `everyone`, each user answers all questions and their budgets add up;
in a round with `partition`, each user draws one question at random, by public shares and without looking
at the data, and answers it with the whole budget of the round. The printed mechanism of the paper is a
plan of two rounds for everyone; one report per user is a plan of one partitioned round.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from ldptrace.errors import PlanError
from ldptrace.exact import decimal_text, epsilon_fraction, log, ratio_at_most
from ldptrace.grid import Grid
from ldptrace.questions import CombinedSteps, CutEnd, End, Length, Moves, Question, Start, Steps, Turns, question
from ldptrace.randomizers import GRR, OUE, PrivSet, Randomizer

FORMAT = "ldptrace-plan"
VERSION = 1
SHARES = 1 << 16

# Shares of the users per question of `Plan.single_report`.
DEFAULT_SHARES = {"length": 0.05, "start": 0.16, "end": 0.16, "moves": 0.58, "turns": 0.05}


@dataclass(frozen=True)
class Ask:
    """One question with its randomizer. `share` counts users out of 65,536; for everyone it is 65,536."""

    question: Question
    randomizer: Randomizer
    share: int = SHARES

    def __post_init__(self) -> None:
        if (self.randomizer.domain, self.randomizer.capacity) != (self.question.domain, self.question.capacity):
            raise PlanError(
                f"question {self.question.name!r} has {self.question.domain} items in sets of "
                f"{self.question.capacity}, its randomizer expects {self.randomizer.domain} in sets of "
                f"{self.randomizer.capacity}"
            )
        if not 1 <= self.share <= SHARES:
            raise PlanError(f"a share must be 1 to {SHARES}, got {self.share}")

    @property
    def payload_bytes(self) -> int:
        return self.question.slots * self.randomizer.payload_bytes


@dataclass(frozen=True)
class Round:
    """Questions that are asked at the same time."""

    asks: tuple[Ask, ...]
    assignment: Literal["everyone", "partition"]
    # False reproduces the published code: empty slots are not sent, so the number of reports tells the length.
    padded: bool = True

    def __post_init__(self) -> None:
        if not 1 <= len(self.asks) <= 255:
            raise PlanError(f"a round needs 1 to 255 questions, got {len(self.asks)}")
        names = [ask.question.name for ask in self.asks]
        if len(set(names)) != len(names):
            raise PlanError(f"a round asks each question once, got {names}")
        if self.assignment == "partition" and sum(ask.share for ask in self.asks) != SHARES:
            raise PlanError(f"shares must add up to {SHARES}, got {sum(ask.share for ask in self.asks)}")
        if self.assignment == "everyone" and any(ask.share != SHARES for ask in self.asks):
            raise PlanError("in a round for everyone every question is asked of all")

    @property
    def ratio(self) -> Fraction:
        """Exact bound on the likelihood ratio of everything one user sends in this round."""
        if self.assignment == "partition":
            return max(ask.randomizer.ratio for ask in self.asks)
        return math.prod((ask.randomizer.ratio**ask.question.slots for ask in self.asks), start=Fraction(1))

    @property
    def payload_bytes(self) -> int:
        """Bytes of every user's payload: one size for all, whatever the group."""
        sizes = [ask.payload_bytes for ask in self.asks]
        return max(sizes) if self.assignment == "partition" else sum(sizes)


@dataclass(frozen=True)
class Plan:
    """A collection: grid, total epsilon, rounds.

    >>> plan = Plan.single_report(Grid((0, 0, 1, 1), 6), 1.0)
    >>> plan.is_private, len(plan.rounds), plan == Plan.from_json(plan.to_json())
    (True, 1, True)
    """

    method: str
    grid: Grid
    epsilon: Fraction
    rounds: tuple[Round, ...]
    extends: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", epsilon_fraction(self.epsilon))
        if not self.rounds:
            raise PlanError("a plan needs at least one round")
        if self.spent > _decimal(self.epsilon) + Decimal(10) ** -60:
            raise PlanError(
                f"the rounds spend {self.spent:.6f} of privacy budget, more than the plan's epsilon "
                f"{decimal_text(self.epsilon)}"
            )

    @property
    def spent(self) -> Decimal:
        """Budget of all rounds together: the logarithm of the exact ratio."""
        return sum((log(round_.ratio) for round_ in self.rounds), start=Decimal(0))

    @property
    def is_private(self) -> bool:
        """Whether epsilon holds for everything a device sends, the number and size of messages included."""
        return all(round_.padded for round_ in self.rounds)

    def extended(self, round_: Round) -> Plan:
        """The plan with one more round, decided after the earlier ones were counted."""
        return replace(self, rounds=(*self.rounds, round_), extends=self.id)

    # -- the collections of this project ---------------------------------------------------------------

    @staticmethod
    def single_report(
        grid: Grid,
        epsilon: float | str | Fraction,
        *,
        most_moves: int = 5,
        cap: int | None = None,
        shares: dict[str, float] | None = None,
    ) -> Plan:
        """One report per user: each answers one question with the whole of epsilon."""
        budget = epsilon_fraction(epsilon)
        ratio = ratio_at_most(budget)
        n = grid.n
        questions: list[Question] = [Length(n, cap or 4 * n), Start(n), End(n)]
        questions += [Moves(n, min(most_moves, len(Steps(n, 1)._items))), Turns(n)]
        asks = []
        for asked, share in zip(questions, _integer_shares(questions, shares or DEFAULT_SHARES), strict=True):
            randomizer: Randomizer = PrivSet.best(asked.domain, asked.capacity, ratio)
            if asked.capacity == 1:
                randomizer = min(randomizer, GRR(asked.domain, 1, ratio), key=lambda r: float(r.variance(1)))
            asks.append(Ask(asked, randomizer, share))
        return Plan("single-report", grid, budget, (Round(tuple(asks), "partition"),))

    @staticmethod
    def paper(grid: Grid, epsilon: float | str | Fraction, *, method: str = "paper") -> Plan:
        """The first round of the paper's mechanism: everybody's length with a tenth of epsilon (section 5.7)."""
        budget = epsilon_fraction(epsilon)
        asked = Length(grid.n, grid.cells)
        ask = Ask(asked, OUE(asked.domain, 1, ratio_at_most(budget / 10)))
        return Plan(method, grid, budget, (Round((ask,), "everyone"),))

    def paper_second_round(self, quantile: int) -> Plan:
        """The paper's second round once L_k is known: every transition with an equal part of the rest."""
        n, rest = self.grid.n, self.epsilon * Fraction(9, 10)
        steps = max(quantile - 1, 1)
        if self.method == "combtran":
            questions: list[Question] = [CombinedSteps(n, steps)]
        elif self.method == "randsyn":
            questions = [Steps(n, steps)]
        else:
            questions = [Steps(n, steps), Start(n), CutEnd(n, steps + 1)]
        ratio = ratio_at_most(rest / sum(asked.slots for asked in questions))
        asks = tuple(Ask(asked, OUE(asked.domain, 1, ratio)) for asked in questions)
        return self.extended(Round(asks, "everyone", padded=self.method != "paper-unpadded"))

    # -- the document ----------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """The plan as plain data, every number of the privacy path an exact integer."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "method": self.method,
            "grid": {"bounds": list(self.grid.bounds), "n": self.grid.n},
            "epsilon": decimal_text(self.epsilon),
            "extends": self.extends,
            "rounds": [
                {
                    "assignment": round_.assignment,
                    "padded": round_.padded,
                    "asks": [
                        {
                            "question": ask.question.parameters(),
                            "randomizer": ask.randomizer.parameters(),
                            "ratio": [str(ask.randomizer.ratio.numerator), str(ask.randomizer.ratio.denominator)],
                            "share": ask.share,
                        }
                        for ask in round_.asks
                    ],
                }
                for round_ in self.rounds
            ],
        }

    def to_json(self) -> str:
        """The canonical document: sorted keys, no spaces."""
        return json.dumps(self.document(), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)

    @cached_property
    def id(self) -> str:
        """SHA-256 of the canonical document, in hexadecimal."""
        return hashlib.sha256(self.to_json().encode("ascii")).hexdigest()

    @staticmethod
    def from_json(text: str | bytes) -> Plan:
        """Read and check a plan document."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise PlanError(f"a plan is a JSON document, this is not: {error}") from None
        try:
            if data["format"] != FORMAT or data["version"] != VERSION:
                raise PlanError(
                    f"expected format {FORMAT!r} version {VERSION}, got {data['format']!r} {data['version']!r}"
                )
            grid = Grid(tuple(data["grid"]["bounds"]), data["grid"]["n"])
            rounds = tuple(_round(grid.n, entry) for entry in data["rounds"])
            return Plan(data["method"], grid, Fraction(data["epsilon"]), rounds, data["extends"])
        except (KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
            raise PlanError(f"the plan document is incomplete or malformed at {error}") from None


def _round(n: int, entry: dict[str, Any]) -> Round:
    asks = []
    for item in entry["asks"]:
        asked = question(n, item["question"])
        numerator, denominator = (int(value) for value in item["ratio"])
        ratio = Fraction(numerator, denominator)
        asks.append(Ask(asked, _randomizer(asked, ratio, item["randomizer"]), item["share"]))
    return Round(tuple(asks), entry["assignment"], entry["padded"])


def _randomizer(asked: Question, ratio: Fraction, parameters: dict[str, Any]) -> Randomizer:
    kind = parameters["kind"]
    if kind == "privset":
        return PrivSet(asked.domain, asked.capacity, ratio, parameters["size"])
    if kind in ("oue", "grr"):
        return (OUE if kind == "oue" else GRR)(asked.domain, asked.capacity, ratio)
    raise PlanError(f"unknown randomizer {kind!r}; known are grr, oue, privset")


def _integer_shares(questions: list[Question], shares: dict[str, float]) -> list[int]:
    """Shares in 65,536ths that add up exactly; the largest takes the rounding."""
    names = [asked.name for asked in questions]
    if set(shares) != set(names) or any(not share > 0 for share in shares.values()):
        raise PlanError(f"shares must be positive for exactly {names}, got {shares}")
    total = sum(shares.values())
    whole = {name: max(1, round(SHARES * shares[name] / total)) for name in names}
    largest = max(names, key=lambda name: whole[name])
    whole[largest] += SHARES - sum(whole.values())
    return [whole[name] for name in names]


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
