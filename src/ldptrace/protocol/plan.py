"""The plan of a collection: public, immutable, versioned. Who is asked what, and what that costs.

A plan has rounds (`ldptrace.protocol.round`). The printed mechanism of the paper is a plan of two rounds for everyone;
one report per user is a plan of one partitioned round.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from ldptrace.errors import InputError, PlanError
from ldptrace.protocol.canonical import (
    decimal_in,
    decimal_of,
    dumps,
    integer_in,
    list_in,
    loads,
    object_in,
    text_in,
)
from ldptrace.protocol.exact import decimal_text, epsilon_fraction, plan_fraction, ratio_at_most, total
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.limits import EPSILON_DIGITS, MAX_DOCUMENT, MAX_EPSILON, MAX_N, MAX_ROUNDS, MAX_WORK
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.questions import CombinedSteps, CutEnd, Length, Question, Start, Steps
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.protocol.records import Record
from ldptrace.protocol.round import Ask, Round
from ldptrace.protocol.shares import Wanted
from ldptrace.protocol.shuffled import Shuffled
from ldptrace.protocol.standing import Standing
from ldptrace.protocol.units import CRS_PATTERN

NAME_PATTERN = r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?"
NONCE_PATTERN = r"[0-9a-f]{32}"


class CampaignName(Record):
    """The campaign of a plan. One nonce for everybody: a nonce for each person would make the plan's id a tracker.

    >>> CampaignName.fresh("spring").document().keys()
    dict_keys(['name', 'nonce'])
    >>> CampaignName.fresh("spring") == CampaignName.fresh("spring")
    False
    """

    name: str
    nonce: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not re.fullmatch(NAME_PATTERN, self.name, re.ASCII):
            raise PlanError(
                "a campaign is named with 1 to 64 small letters, digits and inner hyphens, "
                f"got {str(self.name)[:80]!r}"
            )
        if not isinstance(self.nonce, str) or not re.fullmatch(NONCE_PATTERN, self.nonce, re.ASCII):
            raise PlanError(f"a nonce is 32 hexadecimal digits, got {str(self.nonce)[:80]!r}")

    @staticmethod
    def fresh(name: str) -> CampaignName:
        """Make a new campaign of this name. Its nonce is drawn by the operating system."""
        return CampaignName(name, os.urandom(16).hex())

    def document(self) -> dict[str, Any]:
        return self.values()

    @staticmethod
    def from_document(entry: object) -> CampaignName:
        return CampaignName(**object_in(entry, CampaignName.fields, "campaign"))


FORMAT = "ldptrace-plan"
# A plan has version 2 if its reports are shuffled, otherwise version 1.
DIRECT, SHUFFLED = 1, 2
METHOD_PATTERN = r"[a-z0-9-]{1,32}"
KEYS = ("format", "version", "method", "grid", "epsilon", "campaign", "standing", "extends", "rounds")


class Plan(Record):
    """The plan of a collection: the grid, epsilon, and one or more rounds of questions.

    A device answers each round with one report; most plans have one round.

    - `crs`: the coordinate system of the bounds; None means plane coordinates (x, y).
    - `campaign`: the name of the collection and a random number, so that no two collections have the same plan.
    - `standing`: the time windows and the lifetime budget of a standing plan, which devices answer once in every
      window; otherwise None. The lifetime budget is the most epsilon that a device may spend on the plan.
    - `shuffled`: the shuffler through which reports go, and the central promise; None if devices answer the curator
      directly.
    - `extends`: the id of the earlier plan, if this plan was made by adding a round to it; otherwise None.

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
    campaign: CampaignName | None = None
    standing: Standing | None = None
    shuffled: Shuffled | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", plan_fraction(self.epsilon, MAX_EPSILON, "epsilon"))
        if not re.fullmatch(METHOD_PATTERN, self.method):
            raise PlanError(f"a method is named like {METHOD_PATTERN}, got {self.method!r}")
        if self.crs is not None and not re.fullmatch(CRS_PATTERN, self.crs):
            raise PlanError(f"a coordinate system is named like {CRS_PATTERN}, got {self.crs!r}")
        if not 1 <= len(self.rounds) <= MAX_ROUNDS:
            raise PlanError(f"a plan needs 1 to {MAX_ROUNDS} rounds, got {len(self.rounds)}")
        for kind, member in (("standing", self.standing), ("shuffled", self.shuffled)):
            if member is not None and (len(self.rounds) != 1 or self.extends is not None):
                raise PlanError(
                    f"a {kind} plan has one round and extends none, got {len(self.rounds)} rounds"
                )
        if self.standing is not None and self.standing.lifetime < self.epsilon:
            raise PlanError(
                f"a lifetime holds at least one answer of epsilon {decimal_text(self.epsilon)}, "
                f"got {decimal_text(self.standing.lifetime)}"
            )
        if self.shuffled is not None:
            if not self.is_private:
                raise PlanRefused(Problem.PLAN_NOT_PRIVATE)
            self.shuffled.check(self.epsilon, standing=self.standing is not None)
        # The two are never equal, and `spent` has far more digits than they can have in common.
        if Fraction(self.spent) > self.epsilon:
            raise PlanRefused(
                Problem.PLAN_OVERSPENDS,
                f"the rounds spend {self.spent:.6f} of privacy budget, more than the plan's epsilon "
                f"{decimal_text(self.epsilon)}",
            )
        if self.extends is not None and self.extends not in self._earlier[-1:]:
            raise PlanError(
                "the plan does not extend the plan it names: earlier rounds must stay as they were"
            )

    @property
    def version(self) -> int:
        """Version of the plan's document and of its reports: 2 if they are shuffled, otherwise 1."""
        return DIRECT if self.shuffled is None else SHUFFLED

    @property
    def spent(self) -> Decimal:
        """Epsilon that all rounds together cost a device; for a standing plan, the epsilon of one answer."""
        return total(round_.spent for round_ in self.rounds)

    @property
    def work(self) -> int:
        """Upper bound on the work of a device: the number of random values that all answers need."""
        return sum(ask.work for round_ in self.rounds for ask in round_.asks)

    @property
    def is_private(self) -> bool:
        """Whether epsilon covers everything that a device sends, including the number and the size of its messages."""
        return all(round_.padded for round_ in self.rounds)

    def place(self, number: int) -> int:
        """Return the place in `rounds` of a counted round: a standing plan asks its only round in every window."""
        return 0 if self.standing is not None else number

    def extended(self, round_: Round) -> Plan:
        """Return the plan with one more round of questions, which the curator adds after the earlier rounds were
        counted."""
        return self.changed(rounds=(*self.rounds, round_), extends=self.id)

    @cached_property
    def chain(self) -> tuple[str, ...]:
        """Ids of the plan with one round, with two rounds and so on, up to the id of this plan."""
        return (*self._earlier, self.id) if self.extends else (self.id,)

    @property
    def ancestors(self) -> tuple[str, ...]:
        """Ids of the plans that this plan extends, oldest first. A tally of an earlier plan is also a tally of this
        plan."""
        return self.chain[:-1]

    @property
    def root(self) -> str:
        """Id of the plan with the first round alone. One epsilon covers all plans that extend it."""
        return self.chain[0]

    @cached_property
    def _earlier(self) -> list[str]:
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
        time: bool = False,
        week: bool = False,
        centre: tuple[float, float] | None = None,
        for_map: bool = False,
        questions: Sequence[str] | None = None,
    ) -> Plan:
        """Make a plan with one report per user: each user answers one question with the whole epsilon.

        - `questions`, `shares`: the names of the questions, and the share of users for each question.
        - `most_moves`: the largest number of cells, or of moves between cells, in one answer. From a longer trip, the
          device draws `most_moves` cells or moves at random.
        - `cap`: the largest length of a trip in cells; longer trips count as this long.
        - `for_map`: whether the model will use a street map, which changes the default of `shares`.
        - `time`: whether some users are asked about departure time and speed.
        - `centre`: the public centre of the city, by default the middle of the bounds. One question about time asks
          whether a trip goes towards the centre or away from it, and in which part of the day.
        - `week`: whether the question about departure time also asks for the day of the week.
        """
        wanted = Wanted(most_moves, cap, shares, time, week, centre, for_map, questions)
        return Plan.asking(wanted, grid, epsilon, crs)

    @staticmethod
    def asking(wanted: Wanted, grid: Grid, epsilon: float | str | Fraction, crs: str | None = None) -> Plan:
        """Make a plan with one report per user for the `wanted` questions. Each question gets its best randomizer."""
        budget = epsilon_fraction(epsilon)
        ratio = ratio_at_most(budget)
        asks = []
        for question, share in wanted.asked(grid, crs):
            randomizer: Randomizer = PrivSet.best(question.domain, question.capacity, ratio)
            if question.capacity == 1:
                randomizer = min(
                    randomizer, GRR(question.domain, 1, ratio), key=lambda r: float(r.variance(1))
                )
            asks.append(Ask(question, randomizer, share))
        return Plan("single-report", grid, budget, (Round(tuple(asks), "partition"),), crs=crs)

    @staticmethod
    def paper(
        grid: Grid, epsilon: float | str | Fraction, *, method: str = "paper", crs: str | None = None
    ) -> Plan:
        """Make a plan with the first round of the LDPTrace paper: all users report the length of their trip in cells,
        with a tenth of epsilon.

        The argument `method` is "paper" or the name of a variant, such as "randsyn".
        """
        budget = epsilon_fraction(epsilon)
        question = Length(grid.n, grid.cells)
        ask = Ask(question, OUE(question.domain, 1, ratio_at_most(budget / 10)))
        return Plan(method, grid, budget, (Round((ask,), "everyone"),), crs=crs)

    def paper_second_round(self, quantile: int) -> Plan:
        """Return the plan with the second round of the LDPTrace paper, which asks about moves with the remaining
        epsilon.

        The argument `quantile` is a length in cells, estimated from the first round: the paper takes the length that
        90 % of the trips do not exceed. Longer trips are cut to the length `quantile`.
        """
        n, rest = self.grid.n, self.epsilon * Fraction(9, 10)
        steps = max(quantile - 1, 1)
        if self.method == "combtran":
            questions: list[Question] = [CombinedSteps(n, steps)]
        elif self.method == "randsyn":
            questions = [Steps(n, steps)]
        else:
            questions = [Steps(n, steps), Start(n), CutEnd(n, steps + 1)]
        ratio = ratio_at_most(rest / sum(question.slots for question in questions))
        asks = tuple(Ask(question, OUE(question.domain, 1, ratio)) for question in questions)
        return self.extended(Round(asks, "everyone", padded=self.method != "paper-unpadded"))

    # -- the document ----------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """Return the plan as plain data, with decimal numbers as strings, so that they stay exact."""
        document = {
            "format": FORMAT,
            "version": self.version,
            "method": self.method,
            "grid": {
                "bounds": [decimal_of(value) for value in self.grid.bounds],
                "crs": self.crs,
                "n": self.grid.n,
            },
            "epsilon": decimal_text(self.epsilon),
            "campaign": None if self.campaign is None else self.campaign.document(),
            "standing": None if self.standing is None else self.standing.document(),
            "extends": self.extends,
            "rounds": [round_.document() for round_ in self.rounds],
        }
        return document if self.shuffled is None else document | {"shuffled": self.shuffled.document()}

    def to_json(self) -> str:
        """Return the plan as JSON in one fixed form: equal plans give equal bytes."""
        return dumps(self.document()).decode("ascii")

    @cached_property
    def id(self) -> str:
        """SHA-256 of the plan as JSON, in hexadecimal digits."""
        return hashlib.sha256(self.to_json().encode("ascii")).hexdigest()

    @staticmethod
    def from_json(text: str | bytes) -> Plan:
        """Read and check the JSON of a plan. A plan that breaks a rule of the protocol raises the error
        `PlanRefused`."""
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        if len(data) > MAX_DOCUMENT:
            raise PlanRefused(
                Problem.PLAN_TOO_LARGE,
                f"a plan has at most {MAX_DOCUMENT:,} bytes, this one has {len(data):,}",
            )
        try:
            return _plan(loads(data))
        except PlanRefused:
            raise
        except InputError as error:
            raise PlanRefused(Problem.PLAN_MALFORMED, str(error)) from None


def _plan(data: Any) -> Plan:
    """Make the plan of a parsed document, and check all that the protocol asks of it."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise PlanError(f"the document's format is not {FORMAT!r}")
    version = data.get("version")
    shuffled = type(version) is int and version == SHUFFLED and "shuffled" in data
    if not shuffled and (type(version) is not int or version != DIRECT):
        raise PlanRefused(
            Problem.PLAN_UNKNOWN_VERSION,
            f"this is a plan of version {str(version)[:40]}, known are {DIRECT}, and {SHUFFLED} for shuffled plans",
        )
    object_in(data, (*KEYS, "shuffled") if shuffled else KEYS, "the plan")
    area = object_in(data["grid"], ("bounds", "crs", "n"), "grid")
    x0, y0, x1, y1 = (decimal_in(value, "a bound") for value in list_in(area["bounds"], 4, 4, "bounds"))
    grid = Grid((x0, y0, x1, y1), integer_in(area["n"], 2, MAX_N, "n"))
    plan = Plan(
        method=text_in(data["method"], METHOD_PATTERN, "method"),
        grid=grid,
        epsilon=Fraction(
            text_in(data["epsilon"], rf"[0-9]{{1,2}}(\.[0-9]{{1,{EPSILON_DIGITS}}})?", "epsilon")
        ),
        rounds=tuple(
            Round.from_document(grid.n, entry) for entry in list_in(data["rounds"], 1, MAX_ROUNDS, "rounds")
        ),
        extends=None if data["extends"] is None else text_in(data["extends"], r"[0-9a-f]{64}", "extends"),
        crs=None if area["crs"] is None else text_in(area["crs"], CRS_PATTERN, "crs"),
        campaign=None if data["campaign"] is None else CampaignName.from_document(data["campaign"]),
        standing=None if data["standing"] is None else Standing.from_document(data["standing"]),
        shuffled=Shuffled.from_document(data["shuffled"]) if shuffled else None,
    )
    if plan.work > MAX_WORK:
        raise PlanRefused(
            Problem.PLAN_TOO_LARGE,
            f"a plan costs a device at most {MAX_WORK:,} steps, this one asks for {plan.work:,}",
        )
    if plan.document() != data:
        raise PlanError("numbers of the plan are not written in their canonical form")
    return plan
