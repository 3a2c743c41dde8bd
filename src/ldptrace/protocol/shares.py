"""Which questions a plan of one report per user asks, and of which share of the users."""

from __future__ import annotations

from collections.abc import Sequence

from ldptrace.errors import InputError, PlanError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import bend_count, link_count
from ldptrace.protocol.questions import (
    Bends,
    Departure,
    End,
    Length,
    Links,
    Moves,
    Pace,
    Pairs,
    Question,
    Start,
    Terminals,
    Tides,
    Trips,
    Turns,
    Visits,
)
from ldptrace.protocol.records import Record
from ldptrace.protocol.round import SHARES
from ldptrace.protocol.units import millimetres

# Shares of the users per question where nothing is known of their number; `ldptrace.curator.planning` chooses others.
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
# Shares of the users where the curator has a street map and pairs of districts can be learned, by districts per side;
# all other questions keep their proportions. Where even pairs of small districts can, so can single moves.
TOLD_ON_MAP = {4: {"pairs": 0.4}, 6: {"pairs": 0.6, "moves": 0.15}}
# Where questions about time are asked, five in 64 of the users of every other question answer one of them instead, but
# of `length`, which few are asked and whose error would show it: shares of these (benchmarks/time.py). Whole parts, so
# that the others keep exactly the proportions they have without.
GIVEN, PARTS = 5, 64
TIME_SHARES = {"departure": 0.60, "pace": 0.25, "tides": 0.15}
# Metres per hour of the slowest edge, number of edges: from 2 to 128 km/h.
SLOWEST, SPEED_CLASSES = 2000, 26
# Questions that are asked only where they are named, and the share of each beside those above.
FURTHER = {"trips": 0.05, "pairs": 0.25, "bends": 0.35}
# Districts per side of the question `pairs`, and most bends of one answer.
DISTRICTS, MOST_BENDS = 3, 3


class Wanted(Record):
    """What a curator wants to know, from public facts only.

    `most_moves` bounds the sets of cells, moves and links, `cap` the length; `districts` (per side) are those of pairs
    of ends. A curator who has a street map (`for_map`) asks the same questions of other shares. With `time` some are
    asked when they leave (and in a `week` on which day), how fast they are, and at what time of day they go towards a
    public `centre` or away from it (None: the middle of the map). `usual` are the questions that are not about time,
    with their shares (None: those of this module). `questions` names what is asked instead of all this, `shares` says
    of which part of the users.
    """

    most_moves: int = 5
    cap: int | None = None
    shares: dict[str, float] | None = None
    time: bool = False
    week: bool = False
    centre: tuple[float, float] | None = None
    for_map: bool = False
    questions: Sequence[str] | None = None
    districts: int = DISTRICTS
    usual: dict[str, float] | None = None

    def asked(self, grid: Grid, crs: str | None) -> list[tuple[Question, int]]:
        """Return the questions, each with its share out of 65,536."""
        known = self._known(grid, crs)
        names = self._names(known)
        chosen = [question for question in known if question.name in names]
        if not any(question.about_time for question in chosen) and (self.week or self.centre is not None):
            raise InputError(
                "a week and a centre belong to the questions about time, and none of these is asked"
            )
        return list(zip(chosen, self._tickets(chosen), strict=True))

    def _known(self, grid: Grid, crs: str | None) -> list[Question]:
        """Return all questions that can be asked."""
        n, most = grid.n, min(self.most_moves, link_count(grid.n))
        return [
            *(Length(n, self.cap or 3 * n + 2), Start(n), End(n), Terminals(n)),
            *(Visits(n, min(most, n * n)), Moves(n, most), Links(n, most), Turns(n)),
            *(Pairs(n, min(self.districts, n)), Bends(n, min(MOST_BENDS, bend_count(n)))),
            *_about_time(grid, crs, self.week, self.centre),
            Trips(n),
        ]

    def _names(self, known: list[Question]) -> set[str]:
        """Return the names of the questions that are asked."""
        if self.questions is None:
            return {*self._usual, *(TIME_SHARES if self.time else ())}
        named, possible = list(self.questions), [question.name for question in known]
        if not named or len(set(named)) < len(named) or not set(named) <= set(possible):
            raise InputError(
                f"questions are some of {', '.join(possible)}, each once, got {', '.join(named) or 'none'}"
            )
        return {*named, *(TIME_SHARES if self.time else ())}

    @property
    def _usual(self) -> dict[str, float]:
        return self.usual or (MAP_SHARES if self.for_map else DEFAULT_SHARES)

    def _tickets(self, chosen: list[Question]) -> list[int]:
        """Return whole shares of the chosen questions."""
        if self.shares is not None:
            return integer_shares(chosen, self.shares, SHARES)
        usual = self._usual
        space = [question for question in chosen if question.name in usual]
        names = {question.name for question in chosen}
        if names not in ({*usual}, {*usual, *TIME_SHARES}):
            # In the usual proportions, questions about time and the further ones on top.
            all_of = FURTHER | usual | {name: share * GIVEN / PARTS for name, share in TIME_SHARES.items()}
            return integer_shares(chosen, {one.name: all_of[one.name] for one in chosen}, SHARES)
        tickets = [PARTS * share for share in integer_shares(space, usual, SHARES // PARTS)]
        if len(space) == len(chosen):
            return tickets
        given = [0, *(GIVEN * share // PARTS for share in tickets[1:])]
        left = [share - part for share, part in zip(tickets, given, strict=True)]
        return [*left, *integer_shares(chosen[len(space) :], TIME_SHARES, sum(given))]


def _about_time(
    grid: Grid, crs: str | None, week: bool, centre: tuple[float, float] | None
) -> list[Question]:
    """Return the questions about time, for public facts of the map."""
    x_scale, y_scale = millimetres(grid.bounds, crs)
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


def integer_shares(questions: list[Question], shares: dict[str, float], everyone: int) -> list[int]:
    """Round shares to whole numbers that add up to `everyone` exactly; the largest takes the rounding."""
    names = [question.name for question in questions]
    if set(shares) != set(names) or any(not share > 0 for share in shares.values()):
        raise PlanError(f"shares must be positive for exactly {names}, got {shares}")
    parts = sum(shares.values())
    whole = {name: max(1, round(everyone * shares[name] / parts)) for name in names}
    largest = max(names, key=lambda name: whole[name])
    whole[largest] += everyone - sum(whole.values())
    return [whole[name] for name in names]
