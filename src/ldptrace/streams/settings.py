"""The settings of a stream, which are checked before any data is read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ldptrace.core.drawing import Streets
from ldptrace.curator.facts import SINGLE, Common, Shuffling
from ldptrace.errors import InputError
from ldptrace.options import NoOptions, chosen, option, settle
from ldptrace.plugins import STREAMS, StreamMethod, find, installed, load
from ldptrace.protocol.units import seconds_of

Presence = Literal["hidden", "shown"]
DEFAULT = SINGLE
# Ticks of a step.
STEP = 50
# Steps of a played file in which nothing is named as a change: everybody begins at once, and long trips have not ended.
WARM_UP = 6


def _duration(value: Any) -> float:
    """Return seconds. A text is a number with a unit."""
    if isinstance(value, str):
        return float(seconds_of(value))
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(
            f"a duration is a number of seconds, or a number with a unit, such as 7d, got {value!r}"
        )
    return float(value)


def _remember(value: Any) -> Any:
    from ldptrace.curator.memory import remembered

    return remembered(value) if isinstance(value, str) else value


def method_names() -> list[str]:
    """Return the names of all methods for streams."""
    return [DEFAULT, *installed(STREAMS)]


@dataclass(frozen=True, eq=False)
class Settings(Common, Shuffling, Streets):
    """The settings of a stream. With a `seed`, an experiment can be repeated; without it, random numbers come from the
    operating system. `options` are values of the options of a `method` of another package, and become its record.
    """

    tick: float = option(
        metavar="SECONDS",
        help="Seconds between two positions of a traveller (the length of a time step, or tick).",
        above=0,
    )
    step: float | None = option(
        None,
        metavar="DURATION",
        help="Time between two fits of the model, such as 1h; by default 50 times the value of --tick.",
        parse=_duration,
        above=0,
    )
    every: float | None = option(
        None,
        metavar="DURATION",
        help="With --presence hidden, time between two answers of a device, such as 7d; by default each device answers "
        "once.",
        parse=_duration,
        above=0,
    )
    remember: float | Literal["auto", "forever"] = option(
        "auto",
        metavar="auto|forever|DURATION",
        help="Age at which a report has half the weight of a new one, such as 2h; auto: chosen so that older reports "
        "best predict newer ones; forever: equal weights.",
        parse=_remember,
    )
    presence: Presence = option(
        "hidden",
        help="hidden: devices answer at random moments, so the server does not learn who is travelling; shown: devices "
        "answer after each trip, which reveals when they travel.",
    )
    method: str = option(
        DEFAULT,
        complete=method_names,
        help="Method (see the page Methods): single-report, retrasyn, lpd, lpa, or a method of an installed package.",
    )
    seed: int | None = option(
        None,
        help="Seed of all random numbers, to repeat an experiment exactly. Never publish a result that was made with a "
        "seed.",
        least=0,
    )
    # The record of the method's options; given as a mapping.
    options: Any = field(default_factory=dict)

    def __post_init__(self) -> None:
        settle(self)
        if self.presence == "shown" and self.every is not None:
            raise InputError("with presence shown a device reports after every trip: every does not apply")
        if self.delta is not None and not self.shuffled:
            raise InputError("delta belongs to shuffled reports: give shuffled")
        if self.shuffled and self.presence == "shown":
            raise InputError("shuffled reports hide who is on the way: presence shown does not apply")
        if self.other is not None:
            for name in ("shuffled", "step", "every", "remember", "presence", "off_streets"):
                if getattr(self, name) != getattr(Settings, name):
                    raise InputError(f"method {self.method} has no use for {name}")
        if isinstance(self.options, Mapping):
            record = NoOptions if self.other is None else self.other.options
            object.__setattr__(self, "options", chosen(self.method, record, self.options))

    @property
    def seconds(self) -> float:
        """The length of a step."""
        return STEP * self.tick if self.step is None else self.step

    @property
    def other(self) -> StreamMethod | None:
        """The method of another package, or None."""
        return None if self.method == DEFAULT else other_method(self.method)


def other_method(name: str) -> StreamMethod:
    """Return the stream method with this name from an installed package."""
    given = find(STREAMS, name)
    if given is None:
        raise InputError(f"a stream has the methods {', '.join(sorted(method_names()))}, got {name!r}")
    found = load(given)
    if not isinstance(found, StreamMethod):
        raise InputError(f"{name} is not a method for streams but a {type(found).__name__}")
    return found
