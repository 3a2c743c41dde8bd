"""Who is compared: methods of `synthesize` and of `stream`, with the map or without, and what needs no data at all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ldptrace import plugins
from ldptrace.core.drawing import Ways
from ldptrace.curator.facts import Asked
from ldptrace.errors import InputError
from ldptrace.methods import method, names
from ldptrace.plugins import StreamMethod
from ldptrace.streams.settings import SHOWN, Presence

Kind = Literal["method", "stream", "reference"]

WITH_MAP, SHUFFLED = "+map", "+shuffled"
# What stands beside the methods, and is no method: epsilon means nothing to it.
REFERENCES = {
    "fresh-sample": "a bootstrap of the real trips: what a perfect generator gives",
    "map-alone": "routes of the public map, weighted by nobody's reports",
    "plain-routing": "quickest routes between the ends of real trips: not private",
}
LOCAL = "nobody: local differential privacy"
MIXED = (
    "that shuffler and curator do not work together: epsilon is central, with delta {delta}, for the replacement of "
    "one trip by another"
)
# Our own streams, by what they show of who is on the way.
STANDING: dict[str, Presence] = {"standing": "hidden", "standing-shown": "shown"}


@dataclass(frozen=True)
class Contestant:
    """A line of the table: its name, what it is, and whom one has to trust with the raw trips."""

    name: str
    kind: Kind
    summary: str
    trust: str
    with_map: bool = False
    shuffled: bool = False

    @property
    def local(self) -> bool:
        """Whether nobody has to be trusted; what is no method has nothing to trust."""
        return self.trust in (LOCAL, "")

    @property
    def method(self) -> str:
        """The name of its method."""
        return self.name.removesuffix(SHUFFLED).removesuffix(WITH_MAP)

    def through_shuffler(self, delta: str) -> Contestant:
        """Return the same with its reports shuffled."""
        return replace(self, name=f"{self.name}{SHUFFLED}", trust=MIXED.format(delta=delta), shuffled=True)


def contestant(name: str, *, has_map: bool) -> Contestant:
    """Return the contestant of a name: a method, a method with `+map`, a method for streams, or a reference."""
    if name in REFERENCES:
        if name != "fresh-sample" and not has_map:
            raise InputError(f"{name} needs a street map: give it with --roads")
        return Contestant(name, "reference", REFERENCES[name], "")
    plain, with_map = name.removesuffix(WITH_MAP), name.endswith(WITH_MAP)
    streams = plugins.installed(plugins.STREAMS)
    if with_map and not has_map:
        raise InputError(f"{name} needs a street map: give it with --roads")
    if plain in STANDING:
        trust = LOCAL if STANDING[plain] == "hidden" else SHOWN
        summary = "`ldptrace stream`: one report per device, a model that follows changes"
        return Contestant(name, "stream", summary, trust, with_map)
    if plain in streams and plain not in names():
        if with_map:
            raise InputError(f"method {plain} has no use for a map")
        found: StreamMethod = plugins.load(streams[plain])
        return Contestant(name, "stream", found.summary, found.public)
    if plain not in names():
        raise InputError(
            f"there is no method {plain!r}; the methods are {', '.join([*names(), *STANDING, *streams])}, "
            f"with {WITH_MAP} behind the name for one that uses the map"
        )
    recipe = method(plain)
    if with_map and not issubclass(recipe.options, Ways):
        raise InputError(f"method {plain} has no use for a map")
    return Contestant(name, "method", recipe.summary, recipe.leaks or LOCAL, with_map)


def contestants(text: str, *, has_map: bool, delta: str | None = None) -> tuple[Contestant, ...]:
    """Return the contestants of a list of names joined by commas, then the references of every table.

    With a `delta`, each method whose reports can be shuffled is a contestant twice, without and with a shuffler.
    """
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    if not wanted:
        raise InputError("name at least one method, as in --methods single-report,adatrace")
    beside = ["fresh-sample", *(("map-alone", "plain-routing") if has_map else ())]
    found = [contestant(name, has_map=has_map) for name in dict.fromkeys([*wanted, *beside])]
    if delta is None:
        return tuple(found)
    can = [one for one in found if one.kind == "method" and issubclass(method(one.method).options, Asked)]
    if not can:
        raise InputError("none of the methods sends reports that can be shuffled: add single-report")
    return tuple(
        each for one in found for each in ((one, one.through_shuffler(delta)) if one in can else (one,))
    )
