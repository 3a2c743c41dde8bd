"""One set added up in every way that a metric needs.

Everything here adds up over blocks, so a set larger than memory is measured block by block, wherever its blocks are.
What is left of a set when it was measured has the same size for every set: tables, and a random choice of its
trajectories for what needs them whole (attacks, streets, pictures).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ldptrace.core.outside import Outside
from ldptrace.core.parallel import child
from ldptrace.core.times import to_local
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.base import Crowd
from ldptrace.engines.local import Memory
from ldptrace.evaluation.census import stay_inside
from ldptrace.evaluation.distances import metric_scale
from ldptrace.evaluation.line_metrics import class_edges, log_classes
from ldptrace.evaluation.streets import StreetMap, StreetUse
from ldptrace.evaluation.summary import Part, Summary
from ldptrace.evaluation.traces import DAY, Traces
from ldptrace.protocol.grid import Grid


@dataclass(frozen=True, eq=False)
class Totals:
    """What the blocks of a set add up to besides their parts.

    `again` are traces of bootstraps, by their sizes: each trajectory counts a Poisson number of times.
    """

    traces: Traces
    again: dict[int, Traces]
    sample: list[Trajectories]

    def __add__(self, other: Totals) -> Totals:
        again = {size: traces + other.again[size] for size, traces in self.again.items()}
        return Totals(self.traces + other.traces, again, self.sample + other.sample)


@dataclass(frozen=True, eq=False)
class Pass:
    """How a block of a set is measured: in an area, under its labels, with a sample of about `share` of it."""

    grid: Grid
    outside: Outside | None
    labels: Mapping[str, Any]
    timed: bool
    share: float
    sampling: np.random.Generator
    # How often each trajectory counts on average in a bootstrap of each size.
    rates: Mapping[int, float] = field(default_factory=dict)
    weighing: np.random.Generator | None = None

    @property
    def nothing(self) -> Totals:
        """Of no block."""
        zero = Traces.zero(self.grid)
        return Totals(zero, dict.fromkeys(self.rates, zero), [])

    def __call__(self, block: Trajectories, number: int) -> tuple[Part, Totals]:
        kept = self.kept(block)
        local = on_local_clocks(kept)
        again = {}
        if self.weighing is not None:
            drawn = child(self.weighing, number)
            for size, rate in self.rates.items():
                again[size] = Traces.of(local, self.grid, drawn.poisson(rate, len(kept)))
        sample = [self._sample(kept, number)]
        return Part.of(kept, self.grid), Totals(Traces.of(local, self.grid), again, sample)

    def chosen(self, block: Trajectories, number: int) -> list[Trajectories]:
        """The sample alone."""
        return [self._sample(self.kept(block), number)]

    def kept(self, block: Trajectories) -> Trajectories:
        """A block ready to be measured: with the labels of its set, and inside the area."""
        plain = replace(block, ids=None, extra=None, user=None, provenance=None, **self.labels)
        plain = plain if self.timed else replace(plain, t=None)
        return stay_inside(plain, self.grid, self.outside)

    def _sample(self, kept: Trajectories, number: int) -> Trajectories:
        if self.share >= 1:
            return kept
        return kept.take(child(self.sampling, number).random(len(kept)) < self.share)


@dataclass(frozen=True, eq=False)
class Measured:
    """A set with its summary, its traces, and its use of the streets where there is a map of them.

    `trajectories` are all of the set, or a random sample of a large one.
    """

    trajectories: Trajectories
    summary: Summary
    traces: Traces
    use: StreetUse | None = None

    @staticmethod
    def of(
        trajectories: Trajectories,
        grid: Grid,
        streets: StreetMap | None = None,
        rng: np.random.Generator | None = None,
    ) -> Measured:
        """Add up a set in memory, as it is; a random choice of its trips is matched to the streets."""
        rng = rng or np.random.default_rng(0)
        labels = {"crs": trajectories.crs, "timezone": trajectories.timezone}
        way = Pass(grid, None, labels, trajectories.t is not None, 1.0, rng)
        return Measured.by(way, Memory(trajectories), streets, rng)[0]

    @staticmethod
    def by(
        way: Pass, crowd: Crowd, streets: StreetMap | None, rng: np.random.Generator
    ) -> tuple[Measured, dict[int, Measured]]:
        """A set wherever it is, and bootstraps of its lines by their sizes."""
        parts, seen = crowd.put_aside(way, way.nothing)
        sample = Trajectories.concat(seen.sample)
        scale = metric_scale(way.grid, geographic=sample.is_geographic)
        summary = Summary(parts, way.grid, scale)
        few = 0 if streets is None else streets.affordable(summary.tables.lengths.mean, len(sample))
        use = None if streets is None else streets.match(chosen(sample, few, rng))
        again = {}
        for size, traces in seen.again.items():
            drawn = None
            if streets is not None:
                drawn = streets.match(sample.take(rng.integers(0, len(sample), few)))
            again[size] = Measured(sample.take(np.arange(0)), summary, traces, drawn)
        return Measured(sample, summary, seen.traces, use), again

    def resized(self, size: int) -> Measured:
        """The same set as if it had another number of trajectories.

        Counts of sets of different sizes do not compare; shares, which is what traces are used for, do.
        """
        return replace(self, summary=self.summary.resized(size))


def on_local_clocks(trajectories: Trajectories) -> Trajectories:
    """The same trips with times on the clocks of their zone; times of the local day are so already."""
    if trajectories.t is None or trajectories.timezone is None:
        return trajectories
    return replace(trajectories, t=to_local(trajectories.t, trajectories.timezone))


def chosen(trajectories: Trajectories, most: int, rng: np.random.Generator) -> Trajectories:
    """At most `most` of the trajectories, at random."""
    if len(trajectories) <= most:
        return trajectories
    return trajectories.take(np.sort(rng.choice(len(trajectories), most, replace=False)))


def timed_walks(walks: Trajectories, real: Traces, rng: np.random.Generator) -> Trajectories:
    """Random walks that leave at any time of the day and take any of the real set's durations, evenly."""
    if not real.has_times:
        return walks
    edges = class_edges(log_classes(real.durations))
    many = len(walks)
    leave = rng.random(many) * DAY
    spent = np.exp(rng.uniform(np.log(edges[0]), np.log(edges[-1]), many))
    step = np.arange(walks.points) - np.repeat(walks.offsets[:-1], walks.sizes)
    share = step / np.repeat(np.maximum(walks.sizes - 1, 1), walks.sizes)
    return replace(walks, t=np.repeat(leave, walks.sizes) + share * np.repeat(spent, walks.sizes))
