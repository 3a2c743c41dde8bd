"""`ldptrace evaluate` and `ldptrace attack`: how good and how private synthetic sets are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.common import (
    BoundsOption,
    CrsOption,
    FormatOption,
    IdOption,
    Outside,
    OutsideOption,
    Progress,
    SeedOption,
    TOption,
    UserOption,
    XOption,
    YOption,
    ZoneOption,
    check_outputs,
    note,
    parse_bounds,
    table_console,
)
from ldptrace.cli.crowds import MEMORY, Engine, EngineOption, MemoryOption, bytes_of, open_sets
from ldptrace.protocol.grid import checked_cells

if TYPE_CHECKING:
    from rich.table import Table

    from ldptrace.core.trajectories import Trajectories
    from ldptrace.engines.base import Crowd
    from ldptrace.roads.network import RoadNetwork


RealArgument = Annotated[
    Path, typer.Argument(metavar="REAL", help="File or folder of the real trajectories.")
]
SyntheticArgument = Annotated[
    list[Path],
    typer.Argument(metavar="SYN...", help="Files or folders of synthetic trajectories, one or several."),
]
GridOption = Annotated[int, typer.Option("--grid", metavar="N", help="Cells per side.")]
RoadsOption = Annotated[
    Path | None,
    typer.Option(
        "--roads",
        metavar="NETWORK",
        help="Public road network: trips are matched to it, controls beside them.",
    ),
]
JsonOption = Annotated[Path | None, typer.Option("--json", help="Write the scorecard as JSON; - prints it.")]


def register(app: typer.Typer) -> None:
    app.command()(evaluate)
    app.command()(attack)


def evaluate(
    real: RealArgument,
    synthetic: SyntheticArgument,
    grid: GridOption = 6,
    bounds: BoundsOption = None,
    roads: RoadsOption = None,
    timezone: ZoneOption = None,
    json_file: JsonOption = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", help="Write the scorecard as one self-contained page.")
    ] = None,
    repeat: Annotated[
        int, typer.Option("--repeat", min=1, help="Draws of the random queries and of the bootstrap.")
    ] = 3,
    attacks: Annotated[
        bool, typer.Option("--attacks/--no-attacks", help="Run the two attacks as well.")
    ] = True,
    corrected: Annotated[
        bool, typer.Option("--corrected", help="Show the corrected variants in the table as well.")
    ] = False,
    samples: Annotated[
        bool,
        typer.Option("--samples/--no-samples", help="Draw a few hundred REAL trajectories on the page."),
    ] = True,
    engine: EngineOption = Engine.local,
    memory: MemoryOption = MEMORY,
    seed: SeedOption = None,
    format: FormatOption = None,
    crs: CrsOption = None,
    outside: OutsideOption = Outside.drop,
    x: XOption = None,
    y: YOption = None,
    t: TOption = None,
    id: IdOption = None,
    user: UserOption = None,
) -> None:
    """Metrics of synthetic sets against the real one, with floors, attacks and a page to look at.

    The paper's nine, what people see on a map of streets, and, where both sets have times, when trips happen.
    Without --bounds the map is the smallest box around the real points, as in the reference implementation.
    """
    from ldptrace.core.columns import Names
    from ldptrace.evaluation import evaluate as measure

    check_outputs([json_file, html_file], [real, *synthetic])
    checked_cells(grid)
    with Progress() as stages, ExitStack() as resources:
        with stages("read"):
            network = None if roads is None else read_network(roads)
            sets = open_sets(
                engine,
                real,
                synthetic,
                resources,
                memory=bytes_of("--memory", memory),
                names=Names(x, y, t, id, user),
                timezone=timezone,
                format=format,
                crs=crs,
            )
        card = measure(
            sets[0],
            *sets[1:],
            grid=grid,
            bounds=parse_bounds(bounds),
            roads=network,
            timezone=timezone,
            seed=seed,
            repeat=repeat,
            names=names(synthetic),
            attacks=attacks,
            samples=samples,
            outside=outside.value,
            stages=stages,
        )
        tell_what_was_read(sets)
        with stages("write"):
            if html_file is not None:
                card.to_html(html_file)
            if json_file is not None and str(json_file) != "-":
                card.to_json(json_file)
    tables = [card.table(corrected=corrected)] + ([card.attack_table()] if attacks else [])
    show(tables, card.to_json() if str(json_file) == "-" else None)
    for said in card.remarks():
        note(f"note: {said}")
    if html_file is not None:
        note(f"scorecard to look at: {html_file}")


def attack(
    real: RealArgument,
    synthetic: SyntheticArgument,
    grid: GridOption = 6,
    bounds: BoundsOption = None,
    json_file: JsonOption = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", help="Write the attacks as one self-contained page.")
    ] = None,
    engine: EngineOption = Engine.local,
    memory: MemoryOption = MEMORY,
    seed: SeedOption = None,
    format: FormatOption = None,
    crs: CrsOption = None,
    outside: OutsideOption = Outside.drop,
    x: XOption = None,
    y: YOption = None,
    t: TOption = None,
    id: IdOption = None,
    user: UserOption = None,
) -> None:
    """Re-identification and outlier attack on synthetic sets, beside a fresh real sample and random walks."""
    from ldptrace.core.columns import Names
    from ldptrace.evaluation import resilience
    from ldptrace.evaluation.scorecard import attack_table, attacks_document, json_text
    from ldptrace.io.atomic import atomic_path
    from ldptrace.pages import attack_page

    check_outputs([json_file, html_file], [real, *synthetic])
    checked_cells(grid)
    with Progress() as stages, ExitStack() as resources:
        with stages("read"):
            sets = open_sets(
                engine,
                real,
                synthetic,
                resources,
                memory=bytes_of("--memory", memory),
                names=Names(x, y, t, id, user),
                format=format,
                crs=crs,
            )
        found = resilience(
            sets[0],
            *sets[1:],
            grid=grid,
            bounds=parse_bounds(bounds),
            seed=seed,
            names=names(synthetic),
            outside=outside.value,
            stages=stages,
        )
        tell_what_was_read(sets)
        document = {
            "sets": [{"name": name, "attacks": attacks_document(both)} for name, both in found.items()]
        }
        text = json_text({"attacks": document["sets"][0]["attacks"]} | document)
        if html_file is not None:
            with atomic_path(html_file) as temporary:
                temporary.write_text(attack_page(json.loads(text)), encoding="utf-8")
        if json_file is not None and str(json_file) != "-":
            with atomic_path(json_file) as temporary:
                temporary.write_text(text + "\n", encoding="utf-8")
    show([attack_table(found)], text if str(json_file) == "-" else None)
    if html_file is not None:
        note(f"attacks to look at: {html_file}")


def read_network(path: Path) -> RoadNetwork:
    """The whole network of a file: a street that leads nowhere is a street to be on, too."""
    from ldptrace.roads.readers import read_roads

    return read_roads(path, connected=False)


def tell_what_was_read(sets: Sequence[Crowd | Trajectories]) -> None:
    """The account of sets that were read block by block; the others gave theirs before."""
    from ldptrace.engines.base import Crowd

    for item in sets:
        if isinstance(item, Crowd):
            note(item.account)


def show(tables: list[Table], text: str | None) -> None:
    """Tables on stdout; or, when JSON was asked for there, the JSON alone and the tables on stderr."""
    console = table_console(None if text is None else Path("-"))
    for number, table in enumerate(tables):
        console.print(*([""] if number else []), table, sep="\n")
    if text is not None:
        typer.echo(text)


def names(paths: list[Path]) -> list[str]:
    """Short names of the files, told apart by their folder or a number where they are equal.

    >>> names([Path("a/x.csv"), Path("b/x.csv"), Path("y.csv")])
    ['a/x', 'b/x', 'y']
    """
    stems = [path.stem for path in paths]
    longer = [
        f"{path.parent.name}/{stem}" if stems.count(stem) > 1 else stem
        for path, stem in zip(paths, stems, strict=True)
    ]
    return [name if longer.count(name) == 1 else f"{name} ({k + 1})" for k, name in enumerate(longer)]
