"""Evaluate synthetic sets against a real one: every metric, its floor, the attacks, and the pictures."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core.paths import CellPaths
from ldptrace.core.stages import Stages
from ldptrace.core.times import zone
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.attacks import Outlier, Reidentification, uniform_walks
from ldptrace.evaluation.controls import (
    CONTROLS,
    MAP_ALONE,
    PLAIN_ROUTING,
    map_alone,
    plain_routing,
    usable_roads,
)
from ldptrace.evaluation.divergence import reference_histograms
from ldptrace.evaluation.inputs import Outside, align, choose_area, confine
from ldptrace.evaluation.measuring import Bench, Measured, timed_walks
from ldptrace.evaluation.metrics import Yardstick
from ldptrace.evaluation.patterns import TOP
from ldptrace.evaluation.portrait import (
    SAMPLES,
    Portrait,
    cell_edges,
    edges,
    paint,
    pattern_table,
    street_lines,
    time_edges,
)
from ldptrace.evaluation.queries import SquareQueries, average_relative_error, resample
from ldptrace.evaluation.scorecard import Attack, Scorecard, SetResult
from ldptrace.evaluation.streets import StreetMap, spacing
from ldptrace.io.files import trajectories_of
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.roads.network import RoadNetwork

GRID, REPEAT = 6, 3
FRACTIONS = (1 / 36, 1 / 25, 1 / 16, 1 / 9, 1 / 6, 1 / 4)


def evaluate(
    real: Any,
    *synthetic: Any,
    grid: int | Grid = GRID,
    bounds: Bounds | None = None,
    roads: RoadNetwork | None = None,
    timezone: str | None = None,
    seed: int | None = None,
    repeat: int = REPEAT,
    names: Sequence[str] | None = None,
    privacy: Sequence[Mapping[str, Any] | None] | None = None,
    attacks: bool = True,
    samples: bool = True,
    outside: Outside = "drop",
    stages: Stages | None = None,
) -> Scorecard:
    """Measure synthetic sets against a real one; each is whatever `ldptrace.read` takes.

    Bounds are the real set's when none are given, as in the reference. With `roads` trips are matched to streets,
    and what the map gives by itself stands beside every set. `timezone` says whose clocks count for times since 1970
    (a set may name its own). `repeat` draws the random queries and the bootstrap that many times, for means and
    spreads. `samples` shows real trajectories on the page. What was promised about each set is what it brings with
    it, unless `privacy` says it.

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
    real, synthetic = trajectories_of(real), tuple(map(trajectories_of, synthetic))
    with stages("prepare"):
        known = None if roads is None else roads.crs
        real, published, area, notes, origin = _prepare(real, synthetic, labels, grid, bounds, outside, known)
        real, *published = (in_zone(item, timezone) for item in (real, *published))
        usable = None if roads is None else usable_roads(roads, area, real.crs)
        streets = None if usable is None else StreetMap.of(usable)
    with stages("summarise"):
        bench = Bench.of(real, area, [len(item) for item in published], rng, streets)
        sets = [Measured.of(item, area, streets, rng) for item in published]
    with stages("measure"):
        walks = uniform_walks(bench.real.summary.paths, rng, crs=real.crs)
        blind = Measured.of(timed_walks(walks, bench.real.traces, rng), area, streets, rng)
        controls = _controls(usable, streets, sets, area, rng)
        values = bench.values(sets, blind, controls, repeat, rng)
        curves, floor_curve = _query_curves(bench.yardstick, sets, rng)
    with stages("attack"):
        found = _attack(area, real, published, walks) if attacks else [{}] * len(published)
    with stages("draw"):
        shown = _picked(real, rng) if samples else None
        real_portrait = paint("real", bench.real, bench.real, shown)
        portraits = [
            paint(label, item, bench.real, _picked(item.trajectories, rng))
            for label, item in zip(labels, sets, strict=True)
        ]
        beside = _control_portraits(labels, controls, bench.real, rng)
    promised = [item.provenance for item in synthetic] if privacy is None else list(privacy)
    results = tuple(
        SetResult(
            portrait,
            value,
            attack,
            promise,
            (*said, *_remarks(bench.real, item)),
            curve,
        )
        for portrait, value, attack, promise, said, item, curve in zip(
            portraits, values, found, promised, notes[1:], sets, curves, strict=True
        )
    )
    return Scorecard(
        grid=area,
        crs=real.crs,
        bounds_from=origin,
        seed=seed,
        repeat=repeat,
        real=real_portrait,
        sets=results,
        notes=(*notes[0], *_real_remarks(bench.real)),
        query_fractions=FRACTIONS,
        query_floor=floor_curve,
        length_edges=tuple(edges(bench.real.summary.lengths).tolist()),
        diameter_edges=tuple(edges(bench.real.summary.diameters).tolist()),
        cell_edges=tuple(cell_edges(bench.real.summary).tolist()),
        time_edges=time_edges(bench.real),
        patterns=tuple(pattern_table(bench.real.summary, [item.summary for item in sets])),
        controls=beside,
        streets=None if usable is None else street_lines(usable, area),
        roads=None if roads is None else Path(roads.name).name,
        tolerance=None if streets is None else streets.tolerance,
    )


def resilience(
    real: Any,
    *synthetic: Any,
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
    real, synthetic = trajectories_of(real), tuple(map(trajectories_of, synthetic))
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
    known: str | None = None,
) -> tuple[Trajectories, list[Trajectories], Grid, list[list[str]], str]:
    """Sets in one area and one coordinate system, with notes of what was left out: the real set's first."""
    if not synthetic:
        raise InputError("there is no synthetic set to evaluate")
    labelled = [item.crs for item in synthetic if item.crs is not None]
    labelled += [] if known is None else [known]
    if real.crs is None and labelled:
        # The other sets, or the road network that is to fit them, say what the coordinates are.
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


def _controls(
    roads: RoadNetwork | None,
    streets: StreetMap | None,
    sets: Sequence[Measured],
    area: Grid,
    rng: np.random.Generator,
) -> list[dict[str, Measured]]:
    """The two controls of each set, as large as the set; none without a road network."""
    if roads is None:
        return [{} for _ in sets]
    alone = Measured.of(_kept(map_alone(roads, rng), area), area, streets, rng)
    controls = []
    for item in sets:
        plain = _kept(plain_routing(roads, item.trajectories, rng), area)
        both = {MAP_ALONE: alone, PLAIN_ROUTING: Measured.of(plain, area, streets, rng)}
        controls.append({name: control.resized(len(item.summary), rng) for name, control in both.items()})
    return controls


def _kept(trajectories: Trajectories, area: Grid) -> Trajectories:
    """Bends of streets may lie a little outside the bounds; times of a control say nothing."""
    x0, y0, x1, y1 = area.bounds
    return replace(trajectories, x=trajectories.x.clip(x0, x1), y=trajectories.y.clip(y0, y1), t=None)


def _control_portraits(
    labels: Sequence[str],
    controls: Sequence[Mapping[str, Measured]],
    real: Measured,
    rng: np.random.Generator,
) -> tuple[Portrait, ...]:
    """The map alone once, plain routing for every set."""
    portraits = []
    for number, (label, both) in enumerate(zip(labels, controls, strict=True)):
        for name, control in both.items():
            if name == MAP_ALONE and number > 0:
                continue
            title = CONTROLS[name] if name == MAP_ALONE or len(labels) == 1 else f"{CONTROLS[name]}, {label}"
            portraits.append(paint(title, control, real, _picked(control.trajectories, rng)))
    return tuple(portraits)


def _query_curves(
    yardstick: Yardstick, sets: Sequence[Measured], rng: np.random.Generator
) -> tuple[list[tuple[float, ...]], tuple[float, ...]]:
    """Query error for each size of the squares: of every set, and of a bootstrap of the real set."""
    summary = yardstick.real
    again = summary.take(rng.integers(0, len(summary), len(sets[0].summary)))
    points = resample(summary.paths, rng)
    others = [resample(item.paths, rng) for item in (*(item.summary for item in sets), again)]
    errors = []
    for fraction in FRACTIONS:
        queries = SquareQueries.draw(rng, summary.grid, fraction=fraction, scale=summary.scale)
        truth = queries.count(*points)
        errors.append([average_relative_error(truth, queries.count(x, y), len(points[0])) for x, y in others])
    *curves, floor = (tuple(curve) for curve in zip(*errors, strict=True))
    return curves, floor


def in_zone(trajectories: Trajectories, timezone: str | None) -> Trajectories:
    """The set under the given zone, unless it names its own."""
    if timezone is None or trajectories.timezone is not None:
        return trajectories
    zone(timezone)
    return replace(trajectories, timezone=timezone)


def _picked(trajectories: Trajectories, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.int64]]:
    return rng.choice(len(trajectories), min(SAMPLES, len(trajectories)), replace=False)


def _labels(count: int) -> list[str]:
    return ["synthetic"] if count == 1 else [f"synthetic {number + 1}" for number in range(count)]


def _remarks(real: Measured, synthetic: Measured) -> list[str]:
    """What a reader of this set's values must know."""
    remarks = []
    size, other = len(real.summary), len(synthetic.summary)
    if abs(size - other) > 0.01 * size:
        remarks.append(
            f"the real set has {size:,} trajectories, this one {other:,}; query error and "
            "pattern error compare counts, as the reference does: read their scaled variants"
        )
    patterns = len(synthetic.summary.patterns)
    if patterns < TOP <= len(real.summary.patterns):
        remarks.append(f"this set has only {patterns} different patterns of 2 to 8 cells")
    if real.traces.has_times and not synthetic.traces.has_times:
        remarks.append("this set has no times, so nothing is said about when trips happen")
    elif real.traces.has_clock and not synthetic.traces.has_clock:
        remarks.append("all trips of this set begin at the same time, so departures are not compared")
    return remarks


def _real_remarks(real: Measured) -> list[str]:
    """What a reader must know about the real set."""
    remarks = []
    summary = real.summary
    if len(summary.patterns) == 0:
        remarks.append("no real trajectory leaves its cell, so there are no patterns to compare")
    elif len(summary.patterns) < TOP:
        remarks.append(
            f"the real set has only {len(summary.patterns)} different patterns of 2 to 8 cells; pattern F1 and "
            "pattern error are divided by 100 all the same, as in the reference: read the variants"
        )
    for name, values in (("travel distances", summary.lengths), ("diameters", summary.diameters)):
        if reference_histograms(values, values)[0].sum() == 0:
            remarks.append(
                f"the real {name} have too narrow a range for the reference's buckets, which begin at 0; "
                "buckets over the real range were used"
            )
    apart = spacing(real.trajectories, summary.scale)
    fine = min(step * scale for step, scale in zip(summary.grid.step, summary.scale, strict=True))
    if apart > fine * summary.grid.n / 96:
        remarks.append(
            f"the real points are {apart:,.4g} {'m' if real.trajectories.is_geographic else 'units'} apart, so "
            "lines between them cut corners: of the fine densities read those against the fixes"
        )
    if real.use is not None and not real.use.tells_turns:
        remarks.append(
            f"only {100 * real.use.on_streets:.0f} % of the real lines lie on streets (fixes far apart, or a map of "
            "another place or way to travel), so turns and lengths on streets are not compared"
        )
    if real.trajectories.has_dates and real.trajectories.timezone is None:
        remarks.append("hours of the day are those of UTC: no time zone was given")
    return remarks
