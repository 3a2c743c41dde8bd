"""Options for standing plans, for questions, and for tallies with their times."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.common import note, read_as
from ldptrace.cli.own import moment
from ldptrace.errors import InputError
from ldptrace.protocol.standing import START, Standing

if TYPE_CHECKING:
    from ldptrace.curator.estimates import Estimates
    from ldptrace.protocol.plan import Plan


EveryOption = Annotated[
    str | None,
    typer.Option(
        metavar="DURATION",
        help="Make a standing plan: each device answers once in every time window of this length, "
        "such as 7d or 12h.",
    ),
]
RecentOption = Annotated[
    str | None,
    typer.Option(
        metavar="DURATION",
        help="In a standing plan, devices report only about trips that are at most this old at the "
        "end of the time window; by default the length of the time window.",
    ),
]
StartOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Time from which time windows are counted; by default 1970-01-05T00:00Z, so that weeks "
        "begin on Mondays.",
    ),
]
LifetimeOption = Annotated[
    str | None,
    typer.Option(
        metavar="E",
        help="Lifetime budget: the most epsilon that one device may spend on all its answers to the "
        "standing plan; by default enough for ten answers.",
    ),
]
QuestionsOption = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,C",
        help="Ask only these questions, separated by commas: some of length, start, end, terminals, "
        "visits, moves, links, turns, departure, pace, tides, trips.",
    ),
]


def standing_of(
    epsilon: Fraction, every: str | None, recent: str | None, start: str | None, lifetime: str | None
) -> Standing | None:
    """Return the windows that the options describe, or None for a plan that is answered once.

    >>> standing_of(Fraction(1), "7d", "2d", None, None).recent
    172800
    """
    from ldptrace.protocol.units import seconds_of

    if every is None:
        if any(value is not None for value in (recent, start, lifetime)):
            raise InputError(
                "--recent, --start and --lifetime belong to a standing plan: give --every DURATION"
            )
        return None
    first = START if start is None else moment("--start", start)
    if first != int(first):
        raise InputError(f"--start is a whole second, got {start}")
    return Standing.of(
        seconds_of(every),
        epsilon=epsilon,
        recent=None if recent is None else seconds_of(recent),
        start=int(first),
        lifetime=lifetime,
    )


def questions_of(text: str | None) -> list[str] | None:
    """Split a list of names at its commas.

    >>> questions_of("start, trips")
    ['start', 'trips']
    """
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


AtOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TIME",
        help="End of the period whose reports a tally counts, such as 2027-03-01; give --at once for each "
        "tally, in the order of the files.",
    ),
]
RememberOption = Annotated[
    str,
    typer.Option(
        metavar="auto|forever|DURATION",
        help="With --at, the age at which a report has half the weight of a new one, such as 30d; "
        "auto: chosen so that older tallies best predict newer ones; forever: equal weights.",
    ),
]


def estimates_of(plan: Plan, paths: list[Path], at: list[str] | None, remember: str) -> Estimates:
    """Compute estimates from files of tallies. With times, the estimates are for the last time, and changes are
    printed."""
    from ldptrace.curator import Estimates, Tally
    from ldptrace.curator.memory import Memory, remembered

    tallies = [read_as(path, Tally.from_json) for path in paths]
    if at is None:
        if remember != "forever":
            raise InputError("--remember needs the times of the tallies: give --at TIME for each")
        return Estimates.from_tallies(plan, tallies)

    if len(at) != len(tallies):
        raise InputError(
            f"there are {len(tallies)} tallies and {len(at)} times: give --at TIME for each tally"
        )
    steps = [(moment("--at", text, zoned=False), tally) for text, tally in zip(at, tallies, strict=True)]
    memory, changes = Memory.of(plan, steps, remembered(remember))
    for change in changes:
        note(f"Change: {change}.")
    note(f"{len(tallies)} steps, remembered {memory.words}: {memory.effective:,.0f} effective reports")
    return memory.estimates
