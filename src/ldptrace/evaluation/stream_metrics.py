"""The eight metrics of streams of RetraSyn (Hu et al., ICDE 2024), computed as in its public code, and their values
over time.

Density and transition errors are means over the ticks; query, hotspot and pattern metrics means over random windows;
the other three are computed from all ticks. A move that skips cells counts as a transition, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.crs import scale_of
from ldptrace.core.parallel import NOTHING, Each, child
from ldptrace.core.placement import running, steps_to
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.base import Crowd
from ldptrace.errors import InputError
from ldptrace.evaluation.divergence import (
    count_divergence,
    divergence_terms,
    hotspot_gain,
    kendall_tau,
    reference_counts,
)
from ldptrace.evaluation.figures import MAP_BLOCKS, blocks
from ldptrace.evaluation.metrics import RELATIVE, Metric, of_pair
from ldptrace.evaluation.patterns import TOP
from ldptrace.evaluation.queries import SANITY
from ldptrace.evaluation.streams import (
    Clock,
    Counts,
    Frame,
    Positions,
    Span,
    StreamTables,
    bins,
    spans,
)
from ldptrace.protocol.grid import Grid

HOTTEST = 10
# Maps of a stream over time.
MOMENTS = 4
Course = dict[str, list[Any]]
# What else is measured beside the real set: the same trips at shuffled times, and, with a map, its routes.
SHUFFLED, MAP_ALONE = "shuffled_times", "map_alone"


@dataclass(frozen=True, eq=False)
class StreamPair:
    """The tables of a real and of a synthetic stream in one frame."""

    real: StreamTables
    synthetic: StreamTables
    frame: Frame


def density_over_time(pair: StreamPair) -> Floats:
    """Return the divergence of the positions in each compared tick."""
    clock = pair.frame.clock
    return _over_time(pair.real.density, pair.synthetic.density, clock.ticks)[clock.start :]


def transitions_over_time(pair: StreamPair) -> Floats:
    """Return the divergence of the pairs (cell, cell in the next tick) in each compared tick except the last."""
    clock = pair.frame.clock
    real, synthetic = (side.patterns[0] for side in (pair.real, pair.synthetic))
    return _over_time(real, synthetic, clock.ticks)[clock.start : clock.ticks - 1]


def query_error(pair: StreamPair) -> float:
    """Return the mean relative error of the positions in 100 boxes during a time window, with denominators of at least
    1 % of all positions."""
    clock = pair.frame.clock
    compared = clock.ticks - clock.start
    least = SANITY * clock.window * pair.real.density.values.sum() / compared
    gaps = np.abs(pair.real.answers - pair.synthetic.answers)
    return float(np.mean(gaps / np.maximum(pair.real.answers, least)))


def hotspots(pair: StreamPair, first: Ints) -> Floats:
    """Return the NDCG of the ten busiest cells in each time window."""
    cells, wide = pair.frame.grid.cells, pair.frame.clock.window
    gains = []
    for at in first.tolist():
        both = (side.density.between(at, at + wide) for side in (pair.real, pair.synthetic))
        real, synthetic = (bins(items, counts, cells) for items, counts in both)
        gains.append(hotspot_gain(real, synthetic, HOTTEST))
    return np.array(gains)


def pattern_matches(pair: StreamPair, first: Ints) -> Floats:
    """Return the share of the hundred most frequent patterns of each time window that both streams have."""
    wide = pair.frame.clock.window
    sides = ([side.frequent(at, wide) for at in first.tolist()] for side in (pair.real, pair.synthetic))
    return np.array([len(one & other) / TOP for one, other in zip(*sides, strict=True)])


def trip_error(pair: StreamPair) -> float:
    """Return the divergence of the pairs (first cell, last cell) of trips."""
    return float(_over_time(pair.real.ends, pair.synthetic.ends, 1)[0])


def length_error(pair: StreamPair) -> float:
    """Return the divergence of the travel distances in twenty buckets over the range of both streams."""
    sides = []
    for side in (pair.real, pair.synthetic):
        lengths, weights = np.concatenate(side.lengths), np.concatenate(side.weights)
        # Trips with fractional weights (the map alone) count once.
        sides.append(np.repeat(lengths, weights.astype(np.int64)) if np.all(weights % 1 == 0) else lengths)
    every = np.concatenate(sides)
    low, high = float(every.min(initial=0.0)), float(every.max(initial=0.0))
    return count_divergence(*(reference_counts(side, low, high) for side in sides))


def _over_time(real: Counts, synthetic: Counts, ticks: int) -> Floats:
    """Return the Jensen-Shannon divergence of two tables in each tick. A tick without travellers is a distribution of
    zeros."""
    keys = np.union1d(real.keys, synthetic.keys)
    tick, shares = keys // real.base, np.zeros((2, len(keys)))
    for share, side in zip(shares, (real, synthetic), strict=True):
        share[np.searchsorted(keys, side.keys)] = side.values
        share /= np.maximum(side.totals(ticks), 1e-300)[tick]
    return bins(tick, divergence_terms(*shares), ticks)


STREAM_METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "stream_density_error", "Density error per tick", "stream", "nats (JSD)",
            lambda pair: float(density_over_time(pair).mean()),
            "how differently people are spread over the cells at a tick",
        ),
        Metric(
            "stream_transition_error", "Transition error per tick", "stream", "nats (JSD)",
            lambda pair: float(transitions_over_time(pair).mean()),
            "how differently people go on to the next tick",
        ),
        Metric(
            "stream_query_error", "Query error in windows", "stream", "relative error", query_error,
            "how wrong counts in random boxes during a window are", range=RELATIVE,
        ),
        Metric(
            "stream_hotspot_ndcg", "Hotspots in windows", "stream", "NDCG@10",
            lambda pair: float(hotspots(pair, pair.frame.windows).mean()),
            "whether the ten busiest cells of a window are found, in order", "max", (0.0, 1.0),
        ),
        Metric(
            "stream_pattern_f1", "Pattern F1 in windows", "stream", "share",
            lambda pair: float(pattern_matches(pair, pair.frame.windows).mean()),
            "how many of the hundred most frequent pieces of a window are found", "max", (0.0, 1.0),
        ),
        Metric(
            "stream_kendall_tau", "Kendall's tau of the history", "stream", "rank correlation",
            lambda pair: kendall_tau(pair.real.coverage, pair.synthetic.coverage),
            "whether cells keep their order by the number of trips that pass", "max", (-1.0, 1.0),
        ),
        Metric(
            "stream_trip_error", "Trip error of the history", "stream", "nats (JSD)", trip_error,
            "how differently first and last cells of trips are paired",
        ),
        Metric(
            "stream_length_error", "Length error of the history", "stream", "nats (JSD)", length_error,
            "how differently travel distances are spread",
        ),
    )
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class StreamReference:
    """The real side of all pairs of streams: its tables, those of a bootstrap and of random walks, and its controls."""

    frame: Frame
    real: StreamTables
    again: StreamTables
    blind: StreamTables
    departures: Floats
    controls: Mapping[str, StreamTables]

    @staticmethod
    def of(
        crowd: Crowd, kept: Any, grid: Grid, tick: float, start: int, rng: np.random.Generator
    ) -> StreamReference:
        """Make the reference in two passes over the real set; `kept` prepares a block."""
        if not (tick > 0 and np.isfinite(tick)):
            raise InputError(f"a tick is a number of seconds above 0, got {tick:g}")
        periods = crowd.add_up(lambda block, _: spans(kept(block)), list[Span]())
        if not periods:
            raise InputError("streams need times, and the real set has none")
        frame = Frame.of(grid, Clock.of(periods, tick, start), rng)
        departures, source = np.concatenate([leave for leave, _ in periods]), rng.spawn(1)[0]

        def work(block: Trajectories, number: int) -> Each[StreamTables]:
            return _references(kept(block), frame, departures, child(source, number))

        real, again, blind, shuffled = crowd.add_up(work, NOTHING)
        return StreamReference(frame, real, again, blind, departures, {SHUFFLED: shuffled})

    def with_map(self, routes: Trajectories, rng: np.random.Generator) -> StreamReference:
        """Return the reference with the map alone as control: its routes begin when the real trips begin, and have the
        real mean speed."""
        clock, real = self.frame.clock, self.real
        leave = rng.choice(self.departures, len(routes))
        length, weight = np.concatenate(real.lengths), np.concatenate(real.weights)
        spent = clock.tick * float(real.density.values.sum()) / max(real.trips, 1.0)
        mean = float((length * weight).sum() / max(weight.sum(), 1.0))
        timed = _at_speed(routes, leave, mean / max(spent, clock.tick), self.frame.grid)
        share = np.full(len(routes), real.trips / len(routes))
        tables = StreamTables.of(timed, self.frame, share)
        return replace(self, controls={**self.controls, MAP_ALONE: tables})

    def tables(self, crowd: Crowd, kept: Any, name: str) -> StreamTables:
        """Return the tables of a synthetic set."""

        frame = self.frame

        def work(block: Trajectories, _: int) -> StreamTables:
            trips = kept(block)
            if trips.t is None:
                raise InputError(f"streams need times, and {name} has none")
            return StreamTables.of(trips, frame)

        tables: StreamTables = crowd.add_up(work, NOTHING)
        return tables

    def pair(self, synthetic: StreamTables) -> StreamPair:
        return StreamPair(self.real, synthetic, self.frame)

    def entries(self, synthetic: StreamTables) -> dict[str, dict[str, Any]]:
        """Return the entry of every metric of a stream, with its floor (a bootstrap of the real trips), random walks,
        and controls."""
        ours, floor, blind = (self.values(side) for side in (synthetic, self.again, self.blind))
        beside = {name: self.values(side) for name, side in self.controls.items()}
        return {
            name: metric.entry(
                ours[name],
                floor=floor[name],
                uniform=blind[name],
                controls={control: each[name] for control, each in beside.items()},
            )
            for name, metric in STREAM_METRICS.items()
        }

    def document(self) -> dict[str, Any]:
        """Return the clock, and the real stream and a bootstrap of it over time, as plain data."""
        clock = self.frame.clock
        return {
            "tick": clock.tick,
            "origin": clock.origin,
            "ticks": clock.ticks,
            "from": clock.start,
            "window": clock.window,
            "moments": self.moments,
            "real": self.course(self.real),
            "floor": self.course(self.again),
        }

    def values(self, side: StreamTables) -> dict[str, float]:
        """Return the value of every metric of a stream."""
        return of_pair(STREAM_METRICS, self.pair(side))

    @property
    def moments(self) -> list[int]:
        """Return the first ticks of a few time windows for which maps are drawn."""
        clock = self.frame.clock
        return np.unique(np.linspace(clock.start, clock.ticks - clock.window, MOMENTS).astype(int)).tolist()

    def course(self, side: StreamTables) -> Course:
        """Return a stream over time: travellers and errors by tick, hotspots and patterns by time window. `maps` are
        the shares of positions in each block of the map, at some ticks.
        """
        pair, clock = self.pair(side), self.frame.clock
        first = np.arange(clock.start, clock.ticks - clock.window + 1, clock.window)
        block, maps = blocks(self.frame.grid, MAP_BLOCKS), []
        for moment in self.moments:
            cells, counts = side.density.between(moment, moment + clock.window)
            shares = bins(block[cells], counts, int(block.max()) + 1) / max(counts.sum(), 1e-300)
            maps.append(shares.round(7).tolist())
        return {
            "maps": maps,
            "present": side.density.totals(clock.ticks)[clock.start :].tolist(),
            "density_error": density_over_time(pair).tolist(),
            "transition_error": transitions_over_time(pair).tolist(),
            "hotspot_ndcg": hotspots(pair, first).tolist(),
            "pattern_f1": pattern_matches(pair, first).tolist(),
        }


def _references(
    trips: Trajectories, frame: Frame, departures: Floats, rng: np.random.Generator
) -> Each[StreamTables]:
    """Count a block of the real set, a bootstrap, random walks, and the same trips at shuffled times; `departures` are
    those of the whole set."""
    ones = np.ones(len(trips))
    positions = Positions.of(trips, frame.clock)
    other = frame.clock.at(rng.choice(departures, len(trips)))
    return Each(
        (
            StreamTables.of_positions(positions, frame, ones),
            StreamTables.of(trips, frame, rng.poisson(1.0, len(trips)).astype(np.float64)),
            StreamTables.of_positions(positions.wandering(frame.grid, rng), frame, ones),
            StreamTables.of_positions(positions.begun_at(other), frame, ones),
        )
    )


def _at_speed(routes: Trajectories, leave: Floats, speed: float, grid: Grid) -> Trajectories:
    """Return routes with times. Each route begins at its time in `leave` and has a constant speed, in units of length
    per second."""
    along = running(steps_to(routes, scale_of(grid.bounds, routes.crs)), routes.offsets)
    return replace(routes, t=np.repeat(leave, routes.sizes) + along / max(speed, 1e-300))
