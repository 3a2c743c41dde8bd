"""One set added up in every way that a metric needs, and the values of all metrics of such sets.

Everything here adds up over blocks, so a set larger than memory is measured block by block, wherever its blocks are.
What is left of a set when it was measured has the same size for every set: tables, and a random choice of its
trajectories for what needs them whole (attacks, streets, pictures).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ldptrace.core.parallel import child
from ldptrace.core.times import to_local
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.base import Crowd
from ldptrace.engines.local import Memory
from ldptrace.evaluation.corrected import CORRECTED
from ldptrace.evaluation.extents import metric_scale
from ldptrace.evaluation.floors import bootstrap
from ldptrace.evaluation.further import FURTHER, Queries, Sight, class_edges, log_classes
from ldptrace.evaluation.inputs import Outside, stay_inside
from ldptrace.evaluation.metrics import METRICS, Metric, Yardstick
from ldptrace.evaluation.streets import StreetMap, StreetUse
from ldptrace.evaluation.summary import Part, Summary
from ldptrace.evaluation.traces import DAY, Traces
from ldptrace.models.time import DAY_PROFILE
from ldptrace.protocol.grid import Grid

# Of a set whose places and hours are drawn apart, and of one that leaves as any city's people do.
INDEPENDENT, PUBLIC_PROFILE = "independent", "public_profile"
# Metrics of the cell paths of two sets, and all there are.
OF_PATHS: dict[str, Metric] = METRICS | CORRECTED
ALL_METRICS: dict[str, Metric] = METRICS | FURTHER | CORRECTED


@dataclass(frozen=True)
class Value:
    """One measured number: mean over the repeats, spread, and what others would score.

    `floor` is a perfect generator (a bootstrap of the real set), `uniform` one that knows nothing. `controls` are
    what the map alone scores, plain routing between the set's own ends, the public daily profile, and, where places
    and hours go together, the set itself if they did not.
    """

    mean: float
    std: float | None = None
    floor: float | None = None
    floor_std: float | None = None
    uniform: float | None = None
    controls: Mapping[str, float] | None = None


@dataclass(frozen=True, eq=False)
class Seen:
    """What the blocks of a set add up to besides their parts.

    `again` are traces of bootstraps, by their sizes: each trajectory counts a Poisson number of times.
    """

    traces: Traces
    again: dict[int, Traces]
    sample: list[Trajectories]

    def __add__(self, other: Seen) -> Seen:
        again = {size: traces + other.again[size] for size, traces in self.again.items()}
        return Seen(self.traces + other.traces, again, self.sample + other.sample)


@dataclass(frozen=True, eq=False)
class Look:
    """How a block of a set is measured: in an area, under its labels, with about so large a share of it as a sample."""

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
    def nothing(self) -> Seen:
        """Of no block."""
        zero = Traces.zero(self.grid)
        return Seen(zero, dict.fromkeys(self.rates, zero), [])

    def __call__(self, block: Trajectories, number: int) -> tuple[Part, Seen]:
        kept = self._kept(block)
        local = on_local_clocks(kept)
        again = {}
        if self.weighing is not None:
            drawn = child(self.weighing, number)
            for size, rate in self.rates.items():
                again[size] = Traces.of(local, self.grid, drawn.poisson(rate, len(kept)))
        sample = [self._sample(kept, number)]
        return Part.of(kept, self.grid), Seen(Traces.of(local, self.grid), again, sample)

    def chosen(self, block: Trajectories, number: int) -> list[Trajectories]:
        """The sample alone."""
        return [self._sample(self._kept(block), number)]

    def _kept(self, block: Trajectories) -> Trajectories:
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

    `trajectories` are all of the set, or of a large one as many as are looked at one by one, drawn at random.
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
        look = Look(grid, None, labels, trajectories.t is not None, 1.0, rng)
        return Measured.by(look, Memory(trajectories), streets, rng)[0]

    @staticmethod
    def by(
        look: Look, crowd: Crowd, streets: StreetMap | None, rng: np.random.Generator
    ) -> tuple[Measured, dict[int, Measured]]:
        """A set wherever it is, and bootstraps of its lines by their sizes."""
        parts, seen = crowd.put_aside(look, look.nothing)
        sample = Trajectories.concat(seen.sample)
        scale = metric_scale(look.grid, geographic=sample.is_geographic)
        summary = Summary(parts, look.grid, scale)
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
    """At most so many of the trajectories, at random."""
    if len(trajectories) <= most:
        return trajectories
    return trajectories.take(np.sort(rng.choice(len(trajectories), most, replace=False)))


@dataclass(frozen=True, eq=False)
class Bench:
    """The real set, a bootstrap of its lines for each size of a published set, and the queries for all of them."""

    real: Measured
    again: dict[int, Measured]
    yardstick: Yardstick
    queries: Queries

    @staticmethod
    def of(
        real: Trajectories,
        grid: Grid,
        sizes: Sequence[int],
        rng: np.random.Generator,
        streets: StreetMap | None = None,
    ) -> Bench:
        """Do the real side's work, in memory."""
        labels = {"crs": real.crs, "timezone": real.timezone}
        rates = {size: size / len(real) for size in sorted(set(sizes))}
        look = Look(grid, None, labels, real.t is not None, 1.0, rng, rates, rng.spawn(1)[0])
        return Bench.between(*Measured.by(look, Memory(real), streets, rng), rng)

    @staticmethod
    def between(real: Measured, again: Mapping[int, Measured], rng: np.random.Generator) -> Bench:
        """From the real set added up already, and a bootstrap of it for each size of a published set."""
        yardstick = Yardstick.between(real.summary, rng)
        return Bench(real, dict(again), yardstick, Queries.draw(rng, real.traces, real.summary.scale))

    def see(self, other: Measured, *, fixes: bool = False) -> Sight:
        """The lines of another set beside the real ones."""
        return Sight(self.real.traces, other.traces, self.queries, fixes, self.real.use, other.use)

    def further(self, other: Measured, *, fixes: bool = False) -> dict[str, float]:
        """Every further metric of a set; what does not apply is not a number."""
        return _values(FURTHER, self.see(other, fixes=fixes))

    def once(self, other: Measured) -> dict[str, float]:
        """Every metric of a set, with one draw of the queries."""
        return _values(OF_PATHS, self.yardstick.compare(other.summary)) | self.further(other)

    def values(
        self,
        published: Sequence[Measured],
        walks: Measured,
        controls: Sequence[Mapping[str, Measured]],
        repeat: int,
        rng: np.random.Generator,
    ) -> list[dict[str, Value]]:
        """Every metric of every set over `repeat` draws of the queries; the same of a bootstrap, of walks once.

        The corrected variants and the further metrics are measured once.
        """
        blind = self.once(walks)
        beside = [{name: self.once(control) for name, control in each.items()} for each in controls]
        everyday = self.further(replace(self.real, traces=self.real.traces.leaving(DAY_PROFILE)))
        for others, item in zip(beside, published, strict=True):
            others[PUBLIC_PROFILE] = {"departure_error": everyday["departure_error"]}
            apart = self.further(replace(item, traces=item.traces.unlinked()))
            others[INDEPENDENT] = {
                name: apart[name] for name in ("spacetime_query_error", "period_origin_error")
            }
        scores = [[self.further(item)] for item in published]
        floors = {size: [self.further(item, fixes=True)] for size, item in self.again.items()}
        for number in range(repeat):
            drawn, metrics = (
                (self.yardstick, OF_PATHS) if number == 0 else (self.yardstick.redrawn(rng), METRICS)
            )
            for rounds, item in zip(scores, published, strict=True):
                rounds.append(_values(metrics, drawn.compare(item.summary)))
            for size, rounds in floors.items():
                rounds.append(_values(metrics, bootstrap(drawn, size, rng)))
        return [
            {
                name: _value(
                    name,
                    rounds,
                    floors[len(item.summary)],
                    blind[name],
                    {control: found[name] for control, found in others.items() if name in found},
                )
                for name in ALL_METRICS
            }
            for rounds, item, others in zip(scores, published, beside, strict=True)
        ]


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


def _values(metrics: Mapping[str, Metric], pair: object) -> dict[str, float]:
    """Each metric of a real set beside a synthetic one."""
    return {name: metric.of(pair) for name, metric in metrics.items()}


def _value(
    name: str,
    rounds: list[dict[str, float]],
    floors: list[dict[str, float]],
    blind: float,
    controls: Mapping[str, float],
) -> Value:
    (mean, std), (floor, floor_std) = (
        _mean_and_spread([found[name] for found in all_ if name in found]) for all_ in (rounds, floors)
    )
    return Value(mean, std, floor, floor_std, blind, controls)


def _mean_and_spread(values: list[float]) -> tuple[float, float | None]:
    if len(values) == 1 or np.isnan(values).any():
        return float(np.mean(values)), None
    if min(values) == max(values):
        # The mean of equal numbers is that number, without rounding.
        return values[0], 0.0
    return float(np.mean(values)), float(np.std(values, ddof=1))
