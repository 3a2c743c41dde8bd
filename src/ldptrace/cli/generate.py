"""`ldptrace generate`: generated trips for trials."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldptrace.cli.common import Progress, SeedOption, note
from ldptrace.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from ldptrace.generators.campuses import Walks
    from ldptrace.generators.traffic import Traffic

OutputOption = Annotated[
    Path, typer.Option("-o", "--out", help="File for the trips; its extension decides the format.")
]
CountOption = Annotated[int, typer.Option("--count", "-n", min=0, help="Number of trips.")]
PresetOption = Annotated[
    str | None,
    typer.Option(
        help="Data set of the LDPTrace paper: oldenburg or porto; with generate campus, only campus. The generated "
        "trips have about the same length and time between points as the trips of this data set."
    ),
]
IntervalOption = Annotated[float | None, typer.Option(help="Seconds between two points of a trip.")]
NoiseOption = Annotated[float | None, typer.Option(help="Standard deviation of the GPS error, in metres.")]
PictureOption = Annotated[
    Path | None,
    typer.Option(help="Also draw where the trips are dense, in this file (.png, .pdf or .svg)."),
]

RoadsOutOption = Annotated[
    Path | None, typer.Option(help="Also write the road network into this folder: nodes.csv and edges.csv.")
]


def city(
    output: OutputOption,
    trajectories: CountOption = 10_000,
    preset: PresetOption = None,
    size: Annotated[float | None, typer.Option(help="Length of a side of the city, in metres.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Mean duration of a trip, in minutes.")] = None,
    interval: IntervalOption = None,
    noise: NoiseOption = None,
    picture: PictureOption = None,
    roads_out: RoadsOutOption = None,
    seed: SeedOption = None,
) -> None:
    """Generate trips by car in a generated city with main and side roads, a river, rush hours and GPS noise."""
    from ldptrace.generators import city_traffic

    settings = _settings(preset, "city", size=size, minutes=minutes, interval=interval, noise=noise)
    _generate(
        lambda rng: city_traffic(rng, **settings), trajectories, output, picture, seed, roads_out=roads_out
    )


def network(
    output: OutputOption,
    nodes: Annotated[
        Path | None,
        typer.Option(
            help="Table of the nodes of the network, with the columns node_id, x and y (or lon and lat)."
        ),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(help="Table of the edges of the network, with the columns node1, node2 and edge_class."),
    ] = None,
    roads: Annotated[
        Path | None,
        typer.Option(
            help="Road network to use instead of --nodes and --edges, in any format that `ldptrace "
            "roads` reads."
        ),
    ] = None,
    trajectories: CountOption = 10_000,
    preset: PresetOption = None,
    minutes: Annotated[float | None, typer.Option(help="Mean duration of a trip, in minutes.")] = None,
    interval: IntervalOption = None,
    noise: NoiseOption = None,
    picture: PictureOption = None,
    roads_out: RoadsOutOption = None,
    seed: SeedOption = None,
) -> None:
    """Generate trips by car on your own road network."""
    from ldptrace.generators import network_traffic

    if (roads is None) == (nodes is None and edges is None) or (nodes is None) != (edges is None):
        raise InputError("give the road network either as --roads, or as --nodes and --edges")
    source = roads or nodes
    assert source is not None
    settings = _settings(preset, "city", minutes=minutes, interval=interval, noise=noise)
    settings.pop("size", None)
    _generate(
        lambda rng: network_traffic(source, edges, rng, **settings),
        trajectories,
        output,
        picture,
        seed,
        roads_out=roads_out,
    )


def campus(
    output: OutputOption,
    buildings: Annotated[
        Path | None,
        typer.Option(help="File of buildings, as GeoJSON or as a table; by default a campus is generated."),
    ] = None,
    trajectories: CountOption = 10_000,
    preset: PresetOption = None,
    pois: Annotated[
        Path | None, typer.Option(help="Also write a table of the places (buildings) to this file (.csv).")
    ] = None,
    visits: Annotated[
        tuple[int, int], typer.Option(help="Smallest and largest number of buildings that one person visits.")
    ] = (3, 8),
    minutes: Annotated[
        float | None, typer.Option(help="Mean time to walk from one building to the next, in minutes.")
    ] = None,
    interval: IntervalOption = None,
    noise: NoiseOption = None,
    picture: PictureOption = None,
    seed: SeedOption = None,
) -> None:
    """Generate walks between the buildings of a campus. Each walk connects the buildings that one person visits."""
    from ldptrace.generators import campus_walks

    settings = _settings(preset, "campus", minutes=minutes, interval=interval, noise=noise)

    def build(rng: np.random.Generator) -> Walks:
        return campus_walks(rng, buildings=buildings, visits=visits, **settings)

    _generate(build, trajectories, output, picture, seed, pois)


def _settings(name: str | None, place: str, **given: float | None) -> dict[str, Any]:
    """Return the settings of a preset, replaced by the given settings."""
    from ldptrace.generators.cities import preset

    chosen = preset(name, place).settings if name is not None else {}
    return {**chosen, **{key: value for key, value in given.items() if value is not None}}


def _generate(
    build: Callable[[np.random.Generator], Traffic | Walks],
    trajectories: int,
    output: Path,
    picture: Path | None,
    seed: int | None,
    pois: Path | None = None,
    roads_out: Path | None = None,
) -> None:
    import numpy as np

    from ldptrace.core.atomic import atomic_path
    from ldptrace.generators.picture import check_picture, draw
    from ldptrace.io import write
    from ldptrace.io.formats import for_writing
    from ldptrace.roads.writer import check_folder, write_roads

    kind = for_writing(output, None)
    if roads_out is not None:
        check_folder(roads_out)
    if picture is not None:
        check_picture(picture, trajectories)
    world, day = np.random.default_rng(seed).spawn(2)
    with Progress() as stages:
        with stages("lay out the place"):
            place = build(world)
        with stages(f"generate {trajectories:,} trajectories"):
            trips = place.trips(trajectories, day)
        with stages("write"):
            write(trips, output)
            roads = getattr(place, "network", None)
            if roads_out is not None and roads is not None:
                write_roads(roads, roads_out)
            places = getattr(place, "pois", None)
            if pois is not None and places is not None:
                with atomic_path(pois) as temporary:
                    places.to_csv(temporary)
        if picture is not None:
            with stages("draw"), atomic_path(picture) as temporary:
                draw(trips, temporary, places)
    if places is not None and kind.name != "parquet":
        note("the visits (columns poi and poi_t) need Parquet; this file has the points only")
    if roads_out is not None and roads is not None:
        note(f"{roads.nodes:,} nodes, {roads.edges:,} directed edges: {roads_out}")
    bounds = ",".join(f"{value:.9g}" for value in place.bounds)
    note(f"{len(trips):,} trajectories, {trips.points:,} points: {output} (public bounds: --bounds {bounds})")


generate = typer.Typer(help="Generate trips for trials.", no_args_is_help=True)
for command in (city, network, campus):
    generate.command()(command)
