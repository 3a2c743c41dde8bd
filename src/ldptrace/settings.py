"""The settings of a synthesis: one record for the command, the Python function and every engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date as Date
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ldptrace.core.drawing import MOST_TRIPS, Points, Ways, day_of
from ldptrace.core.reading import Reading
from ldptrace.core.running import Mode, UnitName
from ldptrace.curator.facts import SINGLE, Asked, Common, Facts
from ldptrace.errors import InputError
from ldptrace.options import from_options, option, options_in, settle
from ldptrace.protocol.exact import epsilon_fraction
from ldptrace.protocol.grid import Bounds

if TYPE_CHECKING:
    from ldptrace.methods import Method

BOUNDS_LEAK = "the bounds were taken from the raw data, so they reveal its outermost points"


def _epsilon(value: Any) -> Any:
    epsilon_fraction(value)
    return value


def _methods() -> list[str]:
    from ldptrace.methods import names

    return names()


@dataclass(frozen=True, eq=False)
class Settings(Common):
    """All settings of a synthesis. They are checked before any data is read.

    `options` are values of options of the method, and become its record. `grid="auto"` means 6 x 6 cells for the
    methods of the paper; for `single-report`, `ldptrace.curator.planning` chooses the grid.
    """

    epsilon: float = option(
        kind=float,
        help="Epsilon, the privacy budget of each user; smaller is more private.",
        parse=_epsilon,
    )
    reading: Reading = field(default_factory=Reading)
    bounds_from_data: bool = option(
        False,
        help="Without --bounds, use the smallest rectangle around the real trips, which reveals their outermost "
        "points.",
    )
    # The name, or the method itself.
    method: Any = option(
        SINGLE,
        kind=str,
        complete=_methods,
        help="Method (see the page Methods): single-report, paper, paper-unpadded, randsyn, combtran, noadapt, "
        "adatrace, dpt, ngram, ngram-full, privtrace, or a method of an installed package.",
    )
    pilot: float | None = option(
        None,
        help="Fraction of the users, such as 0.05, who are asked first how far they travel; their answers help to "
        "choose the grid.",
        below=1,
    )
    count: int | None = option(
        None,
        help="Number of synthetic trips; by default the number of devices with a trip inside the bounds, estimated "
        "from the reports.",
        least=0,
        most=MOST_TRIPS,
    )
    seed: int | None = option(
        None,
        help="Seed of all random numbers, to repeat an experiment exactly. Never publish a result that was made with a "
        "seed.",
        least=0,
    )
    sample_seed: int | None = option(
        None, help="Seed of the drawing of trips from the fitted model; it may be published.", least=0
    )
    simulation: Mode = option(
        "counts",
        help="counts: simulate only the sums of all reports, which is fast; devices: simulate each single report.",
    )
    unit: UnitName = option(
        "user",
        help="What epsilon protects if the input has user ids; user: each user with all trips; trip: each single trip.",
    )
    time: Literal["auto", "off"] = option(
        "auto",
        help="auto: ask users for departure time and speed if the input has times; off: do not ask about time.",
    )
    date: Date | str | None = option(
        None,
        metavar="DATE",
        help="Date of the synthetic trips, such as 2026-03-01; by default trips have a time of day only.",
        parse=day_of,
    )
    # The record of the method's options; given as a mapping.
    options: Any = field(default_factory=dict)

    @staticmethod
    def of(epsilon: Any, **given: Any) -> Settings:
        """Make settings from one list of options: of the synthesis, of reading and of the method. None means "not
        given", and so does the default of an option that belongs to one method only."""
        given = {name: value for name, value in given.items() if value is not None}
        options = dict(given.pop("options", {}))
        own = {name: given.pop(name) for name in _OWN & given.keys()}
        options |= {
            name: value
            for name, value in given.items()
            if name not in OF_METHODS or value != OF_METHODS[name]
        }
        return from_options(Settings, own | {"epsilon": epsilon, "options": options})

    def __post_init__(self) -> None:
        settle(self)
        if isinstance(self.options, Mapping):
            object.__setattr__(self, "options", self.recipe.chosen(self.options))
        if self.pilot is not None and not isinstance(self.options, Asked):
            raise InputError(f"method {self.recipe.name} has nothing to choose by a pilot")
        if self.delta is not None and not self.shuffled:
            raise InputError("delta belongs to shuffled reports: give shuffled")
        if self.shuffled and not isinstance(self.options, Asked):
            raise InputError(
                f"method {self.recipe.name} sends no reports that can be shuffled: each device must send one report "
                f"in one round, as with the method {SINGLE}"
            )
        if self.shuffled and self.pilot is not None:
            raise InputError("a pilot asks in a round of its own, and shuffled reports have one round")
        if self.reading.bounds is None and not self.bounds_from_data:
            raise InputError(
                "give the public bounds of the area (--bounds X0,Y0,X1,Y1), or --bounds-from-data to take them from "
                "the raw data, which is not private; ldptrace inspect shows them"
            )

    @cached_property
    def recipe(self) -> Method:
        """The method as an object."""
        from ldptrace.methods import Method, method

        return self.method if isinstance(self.method, Method) else method(self.method)

    @property
    def ways(self) -> Ways:
        """The public knowledge that was given, as files or as objects in memory."""
        return self.options if isinstance(self.options, Ways) else Ways()

    def facts(
        self, users: int, bounds: Bounds, crs: str | None, *, time: bool, mean_trip: float | None = None
    ) -> Facts:
        """Return what the plan is made from. A mean trip that a pilot found counts where none is given."""
        told: dict[str, Any] = {entry.name: getattr(self, entry.name) for entry in fields(Common)}
        if isinstance(self.options, Asked):
            told |= {entry.name: getattr(self.options, entry.name) for entry in fields(Asked)} | {
                "time": time
            }
            told["mean_trip"] = mean_trip if told["mean_trip"] is None else told["mean_trip"]
        has_map = self.ways.roads is not None or self.ways.routes is not None
        method = self.recipe.name
        return Facts(users, self.epsilon, bounds, crs, method=method, for_map=has_map, **told).simulated()

    @property
    def leaks(self) -> str | None:
        """What weakens the promise, in words, or None. It depends on the settings, never on the data."""
        from ldptrace.core.outside import leak_of

        named = (
            self.recipe.leak(self.options),
            BOUNDS_LEAK if self.reading.bounds is None else None,
            leak_of(self.reading.outside),
        )
        return "; ".join(leak for leak in named if leak) or None


_OWN = {entry.name for entry, _ in options_in(Settings)}
# Options that only some methods have and that are options of the command all the same, with their defaults.
OF_METHODS = {entry.name: entry.default for kind in (Points, Ways, Asked) for entry, _ in options_in(kind)}
