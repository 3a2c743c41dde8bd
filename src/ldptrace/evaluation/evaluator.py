"""Evaluate synthetic sets against a real one: every metric, its floor, the attacks, and the pictures."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ldptrace.core.paths import CellPaths
from ldptrace.core.stages import Stages
from ldptrace.core.times import zone
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.attacks import Outlier, Reidentification, uniform_walks
from ldptrace.evaluation.controls import usable_roads
from ldptrace.evaluation.inputs import Outside, align, choose_area, confine
from ldptrace.evaluation.judging import REPEAT, judge
from ldptrace.evaluation.measuring import Bench, Measured
from ldptrace.evaluation.scorecard import Attack, Scorecard
from ldptrace.evaluation.streets import StreetMap
from ldptrace.io.files import trajectories_of
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.roads.network import RoadNetwork

GRID = 6


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
    promised = [item.provenance for item in synthetic] if privacy is None else list(privacy)
    card = judge(
        bench,
        dict(zip(labels, sets, strict=True)),
        rng,
        repeat=repeat,
        samples=samples,
        roads=usable,
        streets=streets,
        promised=promised,
        notes=notes,
        attack=(lambda walks: _attack(area, real, published, walks)) if attacks else None,
        stages=stages,
    )
    return replace(card, seed=seed, bounds_from=origin)


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


def in_zone(trajectories: Trajectories, timezone: str | None) -> Trajectories:
    """The set under the given zone, unless it names its own."""
    if timezone is None or trajectories.timezone is not None:
        return trajectories
    zone(timezone)
    return replace(trajectories, timezone=timezone)


def _labels(count: int) -> list[str]:
    return ["synthetic"] if count == 1 else [f"synthetic {number + 1}" for number in range(count)]
