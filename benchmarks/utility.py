"""Utility of one report per user beside the paper's mechanism, over repeats, with floors.

    python -m benchmarks.utility target   [--data FOLDER]   Oldenburg at eps = 1 and 0.5 beside the published row
    python -m benchmarks.utility unseen   [--data FOLDER]   data and cities that nothing was tuned on
    python -m benchmarks.utility users    [--data FOLDER]   error against the number of users
    python -m benchmarks.utility epsilon  [--data FOLDER]   error against epsilon

Curves are drawn to --out as SVG, numbers kept beside them as JSON.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.data import DataSet, generated, oldenburg, unseen
from benchmarks.tables import PUBLISHED, Scores, floor, header, repeated, row, save
from ldptrace.evaluation.metrics import METRICS
from ldptrace.synthesis import synthesize

METHODS = ("single-report", "paper")
CURVE_USERS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
CURVE_EPSILON = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0)


def scored(data: DataSet, method: str, epsilon: float, repeats: int) -> Scores:
    """Scores of a method on the data, on the 6 x 6 grid of the paper."""
    return repeated(
        data,
        lambda seed: synthesize(
            data.trajectories, epsilon, bounds=data.bounds, grid=6, method=method, seed=seed, unit="trip"
        ),
        repeats,
    )


def target(folder: Path | None, repeats: int, out: Path) -> None:
    data = oldenburg(folder)
    results = {}
    print(header(f"{data.name}, n = {len(data.trajectories):,}"))
    for epsilon in (1.0, 0.5):
        for method in METHODS:
            name = f"{method}, eps = {epsilon:g}"
            results[name] = scored(data, method, epsilon, repeats)
            print(row(name, results[name]), flush=True)
    print(row("published LDPTrace, eps = 1", PUBLISHED))
    results["floor"] = floor(data, repeats)
    print(row("floor: resampled real data", results["floor"]))
    save(out / "target.json", results)


def generalises(folder: Path | None, repeats: int, out: Path) -> None:
    results = {}
    for data in [*unseen(folder), generated(11), generated(12)]:
        print(header(f"{data.name}, n = {len(data.trajectories):,}, eps = 1"))
        scores = {method: scored(data, method, 1.0, repeats) for method in METHODS}
        for method in METHODS:
            print(row(method, scores[method]))
        print(row("floor", floor(data, repeats)))
        ours, paper = ({m: float(np.mean(scores[k][m])) for m in METRICS} for k in METHODS)
        won = sum(ours[m] <= paper[m] if METRICS[m].goal == "min" else ours[m] >= paper[m] for m in METRICS)
        print(
            f"better in {won} of 9; density {paper['density_error'] / ours['density_error']:.1f} times, "
            f"query {paper['query_error'] / ours['query_error']:.1f} times\n",
            flush=True,
        )
        results[data.name] = scores
    save(out / "unseen.json", results)


def curves(kind: str, folder: Path | None, repeats: int, out: Path) -> None:
    sets = [oldenburg(folder), generated(21), generated(22)]
    values = CURVE_USERS if kind == "users" else CURVE_EPSILON
    results: dict[str, dict[str, list[Scores]]] = {}
    floors = {}
    for data in sets:
        results[data.name] = {method: [] for method in METHODS}
        floors[data.name] = floor(data, repeats)
        print(header(data.name))
        for value in values:
            chosen = data.sample(int(value), 1) if kind == "users" else data
            epsilon = 1.0 if kind == "users" else value
            for method in METHODS:
                scores = scored(chosen, method, epsilon, repeats)
                results[data.name][method].append(scores)
                print(row(f"{method}, {kind} {value:g}", scores), flush=True)
    save(out / f"{kind}.json", {"values": values, "results": results, "floors": floors})
    _plot(kind, values, results, floors, out / f"{kind}.svg")


def _plot(
    kind: str,
    values: tuple[float, ...],
    results: dict[str, dict[str, list[Scores]]],
    floors: dict[str, Scores],
    path: Path,
) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 3, figsize=(11, 9), layout="constrained")
    colours = {"single-report": "tab:blue", "paper": "tab:orange"}
    for axis, (name, metric) in zip(axes.ravel(), METRICS.items(), strict=True):
        for style, (data, by_method) in zip(("-", "--", ":"), results.items(), strict=True):
            for method, runs in by_method.items():
                mean = np.array([np.mean(scores[name]) for scores in runs])
                spread = np.array([np.std(scores[name]) for scores in runs])
                label = f"{method}, {data}"
                axis.plot(values, mean, style, color=colours[method], marker=".", label=label)
                axis.fill_between(
                    values, mean - spread, mean + spread, color=colours[method], alpha=0.12, lw=0
                )
            axis.axhline(np.mean(floors[data][name]), ls=style, color="0.6", lw=0.8)
        axis.set_xscale("log")
        if metric.goal == "min":
            axis.set_yscale("symlog", linthresh=1e-3)
            axis.set_ylim(bottom=0)
        axis.set_title(name.replace("_", " "))
        axis.set_xlabel(kind)
    axes[0, 0].legend(fontsize="x-small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    print(f"plot: {path}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("target", "unseen", "users", "epsilon"))
    parser.add_argument("--data", type=Path, help="folder with the experiment files")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    arguments = parser.parse_args()
    if arguments.what == "target":
        target(arguments.data, arguments.repeats, arguments.out)
    elif arguments.what == "unseen":
        generalises(arguments.data, arguments.repeats, arguments.out)
    else:
        curves(arguments.what, arguments.data, arguments.repeats, arguments.out)


if __name__ == "__main__":
    main()
