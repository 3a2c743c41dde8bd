"""One set added up in every way that a metric needs, and the values of all metrics of such sets.

Everything here adds up over batches: summaries and traces of parts make those of the whole, so a set larger than
memory is measured part by part (`Measured.of` of each, then `Measured.merged`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ldptrace.core.times import to_local
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.corrected import CORRECTED
from ldptrace.evaluation.extents import travel_distances
from ldptrace.evaluation.floors import bootstrap
from ldptrace.evaluation.further import FURTHER, Questions, Sight, class_edges, log_classes
from ldptrace.evaluation.metrics import METRICS, Metric, Yardstick
from ldptrace.evaluation.streets import StreetMap, StreetUse
from ldptrace.evaluation.summary import Summary
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
class Measured:
    """A set with its summary, its traces, and its use of the streets where there is a map of them."""

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
        """Add a set up; a random choice of its trips is matched to the streets."""
        local, summary = on_local_clocks(trajectories), Summary.of(trajectories, grid)
        use = None
        if streets is not None:
            few = streets.affordable(summary.lengths)
            use = streets.match(chosen(trajectories, few, rng or np.random.default_rng(0)))
        return Measured(trajectories, summary, Traces.of(local, grid), use)

    @staticmethod
    def again(
        trajectories: Trajectories,
        grid: Grid,
        rate: float,
        rng: np.random.Generator,
        streets: StreetMap | None = None,
    ) -> Measured:
        """A bootstrap of a batch of real trips: each counts a Poisson number of times, `rate` on average.

        Such bootstraps of batches add up to one of the whole.
        """
        many = len(trajectories)
        traces = Traces.of(on_local_clocks(trajectories), grid, rng.poisson(rate, many))
        use = None
        if streets is not None:
            few = streets.affordable(travel_distances(trajectories, streets.scale))
            use = streets.match(trajectories.take(rng.integers(0, many, few)))
        return Measured(trajectories.take(np.arange(0)), Summary.nothing(grid), traces, use)

    def drawn(self, most: int, rng: np.random.Generator) -> Measured:
        """The same with at most so many of its trajectories: they are drawn on the page, and routed again."""
        return replace(self, trajectories=chosen(self.trajectories, most, rng))

    @staticmethod
    def merged(parts: Sequence[Measured]) -> Measured:
        """All parts together, with all the trajectories that they hold."""
        traces, use = parts[0].traces, parts[0].use
        for part in parts[1:]:
            traces = traces + part.traces
            use = None if use is None or part.use is None else use + part.use
        return Measured(
            Trajectories.concat([part.trajectories for part in parts]),
            Summary.merged([part.summary for part in parts]),
            traces,
            use,
        )

    def resized(self, size: int, rng: np.random.Generator) -> Measured:
        """The same set with its paths drawn again, with replacement, to another number of trajectories.

        Counts of sets of different sizes do not compare; shares, which is what traces are used for, do.
        """
        return replace(self, summary=self.summary.take(rng.integers(0, len(self.summary), size)))


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
    """The real set, a bootstrap of its lines for each size of a published set, and the questions to ask."""

    real: Measured
    again: dict[int, Measured]
    yardstick: Yardstick
    questions: Questions

    @staticmethod
    def of(
        real: Trajectories,
        grid: Grid,
        sizes: Sequence[int],
        rng: np.random.Generator,
        streets: StreetMap | None = None,
    ) -> Bench:
        """Do the real side's work."""
        measured = Measured.of(real, grid, streets, rng)
        again = {
            size: Measured.again(real, grid, size / len(real), rng, streets) for size in sorted(set(sizes))
        }
        return Bench.between(measured, again, rng)

    @staticmethod
    def between(real: Measured, again: Mapping[int, Measured], rng: np.random.Generator) -> Bench:
        """From the real set added up already, and a bootstrap of it for each size of a published set."""
        yardstick = Yardstick.between(real.summary, rng)
        return Bench(real, dict(again), yardstick, Questions.draw(rng, real.traces, real.summary.scale))

    def see(self, other: Measured, *, fixes: bool = False) -> Sight:
        """The lines of another set beside the real ones."""
        return Sight(self.real.traces, other.traces, self.questions, fixes, self.real.use, other.use)

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
