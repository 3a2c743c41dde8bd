"""`ldptrace demo`: the main job with no input at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.common import Progress, SeedOption, note

if TYPE_CHECKING:
    from ldptrace.grid import Grid
    from ldptrace.trajectories import Trajectories

METHODS = ("single-report", "paper")
GRID = 6


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
    from ldptrace.exact import epsilon_fraction
    from ldptrace.explanation import explain
    from ldptrace.generators import city
    from ldptrace.grid import Grid
    from ldptrace.io import write
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
                runs.append(run_method(real, epsilon, bounds=grid.bounds, grid=GRID, method=method, seed=seed))
        with stages("evaluate"):
            card = evaluate(
                real, *(run.trajectories for run in runs), grid=grid, seed=seed, names=METHODS, samples=True
            )
        with stages("write"):
            write(runs[0].trajectories, out / "synthetic.parquet")
            picture(real, runs[0].trajectories, grid, out / "density.png")
            card.to_json(out / "scorecard.json")
            card.to_html(out / "report.html")
    console = Console()
    plan = runs[0].synthesis.plan
    for line in explain(plan, users) if plan else []:
        console.print(line, markup=False, highlight=False)
    console.print(card.table())
    for run, method in zip(runs, METHODS, strict=True):
        spent = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in run.seconds.items())
        console.print(f"{method}: {spent}", markup=False, highlight=False)
    note(f"synthetic trajectories: {out / 'synthetic.parquet'}")
    note(f"picture: {out / 'density.png'}")
    note(f"scorecard to look at: {out / 'report.html'}")


def picture(real: Trajectories, synthetic: Trajectories, grid: Grid, path: Path) -> None:
    """Visits per cell, real and synthetic side by side on one scale."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    from ldptrace.io.atomic import atomic_path
    from ldptrace.paths import CellPaths

    shares = []
    for trips in (real, synthetic):
        visits = np.bincount(CellPaths.from_trajectories(trips, grid).cells, minlength=grid.cells)
        shares.append((visits / max(visits.sum(), 1)).reshape(grid.n, grid.n).T)
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
    x0, y0, x1, y1 = grid.bounds
    for axis, share, title in zip(axes, shares, ("real", "synthetic"), strict=True):
        image = axis.imshow(share, origin="lower", extent=(x0, x1, y0, y1), vmin=0, vmax=max(map(np.max, shares)))
        axis.set_title(title)
        axis.set_aspect("equal")
    figure.colorbar(image, ax=axes, label="share of visits", shrink=0.9)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=130)
    plt.close(figure)
