"""Corrected variants of the metrics: extra columns, never replacements."""

from __future__ import annotations

import math

import numpy as np

from ldptrace.evaluation.divergence import MAX_JSD, count_divergence, table_divergence
from ldptrace.evaluation.metrics import Metric, Pair
from ldptrace.evaluation.patterns import TOP
from ldptrace.evaluation.queries import average_relative_error
from ldptrace.evaluation.ranking import hotspot_gain, kendall_tau_b


def query_error_scaled(pair: Pair) -> float:
    """Query error with the synthetic counts scaled to the number of real trajectories."""
    scaled = pair.answers * (len(pair.real) / len(pair.synthetic))
    return average_relative_error(pair.reference.answers, scaled, pair.reference.points)


def hotspot_query_error_at_10(pair: Pair) -> float:
    """1 - NDCG of the ten most visited cells."""
    return 1.0 - hotspot_gain(pair.real.density, pair.synthetic.density, top=10)


def kendall_tie_corrected(pair: Pair) -> float:
    """Kendall's tau-b of the cells by the number of trajectories that pass through."""
    return kendall_tau_b(pair.real.coverage, pair.synthetic.coverage)


def length_error_overflow(pair: Pair) -> float:
    """Divergence of travel distances in buckets over the real range, with one below and one above."""
    return count_divergence(*(side.lengths[1] for side in pair.both))


def diameter_error_overflow(pair: Pair) -> float:
    """Divergence of diameters in buckets over the real range, with one below and one above."""
    return count_divergence(*(side.diameters[1] for side in pair.both))


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


_JSD = (0.0, MAX_JSD)
_RELATIVE = (0.0, math.inf)
CORRECTED: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "query_error_scaled", "Query error, scaled", "global", "min", _RELATIVE, "relative error",
            "6.2", query_error_scaled, "counts scaled to equal numbers of trajectories",
            corrects="query_error",
        ),
        Metric(
            "hotspot_query_error_at_10", "Hotspot query error, top 10", "global", "min", (0.0, 1.0),
            "1 - NDCG@10", "6.2", hotspot_query_error_at_10, "ten busiest cells instead of five",
            corrects="hotspot_query_error",
        ),
        Metric(
            "kendall_tau_b", "Kendall's tau-b", "global", "max", (-1.0, 1.0), "rank correlation", "6.2",
            kendall_tie_corrected, "ties corrected, so that equal sets score 1", corrects="kendall_tau",
        ),
        Metric(
            "length_error_overflow", "Length error, all buckets", "trajectory", "min", _JSD, "nats (JSD)",
            "6.2", length_error_overflow, "distances outside the real range are kept",
            corrects="length_error",
        ),
        Metric(
            "cell_length_error", "Cell-length error", "trajectory", "min", _JSD, "nats (JSD)", "6.2",
            cell_length_error, "number of cells instead of distance", corrects="length_error",
        ),
        Metric(
            "diameter_error_overflow", "Diameter error, all buckets", "trajectory", "min", _JSD, "nats (JSD)",
            "6.2", diameter_error_overflow, "diameters outside the real range are kept",
            corrects="diameter_error",
        ),
        Metric(
            "pattern_f1_available", "Pattern F1, available", "semantic", "max", (0.0, 1.0), "share", "6.2",
            pattern_f1_available, "divided by the patterns there are, where fewer than a hundred exist",
            corrects="pattern_f1",
        ),
        Metric(
            "pattern_error_symmetric", "Pattern error, symmetric", "semantic", "min", (0.0, 1.0),
            "relative error", "6.2", pattern_error_symmetric, "invented frequent routes count as well",
            corrects="pattern_error",
        ),
        Metric(
            "pattern_error_scaled", "Pattern error, scaled", "semantic", "min", _RELATIVE, "relative error",
            "6.2", pattern_error_scaled, "counts scaled to equal numbers of trajectories",
            corrects="pattern_error",
        ),
    )
}  # fmt: skip
