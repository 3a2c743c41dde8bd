"""`ldptrace report`, `tally` and `estimate`: a real collection, step by step."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from time import time as system_clock
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.common import (
    check_outputs,
    note,
    read_as,
    table_console,
    typed_path,
    was_typed,
    write_text,
)
from ldptrace.cli.options import with_options
from ldptrace.cli.own import default_ledger, own_trips
from ldptrace.core.atomic import atomic_path
from ldptrace.core.reading import Reading
from ldptrace.core.running import Running
from ldptrace.core.words import count
from ldptrace.device.files import OwnTrips
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.units import moment

if TYPE_CHECKING:
    from ldptrace.curator.estimates import Estimates
    from ldptrace.curator.tally import Tally

PlanOption = Annotated[Path, typer.Option(help="File of the plan of the collection.")]
RoundOption = Annotated[
    int | None,
    typer.Option(
        "--round",
        min=1,
        help="Number of the round, from 1, if the plan asks devices in several rounds; by default the newest.",
    ),
]
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
# Bytes of a report file that are read at a time.
CHUNK = 1 << 24
# Items that `estimate` prints of each question.
SHOWN = 8


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
    from ldptrace.device import Ledger, Reporter
    from ldptrace.device.explanation import explain_ledger, explain_report, explain_spent, plan_words

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
    book = Ledger(ledger or default_ledger(), limit, shuffled=shuffled, **allowed)
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


def _refuse_nothing(codes: Mapping[int, int]) -> None:
    """Raise an error if not one of the reports answers the plan. Reports that were counted before, or that belong to
    another window, are no sign of a mistake."""

    fine = {0, Problem.DUPLICATE.number, Problem.WRONG_WINDOW.number}
    if not codes or any(codes[code] for code in fine & set(codes)):
        return
    why = "; ".join(
        f"{number:,} {problem.code} ({problem.sentence.rstrip('.')})"
        for number, problem in ((codes[code], Problem.of_number(code)) for code in sorted(codes))
    )
    raise InputError(f"none of {count(sum(codes.values()), 'report')} can be counted: {why}")


@with_options(running=Running, only=("engine",))
def tally(
    *,
    reports: list[Path] = typer.Argument(
        parser=typed_path,
        help="Files of reports, or folders of such files; each file has one or many reports.",
    ),
    plan: PlanOption,
    running: Running,
    output: Path | None = typer.Option(
        None, "-o", "--out", help="File for the tally; by default standard output."
    ),
    ids: Path | None = typer.Option(
        None,
        help="File of the ids of counted reports, so that no report is counted twice; the command adds the new ids to "
        "the file.",
    ),
    round_number: RoundOption = None,
    window: int | None = typer.Option(
        None,
        min=0,
        help="Number of a time window of a standing plan; reports about other time windows are not counted.",
    ),
) -> None:
    """Count reports. The command omits each report that cannot be counted, and prints the problem.

    REPORTS are files, or folders of files; with --engine spark, also patterns that Spark can read.
    """
    from ldptrace.curator.tally import findings

    chosen = read_plan(plan)
    number = len(chosen.rounds) - 1 if round_number is None else round_number - 1
    check_outputs([output, ids], [plan, *reports])
    known = None if ids is None else ids.read_bytes() if ids.exists() else b""
    count_all = _tally_on_cluster if running.spark else _tally_here
    counted, codes, seen = count_all(reports, chosen, number, known, window)
    _refuse_nothing(codes)
    if ids is not None:
        with atomic_path(ids) as temporary:
            temporary.write_bytes(seen)
    write_text(counted.to_json(), output)
    note(f"{codes[0]:,} of {count(sum(codes.values()), 'report')} counted")
    for code in sorted(code for code in codes if code):
        problem = Problem.of_number(code)
        note(f"  {codes[code]:,} omitted, {problem.code}: {problem.sentence}")
    for finding in findings(chosen, counted):
        note(f"  suspicious: {finding}")


def _tally_here(
    reports: list[Path], plan: Plan, number: int, known: bytes | None, window: int | None
) -> tuple[Tally, Counter[int], bytes]:
    """Count files of reports on this machine.

    Returns the tally, the number of reports with each problem (0: counted), and the ids of all counted reports.
    `known` are the ids of reports that were counted before; with None, ids are not returned.
    """
    from ldptrace.curator.receive import Receiver
    from ldptrace.protocol.reports import report_bytes

    receiver = Receiver(plan, number, known or b"", window)
    size = report_bytes(plan.rounds[number])
    codes: Counter[int] = Counter()
    listed = [
        sorted(one for one in Path(path).glob("[!.]*") if one.is_file()) if path.is_dir() else [path]
        for path in reports
    ]
    for path in chain.from_iterable(listed):
        with sys.stdin.buffer if str(path) == "-" else open(path, "rb") as file:
            while batch := file.read(CHUNK // size * size or size):
                codes.update(receiver.receive(batch).tolist())
    return receiver.tally, codes, receiver.ids


def _tally_on_cluster(
    reports: list[Path], plan: Plan, number: int, known: bytes | None, window: int | None
) -> tuple[Tally, Counter[int], bytes]:
    """Count files of reports with Spark. The result is the same as that of `_tally_here`."""
    from ldptrace.engines.spark import Spark, address
    from ldptrace.engines.spark_reports import all_ids, receive_files

    if any(str(path) == "-" for path in reports):
        raise InputError("a cluster reads files, not standard input: give paths that Spark can read")
    with Spark.start() as spark:
        names = [address(path) for path in reports]
        found = receive_files(
            spark, names, plan, number, known or b"", window=window, with_ids=known is not None
        )
    return found.tally, found.codes, b"" if known is None else all_ids(found, known)


def estimate(
    *,
    tallies: list[Path] = typer.Argument(
        help="Files of tallies of the plan; the counts of tallies of the same round are added."
    ),
    plan: PlanOption,
    output: Path | None = typer.Option(None, "-o", "--out", help="File for all estimates, as JSON."),
    at: AtOption = None,
    remember: RememberOption = "forever",
    population: float | None = typer.Option(
        None,
        metavar="PEOPLE",
        help="Number of people in the region; the command then also prints how many trips all these people make. "
        "Needs a plan with the question named trips.",
    ),
) -> None:
    """Estimate from tallies (counted reports) the share of users for each possible answer, such as a cell or an hour.

    With --at, the command also lists changes of the answers over time that are larger than noise, and --remember can
    give older reports less weight.
    """
    from rich.table import Table

    from ldptrace.core.times import OWN_CLOCKS
    from ldptrace.curator.trips import trips_per_person
    from ldptrace.protocol.words import item_words

    check_outputs([output], [plan, *tallies])
    chosen = read_plan(plan)
    estimates = estimates_of(chosen, tallies, at, remember)
    trips = trips_per_person(estimates)
    if population is not None and trips is None:
        raise InputError("--population scales the number of trips, and nobody was asked the question trips")
    if output is not None:
        write_text(estimates.to_json(), output)
    console = table_console(output)
    unasked = [name for name, found in estimates.items() if found.users == 0]
    for found in estimates.values():
        if found.users == 0:
            continue
        table = Table(
            title=f"{found.question.name}: {count(found.users, 'user')}, {count(found.question.domain, 'item')}"
        )
        for column in ("item", "users per user asked", "standard error"):
            table.add_column(column, justify="left" if column == "item" else "right")
        order = sorted(range(found.question.domain), key=lambda item: -found.frequencies[item])
        for item in order[:SHOWN]:
            words = item_words(found.question, item)
            table.add_row(words, f"{found.frequencies[item]:.4f}", f"{found.std_errors[item]:.4f}")
        console.print(table)
    if any(found.question.about_time and found.users for found in estimates.values()):
        console.print(OWN_CLOCKS, soft_wrap=True)
    for said in [] if trips is None else trips.words(population):
        console.print(said, soft_wrap=True)
    if unasked:
        console.print(f"Nobody answered: {', '.join(unasked)}.", soft_wrap=True)


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


def read_plan(path: Path) -> Plan:
    """Read the plan in a file."""
    return read_as(path, Plan.from_json)
