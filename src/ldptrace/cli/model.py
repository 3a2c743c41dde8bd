"""`ldptrace fit` and `ldptrace sample`: from private estimates to a model, from a model to synthetic trips."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from ldptrace.cli.collect import AtOption, RememberOption, estimates_of, read_plan
from ldptrace.cli.common import (
    Progress,
    ToOption,
    check_outputs,
    note,
    read_as,
)
from ldptrace.cli.options import with_options
from ldptrace.core.drawing import Drawing, Ways
from ldptrace.errors import InputError


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
                found = read_as(sources[0], Estimates.from_json)
            else:
                found = estimates_of(read_plan(plan), sources, at, remember)
            public = Public.of(ways.area, ways.roads, ways.routes)
        with stages("fit model"):
            model = fit_model(
                found,
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

    from ldptrace.core.atomic import check_folder, is_folder
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
            found = Release.load(model)
            release = replace(found, drawing=drawing.or_else(found.drawing))
        with stages("synthesise and write"):
            seed = secrets.randbits(63) if sample_seed is None else sample_seed
            draw, labels = release.draw(count, np.random.default_rng(seed)), release.labels(seed)
            write_drawn(draw, output, labels, to)
    note(f"{counted(count, 'synthetic trajectory')} from a {release.model.kind} model: {output}")
    if isinstance(release.model, TimedModel):
        dates, promise = release.calendar is not None, labels["provenance"]
        note(zone_words(labels["timezone"], dates=dates, promise=promise))
