"""Evaluate synthetic sets against a real one: every metric, its floor, the attacks, and the pictures."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ldptrace.core.paths import CellPaths
from ldptrace.core.stages import Stages
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.attacks import Outlier, Reidentification, uniform_walks
from ldptrace.evaluation.divergence import reference_histograms
from ldptrace.evaluation.extents import metric_scale
from ldptrace.evaluation.floors import bootstrap
from ldptrace.evaluation.inputs import Outside, align, choose_area, confine
from ldptrace.evaluation.metrics import METRICS, Comparison, Metric, Yardstick
from ldptrace.evaluation.patterns import TOP
from ldptrace.evaluation.portrait import SAMPLES, cell_edges, edges, paint, pattern_table
from ldptrace.evaluation.queries import SquareQueries, average_relative_error, resample
from ldptrace.evaluation.scorecard import ALL_METRICS, Attack, Scorecard, SetResult, Value
from ldptrace.evaluation.summary import Summary
from ldptrace.protocol.grid import Bounds, Grid

GRID, REPEAT = 6, 3
FRACTIONS = (1 / 36, 1 / 25, 1 / 16, 1 / 9, 1 / 6, 1 / 4)


def evaluate(
    real: Trajectories,
    *synthetic: Trajectories,
    grid: int | Grid = GRID,
    bounds: Bounds | None = None,
    seed: int | None = None,
    repeat: int = REPEAT,
    names: Sequence[str] | None = None,
    privacy: Sequence[Mapping[str, Any] | None] | None = None,
    attacks: bool = True,
    samples: bool = False,
    outside: Outside = "drop",
    stages: Stages | None = None,
) -> Scorecard:
    """Measure synthetic sets against a real one.

    Bounds are the real set's when none are given, as in the reference. `repeat` draws the random queries and
    the bootstrap that many times, for means and spreads. `samples` shows real trajectories on the page. What
    was promised about each set is what it brings with it, unless `privacy` says it.

    >>> rng = np.random.default_rng(7)
    >>> city = Trajectories(rng.random(400), rng.random(400), np.arange(0, 401, 4))
    >>> card = evaluate(city, city, bounds=(0, 0, 1, 1), seed=1)
    >>> card.document()["metrics"]["pattern_f1"]["value"]
    1.0
    """
    if repeat < 1:
        raise InputError(f"repeat must be at least 1, got {repeat}")
    stages = stages or Stages()
    seed = secrets.randbits(32) if seed is None else seed
    rng = np.random.default_rng(seed)
    labels = list(names) if names is not None else _labels(len(synthetic))
    with stages("prepare"):
        real, published, area, notes, origin = _prepare(real, synthetic, labels, grid, bounds, outside)
    with stages("summarise"):
        yardstick = Yardstick.of(real, area, rng)
        summaries = [Summary.of(item, area) for item in published]
    with stages("measure"):
        walks = uniform_walks(yardstick.real.paths, rng, crs=real.crs)
        values = _measure(yardstick, published, summaries, walks, repeat, rng)
        curves, floor_curve = _query_curves(yardstick, published, rng)
    with stages("attack"):
        found = _attack(area, real, published, walks) if attacks else [{}] * len(published)
    with stages("draw"):
        portraits = [
            paint(label, summary, item, yardstick.real, _picked(item, rng))
            for label, summary, item in zip(labels, summaries, published, strict=True)
        ]
        shown = _picked(real, rng) if samples else None
        real_portrait = paint("real", yardstick.real, real, yardstick.real, shown)
    promised = [item.provenance for item in synthetic] if privacy is None else list(privacy)
    sets = tuple(
        SetResult(
            portrait,
            value,
            attack,
            promise,
            (*said, *_remarks(yardstick.real, summary, portrait.points)),
            curve,
        )
        for portrait, value, attack, promise, said, summary, curve in zip(
            portraits, values, found, promised, notes[1:], summaries, curves, strict=True
        )
    )
    return Scorecard(
        grid=area,
        crs=real.crs,
        bounds_from=origin,
        seed=seed,
        repeat=repeat,
        real=real_portrait,
        sets=sets,
        notes=(*notes[0], *_real_remarks(yardstick.real)),
        query_fractions=FRACTIONS,
        query_floor=floor_curve,
        length_edges=tuple(edges(yardstick.real.lengths).tolist()),
        diameter_edges=tuple(edges(yardstick.real.diameters).tolist()),
        cell_edges=tuple(cell_edges(yardstick.real).tolist()),
        patterns=tuple(pattern_table(yardstick.real, summaries)),
    )


def resilience(
    real: Trajectories,
    *synthetic: Trajectories,
    grid: int | Grid = GRID,
    bounds: Bounds | None = None,
    seed: int | None = None,
    names: Sequence[str] | None = None,
    outside: Outside = "drop",
    stages: Stages | None = None,
) -> dict[str, dict[str, Attack]]:
    """The two attacks alone: for each synthetic set, by its name, each attack by its name."""
    stages = stages or Stages()
    labels = list(names) if names is not None else _labels(len(synthetic))
    with stages("prepare"):
        real, published, area, *_ = _prepare(real, synthetic, labels, grid, bounds, outside)
        paths = CellPaths.from_trajectories(real, area)
        walks = uniform_walks(paths, np.random.default_rng(seed), crs=real.crs)
    with stages("attack"):
        return dict(zip(labels, _attack(area, real, published, walks), strict=True))


def _attack(
    grid: Grid, real: Trajectories, published: Sequence[Trajectories], walks: Trajectories
) -> list[dict[str, Attack]]:
    """Both attacks on every published set, on the other real trajectories and on random walks."""
    kinds: dict[str, Reidentification | Outlier] = {
        "reidentification": Reidentification.of(real, grid),
        "outlier": Outlier.of(real, grid),
    }
    anchors = {name: (kind.against_real(), kind.against(walks)) for name, kind in kinds.items()}
    return [
        {name: Attack(kind.against(item), *anchors[name], kind.threshold) for name, kind in kinds.items()}
        for item in published
    ]


def _prepare(
    real: Trajectories,
    synthetic: Sequence[Trajectories],
    labels: Sequence[str],
    grid: int | Grid,
    bounds: Bounds | None,
    outside: Outside,
) -> tuple[Trajectories, list[Trajectories], Grid, list[list[str]], str]:
    """Sets in one area and one coordinate system, with notes of what was left out: the real set's first."""
    if not synthetic:
        raise InputError("there is no synthetic set to evaluate")
    labelled = [item.crs for item in synthetic if item.crs is not None]
    if real.crs is None and labelled:
        real = replace(real, crs=labelled[0])
    area, origin = choose_area(real, grid, bounds)
    kept, said = confine(real, area, outside, "the real set")
    notes, published = [said], []
    for label, item in zip(labels, synthetic, strict=True):
        name = f"the synthetic set {label}"
        aligned, first = align(kept, item, name)
        confined, second = confine(aligned, area, outside, name)
        published.append(confined)
        notes.append([*first, *second])
    return kept, published, area, notes, origin


def _measure(
    yardstick: Yardstick,
    published: Sequence[Trajectories],
    summaries: Sequence[Summary],
    walks: Trajectories,
    repeat: int,
    rng: np.random.Generator,
) -> list[dict[str, Value]]:
    """Every metric of every set over `repeat` draws of the queries; the same of a bootstrap, of walks once.

    The corrected variants are measured once.
    """
    blind = _values(ALL_METRICS, yardstick.compare(walks))
    scores: list[list[dict[str, float]]] = [[] for _ in published]
    floors: dict[int, list[dict[str, float]]] = {len(summary): [] for summary in summaries}
    for number in range(repeat):
        drawn, metrics = (yardstick, ALL_METRICS) if number == 0 else (yardstick.redrawn(rng), METRICS)
        for rounds, item, summary in zip(scores, published, summaries, strict=True):
            rounds.append(_values(metrics, drawn.compare(item, summary)))
        for size, rounds in floors.items():
            rounds.append(_values(metrics, bootstrap(drawn, size, rng)))
    return [
        {name: _value(name, rounds, floors[len(summary)], blind[name]) for name in ALL_METRICS}
        for rounds, summary in zip(scores, summaries, strict=True)
    ]


def _values(metrics: dict[str, Metric], pair: Comparison) -> dict[str, float]:
    return {name: metric.of(pair) for name, metric in metrics.items()}


def _value(name: str, rounds: list[dict[str, float]], floors: list[dict[str, float]], blind: float) -> Value:
    (mean, std), (floor, floor_std) = (
        _mean_and_spread([found[name] for found in all_ if name in found]) for all_ in (rounds, floors)
    )
    return Value(mean, std, floor, floor_std, blind)


def _mean_and_spread(values: list[float]) -> tuple[float, float | None]:
    if len(values) == 1 or np.isnan(values).any():
        return float(np.mean(values)), None
    if min(values) == max(values):
        # The mean of equal numbers is that number, without rounding.
        return values[0], 0.0
    return float(np.mean(values)), float(np.std(values, ddof=1))


def _query_curves(
    yardstick: Yardstick, published: Sequence[Trajectories], rng: np.random.Generator
) -> tuple[list[tuple[float, ...]], tuple[float, ...]]:
    """Query error for each size of the squares: of every set, and of a bootstrap of the real set."""
    summary = yardstick.real
    scale = metric_scale(summary.grid, geographic=yardstick.trajectories.is_geographic)
    size = len(published[0])
    points = resample(summary.paths, rng)
    again = resample(summary.take(rng.integers(0, len(summary), size)).paths, rng)
    errors = []
    for fraction in FRACTIONS:
        queries = SquareQueries.draw(rng, summary.grid, fraction=fraction, scale=scale)
        truth = queries.count(*points)
        errors.append(
            [
                average_relative_error(truth, queries.count(x, y), len(points[0]))
                for x, y in [*((item.x, item.y) for item in published), again]
            ]
        )
    *curves, floor = (tuple(curve) for curve in zip(*errors, strict=True))
    return curves, floor


def _picked(trajectories: Trajectories, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.int64]]:
    return rng.choice(len(trajectories), min(SAMPLES, len(trajectories)), replace=False)


def _labels(count: int) -> list[str]:
    return ["synthetic"] if count == 1 else [f"synthetic {number + 1}" for number in range(count)]


def _remarks(real: Summary, synthetic: Summary, points: int) -> list[str]:
    """What a reader of this set's values must know."""
    remarks = []
    if abs(len(real) - len(synthetic)) > 0.01 * len(real):
        remarks.append(
            f"the real set has {len(real):,} trajectories, this one {len(synthetic):,}; query error and "
            "pattern error compare counts, as the reference does: read their scaled variants"
        )
    per_cell = points / max(len(synthetic.paths.cells), 1)
    if not 0.5 < per_cell < 2.5:
        remarks.append(
            f"this set has {per_cell:.1f} points for each cell that it visits; query error counts them "
            "against one real point per cell, as the reference does: read its variant on raw points"
        )
    if len(synthetic.patterns) < TOP <= len(real.patterns):
        remarks.append(f"this set has only {len(synthetic.patterns)} different patterns of 2 to 8 cells")
    return remarks


def _real_remarks(real: Summary) -> list[str]:
    """What a reader must know about the real set."""
    remarks = []
    if len(real.patterns) == 0:
        remarks.append("no real trajectory leaves its cell, so there are no patterns to compare")
    elif len(real.patterns) < TOP:
        remarks.append(
            f"the real set has only {len(real.patterns)} different patterns of 2 to 8 cells; pattern F1 and "
            "pattern error are divided by 100 all the same, as in the reference: read the variants"
        )
    for name, values in (("travel distances", real.lengths), ("diameters", real.diameters)):
        if reference_histograms(values, values)[0].sum() == 0:
            remarks.append(
                f"the real {name} have too narrow a range for the reference's buckets, which begin at 0; "
                "buckets over the real range were used"
            )
    return remarks
