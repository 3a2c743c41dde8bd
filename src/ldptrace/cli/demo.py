"""`ldptrace demo`: the main job with no input at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.common import Progress, SeedOption

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories
    from ldptrace.protocol.grid import Grid

METHODS = ("single-report", "paper")
GRID = 6
# The queries of the scorecard have a seed of their own: the scorecard prints it, and never the devices'.
QUERIES = 1


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for what the demo makes.")] = Path("demo"),
    users: Annotated[int, typer.Option("--users", min=1, help="Devices that take part.")] = 200_000,
    epsilon: Annotated[float, typer.Option("--epsilon", help="Privacy budget of each user.")] = 1.0,
    seed: SeedOption = 1,
) -> None:
    """City, reports, model, synthetic data, scorecard: our method beside the paper's, on a made-up city."""
    from rich.console import Console

    from ldptrace.evaluation import evaluate
    from ldptrace.generators import city
    from ldptrace.io import write
    from ldptrace.protocol.exact import epsilon_fraction
    from ldptrace.protocol.grid import Grid
    from ldptrace.simulation.streams import EXPERIMENT
    from ldptrace.synthesis import run_method

    epsilon_fraction(epsilon)
    side = 20_000.0
    grid = Grid((0.0, 0.0, side, side), GRID)
    out.mkdir(parents=True, exist_ok=True)
    with Progress() as stages:
        with stages(f"generate a city and {users:,} trips"):
            real = city(users, seed, size=side)
        runs = []
        for method in METHODS:
            with stages(f"synthesise with {method}"):
                runs.append(
                    run_method(real, epsilon, bounds=grid.bounds, grid=GRID, method=method, seed=seed)
                )
        with stages("evaluate"):
            card = evaluate(
                real,
                *(run.trajectories for run in runs),
                grid=grid,
                seed=QUERIES,
                names=METHODS,
                samples=True,
            )
        with stages("write"):
            write(runs[0].trajectories, out / "synthetic.parquet")
            picture(
                {"real": real} | {run.method.name: run.trajectories for run in runs},
                grid,
                out / "density.png",
            )
            card.to_json(out / "scorecard.json")
            card.to_html(out / "report.html")
    console = Console(highlight=False, soft_wrap=True)
    console.print(card.table())
    for run in runs:
        spent = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in run.seconds.items())
        console.print(f"{run.method.name}, seconds: {spent}", markup=False)
    console.print(f"Note: {EXPERIMENT}.", markup=False)
    console.print(f"synthetic trajectories  {out / 'synthetic.parquet'}", markup=False)
    console.print(f"density picture         {out / 'density.png'}", markup=False)
    console.print(f"scorecard               {out / 'report.html'}", markup=False)


def picture(sets: dict[str, Trajectories], grid: Grid, path: Path) -> None:
    """Visits per cell of each set, side by side on one scale."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    from ldptrace.core.paths import CellPaths
    from ldptrace.io.atomic import atomic_path

    shares = []
    for trips in sets.values():
        visits = np.bincount(CellPaths.from_trajectories(trips, grid).cells, minlength=grid.cells)
        shares.append((visits / max(visits.sum(), 1)).reshape(grid.n, grid.n).T)
    figure, axes = plt.subplots(1, len(sets), figsize=(3.4 * len(sets) + 0.8, 3.6), layout="constrained")
    for axis, share, title in zip(axes, shares, sets, strict=True):
        image = axis.imshow(share, origin="lower", cmap="Blues", vmin=0, vmax=max(map(np.max, shares)))
        axis.set_title(title)
        axis.set_xticks([])
        axis.set_yticks([])
    bar = figure.colorbar(image, ax=axes, shrink=0.85, format=lambda value, _: f"{100 * value:g} %")
    bar.set_label("share of visits")
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=130)
    plt.close(figure)
