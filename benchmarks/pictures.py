"""The pictures of the explanations, drawn from fits and from the tables of the lab notes.

    python -m benchmarks.pictures path-model | time | now | ngram | local-and-central [--out docs/images]

`path-model`: one path of a fitted model, with the factors of its weight. `time`: departures by hour, real and
synthetic. `now`: a share that changes, and its estimates with a short and a long half-life. `ngram`: the windows of
NGRAM. `local-and-central`: the errors of the methods on six data sets, read from `docs/lab/local-and-central.md`.
"""

from __future__ import annotations

import argparse
import re
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import ldptrace as lt
from benchmarks.data import generated
from benchmarks.time import statistics
from ldptrace.core.paths import CellPaths
from ldptrace.curator.estimates import Estimates
from ldptrace.curator.facts import Facts
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.model import PathModel
from ldptrace.models.time import DAY_PROFILE
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import turn
from ldptrace.simulation import collect

CELLS, USERS, CITY = 6, 200_000, 1
NOTES = Path(__file__).parents[1] / "docs" / "lab" / "local-and-central.md"
METHODS = {
    "adatrace": ("AdaTrace (trusted curator)", "s", "tab:orange"),
    "privtrace": ("PrivTrace (trusted curator)", "D", "tab:orange"),
    "dpt": ("DPT (trusted curator)", "^", "tab:orange"),
    "single-report": ("one report per person", "o", "tab:blue"),
    "single-report+map": ("one report per person, with a map", "o", "tab:green"),
    "map-alone": ("the map alone, no reports", "x", "0.4"),
}
COLOURS = {"start": "tab:green", "move": "tab:red", "turn": "black", "end": "tab:purple"}


def path_model(out: Path) -> None:
    """One path on the grid, with the factors of its weight."""
    plt = _pyplot()
    model = _fitted()
    graph = MoveGraph(model.grid)
    cells = _shown_path(model)
    moves = [int(np.flatnonzero((graph.source == a) & (graph.target == b))[0]) for a, b in pairwise(cells)]
    turns = [turn(*graph.direction[[a, b]].tolist()) for a, b in pairwise(moves)]
    at = np.stack(np.divmod(np.array(cells), CELLS), axis=1) + 0.5
    figure, axis = plt.subplots(figsize=(5.6, 4.9), layout="constrained")
    table = np.exp(model.start).reshape(CELLS, CELLS).T
    shades = axis.imshow(table, origin="lower", extent=(0, CELLS, 0, CELLS), cmap="Blues", vmin=0, alpha=0.6)
    axis.set_xticks(range(CELLS + 1), [])
    axis.set_yticks(range(CELLS + 1), [])
    axis.grid(color="0.6", lw=0.6)
    axis.tick_params(length=0)
    style = {"arrowstyle": "-|>", "lw": 2.5, "color": COLOURS["move"], "shrinkA": 3, "shrinkB": 3}
    for k, move in enumerate(moves):
        axis.annotate("", at[k + 1], at[k], arrowprops=style)
        _label(axis, (at[k] + at[k + 1]) / 2, model.move[move], "move")
    for k, angle in enumerate(turns):
        # On the outer side of the bend.
        outside = 2 * at[k + 1] - at[k] - at[k + 2]
        if not outside.any():
            outside = (at[k + 1] - at[k])[::-1] * (1, -1)
        _label(axis, at[k + 1] + 0.3 * outside / np.hypot(*outside), model.turn[angle], "turn")
    axis.plot(*at[0], "o", color=COLOURS["start"], ms=11)
    axis.plot(*at[-1], "s", color=COLOURS["end"], ms=11)
    _label(axis, at[0] - 0.34 * (at[1] - at[0]), model.start[cells[0]], "start")
    _label(axis, at[-1] + 0.34 * (at[-1] - at[-2]), model.end[cells[-1]], "end")
    for kind, marker in (("start", "o"), ("move", ">"), ("turn", "D"), ("end", "s")):
        axis.plot([], [], marker=marker, color=COLOURS[kind], ms=9, ls="", label=kind)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, title="factors of the path")
    label = "factor of a start in the cell (1: no preference)"
    figure.colorbar(shades, ax=axis, label=label)
    _save(figure, out / "path-model.svg")


def _fitted() -> PathModel:
    """The path model of a generated city at epsilon 1."""
    data = generated(CITY, USERS)
    grid = Grid(data.bounds, CELLS)
    plan = Facts(USERS, 1.0, data.bounds, grid=CELLS).plan()
    paths = CellPaths.from_trajectories(data.trajectories, grid)
    return PathModel.fit(Estimates.from_tally(plan, collect(plan, paths, np.random.default_rng(1))))


def _shown_path(model: PathModel) -> list[int]:
    """Of the drawn paths, the first of six different cells that spans the map and goes straight on twice."""
    paths = model.sample_paths(200_000, np.random.default_rng(1))
    for begin, end in pairwise(paths.offsets.tolist()):
        cells = paths.cells[begin:end].tolist()
        x, y = np.divmod(np.array(cells), CELLS)
        steps = list(zip(np.diff(x).tolist(), np.diff(y).tolist(), strict=True))
        straight = sum(one == other for one, other in pairwise(steps))
        wide = min(np.ptp(x), np.ptp(y)) >= 2 and max(np.ptp(x), np.ptp(y)) >= 4
        if len(cells) == 6 == len(set(cells)) and straight == 2 and wide:
            return cells
    raise SystemExit("no such path among those drawn")


def _label(axis: Any, at: np.ndarray, potential: float, kind: str) -> None:
    box = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": COLOURS[kind], "lw": 0.8}
    words = f"×{np.exp(potential):.1f}"
    axis.text(*at, words, ha="center", va="center", fontsize=10, color=COLOURS[kind], bbox=box)


def time(out: Path) -> None:
    """Departures by hour: the public profile, real trips, and synthetic trips of few and of many users."""
    plt = _pyplot()
    data = generated(CITY, USERS)
    hours = np.arange(24) + 0.5
    figure, axis = plt.subplots(figsize=(5.6, 3.8), layout="constrained")
    axis.bar(hours, _per_hour(data.trajectories), width=1, color="0.85", label="real trips")
    axis.plot(hours, 100 * DAY_PROFILE, "k:", label="public profile")
    for users, colour in ((10_000, "tab:orange"), (USERS, "tab:blue")):
        part = data.sample(users, 1)
        made = lt.synthesize(part.trajectories, 1.0, bounds=data.bounds, grid=CELLS, seed=1)
        axis.plot(hours, _per_hour(made), ".-", color=colour, label=f"synthetic trips, {users:,} users")
    axis.set_xlabel("hour of the day")
    axis.set_ylabel("departures, % of all trips")
    axis.set_xlim(0, 24)
    axis.set_xticks(range(0, 25, 3))
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    axis.spines[["top", "right"]].set_visible(False)
    _save(figure, out / "time.svg")


def now(out: Path) -> None:
    """A share that jumps, measured with noise at every step, and its means with two half-lives."""
    plt = _pyplot()
    steps = np.arange(40)
    truth = np.where(steps < 20, 0.25, 0.45)
    answers = truth + np.random.default_rng(1).normal(0, 0.05, steps.size)
    figure, axis = plt.subplots(figsize=(5.6, 2.4), layout="constrained")
    axis.plot(steps, 100 * truth, "k:", drawstyle="steps-mid", label="true share")
    for half_life, colour in ((1, "tab:orange"), (16, "tab:blue")):
        weights = np.tril(2.0 ** (-np.subtract.outer(steps, steps) / half_life))
        words = f"estimate, half-life {half_life} step{'s' if half_life > 1 else ''}"
        axis.plot(steps, 100 * (weights @ answers) / weights.sum(axis=1), color=colour, label=words)
    axis.set_xlabel("step")
    axis.set_ylabel("share of trips, %")
    axis.set_xlim(0, 39)
    axis.set_ylim(0, 60)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    axis.spines[["top", "right"]].set_visible(False)
    _save(figure, out / "now.svg")


def ngram(out: Path) -> None:
    """A trajectory of five cells, and the cells that each window of two positions draws."""
    plt = _pyplot()
    true = [3, 4, 10, 16, 15]
    drawn = {0: (9,), 1: (3, 10), 2: (5, 10), 3: (4, 16), 4: (22, 15), 5: (14,)}
    figure, axis = plt.subplots(figsize=(5.6, 2.5), layout="constrained")
    for position, cell in enumerate(true):
        axis.text(position, 0, str(cell), ha="center", va="center", weight="bold", color="tab:blue")
    axis.text(-0.9, 0, "real cells", ha="right", va="center", color="tab:blue")
    for window, cells in drawn.items():
        # A window covers the position of its number and the one before it.
        axis.add_patch(plt.Rectangle((window - 1.4, window + 0.7), 1.8, 0.6, fc="none", ec="0.5"))
        for position, cell in zip((max(window - 1, 0), window), cells, strict=False):
            axis.text(position, window + 1, str(cell), ha="center", va="center", color="tab:orange")
        axis.text(4.9 + 0.6, window + 1, f"window {window + 1}", ha="left", va="center", color="0.4")
    axis.text(-2.5, 3.5, "drawn cells", ha="center", va="center", color="tab:orange")
    axis.set_xlim(-3.2, 6.8)
    axis.set_ylim(6.5, -0.5)
    axis.axis("off")
    _save(figure, out / "ngram.svg")


def _per_hour(trips: lt.Trajectories) -> np.ndarray:
    hours = statistics(trips)[0]
    return 100 * hours / hours.sum()


def local_and_central(out: Path) -> None:
    """Two panels, density and trip error: a line for each data set, a mark for each method."""
    plt = _pyplot()
    found = errors(NOTES.read_text(encoding="utf-8"))
    names = list(found)
    figure, axes = plt.subplots(2, 1, figsize=(5.6, 5.2))
    for axis, metric in zip(axes, ("density", "trip"), strict=True):
        for method, (_, marker, colour) in METHODS.items():
            points = [
                (found[name][method][metric], k) for k, name in enumerate(names) if method in found[name]
            ]
            hollow = "none" if colour == "tab:orange" else colour
            axis.plot(*zip(*points, strict=True), marker, color=colour, mfc=hollow, ms=8, mew=1.6)
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_title(f"{metric} error (left is better)", fontsize=10)
        axis.set_yticks(range(len(names)), names)
        axis.grid(axis="y", color="0.9")
        axis.set_axisbelow(True)
        axis.invert_yaxis()
    for words, marker, colour in METHODS.values():
        hollow = "none" if colour == "tab:orange" else colour
        axes[0].plot([], [], marker, color=colour, mfc=hollow, ms=8, mew=1.6, label=words)
    figure.tight_layout(rect=(0, 0.12, 1, 1))
    figure.legend(loc="lower center", ncols=2, fontsize=9, frameon=False)
    _save(figure, out / "local-and-central.svg")


def errors(page: str) -> dict[str, dict[str, dict[str, float]]]:
    """Errors at epsilon 1 (references have no epsilon) by data set, method and metric, from the page of tables."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for part in page.split("\n## ")[1:]:
        rows = [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in part.splitlines()
            if line[:1] == "|"
        ]
        if not rows:
            continue
        head = [cell.strip(" ↓↑") for cell in rows[0]]
        name = part.splitlines()[0].split(",")[0]
        for row in rows[2:]:
            if row[0] in METHODS and row[1] in ("", "1"):
                values = dict(zip(head, row, strict=True))
                found.setdefault(name, {})[row[0]] = {
                    metric: float(re.sub(r" ?±.*", "", values[metric])) for metric in ("density", "trip")
                }
    return found


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "ldptrace"
    return plt


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    print(f"picture: {path}")


PICTURES = {
    "path-model": path_model,
    "time": time,
    "now": now,
    "ngram": ngram,
    "local-and-central": local_and_central,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("picture", choices=PICTURES)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    PICTURES[arguments.picture](arguments.out)


if __name__ == "__main__":
    main()
