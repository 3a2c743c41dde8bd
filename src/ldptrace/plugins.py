"""Methods and commands of other packages, found by the entry points that they declare when they are installed.

Names are listed without importing anybody's code. The code of a name runs when that name is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ldptrace.errors import InputError
from ldptrace.options import NoOptions

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# A method of `synthesize` is a `ldptrace.methods.Method`, one of `stream` a `StreamMethod`; a command is a function
# that is given the application, a generator is the function of `ldptrace generate NAME`, a format a
# `ldptrace.io.formats.Format`.
METHODS, STREAMS, COMMANDS = "ldptrace.methods", "ldptrace.streams", "ldptrace.commands"
GENERATORS, FORMATS = "ldptrace.generators", "ldptrace.formats"
# Names that documents mention, and that the package ldptrace-lab gives.
LABORATORY = {
    METHODS: ("ngram", "ngram-full", "adatrace", "privtrace", "dpt"),
    STREAMS: ("retrasyn", "lpd", "lpa"),
    COMMANDS: ("compare", "reproduce"),
    GENERATORS: ("campus",),
    FORMATS: ("checkins",),
}


@dataclass(frozen=True)
class StreamMethod:
    """A method for `ldptrace stream --method`: timed trips in, synthetic timed trips over the same ticks out.

    `run(trips, grid, epsilon, tick, rng, **options)` takes `Trajectories` with times, a `Grid`, the seconds of a tick
    and a source of randomness. `public` says in one sentence what it takes as public, and for what epsilon holds.
    """

    name: str
    summary: str
    public: str
    run: Callable[..., Any]
    # The record of its options: a frozen dataclass, whose fields have defaults.
    options: type = NoOptions


def installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name. A name that two packages give is an error that names both."""
    # Reading what is installed takes longer than most commands take to start.
    from importlib.metadata import entry_points

    points: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        other = points.setdefault(point.name, point)
        if other.value != point.value:
            raise InputError(
                f"{_package(other)} and {_package(point)} both give {group} the name {point.name!r}; remove one of them"
            )
    return points


def find(group: str, name: str) -> EntryPoint | None:
    """Return the entry point of this name, or None. A name of the laboratory that is not installed is an error."""
    point = installed(group).get(name)
    if point is None and name in LABORATORY[group]:
        raise InputError(
            f"{name} belongs to the package ldptrace-lab, which is not installed: pip install 'ldptrace[lab]', or "
            "pip install ./lab in a clone of the repository"
        )
    return point


def load(point: EntryPoint) -> Any:
    """Return what an entry point names, or one sentence that says why it does not load."""
    try:
        return point.load()
    except Exception as error:
        raise InputError(
            f"{point.name} of {_package(point)} does not load ({point.value}): {type(error).__name__}: {error}"
        ) from error


def _package(point: EntryPoint) -> str:
    return "a package" if point.dist is None else f"the package {point.dist.name}"
