"""From the paper to here, one change at a time, at the same epsilon.

    python -m benchmarks.ablation [--data FOLDER] [--repeats 5] [--epsilon 1]

split -> sample one -> set-valued report -> joint fit -> calibrated paths -> turns -> pooled questions -> placement.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.data import DataSet, oldenburg
from benchmarks.tables import PUBLISHED, Scores, floor, header, repeated, row, save
from ldptrace.core.paths import CellPaths, grid_moves
from ldptrace.core.placement import place
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator import Estimates
from ldptrace.evaluation import METRICS
from ldptrace.models.base import MobilityModel
from ldptrace.models.lengths import length_distribution
from ldptrace.models.markov import MarkovModel
from ldptrace.models.path.model import PathModel
from ldptrace.protocol.exact import epsilon_fraction, ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import End, Length, Links, Moves, Question, Start, Terminals, Turns, Visits
from ldptrace.protocol.randomizers import OUE, PrivSet
from ldptrace.protocol.round import SHARES, Ask, Round
from ldptrace.protocol.shares import DEFAULT_SHARES
from ldptrace.simulation import collect
from ldptrace.synthesis import synthesize

CELLS = 6
FIRST_ORDER = {"length": 0.05, "start": 0.16, "end": 0.16, "moves": 0.63}
WITH_TURNS = {"length": 0.05, "start": 0.16, "end": 0.16, "moves": 0.58, "turns": 0.05}


def questions(n: int, most: int) -> dict[str, Question]:
    plain = [
        Length(n, 3 * n + 2),
        Start(n),
        End(n),
        Terminals(n),
        Visits(n, most),
        Moves(n, most),
        Links(n, most),
    ]
    return {question.name: question for question in [*plain, Turns(n)]}


def partition(grid: Grid, epsilon: float, shares: dict[str, float], *, most: int, oue: bool = False) -> Plan:
    """Each user answers one of the questions with the whole budget."""
    budget = epsilon_fraction(epsilon)
    ratio = ratio_at_most(budget)
    chosen = questions(grid.n, most)
    whole = {name: round(SHARES * share) for name, share in shares.items()}
    whole["moves"] += SHARES - sum(whole.values())
    asks = tuple(
        Ask(chosen[name], _channel(chosen[name], ratio, oue), share) for name, share in whole.items()
    )
    return Plan("ablation", grid, budget, (Round(asks, "partition"),))


def _channel(question: Question, ratio: Fraction, oue: bool) -> OUE | PrivSet:
    if oue:
        return OUE(question.domain, 1, ratio)
    return PrivSet.best(question.domain, question.capacity, ratio)


def clipped_walk(estimates: Estimates) -> MarkovModel:
    """The paper's model from grouped answers: negative counts to zero, moves scaled to the mean length."""
    grid = estimates.plan.grid
    lengths = length_distribution(estimates["length"])
    starts, ends, moves = (np.maximum(estimates[name].frequencies, 0) for name in ("start", "end", "moves"))
    moves *= (lengths @ np.arange(len(lengths))) / moves.sum()
    return MarkovModel(grid, lengths, starts / starts.sum(), moves, ends / ends.sum())


def fitted_walk(estimates: Estimates) -> MarkovModel:
    """The statistics of a jointly fitted model, walked as the paper walks."""
    grid = estimates.plan.grid
    paths = PathModel.fit(estimates).sample_paths(1_000_000, np.random.default_rng(0))
    here, there = paths.cells[:-1], paths.cells[1:]
    inner = np.ones(len(here), dtype=bool)
    inner[paths.offsets[1:-1] - 1] = False
    table = np.bincount(here[inner].astype(np.int64) * grid.cells + there[inner], minlength=grid.cells**2)
    cell, _, target = grid_moves(grid.n).T
    moves = table[cell.astype(np.int64) * grid.cells + target] / len(paths)
    lengths = np.bincount(paths.sizes)[1:] / len(paths)
    starts, ends = (
        np.bincount(side, minlength=grid.cells) / len(paths) for side in (paths.starts(), paths.ends())
    )
    return MarkovModel(grid, lengths, starts, moves, ends)


def grouped(
    data: DataSet,
    epsilon: float,
    shares: dict[str, float],
    fit: Callable[[Estimates], MobilityModel],
    *,
    most: int = 5,
    oue: bool = False,
    style: str = "uniform",
) -> Callable[[int], Trajectories]:
    """A maker of synthetic sets from one report per user."""
    grid = Grid(data.bounds, CELLS)
    paths = CellPaths.from_trajectories(data.trajectories, grid)
    plan = partition(grid, epsilon, shares, most=most, oue=oue)

    def make(seed: int) -> Trajectories:
        rng = np.random.default_rng(seed)
        estimates = Estimates.from_tally(plan, collect(plan, paths, rng))
        return place(fit(estimates).sample_paths(len(paths), rng), rng, style=style)

    return make


def steps(data: DataSet, epsilon: float) -> dict[str, Callable[[int], Trajectories]]:
    """Each change on top of the last."""
    trips, bounds = data.trajectories, data.bounds
    joint = PathModel.fit
    return {
        "paper: split, clip, walk": lambda seed: synthesize(
            trips, epsilon, bounds=bounds, grid=CELLS, method="paper", seed=seed
        ),
        "one report, one move, OUE": grouped(data, epsilon, FIRST_ORDER, clipped_walk, most=1, oue=True),
        "set of moves, PrivSet": grouped(data, epsilon, FIRST_ORDER, clipped_walk),
        "joint fit instead of clipping": grouped(data, epsilon, FIRST_ORDER, fitted_walk),
        "calibrated paths, not walks": grouped(data, epsilon, FIRST_ORDER, joint),
        "turns": grouped(data, epsilon, WITH_TURNS, joint),
        "pooled questions": grouped(data, epsilon, DEFAULT_SHARES, joint),
        "placement by neighbours": grouped(data, epsilon, DEFAULT_SHARES, joint, style="neighbours"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the Oldenburg files")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    arguments = parser.parse_args()
    data = oldenburg(arguments.data)
    results: dict[str, Scores] = {}
    print(header(f"{data.name}, n = {len(data.trajectories):,}, eps = {arguments.epsilon:g}"))
    for name, make in steps(data, arguments.epsilon).items():
        results[name] = repeated(data, make, arguments.repeats)
        print(row(name, results[name]), flush=True)
    results["floor"] = floor(data, arguments.repeats)
    print(row("floor: resampled real data", results["floor"]))
    print(row("published LDPTrace, eps = 1", PUBLISHED))
    save(arguments.out / "ablation.json", results)
    _plot(results, arguments.out / "ablation.svg")


def _plot(results: dict[str, Scores], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(results)
    figure, axes = plt.subplots(3, 3, figsize=(12, 8.5), layout="constrained", sharey=True)
    for axis, (metric, about) in zip(axes.ravel(), METRICS.items(), strict=True):
        mean = [np.mean(results[name][metric]) for name in names]
        spread = [np.std(results[name][metric]) for name in names]
        colours = ["tab:orange", *["tab:blue"] * (len(names) - 2), "0.6"]
        axis.barh(names, mean, xerr=spread, color=colours, ecolor="0.3")
        axis.axvline(PUBLISHED[metric], color="tab:red", ls=":", lw=1)
        axis.set_title(
            f"{metric.replace('_', ' ')} ({'less' if about.goal == 'min' else 'more'} is better)", fontsize=9
        )
        axis.tick_params(labelsize=7)
    # The axes share one vertical axis: turned once, the first change is on top.
    axes[0, 0].invert_yaxis()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    print(f"plot: {path}")


if __name__ == "__main__":
    main()
