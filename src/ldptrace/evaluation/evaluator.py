"""Evaluate synthetic sets against a real one: every metric, its floor, the attacks, and the pictures."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ldptrace.core.paths import CellPaths
from ldptrace.core.stages import Stages
from ldptrace.core.times import zone
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.base import Crowd
from ldptrace.engines.local import Memory
from ldptrace.errors import InputError
from ldptrace.evaluation.attacks import Outlier, Reidentification, uniform_walks
from ldptrace.evaluation.controls import ROUTED, usable_roads
from ldptrace.evaluation.inputs import Census, Outside, align, choose_area
from ldptrace.evaluation.judging import REPEAT, judge
from ldptrace.evaluation.measuring import Bench, Look, Measured
from ldptrace.evaluation.scorecard import Attack, Scorecard
from ldptrace.evaluation.streets import StreetMap
from ldptrace.io.files import trajectories_of
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.roads.network import RoadNetwork

GRID = 6
# Trajectories of a set that are looked at one by one, about: attacked, or else drawn; and points of them.
SAMPLE, DRAWN, SAMPLE_POINTS = 100_000, 2_000, 4_000_000


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
    """Measure synthetic sets against a real one; each is whatever `ldptrace.read` takes, or a `Crowd` elsewhere.

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
    with stages("prepare"):
        known = None if roads is None else roads.crs
        sets = Sets.of(real, synthetic, labels, grid, bounds, outside, timezone, known)
        usable = None if roads is None else usable_roads(roads, sets.area, sets.crs)
        streets = None if usable is None else StreetMap.of(usable)
    with stages("summarise"):
        sizes = [sets.size(number) for number in range(1, len(sets.crowds))]
        few = SAMPLE if attacks else DRAWN if streets is None else ROUTED
        rates = {size: size / sets.size(0) for size in sorted(set(sizes))}
        measured = [
            Measured.by(sets.look(number, rng, few, rates if number == 0 else {}), crowd, streets, rng)
            for number, crowd in enumerate(sets.crowds)
        ]
        bench = Bench.between(*measured[0], rng)
        published = [item for item, _ in measured[1:]]
    promised = [crowd.provenance for crowd in sets.crowds[1:]] if privacy is None else list(privacy)
    card = judge(
        bench,
        dict(zip(labels, published, strict=True)),
        rng,
        repeat=repeat,
        samples=samples,
        roads=usable,
        streets=streets,
        promised=promised,
        notes=[
            [*said, *_sampled(name, item, attacks, streets is not None)]
            for said, name, (item, _) in zip(sets.notes, sets.names, measured, strict=True)
        ],
        attack=(lambda walks: _attack(sets.area, [item.trajectories for item, _ in measured], walks))
        if attacks
        else None,
        stages=stages,
    )
    return replace(card, seed=seed, bounds_from=sets.origin)


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
    """The two attacks alone: for each synthetic set, by its name, each attack by its name.

    Of sets with more than `SAMPLE` trajectories about so many are drawn at random.
    """
    stages = stages or Stages()
    rng = np.random.default_rng(seed)
    labels = list(names) if names is not None else _labels(len(synthetic))
    with stages("prepare"):
        sets = Sets.of(real, synthetic, labels, grid, bounds, outside)
        chosen = [sets.sample(number, rng) for number in range(len(sets.crowds))]
        sizes = CellPaths.from_trajectories(chosen[0], sets.area).sizes
        walks = uniform_walks(sizes, sets.area, rng, crs=sets.crs)
    with stages("attack"):
        return dict(zip(labels, _attack(sets.area, chosen, walks), strict=True))


@dataclass(frozen=True, eq=False)
class Sets:
    """The sets of an evaluation in one area and one coordinate system, the real one first, wherever they are.

    `notes` say what is left out of each.
    """

    names: list[str]
    crowds: list[Crowd]
    census: list[Census]
    area: Grid
    origin: str
    crs: str | None
    zones: list[str | None]
    outside: Outside
    notes: list[list[str]]

    @staticmethod
    def of(
        real: Any,
        synthetic: Sequence[Any],
        labels: Sequence[str],
        grid: int | Grid,
        bounds: Bounds | None,
        outside: Outside,
        timezone: str | None = None,
        known: str | None = None,
    ) -> Sets:
        """Look through all sets once, the real one twice where it must say its bounds."""
        if not synthetic:
            raise InputError("there is no synthetic set to evaluate")
        if timezone is not None:
            zone(timezone)
        crowds = [_crowd(item) for item in (real, *synthetic)]
        # The other sets, or the road network that is to fit them, may say what the coordinates are.
        labelled = [crowd.crs for crowd in crowds] + [known]
        crs = next((label for label in labelled if label is not None), None)
        names = ["the real set", *(f"the synthetic set {label}" for label in labels)]
        aligned = [align(crs, crowd.crs, name) for crowd, name in zip(crowds[1:], names[1:], strict=True)]
        first = None
        if bounds is None and not isinstance(grid, Grid):
            first = crowds[0].add_up(partial(_census, None, crs), Census())
        area, origin = choose_area(first, grid, bounds)
        census = [
            first
            if first is not None and crowd is crowds[0]
            else crowd.add_up(partial(_census, area, crs), Census())
            for crowd in crowds
        ]
        notes = [
            [*before, *found.notes(area, outside, name)]
            for before, found, name in zip([[], *aligned], census, names, strict=True)
        ]
        zones = [crowd.timezone or timezone for crowd in crowds]
        return Sets(names, crowds, census, area, origin, crs, zones, outside, notes)

    def size(self, number: int) -> int:
        """Trajectories of a set that are evaluated."""
        return self.census[number].kept(self.outside)[0]

    def look(self, number: int, rng: np.random.Generator, sample: int, rates: Mapping[int, float]) -> Look:
        """How the blocks of a set are measured, with about so many trajectories as a sample."""
        many, points = self.census[number].kept(self.outside)
        share = min(1.0, sample / many, SAMPLE_POINTS / max(points, 1))
        return Look(
            self.area,
            self.outside,
            {"crs": self.crs, "timezone": self.zones[number]},
            self.census[number].has_times,
            share,
            rng.spawn(1)[0],
            rates,
            rng.spawn(1)[0] if rates else None,
        )

    def sample(self, number: int, rng: np.random.Generator) -> Trajectories:
        """What is looked at one by one of a set: all of it, or about so many at random."""
        look = self.look(number, rng, SAMPLE, {})
        nothing: list[Trajectories] = []
        return Trajectories.concat(self.crowds[number].add_up(look.chosen, nothing))


def _census(area: Grid | None, crs: str | None, block: Trajectories, _: int) -> Census:
    return Census.of(block, area, crs)


def _crowd(data: Any) -> Crowd:
    return data if isinstance(data, Crowd) else Memory(trajectories_of(data))


def _sampled(name: str, item: Measured, attacks: bool, streets: bool) -> list[str]:
    """What was looked at of a set that is too large to be looked at as a whole."""
    looked, size = len(item.trajectories), len(item.summary)
    if looked == size:
        return []
    what = ["the attacks"] * attacks + ["what is said of streets"] * streets + ["the drawing of lines"]
    return [
        f"{name}: {looked:,} of its {size:,} trajectories, drawn at random, stand for all in {' and '.join(what)}"
    ]


def _attack(grid: Grid, sets: Sequence[Trajectories], walks: Trajectories) -> list[dict[str, Attack]]:
    """Both attacks on every set but the real one, the first; on the other real trajectories; on random walks."""
    real, *published = sets
    kinds: dict[str, Reidentification | Outlier] = {
        "reidentification": Reidentification.of(real, grid),
        "outlier": Outlier.of(real, grid),
    }
    anchors = {name: (kind.against_real(), kind.against(walks)) for name, kind in kinds.items()}
    return [
        {name: Attack(kind.against(item), *anchors[name], kind.threshold) for name, kind in kinds.items()}
        for item in published
    ]


def _labels(count: int) -> list[str]:
    return ["synthetic"] if count == 1 else [f"synthetic {number + 1}" for number in range(count)]
