"""`ldptrace tally`, `estimate`, `fit` and `sample`: from reports to synthetic trips, step by step."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.common import (
    PlanOption,
    Progress,
    RoundOption,
    ToOption,
    check_outputs,
    note,
    read_as,
    table_console,
    typed_path,
    write_text,
)
from ldptrace.cli.options import with_options
from ldptrace.core.atomic import atomic_path, check_folder, is_folder
from ldptrace.core.drawing import Drawing, Ways
from ldptrace.core.running import Running
from ldptrace.core.words import count
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem
from ldptrace.protocol.reports import report_bytes
from ldptrace.protocol.units import moment
from ldptrace.protocol.words import item_words
from ldptrace.streams.settings import remembered

if TYPE_CHECKING:
    from ldptrace.curator.estimates import Estimates
    from ldptrace.curator.tally import Tally

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

    chosen = read_as(plan, Plan.from_json)
    number = len(chosen.rounds) - 1 if round_number is None else round_number - 1
    check_outputs([output, ids], [plan, *reports])
    known = None if ids is None else ids.read_bytes() if ids.exists() else b""
    count_all = _tally_on_cluster if running.spark else _tally_here
    counted, codes, seen = count_all(reports, chosen, number, known, window)
    omitted = {Problem.of_number(code): codes[code] for code in sorted(codes) if code}
    # Reports that were counted before, or that belong to another window, are no sign of a mistake.
    if omitted and not codes[0] and not {Problem.DUPLICATE, Problem.WRONG_WINDOW} & omitted.keys():
        why = "; ".join(
            f"{n:,} {problem.code} ({problem.sentence.rstrip('.')})" for problem, n in omitted.items()
        )
        raise InputError(f"none of {count(codes.total(), 'report')} can be counted: {why}")
    if ids is not None:
        with atomic_path(ids) as temporary:
            temporary.write_bytes(seen)
    write_text(counted.to_json(), output)
    note(f"{codes[0]:,} of {count(codes.total(), 'report')} counted")
    for problem, n in omitted.items():
        note(f"  {n:,} omitted, {problem.code}: {problem.sentence}")
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
    from ldptrace.engines.spark_reports import receive_files

    if any(str(path) == "-" for path in reports):
        raise InputError("a cluster reads files, not standard input: give paths that Spark can read")
    with Spark.start() as spark:
        return receive_files(spark, [address(path) for path in reports], plan, number, known, window)


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
    from ldptrace.curator.estimates import trips_per_person

    check_outputs([output], [plan, *tallies])
    chosen = read_as(plan, Plan.from_json)
    estimates = estimates_of(chosen, tallies, at, remember)
    trips = trips_per_person(estimates)
    if population is not None and trips is None:
        raise InputError("--population scales the number of trips, and nobody was asked the question trips")
    if output is not None:
        write_text(estimates.to_json(), output)
    console = table_console(output)
    unasked = [name for name, answers in estimates.items() if answers.users == 0]
    for answers in estimates.values():
        if answers.users == 0:
            continue
        table = Table(
            title=f"{answers.question.name}: {count(answers.users, 'user')}, {count(answers.question.domain, 'item')}"
        )
        for column in ("item", "users per user asked", "standard error"):
            table.add_column(column, justify="left" if column == "item" else "right")
        order = sorted(range(answers.question.domain), key=lambda item: -answers.frequencies[item])
        for item in order[:SHOWN]:
            words = item_words(answers.question, item)
            table.add_row(words, f"{answers.frequencies[item]:.4f}", f"{answers.std_errors[item]:.4f}")
        console.print(table)
    if any(answers.question.about_time and answers.users for answers in estimates.values()):
        console.print(OWN_CLOCKS, soft_wrap=True)
    for sentence in [] if trips is None else trips.words(population):
        console.print(sentence, soft_wrap=True)
    if unasked:
        console.print(f"Nobody answered: {', '.join(unasked)}.", soft_wrap=True)


def estimates_of(plan: Plan, paths: list[Path], at: list[str] | None, remember: str) -> Estimates:
    """Compute estimates from files of tallies. With times, the estimates are for the last time, and changes are
    printed."""
    from ldptrace.curator import Estimates, Tally
    from ldptrace.curator.memory import Memory

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


@with_options(ways=Ways)
def fit(
    *,
    sources: list[Path] = typer.Argument(
        metavar="ESTIMATES", help="File that `ldptrace estimate` wrote; or files of tallies, with --plan."
    ),
    output: Path = typer.Option(..., "-o", "--out", help="File for the model."),
    ways: Ways,
    plan: Path | None = typer.Option(
        None, help="File of the plan of the collection; needed if the input files are tallies."
    ),
    at: AtOption = None,
    remember: RememberOption = "forever",
) -> None:
    """Fit a mobility model to estimates, and write the model to a file.

    The command `ldptrace sample` draws synthetic trips from this model file.
    """
    from ldptrace.core.times import OWN_CLOCKS
    from ldptrace.curator import Estimates
    from ldptrace.methods.public import Public
    from ldptrace.models import fit_model
    from ldptrace.models.routes.options import StreetOptions
    from ldptrace.models.space_time import TimedModel

    check_outputs([output], sources)
    if plan is None and (len(sources) > 1 or at is not None or remember != "forever"):
        raise InputError("several files, --at and --remember are for tallies: give their plan with --plan")
    if ways.off_streets == "never" and ways.roads is None and ways.routes is None:
        raise InputError("--off-streets has a meaning only with a map: give --roads or --routes")
    with Progress() as stages:
        with stages("read"):
            if plan is None:
                estimates = read_as(sources[0], Estimates.from_json)
            else:
                estimates = estimates_of(read_as(plan, Plan.from_json), sources, at, remember)
            public = Public.of(ways.area, ways.roads, ways.routes)
        with stages("fit model"):
            model = fit_model(
                estimates,
                public.area,
                public.ways,
                streets=None if public.ways is None else StreetOptions(off_streets=ways.off_streets),
                progress=stages.tell,
            )
        with stages("write"):
            model.save(output)
    typer.echo(model.explain(), err=str(output) == "-")
    if isinstance(model, TimedModel):
        note(OWN_CLOCKS)
    note(f"a {model.kind} model on {model.grid.n} x {model.grid.n} cells: {output}")


@with_options(drawing=Drawing)
def sample(
    *,
    model: Path = typer.Argument(help="File of the model, as `ldptrace fit` writes it."),
    output: Path = typer.Option(..., "-o", "--out", help="File for the synthetic trips."),
    count: int = typer.Option(min=0, help="Number of synthetic trips."),
    drawing: Drawing,
    sample_seed: int | None = typer.Option(
        None,
        min=0,
        help="Seed for drawing trips from the model; it does not weaken privacy. With the sample seed that a release "
        "states, the command draws the trips of the release again.",
    ),
    to: ToOption = None,
) -> None:
    """Draw any number of synthetic trips from a model. Drawing more trips costs no epsilon."""
    import secrets

    import numpy as np

    from ldptrace.core.times import zone_words
    from ldptrace.core.words import count as counted
    from ldptrace.engines.local import write_drawn
    from ldptrace.io.formats import for_writing
    from ldptrace.methods.release import Release
    from ldptrace.models.space_time import TimedModel

    folder = is_folder(output)
    if folder:
        check_folder(output)
    else:
        for_writing(output, to)
    check_outputs([None if folder else output], [model])
    with Progress() as stages:
        with stages("read"):
            loaded = Release.load(model)
            release = replace(loaded, drawing=drawing.or_else(loaded.drawing))
        with stages("synthesise and write"):
            seed = secrets.randbits(63) if sample_seed is None else sample_seed
            draw, labels = release.draw(count, np.random.default_rng(seed)), release.labels(seed)
            write_drawn(draw, output, labels, to)
    note(f"{counted(count, 'synthetic trajectory')} from a {release.model.kind} model: {output}")
    if isinstance(release.model, TimedModel):
        dates, promise = release.calendar is not None, labels["provenance"]
        note(zone_words(labels["timezone"], dates=dates, promise=promise))
