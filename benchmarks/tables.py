"""Scores over repeats, printed side by side as mean and spread, and kept as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.data import DataSet
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.metrics import METRICS, Reference
from ldptrace.protocol.grid import Grid
from ldptrace_lab.reproduce.published import LDPTRACE, utility

# The paper's Table 3 at eps = 1 for Oldenburg.
PUBLISHED = utility("oldenburg", LDPTRACE, 1.0) or {}
SHORT = ("density", "query", "hotspot", "Kendall", "trip", "length", "diameter", "F1", "pattern")
Scores = dict[str, list[float]]


def repeated(data: DataSet, make: Callable[[int], Trajectories], repeats: int, n: int = 6) -> Scores:
    """Scores of `make(seed)` for several seeds, each with queries of its own."""
    grid = Grid(data.bounds, n)
    reference = Reference.of(data.trajectories, grid, np.random.default_rng(0))
    scores: Scores = {name: [] for name in METRICS}
    for seed in range(1, repeats + 1):
        result = reference.redrawn(np.random.default_rng(seed)).score(make(seed))
        for name, value in result.items():
            scores[name].append(value)
    return scores


def floor(data: DataSet, repeats: int, n: int = 6) -> Scores:
    """What a perfect generator would score: the real set against a bootstrap of itself."""
    reference = Reference.of(data.trajectories, Grid(data.bounds, n), np.random.default_rng(0))
    scores: Scores = {name: [] for name in METRICS}
    for seed in range(1, repeats + 1):
        rng = np.random.default_rng(seed)
        pair = reference.redrawn(rng).bootstrap(len(data.trajectories), rng)
        for name, metric in METRICS.items():
            scores[name].append(metric.of(pair))
    return scores


def header(title: str) -> str:
    return f"{title:<34}" + "".join(f"{name:>16}" for name in SHORT)


def row(name: str, scores: Scores | dict[str, float]) -> str:
    """One line: mean and standard deviation of each metric."""
    cells = []
    for metric in METRICS:
        values = np.atleast_1d(scores[metric])
        spread = f" ±{values.std(ddof=1):.4f}" if len(values) > 1 else ""
        cells.append(f"{f'{values.mean():.4f}{spread}':>16}")
    return f"{name:<34}" + "".join(cells)


def save(path: Path, results: object, *, quiet: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1))
    if not quiet:
        print(f"numbers: {path}")
