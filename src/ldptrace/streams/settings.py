"""The settings of a stream, which are checked before any data is read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from ldptrace.core.drawing import Streets
from ldptrace.curator.facts import SINGLE, Common
from ldptrace.errors import InputError
from ldptrace.options import NoOptions, chosen, option, settle
from ldptrace.plugins import STREAMS, StreamMethod, find, installed, load
from ldptrace.protocol.units import seconds_of

Presence = Literal["hidden", "shown"]
DEFAULT = SINGLE
SHOWN = "a report is sent when a trip has ended, so that its arrival shows that there was one, and when"
PERIOD = (
    "the beginning and the end of the stream were taken from the trips, so they show the first departure and the last "
    "arrival (give --start and --end)"
)
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


def _moment(value: Any) -> str | float:
    """Return a time that is given as a text or as seconds. The trips say later in which zone a text is."""
    seconds_at(value)
    return value if isinstance(value, str) else float(value)


def seconds_at(moment: str | float, timezone: str | None = None) -> float:
    """Return a time as times of files are read: a date on the clocks of a zone, a time of the day, or seconds.

    >>> seconds_at("06:30"), seconds_at("1970-01-03T01:00", "Europe/Berlin"), seconds_at(60)
    (23400.0, 172800.0, 60.0)
    """
    import pyarrow as pa

    from ldptrace.core.times import read_times
    from ldptrace.core.values import text_of

    seconds = read_times(pa.chunked_array([pa.array([text_of(moment)], pa.string())]), timezone).seconds
    if seconds is None or not math.isfinite(seconds[0]):
        raise InputError(f"a time is written as 2026-03-01T06:00 or 06:00, got {moment!r}")
    return float(seconds[0])


def remembered(given: Any) -> float | Literal["auto", "forever"]:
    """Return what `--remember` stands for: auto, forever, or a half-life in seconds, which a text gives as a duration.

    >>> remembered("auto"), remembered("90min")
    ('auto', 5400.0)
    """
    if given in ("auto", "forever") or not isinstance(given, str):
        return given
    try:
        return float(seconds_of(given))
    except InputError:
        raise InputError(f"remember is auto, forever or a half-life such as 90min, got {given!r}") from None


def method_names() -> list[str]:
    """Return the names of all methods for streams."""
    return [DEFAULT, *installed(STREAMS)]


@dataclass(frozen=True, eq=False)
class Settings(Common, Streets):
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
        parse=remembered,
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
    start: str | float | None = option(
        None,
        metavar="TIME",
        help="When the stream begins, such as 2026-03-01T06:00, or 06:00 if trips have times of the day. Without "
        "--start and --end, the first departure and the last arrival decide, and the promise names this leak.",
        parse=_moment,
    )
    end: str | float | None = option(
        None, metavar="TIME", help="When the stream ends; see --start.", parse=_moment
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
            for name in ("shuffled", "step", "every", "remember", "presence", "off_streets", "start", "end"):
                if getattr(self, name) != getattr(Settings, name):
                    raise InputError(f"method {self.method} has no use for {name}")
        if isinstance(self.options, Mapping):
            record = NoOptions if self.other is None else self.other.options
            object.__setattr__(self, "options", chosen(self.method, record, self.options))

    @property
    def leaks(self) -> str | None:
        """What weakens the promise, in words, or None. It depends on the settings, never on the trips."""
        if self.other is not None:
            return self.other.public
        given = self.start is not None and self.end is not None
        named = (SHOWN if self.presence == "shown" else None, None if given else PERIOD)
        return "; ".join(leak for leak in named if leak) or None

    @property
    def seconds(self) -> float:
        """The length of a step."""
        return STEP * self.tick if self.step is None else self.step

    @cached_property
    def other(self) -> StreamMethod | None:
        """The method of another package, or None."""
        if self.method == DEFAULT:
            return None
        given = find(STREAMS, self.method)
        if given is None:
            known = ", ".join(sorted(method_names()))
            raise InputError(f"a stream has the methods {known}, got {self.method!r}")
        method = load(given)
        if not isinstance(method, StreamMethod):
            raise InputError(f"{self.method} is not a method for streams but a {type(method).__name__}")
        return method
