"""From sets that were added up to a scorecard: values, controls, curves and portraits.

Nothing here needs more of a set than what `Measured` holds, so sets that were added up batch by batch, or elsewhere,
are judged like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.stages import Stages
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.attacks import uniform_walks
from ldptrace.evaluation.controls import CONTROLS, MAP_ALONE, PLAIN_ROUTING, map_alone, plain_routing
from ldptrace.evaluation.measuring import Bench, Measured, timed_walks
from ldptrace.evaluation.metrics import Yardstick
from ldptrace.evaluation.patterns import TOP
from ldptrace.evaluation.portrait import (
    SAMPLES,
    Portrait,
    cell_edges,
    paint,
    pattern_table,
    street_lines,
    time_edges,
)
from ldptrace.evaluation.queries import SquareQueries, average_relative_error
from ldptrace.evaluation.scorecard import Attack, Scorecard, SetResult
from ldptrace.evaluation.streets import StreetMap, spacing
from ldptrace.evaluation.summary import Summary
from ldptrace.protocol.grid import Grid
from ldptrace.roads.network import RoadNetwork

REPEAT = 3
# Random walks of a set that knows nothing; a larger one would score the same.
WALKS = 100_000
FRACTIONS = (1 / 36, 1 / 25, 1 / 16, 1 / 9, 1 / 6, 1 / 4)


def judge(
    bench: Bench,
    sets: Mapping[str, Measured],
    rng: np.random.Generator,
    *,
    repeat: int = REPEAT,
    samples: bool = True,
    roads: RoadNetwork | None = None,
    streets: StreetMap | None = None,
    promised: Sequence[Mapping[str, Any] | None] | None = None,
    notes: Sequence[Sequence[str]] | None = None,
    attack: Callable[[Trajectories], list[dict[str, Attack]]] | None = None,
    stages: Stages | None = None,
) -> Scorecard:
    """The scorecard of sets, by name, against the real one of the bench.

    `attack` is given random walks, as many as the real set has trajectories and at most `WALKS`; `notes` are those of
    the real set and of each set.
    """
    stages = stages or Stages()
    real, labels, others = bench.real, list(sets), list(sets.values())
    if not others:
        raise InputError("there is no synthetic set to evaluate")
    area, crs = real.summary.grid, real.trajectories.crs
    said = notes or [[] for _ in range(len(sets) + 1)]
    with stages("measure"):
        walks = uniform_walks(_walk_sizes(real.summary, rng), area, rng, crs=crs)
        blind = Measured.of(timed_walks(walks, real.traces, rng), area, streets, rng)
        blind = blind.resized(len(real.summary))
        controls = _controls(roads, streets, others, area, rng)
        values = bench.values(others, blind, controls, repeat, rng)
        curves, floor_curve = _query_curves(bench.yardstick, others, rng)
    with stages("attack"):
        found = attack(walks) if attack is not None else [{}] * len(others)
    with stages("draw"):
        shown = _picked(real.trajectories, rng) if samples else None
        real_portrait = paint("real", real, real, shown)
        portraits = [
            paint(label, item, real, _picked(item.trajectories, rng)) for label, item in sets.items()
        ]
        beside = _control_portraits(labels, controls, real, rng)
    results = tuple(
        SetResult(portrait, value, attacked, promise, (*before, *_remarks(real, item)), curve)
        for portrait, value, attacked, promise, before, item, curve in zip(
            portraits, values, found, promised or [None] * len(others), said[1:], others, curves, strict=True
        )
    )
    return Scorecard(
        grid=area,
        crs=crs,
        bounds_from="given",
        seed=None,
        repeat=repeat,
        real=real_portrait,
        sets=results,
        notes=(*said[0], *_real_remarks(real)),
        query_fractions=FRACTIONS,
        query_floor=floor_curve,
        length_edges=tuple(real.summary.scales[0].drawn.tolist()),
        diameter_edges=tuple(real.summary.scales[1].drawn.tolist()),
        cell_edges=tuple(cell_edges(real.summary).tolist()),
        time_edges=time_edges(real),
        patterns=tuple(pattern_table(real.summary, [item.summary for item in others])),
        controls=beside,
        streets=None if roads is None else street_lines(roads, area),
        roads=None if roads is None else Path(roads.name).name,
        tolerance=None if streets is None else streets.tolerance,
    )


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
    # All streets count where trips are; ways lead only where all roads lead everywhere.
    roads = roads.largest_component()
    alone = Measured.of(_kept(map_alone(roads, rng), area), area, streets, rng)
    controls = []
    for item in sets:
        plain = _kept(plain_routing(roads, item.trajectories, rng), area)
        both = {MAP_ALONE: alone, PLAIN_ROUTING: Measured.of(plain, area, streets, rng)}
        controls.append({name: control.resized(len(item.summary)) for name, control in both.items()})
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
    real = yardstick.real
    others = [*(item.summary for item in sets), real.again(len(sets[0].summary), rng)]
    errors = []
    for fraction in FRACTIONS:
        queries = SquareQueries.draw(rng, real.grid, fraction=fraction, scale=real.scale)
        truth, *found = (queries.scattered(item.visits, item.grid, rng) for item in (real, *others))
        errors.append([average_relative_error(truth, answers, yardstick.points) for answers in found])
    *curves, floor = (tuple(curve) for curve in zip(*errors, strict=True))
    return curves, floor


def _walk_sizes(real: Summary, rng: np.random.Generator) -> NDArray[np.int64]:
    """Numbers of cells as those of the real paths; of very many, some at random."""
    if len(real) <= WALKS:
        return real.path_sizes
    counts = rng.multinomial(WALKS, real.cell_lengths / real.cell_lengths.sum())
    return np.repeat(np.arange(len(counts)), counts)


def _picked(trajectories: Trajectories, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.choice(len(trajectories), min(SAMPLES, len(trajectories)), replace=False)


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
    beside = summary.beside(summary)
    for name, counts in (("travel distances", beside.lengths), ("diameters", beside.diameters)):
        if counts[0].sum() == 0:
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
