"""`ldptrace generate campus`: walks between the buildings of a campus."""

from __future__ import annotations

from pathlib import Path

import typer

from ldptrace.cli.common import note
from ldptrace.cli.generate import Making, draw_trips
from ldptrace.cli.options import with_options


@with_options(making=Making, without=("minutes",))
def campus(
    making: Making,
    buildings: Path | None = typer.Option(
        None, help="File of buildings, as GeoJSON or as a table; by default a campus is generated."
    ),
    pois: Path | None = typer.Option(
        None, help="Also write a table of the places (buildings) to this file (.csv)."
    ),
    visits: tuple[int, int] = typer.Option(
        (3, 8), help="Smallest and largest number of buildings that one person visits."
    ),
    minutes: float | None = typer.Option(
        None, help="Mean time to walk from one building to the next, in minutes."
    ),
) -> None:
    """Generate walks between the buildings of a campus. Each walk connects the buildings that one person visits."""
    from ldptrace.core.atomic import atomic_path
    from ldptrace.io.formats import for_writing
    from ldptrace_lab.campus.walks import PRESETS, campus_walks

    settings = making.settings(PRESETS, minutes=minutes)

    place = draw_trips(lambda rng: campus_walks(rng, buildings=buildings, visits=visits, **settings), making)
    if pois is not None:
        with atomic_path(pois) as temporary:
            place.pois.to_csv(temporary)
    if for_writing(making.output, None).name != "parquet":
        note("the visits (columns poi and poi_t) need Parquet; this file has the points only")
