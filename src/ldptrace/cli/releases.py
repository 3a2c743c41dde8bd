"""`ldptrace campaign publish` and `export`: what a campaign gives to the public."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ldptrace.cli.common import Progress, note
from ldptrace.cli.operators import NameArgument, actor
from ldptrace.cli.serve import DatabaseOption, DataOption, database_of
from ldptrace.errors import InputError

TRIPS = (".parquet", ".csv", ".geojson")


def publish(
    name: NameArgument,
    count: Annotated[
        int,
        typer.Option(
            "--count", min=0, max=10_000_000, help="Number of synthetic trips; 0 for one per report."
        ),
    ] = 0,
    again: Annotated[bool, typer.Option("--again", help="Replace an interrupted attempt.")] = False,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Make the release: estimates, model, synthetic trips, scorecard."""
    from contextlib import ExitStack

    from ldptrace.server import releases

    store = database_of(data, database)
    begun = releases.begin(store, name, actor=actor(), again=again, count=count)
    attempt = releases.Attempt(store, name, begun)
    try:
        with Progress() as stages, ExitStack() as running:
            shown = ""

            def tell(stage: str, done: int) -> None:
                nonlocal shown
                attempt.tell(stage, done)
                if stage != shown:
                    shown = stage
                    running.close()
                    running.enter_context(stages(stage))

            attempt.make(count, tell)
    except BaseException as error:
        attempt.fail(str(error) or type(error).__name__)
        raise
    note(f"campaign {name} is published; ldptrace campaign export {name} -o FOLDER writes its files")


def export(
    name: NameArgument,
    output: Annotated[
        Path, typer.Option("-o", "--out", help="Folder for all files; or a .parquet, .csv, .geojson file.")
    ],
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Write the files of a published campaign; before that, its plans and, with enough reports, its tallies."""
    from ldptrace.io.atomic import atomic_path
    from ldptrace.server import registry, releases, tallies, views

    with database_of(data, database).reading() as session:
        campaign = registry.find(session, name)
        if output.suffix in TRIPS:
            if campaign.state != "published":
                raise InputError(
                    f"campaign {name} is {campaign.state}: synthetic trips are there when it is published"
                )
            wanted = {output: f"synthetic{output.suffix}"}
        else:
            wanted = {output / file["name"]: file["name"] for file in views.files_of(session, name)}
        texts: dict[Path, str] = {}
        if campaign.state != "published":
            for entry in tallies.counts_of(session, name):
                texts[output / f"plan-{entry.number + 1}.json"] = entry.plan.to_json()
            for _, tally in tallies.tallies_of(session, campaign):
                texts[output / f"tally-{tally.round + 1}.json"] = tally.to_json()
        if output.suffix not in TRIPS:
            output.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            with atomic_path(path) as temporary:
                temporary.write_text(text, encoding="utf-8")
        for path, file in wanted.items():
            with atomic_path(path) as temporary, open(temporary, "wb") as target:
                for number in releases.parts_of(session, name, file):
                    target.write(releases.part(session, name, file, number))
    note(
        f"{len(wanted) + len(texts)} file{'s' if len(wanted) + len(texts) > 1 else ''} of campaign {name}: {output}"
    )
