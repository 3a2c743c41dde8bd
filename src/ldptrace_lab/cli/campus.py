"""`ldptrace generate campus`: walks between the buildings of a campus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ldptrace.cli.common import SeedOption, note
from ldptrace.cli.generate import (
    CountOption,
    IntervalOption,
    NoiseOption,
    OutputOption,
    PictureOption,
    PresetOption,
    draw_trips,
    settings_of,
)

if TYPE_CHECKING:
    import numpy as np

    from ldptrace_lab.campus import Walks


def campus(
    output: OutputOption,
    buildings: Path | None = typer.Option(
        None, help="File of buildings, as GeoJSON or as a table; by default a campus is generated."
    ),
    trajectories: CountOption = 10_000,
    preset: PresetOption = None,
    pois: Path | None = typer.Option(
        None, help="Also write a table of the places (buildings) to this file (.csv)."
    ),
    visits: tuple[int, int] = typer.Option(
        (3, 8), help="Smallest and largest number of buildings that one person visits."
    ),
    minutes: float | None = typer.Option(
        None, help="Mean time to walk from one building to the next, in minutes."
    ),
    interval: IntervalOption = None,
    noise: NoiseOption = None,
    picture: PictureOption = None,
    seed: SeedOption = None,
) -> None:
    """Generate walks between the buildings of a campus. Each walk connects the buildings that one person visits."""
    from ldptrace.core.atomic import atomic_path
    from ldptrace.io.formats import for_writing
    from ldptrace_lab.campus import PRESETS, campus_walks

    settings = settings_of(preset, PRESETS, minutes=minutes, interval=interval, noise=noise)

    def build(rng: np.random.Generator) -> Walks:
        return campus_walks(rng, buildings=buildings, visits=visits, **settings)

    def write(place: Walks) -> None:
        if pois is not None:
            with atomic_path(pois) as temporary:
                place.pois.to_csv(temporary)

    draw_trips(build, trajectories, output, picture, seed, write)
    if for_writing(output, None).name != "parquet":
        note("the visits (columns poi and poi_t) need Parquet; this file has the points only")
