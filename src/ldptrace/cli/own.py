"""`ldptrace report`: the device of the person at the command line, with its trips, its clock and its ledger."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from time import time as system_clock
from typing import TYPE_CHECKING

import typer

from ldptrace.cli.common import PlanOption, RoundOption, check_outputs, note, read_as, was_typed
from ldptrace.cli.options import with_options
from ldptrace.core.atomic import atomic_path
from ldptrace.core.reading import Reading
from ldptrace.device import Ledger, Reporter
from ldptrace.device.explanation import explain_ledger, explain_report, explain_spent, plan_words
from ldptrace.device.files import OwnTrips, own_clock, trips_of
from ldptrace.device.track import Recording
from ldptrace.errors import InputError
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.units import moment

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories


@with_options(reading=Reading, only=("format", "crs", "x", "y", "t", "id", "timezone", "month_first"))
def report(
    context: typer.Context,
    plan: PlanOption,
    reading: Reading,
    trajectory: Path | None = typer.Option(
        None, help="File of the person's own trips; if the file has several trips, one is drawn at random."
    ),
    output: Path | None = typer.Option(None, "-o", "--out", help="File for the report."),
    explain: bool = typer.Option(
        False,
        "--explain",
        help="Print in plain words what leaves the device and how much that reveals about the trip.",
    ),
    ledger: Path | None = typer.Option(
        None,
        envvar="LDPTRACE_LEDGER",
        help="Ledger: the file that records which plans this person answered and how much epsilon each answer cost.",
    ),
    limit: str | None = typer.Option(
        None,
        help="Largest epsilon that this person allows for all plans together, stored in the ledger (see --ledger); "
        "epsilon 5 if it was never set.",
    ),
    local_limit: str | None = typer.Option(
        None,
        help="Largest epsilon of all plans together if a shuffler and a curator work together, stored in the ledger; "
        "30 if it was never set, or the limit if that is larger.",
    ),
    most_local: str | None = typer.Option(
        None,
        help="Largest epsilon of one answer to a shuffled plan in that case, stored in the ledger; 6 if it was never "
        "set.",
    ),
    shuffled: bool | None = typer.Option(
        None,
        "--shuffled/--no-shuffled",
        help="Whether this person answers shuffled plans at all, stored in the ledger; yes if it was never said.",
    ),
    plan_id: str | None = typer.Option(None, help="Refuse the plan unless it has this id."),
    sent: bool = typer.Option(
        False,
        "--sent",
        help="Record in the ledger (see --ledger) that the server has received the report; the command then never "
        "writes this report again.",
    ),
    now: str | None = typer.Option(
        None,
        metavar="TIME",
        help="For trials of a standing plan: use this time instead of the current time; give a time zone, or Unix "
        "seconds. Needs --ledger.",
    ),
    round_number: RoundOption = None,
) -> None:
    """Answer a plan for one person, as a device does.

    The command stores the report in the ledger (the person's record of spent epsilon) before it writes the report to a
    file. Until you give --sent, a second call writes the same report again, even for another trip. With --explain and
    without --out, the command only prints what the plan asks, and what the device would make of the trips.

    A standing plan is answered once in every time window. The first call for a standing plan writes no report: it
    records in the ledger that the person takes part. Each later call writes a report about one trip in the time window
    that ended last. If no answer is due, the command prints when the next answer is due.

    The report to a shuffled plan is written sealed: only the curator can read it, and it goes to the shuffler that the
    plan names.
    """
    if not (explain or sent or output is not None):
        raise InputError("say what to do: -o FILE writes the report, --explain shows what it would be")
    if output is not None and trajectory is None:
        raise InputError("a report needs the trajectory it is about: give --trajectory FILE")
    if now is not None and not was_typed(context, "ledger"):
        raise InputError("--now is for trials, which must not change the usual ledger: give --ledger FILE")
    check_outputs([output], [plan, *([trajectory] if trajectory else [])])
    clock = system_clock() if now is None else moment("--now", now)
    own = OwnTrips((), reading.crs) if trajectory is None else own_trips(trajectory, reading)
    trips = own.recordings
    allowed = {"local_limit": local_limit, "most_local": most_local}
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    book = Ledger(ledger or Path(home, "ldptrace", "ledger.json"), limit, shuffled=shuffled, **allowed)
    reporter = read_as(plan, partial(Reporter.from_document, plan_id=plan_id, crs=own.crs, ledger=book))
    number = reporter.number(None if round_number is None else round_number - 1)
    if trajectory is not None and not trips:
        note(f"{trajectory}: no trip was found in it, and the device answers that there is none")
        if own.reason is not None:
            note(own.reason)
    words = []
    if explain:
        words = reporter.explain(None if trajectory is None else trips, number, clock)
        if trips and any(ask.question.about_time for ask in reporter.plan.rounds[number].asks):
            words.append(f"Hours are those of {own.timezone or 'the clock of this device'}.")
    done = ""
    if output is not None:
        note(plan_words(book, reporter.plan))
        try:
            data = reporter.report(trips, number, clock)
        except PlanRefused as refusal:
            if refusal.problem is not Problem.PLAN_NOT_DUE:
                raise
            done = f"nothing written: {explain_ledger(book, reporter.plan, clock)[-1]}"
        else:
            with atomic_path(output) as temporary:
                temporary.write_bytes(data)
            words += explain_report(reporter.plan, data) if explain else []
            spent = explain_spent(book, reporter.plan)
            done = f"{len(data)} bytes written to {output}; ledger {book.path}: {spent}"
    if words:
        typer.echo("\n".join(words), err=str(output) == "-")
    if done:
        note(done)
    if sent:
        reporter.sent(number)
        note(f"round {number + 1} of plan {reporter.plan.id[:12]} will not be answered again")


def own_trips(path: Path, reading: Reading) -> OwnTrips:
    """Read the person's trajectories, GPX and GeoJSON as `ldptrace-device` does.

    A file that does not exist and a format that is not known from the name or from `format` are errors. The content of
    a file is never an error: a file that is broken, or that has no usable trajectory, means "no trip", which the device
    answers like any other trip. An error would be silence, and silence would reveal that there is no trip. For the same
    reason, the coordinate system follows from the format of the file, not from its points.
    """
    from ldptrace.io.formats import FORMATS, named, of_path

    format = reading.format
    if format is not None:
        named(format)
    if str(path) == "-":
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "stdin")
            copy.write_bytes(sys.stdin.buffer.read())
            return _read(copy, reading)
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    if format is None and of_path(path) is None and path.is_file() and path.suffix.lower() != ".zip":
        raise InputError(
            f"{path}: the format is not known from the name; give it with --format as one of {', '.join(FORMATS)}"
        )
    return _read(path, reading)


def _read(path: Path, reading: Reading) -> OwnTrips:
    from ldptrace.io.files import read, stated_crs
    from ldptrace.io.formats import files_of

    format, crs = reading.format, reading.crs
    plain = replace(reading, format=None, crs=None) == Reading()
    try:
        with files_of(path, format) as (kind, files):
            if plain and kind.name in ("gpx", "geojson") and len(files) == 1 and files[0].suffix != ".gz":
                trips = trips_of(files[0].read_bytes(), gpx=kind.name == "gpx")
                return trips.changed(crs=crs or trips.crs)
        options = {name: getattr(reading, name) for name in ("timezone", "month_first")}
        trajectories = read(path, format=format, crs=crs, **asdict(reading.names), **options)
        recordings = tuple(_recording(trajectories, number) for number in range(len(trajectories)))
        return OwnTrips(recordings, crs or stated_crs(path, format), trajectories.timezone)
    except OSError:
        raise
    except Exception as error:  # anything that a reader meets in the content, the device answers
        with suppress(InputError):
            crs = crs or stated_crs(path, format)
        return OwnTrips((), crs, reason=str(error))


def _recording(trips: Trajectories, number: int) -> Recording:
    """Return one trajectory with times on the clocks of its zone, or on the device's own clock, and when it arrived."""
    from ldptrace.core.times import to_local

    part = slice(int(trips.offsets[number]), int(trips.offsets[number + 1]))
    x, y = trips.x[part].tolist(), trips.y[part].tolist()
    if trips.t is None:
        return Recording(list(zip(x, y, strict=True)), None)
    t = trips.t[part].tolist()
    arrival = None if not t or math.isnan(t[-1]) else t[-1]
    zone = trips.timezone
    clock = [own_clock(seconds) for seconds in t] if zone is None else to_local(trips.t[part], zone).tolist()
    return Recording(list(zip(x, y, clock, strict=True)), arrival)
