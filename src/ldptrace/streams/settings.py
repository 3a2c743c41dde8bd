"""The settings of a stream, which are checked before any data is read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ldptrace.core.drawing import OffStreets
from ldptrace.curator.memory import Remember
from ldptrace.errors import InputError
from ldptrace.models.routes.options import StreetOptions
from ldptrace.plugins import STREAMS, StreamMethod, find, installed, load

Presence = Literal["hidden", "shown"]
DEFAULT = "single-report"
# Ticks of a step.
STEP = 50
# Steps of a played file in which nothing is named as a change: everybody begins at once, and long trips have not ended.
WARM_UP = 6


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings of a stream, with durations in seconds. A model is fitted every `step` (None: 50 ticks). Devices
    answer once in `every` (None: once in the whole input). With a `seed`, an experiment can be repeated; without it,
    random numbers come from the operating system. `options` are the options of a `method` of another package.
    """

    tick: float
    step: float | None = None
    every: float | None = None
    remember: Remember = "auto"
    presence: Presence = "hidden"
    grid: int | Literal["auto"] = "auto"
    method: str = DEFAULT
    seed: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    # Whether trips may leave the streets of a map: where the answers show that they do, or never.
    off_streets: OffStreets = "auto"

    def __post_init__(self) -> None:
        for name in ("tick", "step", "every"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InputError(f"{name} must be a positive number of seconds, got {value!r}")
        if self.presence not in ("hidden", "shown"):
            raise InputError(f"presence is hidden or shown, got {self.presence!r}")
        if self.presence == "shown" and self.every is not None:
            raise InputError("with presence shown a device reports after every trip: every does not apply")
        StreetOptions(off_streets=self.off_streets)
        if self.other is not None:
            for name in ("step", "every", "remember", "presence", "off_streets"):
                if getattr(self, name) != getattr(Settings, name):
                    raise InputError(f"method {self.method} has no use for {name}")
        known = {} if self.other is None else self.other.options
        for name in sorted(set(self.options) - set(known)):
            raise InputError(f"method {self.method} has no option {name!r}; it has {sorted(known)}")

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
        known = sorted([DEFAULT, *installed(STREAMS)])
        raise InputError(f"a stream has the methods {', '.join(known)}, got {name!r}")
    found = load(given)
    if not isinstance(found, StreamMethod):
        raise InputError(f"{name} is not a method for streams but a {type(found).__name__}")
    return found
