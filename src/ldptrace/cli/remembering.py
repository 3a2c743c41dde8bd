"""Tallies with their times: options and estimates of commands that remember."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.common import note, read_as
from ldptrace.cli.own import moment
from ldptrace.errors import InputError

if TYPE_CHECKING:
    from ldptrace.curator.estimates import Estimates
    from ldptrace.protocol.plan import Plan

AtOption = Annotated[
    list[str] | None, typer.Option(metavar="TIME", help="Time of each tally, in the order of the tallies.")
]
RememberOption = Annotated[
    str,
    typer.Option(
        metavar="auto|forever|DURATION",
        help="With --at: half-life of a report's weight; auto chooses the one that predicts the next tally best.",
    ),
]


def estimates_of(plan: Plan, paths: list[Path], at: list[str] | None, remember: str) -> Estimates:
    """Estimates from files of tallies; with their times, those of the last one, and changes are printed."""
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
