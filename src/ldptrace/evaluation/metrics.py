"""The nine utility metrics of section 6.2, valued exactly as the public reference implementation values them.

Each metric is a function of a `Pair` with its metadata beside it. A `Reference` is the real side of many pairs,
whose work is done once.

Corrected variants are extra columns, never replacements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.divergence import (
    MAX_JSD,
    count_divergence,
    hotspot_gain,
    kendall_tau,
    kendall_tau_b,
    table_divergence,
)
from ldptrace.evaluation.patterns import TOP
from ldptrace.evaluation.queries import SquareQueries, average_relative_error
from ldptrace.evaluation.summary import Beside, Summary
from ldptrace.protocol.grid import Grid

Level = Literal["global", "trajectory", "semantic", "street", "time", "stream"]


@dataclass(frozen=True, eq=False)
class Reference:
    """The real side of an evaluation: its summary, the queries, and its answers to them.

    `draw` is the seed with which synthetic sets are resampled from their cells.
    """

    real: Summary
    queries: SquareQueries
    answers: Ints
    points: int
    draw: int

    @staticmethod
    def of(real: Trajectories, grid: Grid, rng: np.random.Generator) -> Reference:
        """Do the real side's work: summarise it, draw queries, resample it from its cells, and count."""
        return Reference.from_summary(Summary.of(real, grid), rng)

    @staticmethod
    def from_summary(summary: Summary, rng: np.random.Generator) -> Reference:
        """The real side from its summary alone."""
        queries = SquareQueries.draw(rng, summary.grid, scale=summary.scale)
        answers = queries.scattered(summary.visits, summary.grid, rng)
        return Reference(summary, queries, answers, int(summary.visits.sum()), int(rng.integers(1 << 62)))

    def redrawn(self, rng: np.random.Generator) -> Reference:
        """The same real side with other queries, resampled again."""
        return Reference.from_summary(self.real, rng)

    def pair(self, synthetic: Trajectories | Summary) -> Pair:
        """The synthetic set, summarised already or not, beside the real one."""
        summary = synthetic if isinstance(synthetic, Summary) else Summary.of(synthetic, self.real.grid)
        rng = np.random.default_rng(self.draw)
        answers = self.queries.scattered(summary.visits, summary.grid, rng)
        return Pair(self, summary, answers)

    def bootstrap(self, size: int, rng: np.random.Generator) -> Pair:
        """The real set beside `size` trajectories drawn from it with replacement: what a perfect generator gives."""
        sample = self.real.again(size, rng)
        return Pair(self, sample, self.queries.scattered(sample.visits, sample.grid, rng))

    def score(self, synthetic: Trajectories | Summary) -> dict[str, float]:
        """The nine metrics of a synthetic set, by name."""
        pair = self.pair(synthetic)
        return {name: metric.of(pair) for name, metric in METRICS.items()}


@dataclass(frozen=True, eq=False)
class Pair:
    """A real and a synthetic set on one grid, with the answers of both to the same queries.

    Both sets answer with one uniform point per visited cell: the reference's synthetic sets consist of such points,
    and it resamples the real set that way. So no answer depends on how densely a trip was sampled.
    """

    reference: Reference
    synthetic: Summary
    answers: Ints

    @property
    def real(self) -> Summary:
        return self.reference.real

    @property
    def synthetic_support(self) -> Ints:
        """How often the real set's most frequent patterns occur in the synthetic set."""
        return self.synthetic.beside(self.real).support

    @property
    def real_support(self) -> Ints:
        """How often the synthetic set's most frequent patterns occur in the real set."""
        return self.real.beside(self.synthetic).support

    @property
    def both(self) -> tuple[Beside, Beside]:
        """Both sets as the real one sees them."""
        return self.real.beside(self.real), self.synthetic.beside(self.real)


@dataclass(frozen=True)
class Metric:
    """One number about a comparison, and what one must know to read it."""

    name: str
    title: str
    level: Level
    unit: str
    # Of a `Pair`, of a `LinePair` for what the lines of both sets tell, or of a `StreamPair`.
    of: Callable[[Any], float]
    meaning: str
    goal: Literal["min", "max"] = "min"
    range: tuple[float, float] = (0.0, MAX_JSD)
    # Where the paper defines it.
    section: str = ""
    # Name of the metric of which this is a corrected variant.
    corrects: str | None = None

    def better(self, first: float, second: float) -> bool:
        """Whether `first` is a better value than `second`."""
        return first < second if self.goal == "min" else first > second


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
    # Of each set where several are seeds of one method; then `std` is their spread.
    seeds: tuple[float, ...] = ()


def pattern_f1(pair: Pair) -> float:
    """Share of the hundred most frequent patterns that both sets have; NaN when the real set has none.

    The reference divides by a hundred also when there are fewer.
    """
    if len(pair.real.patterns) == 0:
        return math.nan
    return len(set(pair.real.patterns.names()) & set(pair.synthetic.patterns.names())) / TOP


def pattern_error(pair: Pair) -> float:
    """Mean relative error of the counts of the hundred most frequent real patterns; NaN when none."""
    counts = pair.real.patterns.counts
    if len(counts) == 0:
        return math.nan
    return float(np.sum(np.abs(counts - pair.synthetic_support) / counts)) / TOP


def _bucket_error(real: Sequence[Floats], synthetic: Sequence[Floats]) -> float:
    """As in the reference; where its buckets hold no real value at all, with buckets that do."""
    kind = 0 if real[0].sum() else 1
    return count_divergence(real[kind], synthetic[kind])


RELATIVE = (0.0, math.inf)
METRICS: dict[str, Metric] = {
    metric.name: replace(metric, section="6.2")
    for metric in (
        Metric(
            "density_error", "Density error", "global", "nats (JSD)",
            lambda pair: count_divergence(pair.real.density, pair.synthetic.density),
            "how differently visits are spread over the cells",
        ),
        Metric(
            "query_error", "Query error", "global", "relative error",
            # Both sets are resampled from their cells, and counts are not scaled.
            lambda pair: average_relative_error(pair.reference.answers, pair.answers, pair.reference.points),
            "how wrong counts of points in random squares are", range=RELATIVE,
        ),
        Metric(
            "hotspot_query_error", "Hotspot query error", "global", "1 - NDCG@5",
            lambda pair: 1.0 - hotspot_gain(pair.real.density, pair.synthetic.density),
            "whether the five busiest cells are found, in order", range=(0.0, 1.0),
        ),
        Metric(
            "kendall_tau", "Kendall's tau", "global", "rank correlation",
            lambda pair: kendall_tau(pair.real.coverage, pair.synthetic.coverage),
            "whether cells keep their order by popularity", "max", (-1.0, 1.0),
        ),
        Metric(
            "trip_error", "Trip error", "trajectory", "nats (JSD)",
            lambda pair: table_divergence(pair.real.trips, pair.synthetic.trips),
            "how differently origins and destinations are paired",
        ),
        Metric(
            "length_error", "Length error", "trajectory", "nats (JSD)",
            lambda pair: _bucket_error(*(side.lengths for side in pair.both)),
            "how differently travel distances are spread",
        ),
        Metric(
            "diameter_error", "Diameter error", "trajectory", "nats (JSD)",
            lambda pair: _bucket_error(*(side.diameters for side in pair.both)),
            "how differently the extents of trajectories are spread",
        ),
        Metric(
            "pattern_f1", "Pattern F1", "semantic", "share", pattern_f1,
            "how many of the hundred most frequent routes are found", "max", (0.0, 1.0),
        ),
        Metric(
            "pattern_error", "Pattern error", "semantic", "relative error", pattern_error,
            "how wrong the counts of the hundred most frequent routes are", range=RELATIVE,
        ),
    )
}  # fmt: skip


def query_error_scaled(pair: Pair) -> float:
    """Query error with the synthetic counts scaled to the number of real trajectories."""
    scaled = pair.answers * (len(pair.real) / len(pair.synthetic))
    return average_relative_error(pair.reference.answers, scaled, pair.reference.points)


def cell_length_error(pair: Pair) -> float:
    """Divergence of the number of cells of a path, which does not depend on where in a cell points are."""
    real, synthetic = (
        (np.arange(len(side.cell_lengths)), side.cell_lengths) for side in (pair.real, pair.synthetic)
    )
    return table_divergence(real, synthetic)


def pattern_error_symmetric(pair: Pair) -> float:
    """Mean of |f - g| / max(f, g) over the top patterns of either set, f and g per trajectory.

    A pattern that is frequent in the synthetic set only counts as well.
    """
    known = set(pair.real.patterns.names())
    invented = np.array([name not in known for name in pair.synthetic.patterns.names()], dtype=bool)
    real = np.concatenate((pair.real.patterns.counts, pair.real_support[invented])) / len(pair.real)
    synthetic = np.concatenate((pair.synthetic_support, pair.synthetic.patterns.counts[invented]))
    synthetic = synthetic / len(pair.synthetic)
    most = np.maximum(real, synthetic)
    # Rare patterns of a set that was scaled down may count less than half a time.
    there = most > 0
    if not there.any():
        return math.nan
    return float(np.mean(np.abs(real - synthetic)[there] / most[there]))


def pattern_error_scaled(pair: Pair) -> float:
    """Pattern error with counts scaled to the number of real trajectories, over the patterns there are."""
    counts = pair.real.patterns.counts
    if len(counts) == 0:
        return math.nan
    scaled = pair.synthetic_support * (len(pair.real) / len(pair.synthetic))
    return float(np.mean(np.abs(counts - scaled) / counts))


def pattern_f1_available(pair: Pair) -> float:
    """Pattern F1 over as many patterns as the set with more of them has, at most a hundred."""
    most = max(len(pair.real.patterns), len(pair.synthetic.patterns))
    if most == 0:
        return math.nan
    return len(set(pair.real.patterns.names()) & set(pair.synthetic.patterns.names())) / min(most, TOP)


CORRECTED: dict[str, Metric] = {
    metric.name: replace(metric, section="6.2")
    for metric in (
        Metric(
            "query_error_scaled", "Query error, scaled", "global", "relative error", query_error_scaled,
            "counts scaled to equal numbers of trajectories", range=RELATIVE, corrects="query_error",
        ),
        Metric(
            "hotspot_query_error_at_10", "Hotspot query error, top 10", "global", "1 - NDCG@10",
            lambda pair: 1.0 - hotspot_gain(pair.real.density, pair.synthetic.density, top=10),
            "ten busiest cells instead of five", range=(0.0, 1.0), corrects="hotspot_query_error",
        ),
        Metric(
            "kendall_tau_b", "Kendall's tau-b", "global", "rank correlation",
            lambda pair: kendall_tau_b(pair.real.coverage, pair.synthetic.coverage),
            "ties corrected, so that equal sets score 1", "max", (-1.0, 1.0), corrects="kendall_tau",
        ),
        Metric(
            "length_error_overflow", "Length error, all buckets", "trajectory", "nats (JSD)",
            lambda pair: count_divergence(*(side.lengths[1] for side in pair.both)),
            "distances outside the real range are kept, in a bucket below and one above", corrects="length_error",
        ),
        Metric(
            "cell_length_error", "Cell-length error", "trajectory", "nats (JSD)", cell_length_error,
            "number of cells instead of distance", corrects="length_error",
        ),
        Metric(
            "diameter_error_overflow", "Diameter error, all buckets", "trajectory", "nats (JSD)",
            lambda pair: count_divergence(*(side.diameters[1] for side in pair.both)),
            "diameters outside the real range are kept, in a bucket below and one above", corrects="diameter_error",
        ),
        Metric(
            "pattern_f1_available", "Pattern F1, available", "semantic", "share", pattern_f1_available,
            "divided by the patterns there are, where fewer than a hundred exist", "max", (0.0, 1.0),
            corrects="pattern_f1",
        ),
        Metric(
            "pattern_error_symmetric", "Pattern error, symmetric", "semantic", "relative error",
            pattern_error_symmetric, "invented frequent routes count as well", range=(0.0, 1.0),
            corrects="pattern_error",
        ),
        Metric(
            "pattern_error_scaled", "Pattern error, scaled", "semantic", "relative error", pattern_error_scaled,
            "counts scaled to equal numbers of trajectories", range=RELATIVE, corrects="pattern_error",
        ),
    )
}  # fmt: skip
