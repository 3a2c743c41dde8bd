"""Open the sets of an evaluation, in memory, in files larger than memory, or on a cluster, and measure them.

All sets have the same area and coordinate system, and omitted data are counted. Results of blocks can be added, so a
set larger than memory is measured block by block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ldptrace.core.crs import check_degrees, crs_hint, same_crs, scale_of
from ldptrace.core.outside import Crossings, unwrap, within
from ldptrace.core.parallel import NOTHING, Each, added, child
from ldptrace.core.reading import CUT, Outside, Reading
from ldptrace.core.times import to_local
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.base import Crowd
from ldptrace.engines.local import Memory
from ldptrace.errors import InputError
from ldptrace.evaluation.measured import Measured, StreetUse, affordable, chosen
from ldptrace.evaluation.settings import GRID
from ldptrace.evaluation.summary import Part, Summary
from ldptrace.evaluation.traces import Habits, Traces, drawn_again, habits_of
from ldptrace.io.files import trajectories_of
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.roads.matching import StreetIndex

# Trajectories of a set that are read one by one, about; and points of them.
SAMPLE, SAMPLE_POINTS = 100_000, 4_000_000


@dataclass(frozen=True)
class Census:
    """The numbers of trajectories and points, their extent, and what happened to those outside an area. `kept` and
    `kept_points` are within the area and evaluated, `timed` are those of blocks that have times. Blocks can be added.
    """

    trajectories: int = 0
    points: int = 0
    empty: int = 0
    crossings: Crossings = field(default_factory=Crossings)
    kept: int = 0
    kept_points: int = 0
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
        box, empty = block.bounds(), int(np.count_nonzero(block.sizes == 0))
        kept, finite = int(np.count_nonzero(inside.sizes)), bool(np.isfinite(box).all())
        return Census(len(block), block.points, empty, crossings, kept, inside.points, timed, finite, box)

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
    (x0, x1), (y0, y1) = (
        (low, high) if low < high else (low - half, low + half) for low, high in ((x0, x1), (y0, y1))
    )
    return Grid((x0, y0, x1, y1), grid), "the real set"


def align(real: str | None, synthetic: str | None, name: str) -> list[str]:
    """Return a note on the coordinate systems of two sets. A set without a system is assumed to have that of the
    other."""
    if real is None or synthetic is None:
        unnamed = name if synthetic is None else "the real set"
        system = real or synthetic
        return [] if system is None else [f"{unnamed} names no coordinate system and was taken as {system}"]
    if same_crs(synthetic, real):
        return []
    raise InputError(
        f"the sets have different coordinate systems: the real set {real}, {name} {synthetic}; "
        "convert one of them first"
    )


@dataclass(frozen=True, eq=False)
class Side:
    """One set of an evaluation, in memory, in files larger than memory, or on a cluster: its name in sentences, and how
    its trips are read in the area and the coordinate system of the evaluation. `outside` is what happens to trips that
    leave the area (None if none does), and `notes` state what is omitted.
    """

    name: str
    crowd: Crowd
    area: Grid
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
        return partial(stay_inside, self.area, self.outside, self.census.has_times, labels)

    def sample(self, rng: np.random.Generator) -> Trajectories:
        """Return all trajectories, or a random sample of about `SAMPLE`."""
        kept, draw, nothing = self.kept, self._sampler(rng, SAMPLE), list[Trajectories]()
        return Trajectories.concat(
            self.crowd.add_up(lambda block, number: [draw(kept(block), number)], nothing)
        )

    def measured(
        self,
        rng: np.random.Generator,
        streets: StreetIndex | None = None,
        few: int | None = None,
        sizes: Collection[int] = (),
    ) -> tuple[Measured, dict[int, Measured]]:
        """Measure the set, and bootstraps of its lines for some sizes, in which each trajectory counts a Poisson number
        of times. If `few` is given, a random sample of about so many stands for the trajectories; at most
        `measured.MATCHED` of them are matched to the streets.
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
        summary = Summary(parts, area, scale_of(area.bounds, sample.crs))
        habits, use, drawn, matched = self._habits(), None, None, 0
        if streets is not None:
            matched = affordable(streets, summary.tables.lengths.mean, len(sample))
            use = StreetUse.of(streets, chosen(sample, matched, rng))
        others, none = {}, sample.take(np.arange(0))
        for size, lines in zip(again, bootstraps, strict=True):
            if streets is not None:
                drawn = StreetUse.of(streets, sample.take(rng.integers(0, len(sample), matched)))
            others[size] = Measured(none, summary, lines, drawn, habits and drawn_again(habits, rng))
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
        return habits_of(inside, inside.users, self.area)


def measured(
    trajectories: Trajectories,
    grid: Grid,
    streets: StreetIndex | None = None,
    rng: np.random.Generator | None = None,
) -> Measured:
    """Measure a set in memory. A random sample of its trips is matched to the streets."""
    return Side.of(trajectories, grid).measured(rng or np.random.default_rng(0), streets)[0]


def stay_inside(
    area: Grid, outside: Outside | None, timed: bool, labels: Mapping[str, Any], block: Trajectories
) -> Trajectories:
    """Return a block with its labels, within the area, by the policy for trips that leave it, without empty
    trajectories. Without a policy, such trips are kept.
    """
    kept = replace(block, ids=None, extra=None, user=None, provenance=None, **labels)
    if not timed:
        kept = replace(kept, t=None)
    if outside is not None:
        kept = replace(within(kept, area.bounds, outside)[0], extra=None, trips=None)
    return kept.take(kept.sizes > 0) if np.any(kept.sizes == 0) else kept


def on_local_clocks(trajectories: Trajectories) -> Trajectories:
    """Return the trips with local times. Times of the local day are not changed."""
    if trajectories.t is None or trajectories.timezone is None:
        return trajectories
    return replace(trajectories, t=to_local(trajectories.t, trajectories.timezone))


def open_sides(
    real: Any,
    synthetic: Sequence[Any],
    names: Sequence[str],
    grid: int | Grid = GRID,
    bounds: Bounds | None = None,
    outside: Outside = CUT,
    timezone: str | None = None,
    crs: str | None = None,
) -> tuple[list[Side], str]:
    """Return the sets in one area and one coordinate system, the real set first, and where the area is from. All sets
    are read once, and the real set twice if the bounds are taken from it. `crs` is that of a road network that is to
    fit sets which state none.
    """
    if not synthetic:
        raise InputError("there is no synthetic set to evaluate")
    Reading(outside=outside, timezone=timezone)
    crowds = [
        item if isinstance(item, Crowd) else Memory(trajectories_of(item)) for item in (real, *synthetic)
    ]
    # The other sets may say what the coordinates are.
    crs = next((label for label in (*(crowd.crs for crowd in crowds), crs) if label is not None), None)
    titles = ["the real set", *(f"the synthetic set {name}" for name in names)]
    notes = [
        list[str](),
        *(align(crs, crowd.crs, title) for crowd, title in zip(crowds[1:], titles[1:], strict=True)),
    ]
    first = None
    if bounds is None and not isinstance(grid, Grid):
        first = crowds[0].add_up(partial(Census.of, None, crs, outside), Census())
    area, origin = choose_area(first, grid, bounds)
    check_degrees(area.bounds, crs, "the bounds" if first is None else "the bounds of the real set")
    sides: list[Side] = []
    for crowd, title, said in zip(crowds, titles, notes, strict=True):
        known = first if crowd is crowds[0] else None
        census = known or crowd.add_up(partial(Census.of, area, crs, outside), Census())
        said += census.notes(area, title, crs)
        zone = timezone or crowd.timezone
        if not sides and crowd.provenance is not None:
            said.append("the real set states a promise as synthetic trips do; the real trips come first")
        if sides and zone != sides[0].timezone and census.has_times and sides[0].census.has_times:
            one, other = (name or "no stated time zone" for name in (zone, sides[0].timezone))
            said.append(
                f"{title}: its hours are those of {one}, and the hours of the real set those of {other}"
            )
        sides.append(Side(title, crowd, area, outside, crs, zone, census, said))
    return sides, origin


def set_names(names: Sequence[str] | None, count: int) -> list[str]:
    """Return one name for each synthetic set. Sets with equal names are seeds of one method.

    >>> set_names(None, 2), set_names(["paper", "paper"], 2)
    (['synthetic 1', 'synthetic 2'], ['paper', 'paper'])
    """
    if names is None:
        return ["synthetic"] if count == 1 else [f"synthetic {number + 1}" for number in range(count)]
    return [str(name) for name in one_for_each("names", names, count)]


def one_for_each(what: str, given: Any, count: int) -> list[Any]:
    """Return a list, or raise an error if it does not have one entry for each synthetic set.

    >>> one_for_each("names", "mine", 1)
    Traceback (most recent call last):
        ...
    ldptrace.errors.InputError: names is a list with one entry for each synthetic set (1), got 'mine'
    """
    if isinstance(given, str | Mapping) or len(given) != count:
        shown = repr(given) if isinstance(given, str | Mapping) else f"{len(given)} entries"
        raise InputError(f"{what} is a list with one entry for each synthetic set ({count}), got {shown}")
    return list(given)
