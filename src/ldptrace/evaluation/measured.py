"""Measure one set: compute everything that the metrics need.

All sets have the same area and coordinate system, and omitted data are counted. Results of blocks can be added, so a
set larger than memory is measured block by block. The result has a fixed size: tables, and a random sample of
trajectories for attacks, streets and pictures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.crs import crs_hint, same_crs, scale_of
from ldptrace.core.outside import Crossings, unwrap, within
from ldptrace.core.parallel import NOTHING, Each, added, child
from ldptrace.core.reading import Outside
from ldptrace.core.times import UNNAMED, to_local
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.base import Crowd
from ldptrace.engines.local import Memory
from ldptrace.errors import InputError
from ldptrace.evaluation.line_metrics import StreetMap, StreetUse, class_edges, log_classes, spacing
from ldptrace.evaluation.patterns import TOP
from ldptrace.evaluation.summary import Part, Summary
from ldptrace.evaluation.traces import DAY, Habits, Traces
from ldptrace.protocol.grid import Bounds, Grid

# Trajectories of a set that are read one by one, about; and points of them.
SAMPLE, SAMPLE_POINTS = 100_000, 4_000_000


@dataclass(frozen=True)
class Census:
    """The numbers of trajectories and points, their extent, and what happened to those outside an area. Blocks can be
    added."""

    trajectories: int = 0
    points: int = 0
    # Without points.
    empty: int = 0
    crossings: Crossings = field(default_factory=Crossings)
    # Trajectories and points within the area: those that are evaluated.
    kept: int = 0
    kept_points: int = 0
    # Those of blocks that have times.
    timed: int = 0
    finite: bool = True
    box: Bounds = (math.inf, math.inf, -math.inf, -math.inf)

    @staticmethod
    def of(area: Grid | None, crs: str | None, outside: Outside, block: Trajectories, _: int = 0) -> Census:
        """Count one block. Without an area, nothing is outside."""
        timed = len(block) if block.t is not None else 0
        if block.points == 0:
            return Census(len(block), empty=len(block), timed=timed)
        block = replace(block, crs=crs, ids=None, extra=None, user=None)
        inside, crossings = block, Crossings()
        if area is not None:
            block = unwrap(block, area.bounds)
            inside, crossings = within(block, area.bounds, outside)
        box = block.bounds()
        return Census(
            len(block),
            block.points,
            int(np.count_nonzero(block.sizes == 0)),
            crossings,
            int(np.count_nonzero(inside.sizes)),
            inside.points,
            timed,
            bool(np.isfinite(box).all()),
            box,
        )

    def __add__(self, other: Census) -> Census:
        (a, b, c, d), (e, f, g, h) = self.box, other.box
        box = (min(a, e), min(b, f), max(c, g), max(d, h))
        return added(self, other, finite=self.finite and other.finite, box=box)

    @property
    def has_times(self) -> bool:
        """Whether all trajectories have times."""
        return self.timed == self.trajectories

    def notes(self, area: Grid, name: str, crs: str | None = None) -> list[str]:
        """Return notes on what is omitted or changed, or raise an error if nothing is left."""
        many = self.trajectories - self.empty
        if many == 0:
            raise InputError(f"{name} has no trajectories, so there is nothing to evaluate")
        if not self.finite:
            raise InputError(f"{name} has coordinates that are not finite numbers")
        if self.kept == 0 or self.crossings.points == self.points:
            box, span = (", ".join(f"{value:g}" for value in each) for each in (area.bounds, self.box))
            raise InputError(
                f"none of the {many:,} trajectories of {name} stays in the bounds ({box}): they span ({span})"
                f"{crs_hint(area.bounds, self.box, crs)}"
            )
        notes = []
        if self.empty:
            notes.append(
                f"{name}: {self.empty:,} of {self.trajectories:,} trajectories have no points and are omitted"
            )
        if self.crossings.trips:
            notes.append(f"{name}: {self.crossings.sentence} (of {many:,} trajectories)")
        return notes


def choose_area(real: Census | None, grid: int | Grid, bounds: Bounds | None) -> tuple[Grid, str]:
    """Return the grid for the evaluation, and where its bounds come from, by default from the real set."""
    if isinstance(grid, Grid):
        if bounds is not None and tuple(bounds) != grid.bounds:
            raise InputError(f"the grid has the bounds {grid.bounds}, but bounds={bounds} were given as well")
        return grid, "given"
    if bounds is not None:
        return Grid(bounds, grid), "given"
    if real is None or real.points == 0:
        raise InputError("the real set has no points, so there is nothing to compare with")
    if not real.finite:
        raise InputError("the real set has coordinates that are not finite numbers")
    x0, y0, x1, y1 = real.box
    # A set on a line or in one point still needs an area.
    half = max(x1 - x0, y1 - y0, 1e-3) / 2
    if x1 <= x0:
        x0, x1 = x0 - half, x0 + half
    if y1 <= y0:
        y0, y1 = y0 - half, y0 + half
    return Grid((x0, y0, x1, y1), grid), "the real set"


def stay_inside(trajectories: Trajectories, area: Grid, outside: Outside | None) -> Trajectories:
    """Return a block within the area, by the policy for trips that leave it, without empty trajectories. Without a
    policy, such trips are kept.
    """
    if outside is not None:
        trajectories = replace(within(trajectories, area.bounds, outside)[0], extra=None, trips=None)
    return trajectories.take(trajectories.sizes > 0) if np.any(trajectories.sizes == 0) else trajectories


def align(real: str | None, synthetic: str | None, name: str) -> list[str]:
    """Return a note on the coordinate systems of two sets. A set without a system is assumed to have that of the
    other."""
    if synthetic is not None and real is not None:
        if same_crs(synthetic, real):
            return []
        raise InputError(
            f"the sets have different coordinate systems: the real set {real}, {name} {synthetic}; "
            "convert one of them first"
        )
    if synthetic == real:
        return []
    unnamed = name if synthetic is None else "the real set"
    return [f"{unnamed} names no coordinate system and was taken as {real or synthetic}"]


@dataclass(frozen=True, eq=False)
class Measured:
    """A measured set: its summary, its traces, and its use of streets if there is a map.

    `trajectories` are all of the set, or a random sample of a large one.
    """

    trajectories: Trajectories
    summary: Summary
    traces: Traces
    use: StreetUse | None = None
    # Of the users, if the set is in memory and names them.
    habits: Habits | None = None

    @staticmethod
    def of(
        trajectories: Trajectories,
        grid: Grid,
        streets: StreetMap | None = None,
        rng: np.random.Generator | None = None,
    ) -> Measured:
        """Measure a set in memory. A random sample of its trips is matched to the streets."""
        return Side.of(trajectories, grid).measured(rng or np.random.default_rng(0), streets)[0]

    def resized(self, size: int) -> Measured:
        """Return the same set as if it had another number of trajectories.

        Counts of sets of different sizes cannot be compared. Traces are used only as shares, so they are not changed.
        """
        return replace(self, summary=self.summary.resized(size))


@dataclass(frozen=True, eq=False)
class Side:
    """One set of an evaluation, in memory, in files larger than memory, or on a cluster: its name in sentences, and how
    its trips are read in the area and the coordinate system of the evaluation. `notes` state what is omitted from it.
    """

    name: str
    crowd: Crowd
    area: Grid
    # What happens to trips that leave the area; None if none does.
    outside: Outside | None
    crs: str | None
    timezone: str | None
    census: Census
    notes: Sequence[str] = ()

    @staticmethod
    def of(trajectories: Trajectories, area: Grid) -> Side:
        """Make a side of trajectories in memory that are all in the area."""
        many = len(trajectories)
        census = Census(many, kept=many, timed=0 if trajectories.t is None else many)
        crs, timezone = trajectories.crs, trajectories.timezone
        return Side("the set", Memory(trajectories), area, None, crs, timezone, census)

    @property
    def kept(self) -> Callable[[Trajectories], Trajectories]:
        """A function that returns a block with the labels of its set, within the area. It does not hold the set itself,
        so that machines of a cluster can run it."""
        labels = {"crs": self.crs, "timezone": self.timezone}
        return partial(_kept, self.area, self.outside, self.census.has_times, labels)

    def sample(self, rng: np.random.Generator) -> Trajectories:
        """Return all trajectories, or a random sample of about `SAMPLE`."""
        kept, draw, nothing = self.kept, self._sampler(rng, SAMPLE), list[Trajectories]()
        return Trajectories.concat(
            self.crowd.add_up(lambda block, number: [draw(kept(block), number)], nothing)
        )

    def measured(
        self,
        rng: np.random.Generator,
        streets: StreetMap | None = None,
        few: int | None = None,
        sizes: Collection[int] = (),
    ) -> tuple[Measured, dict[int, Measured]]:
        """Measure the set, and bootstraps of its lines for some sizes, in which each trajectory counts a Poisson number
        of times. If `few` is given, a random sample of about so many stands for the trajectories.
        """
        draw = self._sampler(rng, few) if few is not None else lambda kept, _: kept
        weighing = rng.spawn(1)[0] if sizes else rng
        again, area, many, within_area = sorted(set(sizes)), self.area, self.census.kept, self.kept

        def work(block: Trajectories, number: int) -> tuple[Part, Each[Any]]:
            kept, weights = within_area(block), child(weighing, number)
            local = on_local_clocks(kept)
            bootstraps = [Traces.of(local, area, weights.poisson(size / many, len(kept))) for size in again]
            return Part.of(kept, area), Each([Traces.of(local, area), Each(bootstraps), [draw(kept, number)]])

        parts, (traces, bootstraps, pieces) = self.crowd.put_aside(work, NOTHING)
        sample = Trajectories.concat(pieces)
        summary = Summary(parts, self.area, scale_of(self.area.bounds, sample.crs))
        habits, use, matched = self._habits(), None, 0
        if streets is not None:
            matched = streets.affordable(summary.tables.lengths.mean, len(sample))
            use = streets.match(chosen(sample, matched, rng))
        others = {}
        for size, lines in zip(again, bootstraps, strict=True):
            drawn = None
            if streets is not None:
                drawn = streets.match(sample.take(rng.integers(0, len(sample), matched)))
            none = sample.take(np.arange(0))
            others[size] = Measured(none, summary, lines, drawn, habits and habits.again(rng))
        return Measured(sample, summary, traces, use, habits), others

    def _sampler(self, rng: np.random.Generator, few: int) -> Callable[[Trajectories, int], Trajectories]:
        """Return a function that draws from a block with a number, such that about `few` are drawn from the set."""
        source = rng.spawn(1)[0]
        share = min(1.0, few / self.census.kept, SAMPLE_POINTS / max(self.census.kept_points, 1))

        def draw(kept: Trajectories, number: int) -> Trajectories:
            return kept if share >= 1 else kept.take(child(source, number).random(len(kept)) < share)

        return draw

    def _habits(self) -> Habits | None:
        """Return the habits of the users, or None if the set is not in memory or does not name them."""
        if not isinstance(self.crowd, Memory) or self.crowd.whole().user is None:
            return None
        inside = replace(self.crowd.whole(), crs=self.crs, timezone=self.timezone)
        if self.outside is not None:
            inside = within(inside, self.area.bounds, self.outside)[0]
        inside = inside.take(inside.sizes > 0)
        return Habits.of(inside, inside.users, self.area)


def _kept(
    area: Grid, outside: Outside | None, timed: bool, labels: Mapping[str, Any], block: Trajectories
) -> Trajectories:
    plain = replace(block, ids=None, extra=None, user=None, provenance=None, **labels)
    return stay_inside(plain if timed else replace(plain, t=None), area, outside)


def on_local_clocks(trajectories: Trajectories) -> Trajectories:
    """Return the trips with local times. Times of the local day are not changed."""
    if trajectories.t is None or trajectories.timezone is None:
        return trajectories
    return replace(trajectories, t=to_local(trajectories.t, trajectories.timezone))


def chosen(trajectories: Trajectories, most: int, rng: np.random.Generator) -> Trajectories:
    """Return at most `most` of the trajectories, drawn at random."""
    if len(trajectories) <= most:
        return trajectories
    return trajectories.take(np.sort(rng.choice(len(trajectories), most, replace=False)))


def timed_walks(walks: Trajectories, real: Traces, rng: np.random.Generator) -> Trajectories:
    """Give random walks uniform departure times, and durations that are uniform on a logarithmic scale over the real
    range."""
    if not real.has_times:
        return walks
    edges = class_edges(log_classes(real.durations))
    many = len(walks)
    leave = rng.random(many) * DAY
    spent = np.exp(rng.uniform(np.log(edges[0]), np.log(edges[-1]), many))
    share = ragged.places(walks.offsets) / np.repeat(np.maximum(walks.sizes - 1, 1), walks.sizes)
    return replace(walks, t=np.repeat(leave, walks.sizes) + share * np.repeat(spent, walks.sizes))


def set_remarks(real: Measured, synthetic: Measured) -> list[str]:
    """Return remarks on the values of this set for the reader."""
    remarks = []
    size, other = len(real.summary), len(synthetic.summary)
    if abs(size - other) > 0.01 * size:
        remarks.append(
            f"the real set has {size:,} trajectories, this one {other:,}; query error and "
            "pattern error compare counts, as in the reference: use their scaled variants, which rank the sets"
        )
    patterns = len(synthetic.summary.patterns)
    if patterns < TOP <= len(real.summary.patterns):
        remarks.append(f"this set has only {patterns} different patterns of 2 to 8 cells")
    if real.traces.has_times and not synthetic.traces.has_times:
        remarks.append("this set has no times, so it is not compared by when trips happen")
    elif real.traces.has_clock and not synthetic.traces.has_clock:
        remarks.append("all trips of this set begin at the same time, so departures are not compared")
    return remarks


def real_remarks(real: Measured) -> list[str]:
    """Return remarks on the real set for the reader."""
    remarks = []
    summary = real.summary
    if len(summary.patterns) == 0:
        remarks.append("no real trajectory leaves its cell, so there are no patterns to compare")
    elif len(summary.patterns) < TOP:
        remarks.append(
            f"the real set has only {len(summary.patterns)} different patterns of 2 to 8 cells; pattern F1 and "
            "pattern error are divided by 100 nevertheless, as in the reference: use the variants"
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
            "lines between them cut corners: use the densities of points, not those of lines"
        )
    if real.use is not None and not real.use.tells_turns:
        remarks.append(
            f"only {100 * real.use.on_streets:.0f} % of the real lines lie on streets (points far apart, or a map of "
            "another place or mode of travel), so turns and lengths on streets are not compared"
        )
    if real.trajectories.has_dates and real.trajectories.timezone is None:
        remarks.append(f"hours of the day are those of UTC, because {UNNAMED}")
    return remarks


def clock_of(trajectories: Trajectories) -> str:
    """Return whose hours the hours of the day are, for the title of an axis."""
    if trajectories.timezone is not None:
        return trajectories.timezone
    return "UTC, assumed" if trajectories.has_dates else "local"


def sampled(title: str, item: Measured, *, attacks: bool, streets: bool) -> list[str]:
    """Return a note on what was computed from a sample, because the set is too large."""
    looked, size = len(item.trajectories), len(item.summary)
    if looked == size:
        return []
    what = ["the attacks"] * attacks + ["the metrics of streets"] * streets + ["the drawing of lines"]
    return [
        f"{title}: {looked:,} of its {size:,} trajectories, drawn at random, stand for all in {' and '.join(what)}"
    ]
