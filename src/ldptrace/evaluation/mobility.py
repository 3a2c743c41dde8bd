"""Metrics in the words of planners and mobility scientists: common part of commuters, jump lengths, radii of gyration,
visits by rank of a place, habits of users, and the four metrics of DiffTraj.

`PROPERTIES` names what a property of trips or users is, and which of its three distances are metrics: the
Jensen-Shannon divergence (`_error`), the earth mover's distance (`_emd`) and the symmetric mean absolute percentage
error (`_smape`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.evaluation.divergence import count_divergence
from ldptrace.evaluation.line_metrics import LinePair, log_divergence, with_clock
from ldptrace.evaluation.metrics import RELATIVE, Metric
from ldptrace.evaluation.traces import CLASSES, HOURS, LOWEST, PER_DOUBLING, SQUARES, ZONES, coarser

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


# The values, then how often each set has them; None where a set has none.
Histograms = tuple[Floats, Floats, Floats] | None


@dataclass(frozen=True)
class Property:
    """A property of trips or users, as histograms of both sets, and the distances that are metrics."""

    name: str
    title: str
    words: str
    unit: str
    of: Callable[[LinePair], Histograms]
    distances: tuple[str, ...] = ("error", "emd", "smape")
    # Compare the divergence in twenty logarithmic classes, and not value by value.
    classed: bool = True

    def metrics(self) -> list[Metric]:
        """Return one metric for each distance."""
        kinds: dict[str, tuple[str, str, tuple[float, float], str]] = {
            "error": (" error", "nats (JSD)", (0.0, math.log(2.0)), "how differently {} are spread"),
            "emd": (", EMD", self.unit, RELATIVE, "how far {} are off on average: earth mover's distance"),
            "smape": (", SMAPE", "SMAPE", (0.0, 2.0), "relative error of the deciles of {}"),
        }
        metrics = []
        for kind in self.distances:
            title, unit, range_, meaning = kinds[kind]
            metrics.append(
                Metric(
                    f"{self.name}_{kind}", f"{self.title}{title}", "mobility", unit, partial(self.measured, kind),
                    meaning.format(self.words), range=range_,
                )
            )  # fmt: skip
        return metrics

    def measured(self, kind: str, pair: LinePair) -> float:
        """Return one distance of a pair, or NaN where a set has no such values."""
        histograms = self.of(pair)
        if histograms is None or not (histograms[1].any() and histograms[2].any()):
            return math.nan
        values, real, synthetic = histograms
        if kind == "emd":
            return earth_movers(values, real, synthetic)
        if kind == "smape":
            return smape(deciles(values, real), deciles(values, synthetic))
        return log_divergence(real, synthetic) if self.classed else count_divergence(real, synthetic)


def _of_trips(name: str) -> Callable[[LinePair], Histograms]:
    return lambda pair: (CLASS_VALUES, getattr(pair.real, name), getattr(pair.synthetic, name))


def _of_users(name: str) -> Callable[[LinePair], Histograms]:
    def of(pair: LinePair) -> Histograms:
        if pair.real_habits is None or pair.synthetic_habits is None:
            return None
        both = [getattr(habits, name) for habits in (pair.real_habits, pair.synthetic_habits)]
        values, place = np.unique(np.concatenate(both), return_inverse=True)
        counts = (np.bincount(part, minlength=len(values)) for part in np.split(place, [len(both[0])]))
        return (values.astype(np.float64), *(part.astype(np.float64) for part in counts))  # type: ignore[return-value]

    return of


def _durations(pair: LinePair) -> Histograms:
    both = pair.real.has_times and pair.synthetic.has_times
    return _of_trips("durations")(pair) if both else None


PROPERTIES = (
    Property("jump_length", "Jump length", "distances from the first to the last point", METRES, _of_trips("jumps")),
    Property("gyration", "Radius of gyration", "radii of gyration of trips", METRES, _of_trips("radii")),
    Property("travel_length", "Travel length", "travel distances", METRES, _of_trips("lengths"), ("emd", "smape")),
    Property("travel_time", "Travel time", "durations", "s", _durations, ("emd", "smape")),
    Property("user_trips", "Trips per user", "numbers of trips per user", "trips", _of_users("trips"), classed=False),
    Property("user_places", "Places per user", "numbers of places per user", "places", _of_users("places"),
             classed=False),
    Property("user_gyration", "Radius of gyration of users", "radii of gyration of users", METRES, _of_users("radii"),
             ("emd", "smape")),
)  # fmt: skip


def _visits(pair: LinePair) -> tuple[Floats, Floats]:
    """Return how often trips begin or end in each zone, as shares."""
    ends = (traces.trips.sum(axis=0) + traces.trips.sum(axis=1) for traces in (pair.real, pair.synthetic))
    real, synthetic = (visits / max(visits.sum(), 1e-300) for visits in ends)
    return real, synthetic


def _ranked(pair: LinePair) -> tuple[Floats, Floats]:
    """Return the shares of visits by the rank of a zone, most visited first."""
    real, synthetic = (-np.sort(-visits) for visits in _visits(pair))
    return real, synthetic


def _visits_moved(pair: LinePair) -> float:
    grid, table = pair.real.grid, (ZONES, ZONES)
    sides = tuple(
        step * grid.n / ZONES * metres for step, metres in zip(grid.step, pair.queries.scale, strict=True)
    )
    real, synthetic = _visits(pair)
    return moved_between(real.reshape(table), synthetic.reshape(table), sides)  # type: ignore[arg-type]


def _popular(pair: LinePair) -> float:
    """Return the F1 score of the popular cells: both sets name equally many, so precision and recall are equal."""
    tables = (coarser(traces.along, SQUARES).ravel() for traces in (pair.real, pair.synthetic))
    real, synthetic = (set(np.argsort(-table, kind="stable")[:POPULAR].tolist()) for table in tables)
    return len(real & synthetic) / POPULAR


_DIFFTRAJ = "DiffTraj, Zhu et al., 2023"
_FLOWS = [
    Metric(
        "common_part_of_commuters", "Common part of commuters", "mobility", "share",
        lambda pair: common_part(pair.real.trips, pair.synthetic.trips),
        "share of the trips that lead from the right zone to the right zone, of 144 zones", "max", (0.0, 1.0),
    ),
    Metric(
        "visits_emd", "Visits, EMD", "mobility", METRES, _visits_moved,
        "how far the ends of trips must be moved on average to be spread like real ones, between 144 zones",
        range=RELATIVE,
    ),
    Metric(
        "visits_smape", "Visits, SMAPE", "mobility", "SMAPE", lambda pair: smape(*_visits(pair)),
        "relative error of the share of trip ends in a zone, of 144 zones", range=(0.0, 2.0),
    ),
    Metric(
        "visit_rank_error", "Visit rank error", "mobility", "nats (JSD)",
        lambda pair: count_divergence(*_ranked(pair)),
        "how differently visits are spread over the most visited place, the second, and so on (Zipf's law)",
    ),
    Metric(
        "visit_rank_smape", "Visit rank, SMAPE", "mobility", "SMAPE", lambda pair: smape(*_ranked(pair)),
        "relative error of the share of visits to the place of each rank", range=(0.0, 2.0),
    ),
    Metric(
        "departure_emd", "Departures, EMD", "mobility", "h",
        with_clock(lambda pair: around_the_clock(pair.real.departures, pair.synthetic.departures)),
        "how many hours departures are off on average: earth mover's distance", range=(0.0, 12.0),
    ),
]  # fmt: skip
_FOUR = [
    Metric(
        "difftraj_density_error", "Density error, 16 × 16", "difftraj", "nats (JSD)",
        lambda pair: count_divergence(
            *(coarser(traces.along, SQUARES) for traces in (pair.real, pair.synthetic))
        ),
        "how differently the length of the trips is spread over 256 cells", section=_DIFFTRAJ,
    ),
    Metric(
        "difftraj_trip_error", "Trip error, 16 × 16", "difftraj", "nats (JSD)",
        lambda pair: count_divergence(pair.real.pairs, pair.synthetic.pairs),
        "how differently origins and destinations are paired, in 256 cells", section=_DIFFTRAJ,
    ),
    Metric(
        "difftraj_length_error", "Length error, logarithmic", "difftraj", "nats (JSD)",
        lambda pair: log_divergence(pair.real.lengths, pair.synthetic.lengths),
        "how differently travel distances are spread", section=_DIFFTRAJ,
    ),
    Metric(
        "difftraj_pattern_score", "Pattern score, 16 × 16", "difftraj", "F1", _popular,
        "share of the fifty busiest of 256 cells that both sets have", "max", (0.0, 1.0), section=_DIFFTRAJ,
    ),
]  # fmt: skip

MOBILITY: dict[str, Metric] = {
    metric.name: metric
    for metric in (*_FLOWS[:5], *(one for each in PROPERTIES for one in each.metrics()), _FLOWS[5], *_FOUR)
}
