"""Options for tallies with their times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.common import note, read_as
from ldptrace.errors import InputError
from ldptrace.protocol.units import moment

if TYPE_CHECKING:
    from ldptrace.curator.estimates import Estimates
    from ldptrace.protocol.plan import Plan


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
