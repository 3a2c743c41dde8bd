"""The nine utility metrics of section 6.2 of the paper, computed exactly as in its public code (the reference). Each
metric is a function of a `Pair`. A `Reference` is the real side of many pairs, which is computed once. Corrected
variants are additional columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.parallel import Each
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
from ldptrace.evaluation.summary import Summary
from ldptrace.protocol.grid import Grid

Level = Literal["global", "trajectory", "semantic", "street", "time", "mobility", "difftraj", "stream"]


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
    def of(real: Trajectories | Summary, grid: Grid, rng: np.random.Generator) -> Reference:
        """Make the reference of a set or its summary: draw queries, resample the set from its cells, and count."""
        summary = real if isinstance(real, Summary) else Summary.of(real, grid)
        queries = SquareQueries.draw(rng, grid, scale=summary.scale)
        answers = queries.scattered(summary.visits, grid, rng)
        return Reference(summary, queries, answers, int(summary.visits.sum()), int(rng.integers(1 << 62)))

    def redrawn(self, rng: np.random.Generator) -> Reference:
        """Return the reference with other random queries and samples."""
        return Reference.of(self.real, self.real.grid, rng)

    def pair(self, synthetic: Trajectories | Summary) -> Pair:
        """Return the pair of the real set and a synthetic set or its summary."""
        summary = synthetic if isinstance(synthetic, Summary) else Summary.of(synthetic, self.real.grid)
        rng = np.random.default_rng(self.draw)
        answers = self.queries.scattered(summary.visits, summary.grid, rng)
        return Pair(self, summary, answers)

    def bootstrap(self, size: int, rng: np.random.Generator) -> Pair:
        """Return the pair of the real set and `size` trajectories drawn from it with replacement, as a perfect
        generator would give."""
        sample = self.real.again(size, rng)
        return Pair(self, sample, self.queries.scattered(sample.visits, sample.grid, rng))

    def score(self, synthetic: Trajectories | Summary) -> dict[str, float]:
        """Return the nine metrics of a synthetic set, by name."""
        return of_pair(METRICS, self.pair(synthetic))


@dataclass(frozen=True, eq=False)
class Pair:
    """A real and a synthetic set on one grid, with the answers of both to the same queries.

    Both sets answer with one uniform point per visited cell, as in the reference code. So no answer depends on how
    densely a trip was sampled.
    """

    reference: Reference
    synthetic: Summary
    answers: Ints

    @property
    def real(self) -> Summary:
        return self.reference.real

    @property
    def lengths(self) -> tuple[Each[Floats], Each[Floats]]:
        """The histograms of the lengths of both sets, over the range of the real set."""
        return self.real.beside(self.real)[1], self.synthetic.beside(self.real)[1]

    @property
    def diameters(self) -> tuple[Each[Floats], Each[Floats]]:
        """The histograms of the diameters of both sets, over the range of the real set."""
        return self.real.beside(self.real)[2], self.synthetic.beside(self.real)[2]


@dataclass(frozen=True)
class Metric:
    """One metric of a comparison, with its description."""

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

    def entry(
        self,
        value: float,
        std: float | None = None,
        floor: float | None = None,
        floor_std: float | None = None,
        uniform: float | None = None,
        controls: Mapping[str, float] | None = None,
    ) -> dict[str, Any]:
        """Return a value as plain data, with the description of the metric.

        `value` is the mean over the repeats, and `std` their spread. For comparison stand `floor`, the value of a
        perfect generator (a bootstrap of the real set), `uniform`, that of random walks, and `controls`, such as the
        map alone, plain routing between the ends of the set's trips, or the set with places and hours made independent.
        """
        known = {name: number for name, number in (controls or {}).items() if not math.isnan(number)}
        return {
            "value": value,
            "goal": self.goal,
            "std": std,
            "floor": floor,
            "floor_std": floor_std,
            "uniform": uniform,
            **{
                name: getattr(self, name)
                for name in ("title", "level", "range", "unit", "section", "meaning")
            },
            **({"controls": known} if known else {}),
            **({"corrects": self.corrects} if self.corrects else {}),
        }


def of_pair(metrics: Mapping[str, Metric], pair: object) -> dict[str, float]:
    """Return the values of metrics of a pair."""
    return {name: metric.of(pair) for name, metric in metrics.items()}


def pattern_f1(pair: Pair) -> float:
    """Return the share of the hundred most frequent patterns that both sets have, or NaN if the real set has no
    pattern. The reference code divides by a hundred even if there are fewer.
    """
    if len(pair.real.patterns) == 0:
        return math.nan
    return len(np.intersect1d(pair.real.patterns.codes, pair.synthetic.patterns.codes)) / TOP


def pattern_error(pair: Pair) -> float:
    """Return the mean relative error of the counts of the hundred most frequent real patterns, or NaN if there are
    none."""
    counts, (occurring, *_) = pair.real.patterns.counts, pair.synthetic.beside(pair.real)
    if len(counts) == 0:
        return math.nan
    return float(np.sum(np.abs(counts - occurring) / counts)) / TOP


def _bucket_error(real: Sequence[Floats], synthetic: Sequence[Floats]) -> float:
    """Return the error with the buckets of the reference code, or with other buckets if those contain no real value."""
    kind = 0 if real[0].sum() else 1
    return count_divergence(real[kind], synthetic[kind])


RELATIVE = (0.0, math.inf)
METRICS: dict[str, Metric] = {
    metric.name: replace(metric, section="6.2")
    for metric in (
        Metric(
            "density_error", "Density error", "global", "nats (JSD)",
            lambda pair: count_divergence(pair.real.tables.density, pair.synthetic.tables.density),
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
            lambda pair: 1.0 - hotspot_gain(pair.real.tables.density, pair.synthetic.tables.density),
            "whether the five busiest cells are found, in order", range=(0.0, 1.0),
        ),
        Metric(
            "kendall_tau", "Kendall's tau", "global", "rank correlation",
            lambda pair: kendall_tau(pair.real.tables.coverage, pair.synthetic.tables.coverage),
            "whether cells keep their order by popularity", "max", (-1.0, 1.0),
        ),
        Metric(
            "trip_error", "Trip error", "trajectory", "nats (JSD)",
            lambda pair: table_divergence(pair.real.tables.trips, pair.synthetic.tables.trips),
            "how differently origins and destinations are paired",
        ),
        Metric(
            "length_error", "Length error", "trajectory", "nats (JSD)",
            lambda pair: _bucket_error(*pair.lengths),
            "how differently travel distances are spread",
        ),
        Metric(
            "diameter_error", "Diameter error", "trajectory", "nats (JSD)",
            lambda pair: _bucket_error(*pair.diameters),
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
    """Return the query error with synthetic counts scaled to the number of real trajectories."""
    scaled = pair.answers * (len(pair.real) / len(pair.synthetic))
    return average_relative_error(pair.reference.answers, scaled, pair.reference.points)


def cell_length_error(pair: Pair) -> float:
    """Return the divergence of the number of cells of a path, which does not depend on the positions of points within
    cells."""
    real, synthetic = (
        (np.arange(len(side.tables.sizes)), side.tables.sizes) for side in (pair.real, pair.synthetic)
    )
    return table_divergence(real, synthetic)


def pattern_error_symmetric(pair: Pair) -> float:
    """Return the mean of |f - g| / max(f, g) over the most frequent patterns of either set, where f and g are
    frequencies per trajectory.
    """
    ours, theirs = pair.real.patterns, pair.synthetic.patterns
    invented = ~np.isin(theirs.codes, ours.codes)
    (in_real, *_), (in_synthetic, *_) = pair.real.beside(pair.synthetic), pair.synthetic.beside(pair.real)
    real = np.concatenate((ours.counts, in_real[invented])) / len(pair.real)
    synthetic = np.concatenate((in_synthetic, theirs.counts[invented])) / len(pair.synthetic)
    most = np.maximum(real, synthetic)
    # Rare patterns of a set that was scaled down may count less than half a time.
    there = most > 0
    if not there.any():
        return math.nan
    return float(np.mean(np.abs(real - synthetic)[there] / most[there]))


def pattern_error_scaled(pair: Pair) -> float:
    """Return the pattern error with counts scaled to the number of real trajectories, over the existing patterns."""
    counts, (occurring, *_) = pair.real.patterns.counts, pair.synthetic.beside(pair.real)
    if len(counts) == 0:
        return math.nan
    return float(np.mean(np.abs(counts - occurring * (len(pair.real) / len(pair.synthetic))) / counts))


def pattern_f1_available(pair: Pair) -> float:
    """Return the pattern F1 over at most a hundred patterns, or over as many as the set with more patterns has."""
    most = max(len(pair.real.patterns), len(pair.synthetic.patterns))
    if most == 0:
        return math.nan
    return len(np.intersect1d(pair.real.patterns.codes, pair.synthetic.patterns.codes)) / min(most, TOP)


CORRECTED: dict[str, Metric] = {
    metric.name: replace(metric, section="6.2")
    for metric in (
        Metric(
            "query_error_scaled", "Query error, scaled", "global", "relative error", query_error_scaled,
            "counts scaled to equal numbers of trajectories", range=RELATIVE, corrects="query_error",
        ),
        Metric(
            "hotspot_query_error_at_10", "Hotspot query error, top 10", "global", "1 - NDCG@10",
            lambda pair: 1.0 - hotspot_gain(pair.real.tables.density, pair.synthetic.tables.density, top=10),
            "ten busiest cells instead of five", range=(0.0, 1.0), corrects="hotspot_query_error",
        ),
        Metric(
            "kendall_tau_b", "Kendall's tau-b", "global", "rank correlation",
            lambda pair: kendall_tau_b(pair.real.tables.coverage, pair.synthetic.tables.coverage),
            "ties corrected, so that equal sets score 1", "max", (-1.0, 1.0), corrects="kendall_tau",
        ),
        Metric(
            "length_error_overflow", "Length error, all buckets", "trajectory", "nats (JSD)",
            lambda pair: count_divergence(*(counts[1] for counts in pair.lengths)),
            "distances outside the real range are kept, in a bucket below and one above", corrects="length_error",
        ),
        Metric(
            "cell_length_error", "Cell-length error", "trajectory", "nats (JSD)", cell_length_error,
            "number of cells instead of distance", corrects="length_error",
        ),
        Metric(
            "diameter_error_overflow", "Diameter error, all buckets", "trajectory", "nats (JSD)",
            lambda pair: count_divergence(*(counts[1] for counts in pair.diameters)),
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
