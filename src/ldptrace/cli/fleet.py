"""`ldptrace fleet`: simulated devices, to try a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ldptrace.cli.common import counted, note
from ldptrace.cli.options import with_options
from ldptrace.cli.serve import clock_of
from ldptrace.core.reading import Reading
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories

# Trips of a generated city that are drawn at most; a larger fleet repeats them.
MOST_TRIPS = 20_000


@with_options(reading=Reading, only=("format", "crs", "x", "y", "t", "id", "user", "timezone", "month_first"))
def fleet(
    *,
    url: str = typer.Option(help="Address of the server."),
    campaign: str = typer.Option(help="Name of the campaign that the devices answer."),
    users: int = typer.Option(min=1, help="Number of simulated devices."),
    reading: Reading,
    source: Path | None = typer.Option(
        None,
        "--input",
        help="File of trips, one for each simulated device; by default trips of a generated city.",
    ),
    duplicates: float = typer.Option(0.0, help="Share of devices that send their report twice."),
    drops: float = typer.Option(0.0, help="Share of devices that lose a request or a response, and retry."),
    garbage: float = typer.Option(0.0, help="Share of devices that also send invalid bytes."),
    seed: int | None = typer.Option(
        None,
        min=0,
        help="Seed of the trips and the simulated faults; the noise in reports never depends on a seed.",
    ),
    concurrency: int = typer.Option(
        64, min=1, max=2_000, help="Number of connections that are open at the same time."
    ),
    patience: float = typer.Option(
        600.0, min=0, help="Give up after this many seconds without a response of the server."
    ),
    admission: Path | None = typer.Option(
        None,
        help="File of admission codes, with one line of codes for each device; each code admits one report.",
    ),
    windows: int | None = typer.Option(
        None, min=1, help="Number of time windows of a standing campaign that the devices answer."
    ),
    trial_clock: str | None = typer.Option(
        None,
        metavar="START,RATE,SINCE",
        help="For trials: the clock of the server, with the same value as in `serve --trial-clock`.",
    ),
) -> None:
    """Simulate devices that answer a campaign over HTTP. The exit status is 0 if the server acknowledged all reports.

    With --windows, for a standing campaign, simulated devices wait a random time before they send a report, as real
    devices do. Without --windows, simulated devices send immediately.
    """
    import asyncio

    from ldptrace.server.fleet import Faults, Fleet, Outcome, city_trips, run_fleet
    from ldptrace.server.standing_fleet import run_standing_fleet

    faults = Faults(duplicates, drops, garbage)
    sheets = None
    if admission is not None:
        # Of each device one line, with a code for each answer.
        lines = admission.read_text(encoding="ascii").splitlines()
        sheets = [line.split() for line in lines if line.strip()]
    trips = city_trips(min(users, MOST_TRIPS), seed) if source is None else _from_file(source, reading)
    with counted("devices") as show:
        total = users * (windows or 1)

        def progress(done: Outcome) -> None:
            show("", done.acknowledged, total)

        devices = Fleet(url, campaign, faults, seed, patience, note, concurrency, sheets, progress)
        if windows is None:
            outcome = asyncio.run(run_fleet(devices, trips, users))
        else:
            clock = clock_of(trial_clock)
            outcome = asyncio.run(run_standing_fleet(devices, trips, users, windows, clock))
    events = ", ".join(f"{count:,} {event}" for event, count in sorted(outcome.events.items()))
    note(
        f"{outcome.acknowledged:,} of {outcome.devices:,} {'answers' if windows else 'devices'} acknowledged in "
        f"{outcome.seconds:.1f} s, {outcome.acknowledged / max(outcome.seconds, 1e-9):,.0f} per second"
        + (f"; {events}" if events else "")
    )
    for problem, count in outcome.refused.most_common():
        note(f"  {count:,} refused: {problem}")
    if windows is not None:
        for window, count in sorted(outcome.windows.items()):
            note(f"  window {window}: {count:,} answers")
        note(f"  no device gave more than epsilon {float(outcome.most_given):g}")
        if outcome.missed:
            note(
                f"  {outcome.missed:,} windows were over before their device came: choose a slower trial clock"
            )
    if not outcome.complete:
        raise typer.Exit(1)


def _from_file(path: Path, reading: Reading) -> Callable[[Plan], Trajectories]:
    """Read the trips of the devices. No trip is omitted; the devices move points outside the bounds to the border."""
    from ldptrace.core.crs import same_crs
    from ldptrace.io import read_with_account

    trajectories, _ = read_with_account(path, reading)

    def trips(plan: Plan) -> Trajectories:
        if plan.crs is not None and trajectories.crs is not None and not same_crs(trajectories.crs, plan.crs):
            raise InputError(
                f"the plan's bounds are in {plan.crs}, the trajectories of {path} in {trajectories.crs}"
            )
        return trajectories

    return trips
