"""Metrics in the words of planners and mobility scientists: common part of commuters, jump lengths, radii of gyration,
visits by rank of a place, habits of users, and the four metrics of DiffTraj.

A property of trips or users has up to three metrics: the Jensen-Shannon divergence (`_error`), the earth mover's
distance (`_emd`) and the symmetric mean absolute percentage error (`_smape`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from operator import attrgetter

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.evaluation.divergence import count_divergence, log_divergence
from ldptrace.evaluation.line_metrics import LinePair, between, with_clock
from ldptrace.evaluation.metrics import RELATIVE, Metric
from ldptrace.evaluation.traces import CLASSES, HOURS, LOWEST, PER_DOUBLING, SQUARES, ZONES, Traces, coarser

METRES = "m, or units of the map"
# Cells that DiffTraj calls patterns: those with the most line, of its 256.
POPULAR = 50
# A hair below each tenth, against rounding.
DECILES = np.arange(1, 10) / 10 - 1e-12
# The values that the fine logarithmic classes stand for; the lowest class is for 0.
CLASS_VALUES: Floats = np.exp2((np.arange(CLASSES) + 0.5) / PER_DOUBLING + LOWEST) * (np.arange(CLASSES) > 0)


def common_part(real: Floats, synthetic: Floats) -> float:
    """Return the common part of commuters of two tables of flows, 2 Σ min(a, b) / Σ (a + b), after both are scaled to
    the same total.

    >>> common_part(np.array([3.0, 1.0]), np.array([1.0, 1.0]))
    0.75
    """
    if real.sum() == 0 or synthetic.sum() == 0:
        return math.nan
    return float(np.minimum(real / real.sum(), synthetic / synthetic.sum()).sum())


def earth_movers(values: Floats, real: Floats, synthetic: Floats) -> float:
    """Return the earth mover's distance of two histograms over increasing values, in the unit of the values.

    >>> earth_movers(np.array([0.0, 1.0, 3.0]), np.array([1.0, 1.0, 0.0]), np.array([0.0, 1.0, 1.0]))
    1.5
    """
    from scipy.stats import wasserstein_distance

    if real.sum() == 0 or synthetic.sum() == 0:
        return math.nan
    return float(wasserstein_distance(values, values, real, synthetic))


def around_the_clock(real: Floats, synthetic: Floats) -> float:
    """Return the earth mover's distance of departures, in hours, where the last hour is beside the first one.

    >>> around_the_clock(np.eye(24)[23], np.eye(24)[1])
    2.0
    """
    gap = np.cumsum(real / real.sum() - synthetic / synthetic.sum())
    return float(np.sum(np.abs(gap - np.median(gap))) * HOURS / len(gap))


def moved_between(real: Floats, synthetic: Floats, sides: tuple[float, float]) -> float:
    """Return the earth mover's distance of visits to square tables of zones, each with sides of these lengths.

    >>> moved_between(np.array([[1.0, 0], [1, 0]]), np.array([[0, 0], [1.0, 1]]), (3.0, 4.0))
    2.5
    """
    from scipy.stats import wasserstein_distance_nd

    if real.sum() == 0 or synthetic.sum() == 0:
        return math.nan
    gap = real / real.sum() - synthetic / synthetic.sum()
    # What both sets have in a zone stays there.
    given, taken = np.argwhere(gap > 0), np.argwhere(gap < 0)
    if len(given) == 0 or len(taken) == 0:
        return 0.0
    moved = wasserstein_distance_nd(given * sides, taken * sides, gap[gap > 0], -gap[gap < 0])
    return float(gap[gap > 0].sum() * moved)


def smape(real: Floats, synthetic: Floats) -> float:
    """Return the symmetric mean absolute percentage error, from 0 to 2: the mean of |a - b| / ((a + b) / 2), over all
    that either set has.

    >>> smape(np.array([1.0, 2.0, 0.0]), np.array([3.0, 2.0, 0.0]))
    0.5
    """
    there = real + synthetic > 0
    if not there.any():
        return math.nan
    return float(np.mean(2 * np.abs(real - synthetic)[there] / (real + synthetic)[there]))


def deciles(values: Floats, counts: Floats) -> Floats:
    """Return the nine deciles of a histogram over increasing values."""
    reached = np.cumsum(counts)
    return values[np.searchsorted(reached, DECILES * reached[-1])]


# The values, how often each set has them, and the divergence of both; None where a set has none.
Histograms = tuple[Floats, Floats, Floats, Callable[[Floats, Floats], float]] | None


def of_trips(name: str, pair: LinePair) -> Histograms:
    """Return the histograms of a property of trips, in logarithmic classes."""
    if name == "durations" and not all(traces.has_times for traces in pair.both):
        return None
    real, synthetic = (getattr(traces, name) for traces in pair.both)
    return CLASS_VALUES, real, synthetic, log_divergence


def of_users(name: str, pair: LinePair) -> Histograms:
    """Return the histograms of a property of users, value by value."""
    if pair.real.habits is None or pair.synthetic.habits is None:
        return None
    both = [pair.real.habits[name], pair.synthetic.habits[name]]
    values, place = np.unique(np.concatenate(both), return_inverse=True)
    real, synthetic = (
        np.bincount(part, minlength=len(values)).astype(np.float64)
        for part in np.split(place, [len(both[0])])
    )
    return values.astype(np.float64), real, synthetic, count_divergence


def distance(kind: str, histograms: Callable[[LinePair], Histograms], pair: LinePair) -> float:
    """Return one distance of a property, or NaN where a set has no such values."""
    given = histograms(pair)
    if given is None or not (given[1].any() and given[2].any()):
        return math.nan
    values, real, synthetic, divergence = given
    if kind == "emd":
        return earth_movers(values, real, synthetic)
    if kind == "smape":
        return smape(deciles(values, real), deciles(values, synthetic))
    return divergence(real, synthetic)


def _property(
    name: str, title: str, words: str, unit: str, of: Callable[[LinePair], Histograms], *kinds: str
) -> list[Metric]:
    """Return the metrics of a property."""
    of_kind: dict[str, tuple[str, str, tuple[float, float], str]] = {
        "error": (" error", "nats (JSD)", (0.0, math.log(2.0)), "how differently {} are spread"),
        "emd": (", EMD", unit, RELATIVE, "how far {} are off on average: earth mover's distance"),
        "smape": (", SMAPE", "SMAPE", (0.0, 2.0), "relative error of the deciles of {}"),
    }
    return [
        Metric(
            f"{name}_{kind}", f"{title}{ending}", "mobility", its_unit, partial(distance, kind, of),
            meaning.format(words), range=range_,
        )
        for kind, (ending, its_unit, range_, meaning) in of_kind.items() if kind in kinds
    ]  # fmt: skip


ALL = ("error", "emd", "smape")
_PROPERTIES = [
    *_property("jump_length", "Jump length", "distances from the first to the last point", METRES,
               partial(of_trips, "jumps"), *ALL),
    *_property("gyration", "Radius of gyration", "radii of gyration of trips", METRES,
               partial(of_trips, "radii"), *ALL),
    *_property("travel_length", "Travel length", "travel distances", METRES,
               partial(of_trips, "lengths"), "emd", "smape"),
    *_property("travel_time", "Travel time", "durations", "s", partial(of_trips, "durations"), "emd", "smape"),
    *_property("user_trips", "Trips per user", "numbers of trips per user", "trips",
               partial(of_users, "trips"), *ALL),
    *_property("user_places", "Places per user", "numbers of places per user", "places",
               partial(of_users, "places"), *ALL),
    *_property("user_gyration", "Radius of gyration of users", "radii of gyration of users", METRES,
               partial(of_users, "radii"), "emd", "smape"),
]  # fmt: skip


def visits(traces: Traces) -> Floats:
    """Return how often trips begin or end in each zone, as shares."""
    ends: Floats = traces.trips.sum(axis=0) + traces.trips.sum(axis=1)
    return ends / max(ends.sum(), 1e-300)


def ranked(traces: Traces) -> Floats:
    """Return the shares of visits by the rank of a zone, most visited first."""
    return -np.sort(-visits(traces))


def in_squares(traces: Traces) -> Floats:
    """Return the length of the lines in each of DiffTraj's squares."""
    return coarser(traces.along, SQUARES)


def _visits_moved(pair: LinePair) -> float:
    summary = pair.real.summary
    wide, high = (
        step * summary.grid.n / ZONES * metres
        for step, metres in zip(summary.grid.step, summary.scale, strict=True)
    )
    real, synthetic = (visits(traces).reshape(ZONES, ZONES) for traces in pair.both)
    return moved_between(real, synthetic, (wide, high))


def same_popular(real: Floats, synthetic: Floats) -> float:
    """Return the F1 score of the popular cells: both sets name equally many, so precision and recall are equal."""
    popular = (
        set(np.argsort(-table, axis=None, kind="stable")[:POPULAR].tolist()) for table in (real, synthetic)
    )
    return len(set.intersection(*popular)) / POPULAR


_DIFFTRAJ = "DiffTraj, Zhu et al., 2023"
_FLOWS = [
    Metric(
        "common_part_of_commuters", "Common part of commuters", "mobility", "share",
        between(common_part, attrgetter("trips")),
        "share of the trips that lead from the right zone to the right zone, of 144 zones", "max", (0.0, 1.0),
    ),
    Metric(
        "visits_emd", "Visits, EMD", "mobility", METRES, _visits_moved,
        "how far the ends of trips must be moved on average to be spread like real ones, between 144 zones",
        range=RELATIVE,
    ),
    Metric(
        "visits_smape", "Visits, SMAPE", "mobility", "SMAPE", between(smape, visits),
        "relative error of the share of trip ends in a zone, of 144 zones", range=(0.0, 2.0),
    ),
    Metric(
        "visit_rank_error", "Visit rank error", "mobility", "nats (JSD)", between(count_divergence, ranked),
        "how differently visits are spread over the most visited place, the second, and so on (Zipf's law)",
    ),
    Metric(
        "visit_rank_smape", "Visit rank, SMAPE", "mobility", "SMAPE", between(smape, ranked),
        "relative error of the share of visits to the place of each rank", range=(0.0, 2.0),
    ),
]  # fmt: skip
_OTHERS = [
    Metric(
        "departure_emd", "Departures, EMD", "mobility", "h",
        with_clock(between(around_the_clock, attrgetter("departures"))),
        "how many hours departures are off on average: earth mover's distance", range=(0.0, 12.0),
    ),
    Metric(
        "difftraj_density_error", "Density error, 16 × 16", "difftraj", "nats (JSD)",
        between(count_divergence, in_squares), "how differently the length of the trips is spread over 256 cells",
        section=_DIFFTRAJ,
    ),
    Metric(
        "difftraj_trip_error", "Trip error, 16 × 16", "difftraj", "nats (JSD)",
        between(count_divergence, attrgetter("pairs")),
        "how differently origins and destinations are paired, in 256 cells", section=_DIFFTRAJ,
    ),
    Metric(
        "difftraj_length_error", "Length error, logarithmic", "difftraj", "nats (JSD)",
        between(log_divergence, attrgetter("lengths")), "how differently travel distances are spread",
        section=_DIFFTRAJ,
    ),
    Metric(
        "difftraj_pattern_score", "Pattern score, 16 × 16", "difftraj", "F1", between(same_popular, in_squares),
        "share of the fifty busiest of 256 cells that both sets have", "max", (0.0, 1.0), section=_DIFFTRAJ,
    ),
]  # fmt: skip

MOBILITY: dict[str, Metric] = {metric.name: metric for metric in (*_FLOWS, *_PROPERTIES, *_OTHERS)}
