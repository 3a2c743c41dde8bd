"""Options of standing plans: windows, their lifetime, and which questions are asked."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import typer

from ldptrace.cli.own import moment
from ldptrace.errors import InputError
from ldptrace.protocol.standing import START, Standing

EveryOption = Annotated[
    str | None,
    typer.Option(
        metavar="DURATION",
        help="A standing plan: one answer in every window of this length, such as 7d or 12h.",
    ),
]
RecentOption = Annotated[
    str | None,
    typer.Option(
        metavar="DURATION", help="How old a trip in an answer may be; by default as long as --every."
    ),
]
StartOption = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="When the first window starts; by default 1970-01-05T00:00Z."),
]
LifetimeOption = Annotated[
    str | None,
    typer.Option(
        metavar="E", help="Largest epsilon of all answers of a device; by default that of ten answers."
    ),
]
QuestionsOption = Annotated[
    str | None, typer.Option(metavar="A,B,C", help="Ask only these questions, such as visits,length.")
]


def standing_of(
    epsilon: Fraction, every: str | None, recent: str | None, start: str | None, lifetime: str | None
) -> Standing | None:
    """The windows that the options describe; None for a plan that is answered once.

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
    """Names in a list with commas.

    >>> questions_of("start, trips")
    ['start', 'trips']
    """
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
