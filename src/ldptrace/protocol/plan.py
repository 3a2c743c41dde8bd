"""The plan of a collection: public, immutable, versioned. Who is asked what, and what that costs.

A plan has rounds. In a round with `everyone`, each user answers all questions and their budgets add up;
in a round with `partition`, each user draws one question at random, by public shares and without looking
at the data, and answers it with the whole budget of the round. The printed mechanism of the paper is a
plan of two rounds for everyone; one report per user is a plan of one partitioned round.
"""

from __future__ import annotations

import hashlib
import math
import re
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
from ldptrace.protocol.exact import decimal_text, epsilon_fraction, ratio_at_most, total
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import link_count
from ldptrace.protocol.limits import EPSILON_DIGITS, MAX_DOCUMENT, MAX_N, MAX_ROUNDS, MAX_WORK
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.questions import (
    CombinedSteps,
    CutEnd,
    Departure,
    End,
    Length,
    Links,
    Moves,
    Pace,
    Question,
    Start,
    Steps,
    Terminals,
    Tides,
    Turns,
    Visits,
)
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.protocol.records import Record
from ldptrace.protocol.round import SHARES, Ask, Round

FORMAT = "ldptrace-plan"
VERSION = 1
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
# Shares where the curator has a street map: routes know the moves, so users say where trips begin, end and pass
# (benchmarks/streets.py).
MAP_SHARES = {
    "length": 0.08,
    "start": 0.05,
    "end": 0.05,
    "terminals": 0.20,
    "visits": 0.45,
    "moves": 0.02,
    "links": 0.14,
    "turns": 0.01,
}
# Where questions about time are asked, five in 64 of the users of every other question answer one of them instead, but
# of `length`, which few are asked and whose error would show it: shares of these (benchmarks/time.py). Whole parts, so
# that the others keep exactly the proportions they have without.
GIVEN, PARTS = 5, 64
TIME_SHARES = {"departure": 0.60, "pace": 0.25, "tides": 0.15}
GEOGRAPHIC = ("EPSG:4326", "OGC:CRS84", "WGS84")
# Millimetres of a degree of latitude and of a metre; metres per hour of the slowest edge, number of edges:
# from 2 to 128 km/h.
DEGREE, METRE = 111_195_080, 1000
SLOWEST, SPEED_CLASSES = 2000, 26
# Units of a map that can only be degrees.
SMALL = 10


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
        if self.extends is not None and self.extends not in self._earlier[-1:]:
            raise PlanError(
                "the plan does not extend the plan it names: earlier rounds must stay as they were"
            )

    @property
    def spent(self) -> Decimal:
        """Budget of all rounds together."""
        return total(round_.spent for round_ in self.rounds)

    @property
    def work(self) -> int:
        """What all answers together cost a device at most, in outputs that are decided about."""
        return sum(ask.work for round_ in self.rounds for ask in round_.asks)

    @property
    def is_private(self) -> bool:
        """Whether epsilon holds for everything a device sends, the number and size of messages included."""
        return all(round_.padded for round_ in self.rounds)

    def extended(self, round_: Round) -> Plan:
        """The plan with one more round, decided after the earlier ones were counted."""
        return self.changed(rounds=(*self.rounds, round_), extends=self.id)

    @cached_property
    def chain(self) -> tuple[str, ...]:
        """Ids of the plans that this one extends, from the first to its own."""
        return (*self._earlier, self.id) if self.extends else (self.id,)

    @property
    def ancestors(self) -> tuple[str, ...]:
        """Ids of the plans that this one extends, oldest first: their tallies are tallies of this plan too."""
        return self.chain[:-1]

    @property
    def root(self) -> str:
        """Id of the first plan of the chain: one budget covers all plans with the same root."""
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
    ) -> Plan:
        """One report per user: each answers one question with the whole of epsilon.

        A plan `for_map` has the same questions in other shares, for a curator who has a street map; devices know
        nothing of it. With `time` some are asked when they leave (and in a `week` on which day), how fast they are,
        and at what time of day they go towards a public `centre` or away from it (None: the middle of the map).
        """
        budget = epsilon_fraction(epsilon)
        ratio = ratio_at_most(budget)
        n = grid.n
        most = min(most_moves, link_count(n))
        questions: list[Question] = [Length(n, cap or 3 * n + 2), Start(n), End(n), Terminals(n)]
        questions += [Visits(n, min(most, n * n)), Moves(n, most), Links(n, most), Turns(n)]
        usual = MAP_SHARES if for_map else DEFAULT_SHARES
        tickets = [PARTS * share for share in _integer_shares(questions, usual, SHARES // PARTS)]
        if time:
            about_time = _about_time(grid, crs, week, centre)
            given = [0, *(GIVEN * share // PARTS for share in tickets[1:])]
            tickets = [share - part for share, part in zip(tickets, given, strict=True)]
            tickets += _integer_shares(about_time, TIME_SHARES, sum(given))
            questions += about_time
        elif week or centre is not None:
            raise InputError(
                "a week and a centre belong to the questions about time, and none of these is asked"
            )
        if shares is not None:
            tickets = _integer_shares(questions, shares, SHARES)
        asks = []
        for question, share in zip(questions, tickets, strict=True):
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
        """The first round of the paper's mechanism: all lengths with a tenth of epsilon (section 5.7)."""
        budget = epsilon_fraction(epsilon)
        question = Length(grid.n, grid.cells)
        ask = Ask(question, OUE(question.domain, 1, ratio_at_most(budget / 10)))
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
        ratio = ratio_at_most(rest / sum(question.slots for question in questions))
        asks = tuple(Ask(question, OUE(question.domain, 1, ratio)) for question in questions)
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
            "rounds": [round_.document() for round_ in self.rounds],
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
        """Read and check a plan document; `PlanRefused` carries the protocol's problem."""
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
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise PlanError(f"the document's format is not {FORMAT!r}")
    if type(data.get("version")) is not int or data["version"] != VERSION:
        raise PlanRefused(
            Problem.PLAN_UNKNOWN_VERSION,
            f"this is a plan of version {str(data.get('version'))[:40]}, known is {VERSION}",
        )
    object_in(data, ("format", "version", "method", "grid", "epsilon", "extends", "rounds"), "the plan")
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
    )
    if plan.work > MAX_WORK:
        raise PlanRefused(
            Problem.PLAN_TOO_LARGE,
            f"a plan costs a device at most {MAX_WORK:,} steps, this one asks for {plan.work:,}",
        )
    if plan.document() != data:
        raise PlanError("numbers of the plan are not written in their canonical form")
    return plan


def plan_crs(name: str | None) -> str | None:
    """A coordinate system as a plan may name it; None for one that only its data can describe.

    >>> plan_crs("EPSG:4326"), plan_crs("PROJCS[...]")
    ('EPSG:4326', None)
    """
    return name if name is not None and re.fullmatch(CRS_PATTERN, name) else None


def _millimetres(grid: Grid, crs: str | None) -> tuple[int, int]:
    """Millimetres of a unit of x and of y: degrees in the middle of the map, or metres.

    Where nobody names the coordinates, a map of a few units within the range of degrees is one of degrees: as metres it
    would be smaller than a house.
    """
    x0, y0, x1, y1 = grid.bounds
    small = max(x1 - x0, y1 - y0) <= SMALL and -180 <= x0 < x1 <= 180 and -90 <= y0 < y1 <= 90
    if not (small if crs is None else crs.upper() in GEOGRAPHIC):
        return METRE, METRE
    latitude = math.radians((grid.bounds[1] + grid.bounds[3]) / 2)
    return max(1, round(DEGREE * math.cos(latitude))), DEGREE


def _about_time(
    grid: Grid, crs: str | None, week: bool, centre: tuple[float, float] | None
) -> list[Question]:
    """The questions about time, for public facts of the map."""
    x_scale, y_scale = _millimetres(grid, crs)
    middle = grid.n // 2 * (grid.n + 1)
    if centre is not None:
        x0, y0, x1, y1 = grid.bounds
        try:
            x, y = (float(value) for value in centre)
        except (TypeError, ValueError):
            raise InputError(f"the centre must be two numbers x,y, got {centre!r}") from None
        if not (x0 <= x <= x1 and y0 <= y <= y1):
            raise InputError(
                f"the centre must lie within the bounds {x0:g},{y0:g},{x1:g},{y1:g}, got {x:g},{y:g}"
            )
        middle = grid.cell(x, y)
    return [
        Departure(grid.n, 7 if week else 1, 1),
        Pace(grid.n, x_scale, y_scale, SLOWEST, SPEED_CLASSES, 1),
        Tides(grid.n, middle),
    ]


def _integer_shares(questions: list[Question], shares: dict[str, float], everyone: int) -> list[int]:
    """Shares in whole numbers that add up to `everyone` exactly; the largest takes the rounding."""
    names = [question.name for question in questions]
    if set(shares) != set(names) or any(not share > 0 for share in shares.values()):
        raise PlanError(f"shares must be positive for exactly {names}, got {shares}")
    parts = sum(shares.values())
    whole = {name: max(1, round(everyone * shares[name] / parts)) for name in names}
    largest = max(names, key=lambda name: whole[name])
    whole[largest] += everyone - sum(whole.values())
    return [whole[name] for name in names]
