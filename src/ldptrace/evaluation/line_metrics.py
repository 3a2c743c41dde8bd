"""Metrics beyond the nine metrics of the paper: metrics on streets and metrics of time. All are computed from the lines
of trips (`Traces`) and from their use of streets (`StreetUse`), so they do not depend on how densely a trip is sampled.
The direction of streets is ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.evaluation.divergence import count_divergence, log_divergence, table_divergence
from ldptrace.evaluation.measured import Measured, StreetUse
from ldptrace.evaluation.metrics import RELATIVE, Metric
from ldptrace.evaluation.queries import FRACTION, QUERIES, SquareQueries, share_error
from ldptrace.evaluation.traces import FINE, HOURS, Traces, coarser

JUNCTIONS = 100
SIDES = (24, 96, FINE)
SMALL = (36, 100, 400, 900)
# Squares of this part of the map, and hours of a window.
SPAN_FRACTION, SPAN_HOURS = 1 / 16, 3


@dataclass(frozen=True, eq=False)
class LinePair:
    """The lines of a real and a synthetic set, and what both are asked: random squares, by the part of the map that
    they cover, and random hours. With `fixes`, the second set is a bootstrap of the real fixes."""

    real: Measured
    synthetic: Measured
    squares: dict[float, SquareQueries]
    hours: Ints
    fixes: bool = False

    @staticmethod
    def draw(real: Measured, rng: np.random.Generator) -> LinePair:
        """Make the pair of a set with itself, with new squares and hours; other pairs are copies with another set."""
        grid, scale = real.summary.grid, real.summary.scale
        parts = (*(1 / part for part in SMALL), FRACTION, SPAN_FRACTION)
        squares = {part: SquareQueries.draw(rng, grid, fraction=part, scale=scale) for part in parts}
        return LinePair(real, real, squares, rng.integers(0, HOURS, QUERIES))

    @property
    def both(self) -> tuple[Traces, Traces]:
        """The traces of both sets."""
        return self.real.traces, self.synthetic.traces

    @property
    def seen(self) -> tuple[Floats, Floats]:
        """Where real fixes lie, and where those of the second set would."""
        real, synthetic = self.both
        return real.fixes, synthetic.fixes if self.fixes else synthetic.whereabouts


Of = Callable[[LinePair], float]


def between(distance: Callable[[Floats, Floats], float], table: Callable[[Traces], Floats]) -> Of:
    """Make a metric: the distance of a table of both sets."""
    return lambda pair: distance(*map(table, pair.both))


def with_streets(of: Callable[[StreetUse, StreetUse], float]) -> Of:
    """Make a metric on streets, which is NaN without a map, or if real fixes are too far apart to recognise turns."""

    def checked(pair: LinePair) -> float:
        real, synthetic = pair.real.use, pair.synthetic.use
        if real is None or synthetic is None or not real.tells_turns:
            return math.nan
        return of(real, synthetic)

    return checked


def with_times(of: Of) -> Of:
    """Make a metric of durations, which is NaN unless both sets have times."""
    return lambda pair: of(pair) if all(traces.has_times for traces in pair.both) else math.nan


def with_clock(of: Of) -> Of:
    """Make a metric of the time of day, which is NaN unless both sets have times of day."""
    return lambda pair: of(pair) if all(traces.has_clock for traces in pair.both) else math.nan


def turn_divergence(real: StreetUse, synthetic: StreetUse) -> float:
    """Return the divergence of the turns at the hundred busiest junctions of real trips, or NaN without turns."""
    nodes, place = np.unique(real.nodes, return_inverse=True)
    if len(nodes) == 0:
        return math.nan
    busy = nodes[np.argsort(-np.bincount(place, weights=real.passed), kind="stable")[:JUNCTIONS]]
    kept = (np.isin(use.nodes, busy) for use in (real, synthetic))
    return table_divergence(
        *((use.turns[at], use.passed[at]) for use, at in zip((real, synthetic), kept, strict=True))
    )


def junction_divergence(real: StreetUse, synthetic: StreetUse) -> float:
    """Return the divergence of the passes of all junctions, or NaN if real trips pass none."""
    if len(real.nodes) == 0:
        return math.nan
    return table_divergence((real.nodes, real.passed), (synthetic.nodes, synthetic.passed))


def fix_density_error(side: int, pair: LinePair) -> float:
    """Return the divergence of the fixes of a pair on a grid with this number of cells per side."""
    return count_divergence(*(coarser(density, side) for density in pair.seen))


def small_query_error(part: int, pair: LinePair) -> float:
    """Return the mean relative error of the length of lines in 200 squares of 1/part of the map."""
    real, synthetic = (pair.squares[1 / part].shares(traces.along, traces.grid) for traces in pair.both)
    return share_error(real, synthetic, 1 / part)


def query_error_raw_points(pair: LinePair) -> float:
    """Return the query error between the shares of real fixes and the places where synthetic trips spend their time."""
    real, synthetic = (pair.squares[FRACTION].shares(seen, pair.real.summary.grid) for seen in pair.seen)
    return share_error(real, synthetic, FRACTION)


def street_share(pair: LinePair) -> float:
    """Return the share of the length of the second set that lies on streets."""
    use = pair.synthetic.use
    if use is None:
        return math.nan
    return use.fixes_on_streets if pair.fixes else use.on_streets


@with_clock
def spacetime_query_error(pair: LinePair) -> float:
    """Return the mean relative error of the time spent in 200 squares of 1/16 of the map, during three hours each."""
    window = (pair.hours[:, None] + np.arange(SPAN_HOURS)) % HOURS
    shares = (pair.squares[SPAN_FRACTION].shares(traces.presence, traces.grid) for traces in pair.both)
    real, synthetic = (np.take_along_axis(each, window, axis=1).sum(axis=1) for each in shares)
    return share_error(real, synthetic, SPAN_FRACTION * SPAN_HOURS / HOURS)


def first_zones(traces: Traces) -> Floats:
    """Return the trips that begin in each period of four hours, in each of 6 x 6 zones."""
    return np.stack([coarser(row.reshape(12, 12), 6) for row in traces.origins])


def per_hour(traces: Traces) -> Floats:
    """Return the departures in each hour of the day."""
    return traces.departures.reshape(HOURS, -1).sum(axis=1)


def _along(side: int, traces: Traces) -> Floats:
    return coarser(traces.along, side)


_STREET = [
    Metric(
        f"fine_density_error_{side}", f"Fine density error, {side} × {side}", "street", "nats (JSD)",
        between(count_divergence, partial(_along, side)),
        "how differently the length of the trips is spread over small cells",
    )
    for side in SIDES
] + [
    Metric(
        f"fix_density_error_{side}", f"Fix density error, {side} × {side}", "street", "nats (JSD)",
        partial(fix_density_error, side),
        "real points per small cell against the time of synthetic trips; for points far apart",
    )
    for side in SIDES
] + [
    Metric(
        f"small_query_error_{part}", f"Query error, 1/{part} of the area", "street", "relative error",
        partial(small_query_error, part), "how wrong the share of line in small random squares is", range=RELATIVE,
    )
    for part in SMALL
] + [
    Metric(
        "od_error_12", "Trip error, 12 × 12", "street", "nats (JSD)",
        between(count_divergence, attrgetter("trips")),
        "how differently origins and destinations are paired, in 144 zones",
    ),
    Metric(
        "street_share", "Share on streets", "street", "share", street_share,
        "share of the length of the trips that lies on streets; perfect is that of real trips", "max", (0.0, 1.0),
    ),
    Metric(
        "turn_error", "Turn error", "street", "nats (JSD)", with_streets(turn_divergence),
        "how differently trips pass the busiest junctions: from which street into which",
    ),
    Metric(
        "junction_flow_error", "Junction flow error", "street", "nats (JSD)", with_streets(junction_divergence),
        "how differently traffic is spread over the junctions (Kapp and Mihaljević, 2024)",
    ),
    Metric(
        "matched_length_error", "Length error on streets", "street", "nats (JSD)",
        with_streets(lambda real, synthetic: log_divergence(real.lengths, synthetic.lengths)),
        "how differently lengths are spread after matching to streets",
    ),
]  # fmt: skip

_TIME = [
    Metric(
        "departure_error", "Departure error", "time", "nats (JSD)",
        with_clock(between(count_divergence, per_hour)),
        "how differently departures are spread over the hours of the day",
    ),
    Metric(
        "duration_error", "Duration error", "time", "nats (JSD)",
        with_times(between(log_divergence, attrgetter("durations"))),
        "how differently durations are spread",
    ),
    Metric(
        "speed_error", "Speed error", "time", "nats (JSD)",
        with_times(between(log_divergence, attrgetter("speeds"))),
        "how differently mean speeds are spread",
    ),
    Metric(
        "spacetime_query_error", "Query error in space and time", "time", "relative error",
        spacetime_query_error, "how wrong the time spent in random squares during random hours is", range=RELATIVE,
    ),
    Metric(
        "period_origin_error", "Origins by period", "time", "nats (JSD)",
        with_clock(between(count_divergence, first_zones)),
        "how differently trips begin in places and periods of the day",
    ),
]  # fmt: skip

_RAW_POINTS = Metric(
    "query_error_raw_points", "Query error, raw points", "global", "relative error", query_error_raw_points,
    "real points in random squares, as shares, against the time of synthetic trips there", range=RELATIVE,
    corrects="query_error",
)  # fmt: skip

LINE_METRICS: dict[str, Metric] = {metric.name: metric for metric in [*_STREET, *_TIME, _RAW_POINTS]}
# Those that ask random squares.
RANDOM: dict[str, Metric] = {name: metric for name, metric in LINE_METRICS.items() if "query" in name}
