"""`ldptrace demo`: a complete example that needs no input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ldptrace.cli.common import Progress
from ldptrace.core.atomic import atomic_path, make_folder
from ldptrace.protocol.exact import epsilon_fraction
from ldptrace.settings import Settings

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories
    from ldptrace.roads import RoadNetwork

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
