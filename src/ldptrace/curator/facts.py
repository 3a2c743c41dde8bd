"""The facts of a collection, known before anybody is asked: one record, and the only way from facts to a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import time as clock
from typing import TYPE_CHECKING, Any, Literal

from ldptrace.curator.hiding import MOST_LOCAL, Hiding, usual_batch
from ldptrace.errors import InputError
from ldptrace.options import option, settle
from ldptrace.protocol.canonical import text_in
from ldptrace.protocol.exact import budget_fraction, epsilon_fraction
from ldptrace.protocol.grid import Bounds, Grid, checked_bounds, checked_cells, numbers
from ldptrace.protocol.limits import MAX_BATCH, MAX_DELTA, MAX_LIFETIME, MAX_START, MIN_DELTA
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.seals import GENERATOR
from ldptrace.protocol.shares import DEFAULT_SHARES, DISTRICTS, MAP_SHARES, Wanted
from ldptrace.protocol.shuffled import DELTA, HONEST, KEY_PATTERN, Shuffled
from ldptrace.protocol.standing import START, Standing
from ldptrace.protocol.units import GEOGRAPHIC, are_small_degrees, moment, plan_crs, seconds_of

if TYPE_CHECKING:
    from ldptrace.curator.planning import Outlook

SINGLE = "single-report"
# The methods of the LDPTrace paper, and the grid on which the paper measures.
PAPER = ("paper", "paper-unpadded", "randsyn", "combtran", "noadapt")
PAPER_GRID = 6
MOST_USERS = 10**12
# Facts that only a shuffled plan has, besides `shuffled`.
OF_SHUFFLED = ("delta", "batch", "honest", "most_local", "shuffler", "operator", "closes", "key")
SHUFFLER, OPERATOR = "http://localhost:8001", "a shuffler on this computer, for trials"
# Seconds until the batch of a shuffled plan without windows closes.
OPEN = 30 * 86_400
# A simulated shuffler, and a key that nobody needs: simulated reports are not sealed.
SIMULATED: dict[str, Any] = {
    "operator": "a simulated shuffler",
    "shuffler": "http://localhost",
    "closes": MAX_START,
    "key": GENERATOR.hex(),
}
# Facts that only a standing plan has, besides `every`.
OF_WINDOWS = ("recent", "start", "lifetime", "grace")


def checked_users(value: int) -> int:
    """Return an expected number of users, or raise an error for an impossible one."""
    if not 1 <= value <= MOST_USERS:
        raise InputError(f"the expected number of users must be from 1 to 10^12, got {value}")
    return int(value)


def _cells(value: Any) -> int | Literal["auto"]:
    if value == "auto":
        return "auto"
    try:
        cells = int(value) if isinstance(value, str) else value
    except ValueError:
        raise InputError(f"grid must be a whole number or auto, got {value[:80]!r}") from None
    return checked_cells(cells)


def _centre(value: Any) -> tuple[float, float]:
    try:
        x, y = numbers(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"centre must be two numbers X,Y, got {str(value)[:80]!r}") from None
    return x, y


def _questions(value: str | Sequence[str]) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InputError(f"questions must be names of questions, got {str(value)[:80]!r}")
    return tuple(name.strip() for name in names if name.strip())


def _seconds(value: Any) -> int:
    if isinstance(value, str):
        return seconds_of(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InputError(f"a duration is a number with a unit, such as 7d, or whole seconds, got {value!r}")
    return int(value)


def _start(value: Any) -> int:
    seconds = moment("start", value) if isinstance(value, str) else value
    if isinstance(value, bool) or not isinstance(seconds, int | float) or seconds != int(seconds):
        raise InputError(f"start must be a whole second, got {value!r}")
    return int(seconds)


def checked_delta(value: Any) -> Fraction:
    """Return the delta of one shuffled answer."""
    delta = budget_fraction(value, 1, "delta")
    if not MIN_DELTA <= delta <= MAX_DELTA:
        raise InputError(
            f"delta of one answer must be from {float(MIN_DELTA):g} to {float(MAX_DELTA):g}, got {str(value)[:80]}"
        )
    return delta


@dataclass(frozen=True, kw_only=True)
class Common:
    """What the facts of a plan, the settings of a synthesis and those of a stream have in common."""

    grid: int | Literal["auto"] = option(
        "auto",
        metavar="N|auto",
        help="Number of cells per side of the grid; auto chooses the number.",
        parse=_cells,
    )
    shuffled: bool = option(
        False,
        help="Make a shuffled plan: reports go through an independent shuffler, which mixes them. --epsilon is then "
        "what an answer costs if shuffler and curator do not work together (central epsilon).",
    )
    delta: float | str | Fraction | None = option(
        None,
        metavar="D",
        help="In a shuffled plan, the delta of one answer; by default 1e-8, at most 1e-6.",
        parse=checked_delta,
    )


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is asked and how large the answers are: facts of a plan, and options of the method single-report."""

    mean_trip: float | None = option(
        None,
        help="Mean length of a trip from public statistics, in the unit of the bounds; by default half the longer "
        "side of the bounds.",
    )
    week: bool = option(False, help="Also ask on which day of the week a trip begins.")
    centre: tuple[float, float] | None = option(
        None,
        metavar="X,Y",
        help="Centre of the city, for the question whether a trip leads towards the centre or away from it (asked "
        "with --time); by default the middle of the bounds.",
        parse=_centre,
    )
    # Of which part of the users each question is asked, and the sizes of answers; None: chosen.
    shares: Mapping[str, float] | None = None
    most_moves: int | None = None
    cap: int | None = None


@dataclass(frozen=True)
class Facts(Asked, Common):
    """What is known before anybody is asked.

    Commands, Python functions, the HTTP interface and the operator's page make the plan of a collection from it.

    >>> Facts(1000, 1, (0, 0, 1, 1)).plan().grid.n, Facts(1000, 1, (0, 0, 1, 1), every="7d").plan().standing.every
    (6, 604800)
    """

    users: int = option(help="Expected number of users.", check=checked_users)
    epsilon: float | str | Fraction = option(
        metavar="E",
        help="Epsilon, the privacy budget of each user (with --every, of each answer); smaller is more private.",
        parse=epsilon_fraction,
    )
    bounds: Bounds | None = option(
        None,
        metavar="X0,Y0,X1,Y1",
        help="Public rectangle of the area: smallest x and y, then largest x and y.",
        parse=checked_bounds,
    )
    crs: str | None = option(
        None, help='Coordinate system of the trips and of the bounds, such as "EPSG:4326".'
    )
    method: str = option(
        SINGLE,
        help="Method of the collection: single-report, or a method of the LDPTrace paper (paper, paper-unpadded, "
        "randsyn, combtran or noadapt), which asks each device in two rounds.",
    )
    for_map: bool = option(
        False,
        help="Divide the users among the questions in the best way for a model with a street map (`fit --roads`).",
    )
    time: bool = option(False, help="Also ask some users about the departure time and the speed of a trip.")
    questions: Sequence[str] | None = option(
        None,
        metavar="A,B,C",
        help="Ask only these questions, separated by commas: some of length, start, end, terminals, visits, moves, "
        "links, turns, pairs, bends, departure, pace, tides, trips.",
        parse=_questions,
    )
    every: int | str | None = option(
        None,
        metavar="DURATION",
        help="Make a standing plan: each device answers once in every time window of this length, such as 7d or 12h.",
        parse=_seconds,
    )
    recent: int | str | None = option(
        None,
        metavar="DURATION",
        help="In a standing plan, devices report only about trips that are at most this old at the end of the time "
        "window; by default the length of the time window.",
        parse=_seconds,
    )
    start: int | str | None = option(
        None,
        metavar="TIME",
        help="Time from which time windows are counted; by default 1970-01-05T00:00Z, so that weeks begin on Mondays.",
        parse=_start,
    )
    lifetime: float | str | Fraction | None = option(
        None,
        metavar="E",
        help="Lifetime budget: the most epsilon that one device may spend on all its answers to the standing plan; by "
        "default enough for ten answers, in a shuffled plan for at most as many as devices give without being asked.",
        parse=lambda value: budget_fraction(value, MAX_LIFETIME, "a lifetime"),
    )
    grace: int | str | None = option(
        None,
        metavar="DURATION",
        help="In a standing plan, how long after a device's time window its report may arrive; by default 1d, or the "
        "length of the time window if that is shorter.",
        parse=_seconds,
    )
    batch: int | None = option(
        None,
        help="In a shuffled plan, the least number of reports that the shuffler hands over at once; by default 0.8 of "
        "--users, who answer once in each time window.",
    )
    honest: float | str | Fraction | None = option(
        None,
        metavar="SHARE",
        help="In a shuffled plan, the share of the reports of a batch that come from honest devices; by default 0.9.",
        parse=lambda value: budget_fraction(value, 1, "the share of honest devices"),
    )
    most_local: float | str | Fraction | None = option(
        None,
        metavar="E",
        help="In a shuffled plan, the largest epsilon of one answer if shuffler and curator work together; by default "
        "6.",
        parse=epsilon_fraction,
    )
    shuffler: str | None = option(
        None,
        metavar="URL",
        help=f"Address of the shuffler of a shuffled plan; by default {SHUFFLER}, which is for trials.",
    )
    operator: str | None = option(
        None, metavar="WORDS", help="Who runs the shuffler of a shuffled plan, in words for the contributors."
    )
    closes: int | str | None = option(
        None,
        metavar="TIME",
        help="Time at which the batch of a shuffled plan without time windows closes; by default 30 days from now.",
        parse=_start,
    )
    key: str | None = option(
        None,
        metavar="HEX",
        help="The curator's public key of a shuffled plan: a point of the curve P-256, 130 hexadecimal digits.",
    )

    def __post_init__(self) -> None:
        settle(self)
        if self.method != SINGLE:
            if self.time or self.week or self.centre is not None:
                raise InputError(f"method {self.method} asks nothing about time")
            if self.questions is not None or self.every is not None:
                raise InputError(f"method {self.method} has its own questions and no windows")
            if self.shuffled:
                raise InputError(
                    f"method {self.method} asks in two rounds, and a shuffled plan has one round"
                )
        for is_such, names, where in (
            (self.shuffled, OF_SHUFFLED, "a shuffled plan: give shuffled"),
            (self.every is not None, OF_WINDOWS, "a standing plan: give every, such as 7d"),
        ):
            for name in names:
                if not is_such and getattr(self, name) is not None:
                    raise InputError(f"{name} belongs to {where}")
        if self.every is not None and self.closes is not None:
            raise InputError(
                "closes belongs to a shuffled plan without windows: each window closes by itself"
            )
        if plan_crs(self.crs) is not None:
            from ldptrace.core.crs import check_degrees, checked_crs

            # Devices compare the name with that of a file, letter by letter.
            crs = checked_crs(str(self.crs))
            object.__setattr__(self, "crs", crs)
            if self.bounds is not None:
                check_degrees(self.bounds, crs, "the bounds")
            if crs.upper() not in GEOGRAPHIC and self.bounds is not None and are_small_degrees(self.bounds):
                bounds = ",".join(f"{value:g}" for value in self.bounds)
                raise InputError(
                    f"the bounds {bounds} look like degrees, and {crs} has no degrees or none that are known "
                    f"({', '.join(GEOGRAPHIC)}): give --crs EPSG:4326 if they are, otherwise bounds in {crs}"
                )
        elif self.crs is not None and not any(mark in self.crs for mark in "[{="):
            raise InputError(f"a coordinate system is named like EPSG:4326, got {self.crs[:80]!r}")

    def simulated(self) -> Facts:
        """Return the same facts with all users in one batch of a simulated shuffler."""
        if not self.shuffled:
            return self
        told = SIMULATED if self.every is None else {k: v for k, v in SIMULATED.items() if k != "closes"}
        return replace(self, batch=min(self.users, MAX_BATCH), **told)

    def direct(self) -> Facts:
        """Return what the same people would be asked without a shuffler, at the same epsilon."""
        none: dict[str, Any] = dict.fromkeys(OF_SHUFFLED)
        return replace(self, shuffled=False, **none)

    @property
    def budget(self) -> Fraction:
        """The exact epsilon of one answer of a device; of a shuffled plan, eps0."""
        hiding = self.hiding()
        return self._parsed.epsilon if hiding is None else hiding.local

    def hiding(self) -> Hiding | None:
        """Return how the reports of a shuffled plan hide among each other."""
        if not self.shuffled:
            return None
        facts = self._parsed
        if (self.batch or 0) > self.users:
            raise InputError(
                f"a batch of at least {self.batch:,} reports of {self.users:,} users would never be sent: give a "
                "smaller batch"
            )
        return Hiding(
            facts.epsilon,
            usual_batch(self.users) if self.batch is None else self.batch,
            facts.delta or DELTA,
            facts.honest or HONEST,
            facts.most_local or MOST_LOCAL,
        )

    @property
    def _parsed(self) -> Any:
        """These facts, of which every option has the type that its parser returns."""
        return self

    @property
    def trip(self) -> float:
        """The mean length of a trip, in sides of the map."""
        from ldptrace.curator.planning import TRIP

        x0, y0, x1, y1 = self._bounds
        return TRIP if self.mean_trip is None else self.mean_trip / max(x1 - x0, y1 - y0)

    @property
    def _bounds(self) -> Bounds:
        if self.bounds is None:
            raise InputError("a plan needs the public bounds of the area: give bounds X0,Y0,X1,Y1")
        return self.bounds

    def map_grid(self) -> Grid:
        """Return the grid: as given, for the methods of the paper that of the paper, or the best for these facts."""
        if self.grid != "auto":
            return Grid(self._bounds, self.grid)
        if self.method != SINGLE:
            return Grid(self._bounds, PAPER_GRID)
        from ldptrace.curator.planning import choose_grid

        return Grid(self._bounds, choose_grid(self.users, float(self.budget), self.trip, self.for_map))

    def outlook(self) -> Outlook | None:
        """Predict the errors of the plan; None for the methods of the paper."""
        from ldptrace.curator.planning import outlook

        if self.method != SINGLE:
            return None
        n = self.map_grid().n
        return outlook(self.users, self.budget, n, trip=self.trip, most_moves=self.most_moves)

    def noise(self) -> str | None:
        """Return a sentence where the predicted error is so large that the result tells little about the users.

        >>> Facts(200_000, 1, (0, 0, 1, 1)).noise() is None
        True
        >>> Facts(10, 1, (0, 0, 1, 1)).noise().partition(":")[0]
        'this will be mostly noise'
        """
        from ldptrace.curator.planning import ENOUGH, TOO_MUCH, outlook

        # Other methods allow grids that no report of one user could be about.
        n = min(self.map_grid().n, 100)

        def view(users: int) -> Outlook:
            # Among more people a device may spend more for the same central promise.
            batch = None if self.batch is None else min(self.batch * users // self.users, MAX_BATCH)
            return outlook(users, replace(self, users=users, batch=batch).budget, n, trip=self.trip)

        now = view(self.users)
        if now.error < TOO_MUCH:
            return None
        needed = float(f"{self.users * (now.noise / ENOUGH) ** 2:.1g}")
        if self.shuffled:
            rounded = (digit * 10**power for power in range(12) for digit in range(1, 10))
            needed = next(many for many in rounded if many > self.users and view(many).noise <= ENOUGH)
        spent = f"{'central ' * self.shuffled}epsilon {float(self._parsed.epsilon):g}"
        return (
            f"this will be mostly noise: with {self.users:,} user{'' if self.users == 1 else 's'} and {spent} the "
            f"predicted error of the traffic in a ninth of the area is {now.error:,.0%}, so that the result shows what "
            f"is assumed rather than what the users did; about {needed:,.0f} users would bring it to {ENOUGH:.0%}"
        )

    def plan(self, key: bytes | None = None) -> Plan:
        """Make the plan: choose the grid, the questions and their shares, the windows and the shuffler. The methods
        of the paper add their second round after the first is counted. A shuffled plan needs the curator's public key:
        `key`, or the fact of this name."""
        grid, crs = self.map_grid(), plan_crs(self.crs)
        if self.method in PAPER:
            return Plan.paper(grid, self.epsilon, method=self.method, crs=crs)
        view = self.outlook()
        if view is None:
            raise InputError(f"a plan has the method {SINGLE}, {', '.join(PAPER)}, got {self.method[:80]!r}")
        usual, districts = self._usual
        asked = Wanted(
            view.most_moves,
            self.cap or view.cap,
            None if self.shares is None else dict(self.shares),
            self.time,
            self.week,
            self.centre,
            self.for_map,
            # Somebody may have several trips in a window.
            (*usual, "trips") if self.questions is None and self.every is not None else self.questions,
            districts or DISTRICTS,
            usual=usual,
        )
        direct = Plan.asking(asked, grid, self.budget, crs)
        standing = self.standing()
        return direct.changed(standing=standing, shuffled=self._row(standing, key))

    def campaign_plan(self) -> Plan:
        """Make the plan of a campaign, which gets the public key of a pair of its own when it is created."""
        if self.key is not None:
            raise InputError(
                "a campaign makes its own pair of keys, so that its server can open reports: omit key"
            )
        return self.plan(GENERATOR)

    def _row(self, standing: Standing | None, key: bytes | None) -> Shuffled | None:
        hiding = self.hiding()
        if hiding is None:
            return None
        if key is None:
            if self.key is None:
                raise InputError("a shuffled plan needs the curator's public key: give key")
            key = bytes.fromhex(text_in(self.key, KEY_PATTERN, "key, a point of the curve P-256,"))
        until = int(clock()) + OPEN if self.closes is None else self._parsed.closes
        return Shuffled(
            key,
            hiding.batch,
            hiding.honest,
            hiding.delta,
            hiding.central,
            None if standing is None else hiding.lifetime(standing.answers(hiding.local)),
            until if standing is None else None,
            self.operator or OPERATOR,
            self.shuffler or SHUFFLER,
        )

    @property
    def _usual(self) -> tuple[dict[str, float], int]:
        """Shares of the questions that are not about time, and districts per side of pairs; 0 if they are not asked."""
        if self.shares is not None:
            return dict(MAP_SHARES if self.for_map else DEFAULT_SHARES), 0
        n = self.map_grid().n
        if self.for_map:
            from ldptrace.curator.planning import map_districts, map_shares

            districts = map_districts(self.users, self.budget, n)
            return map_shares(districts), districts
        from ldptrace.curator.asking import asked

        chosen = asked(self.users, self.budget, n)
        return chosen.shares, chosen.districts

    def standing(self) -> Standing | None:
        """Return the windows of a standing plan, or None."""
        if self.every is None:
            return None
        facts, hiding, budget = self._parsed, self.hiding(), self.budget
        return Standing.of(
            facts.every,
            epsilon=budget,
            recent=facts.recent,
            start=START if facts.start is None else facts.start,
            # What a person says is the central lifetime; the plan's own is eps0 of as many answers.
            lifetime=facts.lifetime if hiding is None else hiding.answers(facts.lifetime) * budget,
            grace=facts.grace,
        )
