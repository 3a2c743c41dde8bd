"""`ldptrace generate` and `ldptrace demo`: generated trips for trials, and a complete example that needs no input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldptrace import plugins
from ldptrace.cli.common import Progress, note
from ldptrace.cli.options import with_options
from ldptrace.core.atomic import atomic_path, make_folder
from ldptrace.errors import InputError, LdptraceError
from ldptrace.options import option, settle
from ldptrace.protocol.exact import epsilon_fraction
from ldptrace.settings import Settings

if TYPE_CHECKING:
    import numpy as np

    from ldptrace.core.trajectories import Trajectories
    from ldptrace.roads import RoadNetwork

RoadsOutOption = Annotated[
    Path | None, typer.Option(help="Also write the road network into this folder: nodes.csv and edges.csv.")
]


@dataclass(frozen=True, kw_only=True)
class Making:
    """What every generator is told: how many trips of which kind are drawn, and where they are written."""

    output: Path = option(flags=("-o", "--out"), help="File for the trips; its extension decides the format.")
    count: int = option(10_000, flags=("-n",), help="Number of trips.", least=0)
    preset: str | None = option(
        None,
        help="Data set of the LDPTrace paper: oldenburg or porto; with generate campus, only campus. The generated "
        "trips have about the same length and time between points as the trips of this data set.",
    )
    minutes: float | None = option(None, help="Mean duration of a trip, in minutes.")
    interval: float | None = option(None, help="Seconds between two points of a trip.")
    noise: float | None = option(None, help="Standard deviation of the GPS error, in metres.")
    picture: Path | None = option(
        None, help="Also draw where the trips are dense, in this file (.png, .pdf or .svg)."
    )
    seed: int | None = option(
        None, help="Seed of the random numbers; equal seeds give equal results.", least=0
    )

    def __post_init__(self) -> None:
        settle(self)

    def settings(self, presets: dict[str, dict[str, Any]], **given: float | None) -> dict[str, Any]:
        """Return the settings of the preset, replaced by those that are given."""
        if self.preset is not None and self.preset not in presets:
            raise InputError(f"there is no preset {self.preset!r} here; there are {', '.join(presets)}")
        given = {"minutes": self.minutes, "interval": self.interval, "noise": self.noise} | given
        chosen = {} if self.preset is None else presets[self.preset]
        return {**chosen, **{name: value for name, value in given.items() if value is not None}}


@with_options(making=Making)
def city(
    making: Making,
    size: float | None = typer.Option(None, help="Length of a side of the city, in metres."),
    roads_out: RoadsOutOption = None,
) -> None:
    """Generate trips by car in a generated city with main and side roads, a river, rush hours and GPS noise."""
    from ldptrace.generators import city_traffic
    from ldptrace.generators.cities import PRESETS

    settings = making.settings(PRESETS, size=size)
    draw_trips(lambda rng: city_traffic(rng, **settings), making, roads_out)


@with_options(making=Making)
def network(
    making: Making,
    nodes: Path | None = typer.Option(
        None, help="Table of the nodes of the network, with the columns node_id, x and y (or lon and lat)."
    ),
    edges: Path | None = typer.Option(
        None, help="Table of the edges of the network, with the columns node1, node2 and edge_class."
    ),
    roads: Path | None = typer.Option(
        None,
        help="Road network to use instead of --nodes and --edges, in any format that `ldptrace roads` reads.",
    ),
    roads_out: RoadsOutOption = None,
) -> None:
    """Generate trips by car on your own road network."""
    from ldptrace.generators import network_traffic
    from ldptrace.generators.cities import PRESETS

    if (roads is None) == (nodes is None and edges is None) or (nodes is None) != (edges is None):
        raise InputError("give the road network either as --roads, or as --nodes and --edges")
    source = roads or nodes
    assert source is not None
    settings = making.settings(PRESETS)
    settings.pop("size", None)
    draw_trips(lambda rng: network_traffic(source, edges, rng, **settings), making, roads_out)


def draw_trips(
    build: Callable[[np.random.Generator], Any], making: Making, roads_out: Path | None = None
) -> Any:
    """Build a place, draw trips in it, and write them, and the roads too if there is a folder for them."""
    import numpy as np

    from ldptrace.generators.picture import check_picture, draw
    from ldptrace.io import write
    from ldptrace.io.formats import for_writing
    from ldptrace.roads.writer import check_folder, write_roads

    output, count, picture = making.output, making.count, making.picture
    for_writing(output, None)
    if roads_out is not None:
        check_folder(roads_out)
    if picture is not None:
        check_picture(picture, count)
    world, day = np.random.default_rng(making.seed).spawn(2)
    with Progress() as stages:
        with stages("lay out the place"):
            place = build(world)
        with stages(f"generate {count:,} trajectories"):
            trips = place.trips(count, day)
        with stages("write"):
            write(trips, output)
            if roads_out is not None:
                write_roads(place.network, roads_out)
                note(f"{place.network.nodes:,} nodes, {place.network.edges:,} directed edges: {roads_out}")
        if picture is not None:
            with stages("draw"), atomic_path(picture) as temporary:
                draw(trips, temporary, getattr(place, "marks", None))
    bounds = ",".join(f"{value:.9g}" for value in place.bounds)
    note(f"{len(trips):,} trajectories, {trips.points:,} points: {output} (public bounds: --bounds {bounds})")
    return place


generate = typer.Typer(help="Generate trips for trials.", no_args_is_help=True)
for command in (city, network):
    generate.command()(command)


def _add_other(name: str) -> None:
    """Add a generator of another package; one that does not load says why when it is used."""
    try:
        point = plugins.find(plugins.GENERATORS, name)
        assert point is not None
        generate.command(name)(plugins.load(point))
    except LdptraceError as caught:
        error = caught

        def unusable(context: typer.Context) -> None:
            raise error

        anything = {"ignore_unknown_options": True, "allow_extra_args": True}
        generate.command(name, hidden=True, context_settings=anything)(unusable)


for other in sorted({*plugins.installed(plugins.GENERATORS), *plugins.LABORATORY[plugins.GENERATORS]}):
    _add_other(other)


GRID = 6
# The three synthetic sets: method, and whether it knows the public map.
SETS = {
    "ldptrace with map": ("single-report", True),
    "ldptrace without map": ("single-report", False),
    "the paper's method": ("paper", False),
}
# The queries of the scorecard have a seed of their own: the scorecard prints it, and never the devices'.
QUERIES = 1
# Trips of each set that the picture shows.
DRAWN = 400


def demo(
    out: Path = typer.Option(Path("demo"), "-o", "--out", help="Folder for the files of the demo."),
    users: int = typer.Option(200_000, min=1, help="Number of simulated devices."),
    epsilon: float = typer.Option(
        1.0, help="Epsilon, the privacy budget of each user; smaller is more private."
    ),
    seed: int | None = typer.Option(
        1, min=0, help="Seed of the random numbers; equal seeds give equal results."
    ),
) -> None:
    """Try ldptrace on a generated city: simulate reports, make synthetic trips by three methods, and compare them."""
    import numpy as np
    from rich.console import Console

    from ldptrace.evaluation.evaluator import evaluate
    from ldptrace.generators import city_traffic
    from ldptrace.io import write
    from ldptrace.roads import write_roads
    from ldptrace.simulation.streams import EXPERIMENT
    from ldptrace.synthesis import run

    epsilon_fraction(epsilon)
    make_folder(out)
    with Progress() as stages:
        with stages(f"generate a city and {users:,} trips"):
            traffic = city_traffic(seed)
            real, roads = traffic.trips(users, np.random.default_rng(seed)), traffic.network
        runs = {}
        for name, (method, on_streets) in SETS.items():
            with stages(f"synthesise {name}"):
                given = {"grid": GRID, "method": method, "seed": seed, "roads": roads if on_streets else None}
                runs[name] = run(real, Settings.of(epsilon, bounds=traffic.bounds, **given))
        sets = {name: done.trajectories for name, done in runs.items()}
        with stages("evaluate"):
            card = evaluate(
                real,
                *sets.values(),
                grid=GRID,
                bounds=traffic.bounds,
                roads=roads,
                seed=QUERIES,
                names=list(sets),
                samples=True,
            )
        with stages("write"):
            write(sets["ldptrace with map"], out / "synthetic.parquet")
            write_roads(roads, out / "roads")
            picture({"real": real} | sets, roads, out / "trips.png")
            card.to_json(out / "scorecard.json")
            card.to_html(out / "report.html")
    console = Console(highlight=False, soft_wrap=True)
    console.print(card.table())
    for name, done in runs.items():
        spent = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in done.seconds.items())
        console.print(f"{name}, seconds: {spent}", markup=False)
    console.print(f"Note: {EXPERIMENT}.", markup=False)
    console.print(f"synthetic trajectories  {out / 'synthetic.parquet'}", markup=False)
    console.print(f"the city's streets      {out / 'roads'}", markup=False)
    console.print(f"trips side by side      {out / 'trips.png'}", markup=False)
    console.print(f"scorecard               {out / 'report.html'}", markup=False)


def picture(sets: dict[str, Trajectories], roads: RoadNetwork, path: Path) -> None:
    """Draw some trips of each set over the streets, side by side, in the middle of the map."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.collections import LineCollection

    x0, y0, x1, y1 = roads.bounds()
    streets = np.stack(
        [np.stack([roads.x[end], roads.y[end]], axis=1) for end in (roads.source, roads.target)], axis=1
    )
    figure, axes = plt.subplots(1, len(sets), figsize=(3.6 * len(sets), 3.9), layout="constrained")
    for axis, (title, trips) in zip(axes, sets.items(), strict=True):
        axis.add_collection(LineCollection(list(streets), colors="#d9d9d9", linewidths=0.4))
        shown = trips.part(0, min(DRAWN, len(trips)))
        lines = [
            np.stack([shown.x[start:stop], shown.y[start:stop]], axis=1)
            for start, stop in zip(shown.offsets[:-1], shown.offsets[1:], strict=True)
        ]
        axis.add_collection(LineCollection(lines, colors="#0b6e99", linewidths=0.7, alpha=0.45))
        axis.set_title(title)
        axis.set(xlim=(x0 + 0.2 * (x1 - x0), x1 - 0.2 * (x1 - x0)), xticks=[], yticks=[])
        axis.set(ylim=(y0 + 0.2 * (y1 - y0), y1 - 0.2 * (y1 - y0)), aspect="equal")
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=130)
    plt.close(figure)
