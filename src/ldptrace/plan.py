"""The plan of a collection: public, immutable, versioned. Who is asked what, and what that costs.

A plan has rounds. In a round with `everyone`, each user answers all questions and their budgets add up;
in a round with `partition`, each user draws one question at random, by public shares and without looking
at the data, and answers it with the whole budget of the round. The printed mechanism of the paper is a
plan of two rounds for everyone; one report per user is a plan of one partitioned round.
"""

from __future__ import annotations

import hashlib
import re
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from ldptrace.errors import PlanError
from ldptrace.exact import decimal_text, epsilon_fraction, log, ratio_at_most, total
from ldptrace.grid import Grid
from ldptrace.lattice import link_count
from ldptrace.protocol.canonical import decimal_of, dumps
from ldptrace.protocol.limits import EPSILON_DIGITS, MAX_ROUNDS
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.questions import (
    CombinedSteps,
    CutEnd,
    End,
    Length,
    Links,
    Moves,
    Question,
    Start,
    Steps,
    Terminals,
    Turns,
    Visits,
)
from ldptrace.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.records import Record

FORMAT = "ldptrace-plan"
VERSION = 1
SHARES = 1 << 16
METHOD_PATTERN = r"[a-z0-9-]{1,32}"
CRS_PATTERN = r"[A-Za-z0-9:._/-]{1,64}"

# Shares of the users per question of `Plan.single_report`.
DEFAULT_SHARES = {
    "length": 0.05,
    "start": 0.02,
    "end": 0.02,
    "terminals": 0.10,
    "visits": 0.46,
    "moves": 0.06,
    "links": 0.26,
    "turns": 0.03,
}


class Ask(Record):
    """One question with its randomizer. `share` counts users out of 65,536; for everyone it is 65,536."""

    question: Question
    randomizer: Randomizer
    share: int = SHARES

    def __post_init__(self) -> None:
        if (self.randomizer.domain, self.randomizer.capacity) != (
            self.question.domain,
            self.question.capacity,
        ):
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


class Round(Record):
    """Questions that are asked at the same time."""

    asks: tuple[Ask, ...]
    assignment: Literal["everyone", "partition"]
    # False reproduces the published code: empty slots are not sent, so the size of a report tells the length.
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
    def spent(self) -> Decimal:
        """Budget of this round: logarithm of the largest likelihood ratio of all that a user sends in it."""
        budgets = [log(ask.randomizer.ratio, ask.question.slots) for ask in self.asks]
        return max(budgets) if self.assignment == "partition" else total(budgets)

    @property
    def payload_bytes(self) -> int:
        """Bytes of every user's payload: one size for all, whatever the group."""
        sizes = [ask.payload_bytes for ask in self.asks]
        return max(sizes) if self.assignment == "partition" else sum(sizes)


class Plan(Record):
    """A collection: grid, total epsilon, rounds.

    `extends` is the id of the plan without the last round, where that round was decided later. `crs` names
    the coordinates of the bounds (None: planar, known to the participants).

    >>> plan = Plan.single_report(Grid((0, 0, 1, 1), 6), 1.0)
    >>> plan.is_private, len(plan.rounds), plan == Plan.from_json(plan.to_json())
    (True, 1, True)
    """

    method: str
    grid: Grid
    epsilon: Fraction
    rounds: tuple[Round, ...]
    extends: str | None = None
    crs: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", epsilon_fraction(self.epsilon))
        if (self.epsilon * 10**EPSILON_DIGITS).denominator != 1:
            raise PlanError(
                f"epsilon must have at most {EPSILON_DIGITS} digits after the point, got {self.epsilon}"
            )
        if not re.fullmatch(METHOD_PATTERN, self.method):
            raise PlanError(f"a method is named like {METHOD_PATTERN}, got {self.method!r}")
        if self.crs is not None and not re.fullmatch(CRS_PATTERN, self.crs):
            raise PlanError(f"a coordinate system is named like {CRS_PATTERN}, got {self.crs!r}")
        if not 1 <= len(self.rounds) <= MAX_ROUNDS:
            raise PlanError(f"a plan needs 1 to {MAX_ROUNDS} rounds, got {len(self.rounds)}")
        # The two are never equal, and `spent` has far more digits than they can have in common.
        if Fraction(self.spent) > self.epsilon:
            raise PlanRefused(
                Problem.PLAN_OVERSPENDS,
                f"the rounds spend {self.spent:.6f} of privacy budget, more than the plan's epsilon "
                f"{decimal_text(self.epsilon)}",
            )
        if self.extends is not None and self.extends not in self._chain[-1:]:
            raise PlanError(
                "the plan does not extend the plan it names: earlier rounds must stay as they were"
            )

    @property
    def spent(self) -> Decimal:
        """Budget of all rounds together."""
        return total(round_.spent for round_ in self.rounds)

    @property
    def is_private(self) -> bool:
        """Whether epsilon holds for everything a device sends, the number and size of messages included."""
        return all(round_.padded for round_ in self.rounds)

    def extended(self, round_: Round) -> Plan:
        """The plan with one more round, decided after the earlier ones were counted."""
        return self.changed(rounds=(*self.rounds, round_), extends=self.id)

    @cached_property
    def root(self) -> str:
        """Id of the first plan of the chain: one budget covers all plans with the same root."""
        return self._chain[0] if self.extends else self.id

    @property
    def _chain(self) -> list[str]:
        """Ids of the plans that end before this one: the first round alone, then one round more each time."""
        document, ids = self.document(), list[str]()
        for count in range(1, len(self.rounds)):
            parent = ids[-1] if ids else None
            earlier = document | {"rounds": document["rounds"][:count], "extends": parent}
            ids.append(hashlib.sha256(dumps(earlier)).hexdigest())
        return ids

    # -- the collections of this project ---------------------------------------------------------------

    @staticmethod
    def single_report(
        grid: Grid,
        epsilon: float | str | Fraction,
        *,
        most_moves: int = 5,
        cap: int | None = None,
        shares: dict[str, float] | None = None,
        crs: str | None = None,
    ) -> Plan:
        """One report per user: each answers one question with the whole of epsilon."""
        budget = epsilon_fraction(epsilon)
        ratio = ratio_at_most(budget)
        n = grid.n
        most = min(most_moves, link_count(n))
        questions: list[Question] = [Length(n, cap or 3 * n + 2), Start(n), End(n), Terminals(n)]
        questions += [Visits(n, min(most, n * n)), Moves(n, most), Links(n, most), Turns(n)]
        asks = []
        for asked, share in zip(questions, _integer_shares(questions, shares or DEFAULT_SHARES), strict=True):
            randomizer: Randomizer = PrivSet.best(asked.domain, asked.capacity, ratio)
            if asked.capacity == 1:
                randomizer = min(randomizer, GRR(asked.domain, 1, ratio), key=lambda r: float(r.variance(1)))
            asks.append(Ask(asked, randomizer, share))
        return Plan("single-report", grid, budget, (Round(tuple(asks), "partition"),), crs=crs)

    @staticmethod
    def paper(
        grid: Grid, epsilon: float | str | Fraction, *, method: str = "paper", crs: str | None = None
    ) -> Plan:
        """The first round of the paper's mechanism: all lengths with a tenth of epsilon (section 5.7)."""
        budget = epsilon_fraction(epsilon)
        asked = Length(grid.n, grid.cells)
        ask = Ask(asked, OUE(asked.domain, 1, ratio_at_most(budget / 10)))
        return Plan(method, grid, budget, (Round((ask,), "everyone"),), crs=crs)

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
        """The plan as plain data: integers, and decimals in strings."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "method": self.method,
            "grid": {
                "bounds": [decimal_of(value) for value in self.grid.bounds],
                "crs": self.crs,
                "n": self.grid.n,
            },
            "epsilon": decimal_text(self.epsilon),
            "extends": self.extends,
            "rounds": [
                {
                    "assignment": round_.assignment,
                    "padded": round_.padded,
                    "asks": [_ask_document(ask) for ask in round_.asks],
                }
                for round_ in self.rounds
            ],
        }

    def to_json(self) -> str:
        """The canonical document."""
        return dumps(self.document()).decode("ascii")

    @cached_property
    def id(self) -> str:
        """SHA-256 of the canonical document, in hexadecimal."""
        return hashlib.sha256(self.to_json().encode("ascii")).hexdigest()

    @staticmethod
    def from_json(text: str | bytes) -> Plan:
        """Read and check a plan document; the error carries the protocol's problem."""
        from ldptrace.protocol.plans import read_plan

        return read_plan(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)


def _ask_document(ask: Ask) -> dict[str, Any]:
    channel = ask.randomizer
    return {
        "question": ask.question.parameters(),
        "randomizer": {
            **channel.parameters(),
            "domain": channel.domain,
            "capacity": channel.capacity,
            "ratio": [str(channel.ratio.numerator), str(channel.ratio.denominator)],
        },
        "share": ask.share,
    }


def _integer_shares(questions: list[Question], shares: dict[str, float]) -> list[int]:
    """Shares in 65,536ths that add up exactly; the largest takes the rounding."""
    names = [asked.name for asked in questions]
    if set(shares) != set(names) or any(not share > 0 for share in shares.values()):
        raise PlanError(f"shares must be positive for exactly {names}, got {shares}")
    everyone = sum(shares.values())
    whole = {name: max(1, round(SHARES * shares[name] / everyone)) for name in names}
    largest = max(names, key=lambda name: whole[name])
    whole[largest] += SHARES - sum(whole.values())
    return [whole[name] for name in names]
