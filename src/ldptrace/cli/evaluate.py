"""`ldptrace evaluate` and `ldptrace attack`: how good and how private synthetic sets are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.common import (
    JsonOption,
    Progress,
    check_outputs,
    note,
    read_input,
    table_console,
    typed_path,
    write_text,
)
from ldptrace.cli.options import with_options, with_reading
from ldptrace.core.reading import Names, Reading
from ldptrace.core.running import Running
from ldptrace.evaluation.settings import Judging, Settings

if TYPE_CHECKING:
    from rich.table import Table

    from ldptrace.core.trajectories import Trajectories
    from ldptrace.engines.base import Crowd


RealArgument = Annotated[
    Path, typer.Argument(parser=typed_path, metavar="REAL", help="File or folder of the real trips.")
]
SyntheticArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="SYN...",
        help="Files or folders of synthetic trips. NAME=FILE gives a file a name; files with equal "
        "names are runs of one method.",
    ),
]


@with_reading(settings=Settings, running=Running)
def evaluate(
    real: RealArgument,
    synthetic: SyntheticArgument,
    reading: Reading,
    settings: Settings,
    running: Running,
    json_file: JsonOption = None,
    html_file: Path | None = typer.Option(None, "--html", help="File for the scorecard as one HTML page."),
    csv_file: Path | None = typer.Option(
        None, "--csv", help="File for all values of the scorecard as CSV; - writes to standard output."
    ),
    tex_file: Path | None = typer.Option(
        None, "--tex", help="File for the metrics as a LaTeX table; - writes to standard output."
    ),
    corrected: bool = typer.Option(
        False,
        "--corrected",
        help="Also print variants of the LDPTrace paper's metrics that correct questionable details of their "
        "definitions.",
    ),
) -> None:
    """Compare synthetic trips with real trips by metrics and attacks, and print a scorecard.

    For each metric, the scorecard also shows the value of a random sample of the real trips, which is the best value
    that a method can reach. A scorecard is computed from real trips without noise, so do not publish it.

    Without --bounds, the bounds are the smallest rectangle around the real points.
    """
    from ldptrace.evaluation.evaluator import evaluate as measure

    named, paths = named_files(synthetic)
    check_outputs([json_file, html_file, csv_file, tex_file], [real, *paths])
    with Progress() as stages, ExitStack() as resources:
        with stages("read"):
            sets = open_sets(running, real, paths, reading, resources)
        card = measure(
            sets[0],
            *sets[1:],
            **vars(settings),
            bounds=reading.bounds,
            timezone=reading.timezone,
            names=named,
            outside=reading.outside,
            stages=stages,
        )
        tell_what_was_read(sets)
        with stages("write"):
            if html_file is not None:
                card.to_html(html_file)
            printed = None
            for path, face in ((json_file, card.to_json), (csv_file, card.to_csv), (tex_file, card.to_tex)):
                if path is not None:
                    text = face(None if str(path) == "-" else path)
                    printed = text if str(path) == "-" else printed
    show([card.table(corrected=corrected)] + ([card.attack_table()] if settings.attacks else []), printed)
    for said in card.verdicts():
        note(said)
    for said in card.remarks():
        note(f"note: {said}")
    if html_file is not None:
        note(f"scorecard page: {html_file}")


@with_options(
    without=("min_points", "split_gap", "timezone"), reading=Reading, judging=Judging, running=Running
)
def attack(
    real: RealArgument,
    synthetic: SyntheticArgument,
    reading: Reading,
    judging: Judging,
    running: Running,
    json_file: JsonOption = None,
    html_file: Path | None = typer.Option(
        None, "--html", help="File for the results of the attacks as one HTML page."
    ),
) -> None:
    """Run two attacks on synthetic trips: re-identify users, and find the real trips behind unusual synthetic trips.

    For comparison, the command runs the same attacks on the real trips themselves and on random walks.
    """
    from ldptrace.evaluation.evaluator import resilience
    from ldptrace.evaluation.scorecard import attack_table
    from ldptrace.evaluation.texts import json_text
    from ldptrace.pages import attack_page

    named, paths = named_files(synthetic)
    check_outputs([json_file, html_file], [real, *paths])
    with Progress() as stages, ExitStack() as resources:
        with stages("read"):
            sets = open_sets(running, real, paths, reading, resources)
        attacks = resilience(
            sets[0],
            *sets[1:],
            **vars(judging),
            bounds=reading.bounds,
            names=named,
            outside=reading.outside,
            stages=stages,
        )
        tell_what_was_read(sets)
        document = {"sets": [{"name": name, "attacks": both} for name, both in attacks.items()]}
        text = json_text({"attacks": document["sets"][0]["attacks"]} | document)
        if html_file is not None:
            write_text(attack_page(json.loads(text)), html_file)
        if json_file is not None and str(json_file) != "-":
            write_text(text, json_file)
    show([attack_table(attacks)], text if str(json_file) == "-" else None)
    if html_file is not None:
        note(f"attacks page: {html_file}")


def open_sets(
    running: Running, real: Path, synthetic: list[Path], reading: Reading, resources: ExitStack
) -> list[Crowd | Trajectories]:
    """Open the real set and the synthetic sets, in memory if they fit.

    The memory is divided between the sets. The sets are not cut at the bounds of the comparison. Named columns and
    `--split-gap` apply to the real set only.
    """
    from ldptrace.engines.files import open_sources

    reading = replace(reading, bounds=None)
    others = replace(reading, names=Names(), split_gap=None)
    wanted = [(real, reading), *((path, others) for path in synthetic)]
    crowds, _ = open_sources(wanted, running, resources)
    return [crowd or read_input(*each) for crowd, each in zip(crowds, wanted, strict=True)]


def tell_what_was_read(sets: Sequence[Crowd | Trajectories]) -> None:
    """Print the account of each set that was read block by block. The accounts of other sets are already printed."""
    from ldptrace.engines.base import Crowd

    for item in sets:
        if isinstance(item, Crowd):
            note(item.account.line())


def show(tables: list[Table], text: str | None) -> None:
    """Print tables to stdout. If JSON goes to stdout, print the tables to stderr."""
    console = table_console(None if text is None else Path("-"))
    for number, table in enumerate(tables):
        console.print(*([""] if number else []), table, sep="\n")
    if text is not None:
        typer.echo(text)


def named_files(given: list[str]) -> tuple[list[str], list[Path]]:
    """Return the names and paths of `FILE` and `NAME=FILE`. Given names may be equal; names made from files differ.

    >>> named_files(["paper=a.csv", "paper=b.csv", "y.csv"])[0]
    ['paper', 'paper', 'y']
    """
    split = [
        text.partition("=") if "=" in text and not Path(text).exists() else ("", "", text) for text in given
    ]
    paths = [typed_path(path) for *_, path in split]
    return [name or usual for (name, *_), usual in zip(split, names(paths), strict=True)], paths


def names(paths: list[Path]) -> list[str]:
    """Make short names of files, with the folder or a number if two names would be equal.

    >>> names([Path("a/x.csv"), Path("b/x.csv"), Path("y.csv")])
    ['a/x', 'b/x', 'y']
    """
    stems = [path.stem for path in paths]
    longer = [
        f"{path.parent.name}/{stem}" if stems.count(stem) > 1 else stem
        for path, stem in zip(paths, stems, strict=True)
    ]
    return [name if longer.count(name) == 1 else f"{name} ({k + 1})" for k, name in enumerate(longer)]
