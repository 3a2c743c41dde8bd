"""Metrics beyond the nine metrics of the paper: metrics on streets and metrics of time. All are computed from the lines
of trips (`Traces`) and from their use of streets (`StreetUse`), so they do not depend on how densely a trip is sampled.
The direction of streets is ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.divergence import BUCKETS, class_counts, count_divergence, table_divergence
from ldptrace.evaluation.metrics import RELATIVE, Metric
from ldptrace.evaluation.queries import FRACTION, QUERIES, SquareQueries, share_error
from ldptrace.evaluation.traces import FINE, HOURS, LOWEST, PER_DOUBLING, Habits, Traces, coarser
from ldptrace.roads.matching import StreetIndex
from ldptrace.roads.network import RoadNetwork

# Trips of a set that are matched, fewer of those that are long: looks for a street, one for every tolerance of way.
MATCHED, LOOKS = 5_000, 3_000_000
JUNCTIONS = 100
# Real lines that follow the streets for less of their way do not tell which turns were taken.
FOLLOWED = 0.7


@dataclass(frozen=True, eq=False)
class StreetUse:
    """How a set uses streets. `way` is the length of all lines in the unit of the network, and `on` the part of it on
    streets; `fixes` and `fixes_on` are the same numbers for points. `lengths` are the trips by length along the
    streets, in the fine logarithmic classes of `Traces`. `turns` are pairs (street, next street), one number each, at
    the junctions `nodes`; `passed` says how often.
    """

    way: float
    on: float
    fixes: float
    fixes_on: float
    lengths: Floats
    turns: Ints
    nodes: Ints
    passed: Floats

    @property
    def on_streets(self) -> float:
        """The share of the length on streets, or the share of points if all lengths are 0."""
        if self.way > 0:
            return self.on / self.way
        return self.fixes_on / self.fixes if self.fixes else math.nan

    @property
    def tells_turns(self) -> bool:
        """Whether lines follow the streets closely enough to recognise turns."""
        return self.on_streets >= FOLLOWED

    @property
    def fixes_on_streets(self) -> float:
        return self.fixes_on / self.fixes if self.fixes else math.nan


@dataclass(frozen=True, eq=False)
class StreetMap:
    """The public streets, with their index: how do sets use them?

    >>> cross = RoadNetwork.of([0, 100, 100, 200], [0, 0, 100, 0], [0, 1, 1], [1, 2, 3])
    >>> use = StreetMap.of(cross).match(Trajectories.from_lists([[(0.0, 1.0), (100.0, 1.0), (100.0, 100.0)]]))
    >>> round(use.on_streets, 3), len(use.turns)
    (1.0, 1)
    """

    roads: RoadNetwork
    index: StreetIndex

    @staticmethod
    def of(roads: RoadNetwork) -> StreetMap:
        """Make the index of a network."""
        return StreetMap(roads, StreetIndex.of(roads))

    def affordable(self, mean: float, many: int) -> int:
        """Return how many of `many` trips with the mean length `mean` are matched."""
        tolerance = self.index.tolerance
        return int(min(MATCHED, many, max(100.0, LOOKS * tolerance / max(mean, tolerance))))

    def match(self, trajectories: Trajectories) -> StreetUse:
        """Match every trajectory to the streets."""
        followed, empty = self.index.follow(trajectories), trajectories.sizes == 0
        turned = np.flatnonzero(followed.joined >= 0)
        turned = turned[self.index.junction[followed.joined[turned]]]
        pairs = followed.street[turned - 1] * len(self.index.length) + followed.street[turned]
        turns, first, passed = np.unique(pairs, return_index=True, return_counts=True)
        lengths = class_counts(followed.lengths[~empty]).astype(np.float64)
        nodes = followed.joined[turned][first]
        return StreetUse(
            *(followed.way, followed.on, followed.fixes, followed.fixes_on),
            lengths,
            turns,
            nodes,
            passed.astype(np.float64),
        )


def turn_divergence(real: StreetUse, synthetic: StreetUse) -> float:
    """Return the divergence of the turns at the hundred busiest junctions of real trips, or NaN without turns."""
    nodes, place = np.unique(real.nodes, return_inverse=True)
    if len(nodes) == 0:
        return math.nan
    busy = nodes[np.argsort(-np.bincount(place, weights=real.passed), kind="stable")[:JUNCTIONS]]
    real_turns, synthetic_turns = (
        (use.turns[kept], use.passed[kept])
        for use, kept in ((use, np.isin(use.nodes, busy)) for use in (real, synthetic))
    )
    return table_divergence(real_turns, synthetic_turns)


def junction_divergence(real: StreetUse, synthetic: StreetUse) -> float:
    """Return the divergence of the passes of all junctions, or NaN if real trips pass none."""
    if len(real.nodes) == 0:
        return math.nan
    return table_divergence((real.nodes, real.passed), (synthetic.nodes, synthetic.passed))


def spacing(trajectories: Trajectories, scale: tuple[float, float]) -> float:
    """Return the median distance between consecutive different points."""
    steps = np.hypot(np.diff(trajectories.x) * scale[0], np.diff(trajectories.y) * scale[1])
    moving = steps[ragged.inner_steps(trajectories.offsets) & (steps > 0)]
    return float(np.median(moving)) if len(moving) else 0.0


SIDES = (24, 96, FINE)
SMALL = (36, 100, 400, 900)
# Squares of this part of the map, and hours of a window.
SPAN_FRACTION, SPAN_HOURS = 1 / 16, 3
# Shares of the real values below the lowest class and above the highest one.
TAIL = 0.005


@dataclass(frozen=True, eq=False)
class LineQueries:
    """Random squares by the part of the map that they cover, and random hours, the same for all sets."""

    squares: dict[float, SquareQueries]
    hours: Ints
    # The length of a unit of x and of y.
    scale: tuple[float, float] = (1.0, 1.0)

    @staticmethod
    def draw(rng: np.random.Generator, real: Traces, scale: tuple[float, float]) -> LineQueries:
        """Draw squares with uniform centres, in the scaled plane, and time windows that begin on the hour."""
        parts = (*(1 / part for part in SMALL), FRACTION, SPAN_FRACTION)
        squares = {part: SquareQueries.draw(rng, real.grid, fraction=part, scale=scale) for part in parts}
        return LineQueries(squares, rng.integers(0, HOURS, QUERIES), scale)


@dataclass(frozen=True, eq=False)
class LinePair:
    """The traces of a real and a synthetic set, and their use of streets if there is a map. With `fixes`, the second
    set is a bootstrap of the real fixes.
    """

    real: Traces
    synthetic: Traces
    queries: LineQueries
    fixes: bool = False
    real_use: StreetUse | None = None
    synthetic_use: StreetUse | None = None
    real_habits: Habits | None = None
    synthetic_habits: Habits | None = None

    @property
    def seen(self) -> Floats:
        """Where fixes of the second set lie."""
        return self.synthetic.fixes if self.fixes else self.synthetic.whereabouts


Of = Callable[[LinePair], float]


def with_streets(of: Callable[[StreetUse, StreetUse], float]) -> Of:
    """Make a metric on streets, which is NaN without a map, or if real fixes are too far apart to recognise turns."""

    def checked(pair: LinePair) -> float:
        real, synthetic = pair.real_use, pair.synthetic_use
        if real is None or synthetic is None or not real.tells_turns:
            return math.nan
        return of(real, synthetic)

    return checked


def with_times(of: Of) -> Of:
    """Make a metric of durations, which is NaN unless both sets have times."""
    return lambda pair: of(pair) if pair.real.has_times and pair.synthetic.has_times else math.nan


def with_clock(of: Of) -> Of:
    """Make a metric of the time of day, which is NaN unless both sets have times of day."""
    return lambda pair: of(pair) if pair.real.has_clock and pair.synthetic.has_clock else math.nan


def density_divergence(of: Callable[[LinePair], tuple[Floats, Floats]], side: int, pair: LinePair) -> float:
    """Return the divergence of two densities of a pair on a grid with this number of cells per side."""
    return count_divergence(*(coarser(density, side) for density in of(pair)))


def small_query_error(part: int, pair: LinePair) -> float:
    """Return the mean relative error of the length of lines in 200 squares of 1/part of the map."""
    queries = pair.queries.squares[1 / part]
    real, synthetic = (queries.shares(traces.along, traces.grid) for traces in (pair.real, pair.synthetic))
    return share_error(real, synthetic, 1 / part)


def query_error_raw_points(pair: LinePair) -> float:
    """Return the query error between the shares of real fixes and the places where synthetic trips spend their time."""
    queries, grid = pair.queries.squares[FRACTION], pair.real.grid
    return share_error(queries.shares(pair.real.fixes, grid), queries.shares(pair.seen, grid), FRACTION)


def street_share(pair: LinePair) -> float:
    """Return the share of the length of the second set that lies on streets."""
    if pair.synthetic_use is None:
        return math.nan
    return pair.synthetic_use.fixes_on_streets if pair.fixes else pair.synthetic_use.on_streets


@with_clock
def spacetime_query_error(pair: LinePair) -> float:
    """Return the mean relative error of the time spent in 200 squares of 1/16 of the map, during three hours each."""
    queries, hours = pair.queries.squares[SPAN_FRACTION], pair.queries.hours
    window = (hours[:, None] + np.arange(SPAN_HOURS)) % HOURS

    def answers(traces: Traces) -> Floats:
        per_square = queries.shares(traces.presence, traces.grid)
        return np.take_along_axis(per_square, window, axis=1).sum(axis=1)

    even = SPAN_FRACTION * SPAN_HOURS / HOURS
    return share_error(answers(pair.real), answers(pair.synthetic), even)


@with_clock
def period_origin_error(pair: LinePair) -> float:
    """Return the divergence of the pairs (period of four hours, first zone), with 6 x 6 zones."""
    real, synthetic = (
        np.stack([coarser(row.reshape(12, 12), 6) for row in traces.origins])
        for traces in (pair.real, pair.synthetic)
    )
    return count_divergence(real, synthetic)


def per_hour(traces: Traces) -> Floats:
    """Return the departures in each hour of the day."""
    return traces.departures.reshape(HOURS, -1).sum(axis=1)


def log_classes(real: Floats) -> tuple[int, int, int]:
    """Return the first fine class, the fine classes per class, and the number of classes, at most twenty over the real
    values. One more class below and one above contain all other values.
    """
    running = np.cumsum(real)
    low, high = np.searchsorted(running, [TAIL * running[-1], (1 - TAIL) * running[-1]])
    width = max(1, math.ceil((high - low + 1) / BUCKETS))
    return int(low), width, math.ceil((high - low + 1) / width)


def grouped(counts: Floats, classes: tuple[int, int, int]) -> Floats:
    """Return fine classes summed to the given classes, with one class below and one above.

    >>> grouped(np.arange(6.0), (1, 2, 2)).tolist()
    [0.0, 3.0, 7.0, 5.0]
    """
    low, width, number = classes
    edges = np.minimum(np.concatenate(([0], low + width * np.arange(number + 1))), len(counts))
    running = np.concatenate(([0.0], np.cumsum(counts)))
    at = np.concatenate((running[edges], running[-1:]))
    return np.diff(at)


def class_edges(classes: tuple[int, int, int]) -> Floats:
    """Return the values at the borders of the classes."""
    low, width, number = classes
    return np.exp2((low + width * np.arange(number + 1)) / PER_DOUBLING + LOWEST)


def log_divergence(real: Floats, synthetic: Floats) -> float:
    """Return the divergence of two histograms of fine logarithmic classes, in the classes of the real set."""
    if real.sum() == 0 or synthetic.sum() == 0:
        return math.nan
    classes = log_classes(real)
    return count_divergence(grouped(real, classes), grouped(synthetic, classes))


_STREET = [
    Metric(
        f"fine_density_error_{side}", f"Fine density error, {side} × {side}", "street", "nats (JSD)",
        partial(density_divergence, lambda pair: (pair.real.along, pair.synthetic.along), side),
        "how differently the length of the trips is spread over small cells",
    )
    for side in SIDES
] + [
    Metric(
        f"fix_density_error_{side}", f"Fix density error, {side} × {side}", "street", "nats (JSD)",
        partial(density_divergence, lambda pair: (pair.real.fixes, pair.seen), side),
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
        lambda pair: count_divergence(pair.real.trips, pair.synthetic.trips),
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
        with_clock(lambda pair: count_divergence(per_hour(pair.real), per_hour(pair.synthetic))),
        "how differently departures are spread over the hours of the day",
    ),
    Metric(
        "duration_error", "Duration error", "time", "nats (JSD)",
        with_times(lambda pair: log_divergence(pair.real.durations, pair.synthetic.durations)),
        "how differently durations are spread",
    ),
    Metric(
        "speed_error", "Speed error", "time", "nats (JSD)",
        with_times(lambda pair: log_divergence(pair.real.speeds, pair.synthetic.speeds)),
        "how differently mean speeds are spread",
    ),
    Metric(
        "spacetime_query_error", "Query error in space and time", "time", "relative error",
        spacetime_query_error, "how wrong the time spent in random squares during random hours is", range=RELATIVE,
    ),
    Metric(
        "period_origin_error", "Origins by period", "time", "nats (JSD)", period_origin_error,
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
