"""Measures the points of an experiment: runs a method on a data set and looks at what came out.

Rows of results are what the paper prints, and means of what was measured.
"""

from __future__ import annotations

import csv
import io
import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np

from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import Estimate, Estimates
from ldptrace.errors import FitWarning, InputError, NoiseWarning, PrivacyWarning
from ldptrace.evaluation.attacks import ATTACKS, KAPPAS, uniform_walks
from ldptrace.evaluation.evaluator import FRACTIONS
from ldptrace.evaluation.metrics import METRICS, Reference, of_pair
from ldptrace.evaluation.queries import SquareQueries, average_relative_error
from ldptrace.evaluation.summary import Summary
from ldptrace.methods import Job, Method, Synthesis, method
from ldptrace.models.path.model import PathModel
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.settings import Settings
from ldptrace.simulation.answers import answers
from ldptrace.synthesis import Run, run
from ldptrace_lab.kept import key_of
from ldptrace_lab.reproduce.data import DataSet

# Not a method of `synthesize`, but an anchor under another trust model: what the local model costs.
CENTRAL = "central-laplace"


def noisy_statistics(paths: CellPaths, epsilon: float, rng: np.random.Generator) -> Estimates:
    """Return the one-report method's statistics of all users with Laplace noise of a trusted curator, eps-DP together.

    The split of the budget minimises the sum of all variances. The noise is floating point, from a seeded generator:
    good enough to measure and not to release. The methods of `ldptrace_lab.central` have exact noise.
    """
    plan, users = Plan.single_report(paths.grid, epsilon), len(paths)
    questions = [ask.question for round_ in plan.rounds for ask in round_.asks]
    # By how much the replacement of one trajectory changes the counts at most, summed over the items.
    sensitivity = np.array([2.0 * question.capacity for question in questions])
    domains = [question.domain for question in questions]
    wishes = np.array(
        [(most**2 * domain) ** (1 / 3) for most, domain in zip(sensitivity, domains, strict=True)]
    )
    estimates = {}
    for question, scale in zip(questions, sensitivity / (epsilon * wishes / wishes.sum()), strict=True):
        rows = answers(question, paths, np.arange(users, dtype=np.int64), rng)
        counts = np.bincount(rows[rows >= 0], minlength=question.domain).astype(np.float64)
        noisy = counts + rng.laplace(0.0, scale, len(counts))
        errors = np.full(len(counts), math.sqrt(2.0) * scale / users)
        estimates[question.name] = Estimate(question, noisy / users, errors, users)
    return Estimates(plan, estimates)


def _central(job: Job) -> Synthesis:
    with job.stages("count and add noise"):
        estimates = noisy_statistics(job.paths, job.epsilon, job.devices)
    with job.stages("fit model"):
        return Synthesis(None, estimates, PathModel.fit(estimates))


CENTRAL_LAPLACE = Method(
    CENTRAL,
    "exact counts with Laplace noise by a trusted curator, calibrated path model",
    _central,
    leaks="the curator sees every trajectory: this is central, not local differential privacy; its noise is for "
    "experiments only",
)


# Not methods but yardsticks: the real set against a bootstrap of itself, and walks that know nothing.
FLOOR, WALKS = "real data", "random walks"
# Timed runs are preceded by one on this many trajectories, so that nobody's compiler is timed.
WARM_UP = 64


@dataclass(frozen=True)
class Point:
    """One place in a table or plot: a method on a data set, what is measured of it, and in which repeat.

    `measure` is one of `metrics`, `queries`, `attacks`, `seconds`. `takes` says which of the measured values is which
    metric at which place of the axis.
    """

    data: DataSet
    method: str
    measure: str
    takes: dict[str, tuple[str, float]]
    grid: int
    epsilon: float = 1.0
    options: dict[str, Any] = field(default_factory=dict)
    # Take this many of the trajectories, all if None.
    users: int | None = None
    # Divides the values; seconds are per 1,000 trajectories where the paper's are.
    per: float | None = None
    repeat: int = 0
    seed: int = 1

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that the values depend on, as plain data."""
        names = ("method", "epsilon", "grid", "measure", "repeat", "seed", "options", "users")
        return {"data": self.data.key} | {name: getattr(self, name) for name in names}

    @property
    def key(self) -> str:
        """Two points with the same key are the same measurement."""
        return key_of(self.settings, self.method)

    def rng(self, purpose: int) -> np.random.Generator:
        """Return the random numbers for a purpose: the same for all methods and settings, others in every repeat."""
        return np.random.default_rng([self.seed, self.repeat, purpose])


PUBLISHED, MEASURED = "published", "measured"


@dataclass(frozen=True)
class Row:
    """`std` is the standard deviation over the repeats; a published value has none."""

    source: str
    data: str
    method: str
    x: float
    metric: str
    mean: float
    std: float | None = None
    repeats: int | None = None

    @staticmethod
    def measured(data: str, method: str, x: float, metric: str, values: Sequence[float]) -> Row:
        """Return the mean and spread of the repeats; a NaN among them gives NaN, because the metric is undefined.

        >>> Row.measured("a", "b", 1.0, "c", [1.0, 3.0]).std
        1.4142135623730951
        """
        std = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return Row(MEASURED, data, method, x, metric, float(np.mean(values)), std, len(values))


def to_csv(rows: Sequence[Row], axis: str) -> str:
    """Return a table for spreadsheets; the column of the axis has its name."""
    text = io.StringIO()
    header = [(axis or "x") if column.name == "x" else column.name for column in fields(Row)]
    # None is an empty cell.
    csv.writer(text, lineterminator="\n").writerows([header, *(asdict(row).values() for row in rows)])
    return text.getvalue()


class Bench:
    """Measures points, and keeps the real side of the evaluation for the set in use."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], Any] = {}

    def measure(self, point: Point) -> dict[str, float]:
        """Return the values of a point by name."""
        everyone, users = point.data.trajectories, point.users
        if users is None or users >= len(everyone):
            real = everyone
        else:
            real = self._keep(("users", point.data.key, users), lambda: everyone.take(np.arange(users)))
        with warnings.catch_warnings():
            # Every table and plot names what is not private; what is poor or noisy shows in its values.
            for kind in (PrivacyWarning, FitWarning, NoiseWarning):
                warnings.simplefilter("ignore", kind)
            values: dict[str, float] = getattr(self, f"_{point.measure}")(point, real)
        return values

    def _metrics(self, point: Point, real: Trajectories) -> dict[str, float]:
        reference = self._reference(point, real)
        if point.method == FLOOR:
            pair = reference.bootstrap(len(real), point.rng(2))
        else:
            pair = reference.pair(self._synthetic(point, real))
        return of_pair(METRICS, pair)

    def _queries(self, point: Point, real: Trajectories) -> dict[str, float]:
        """Return the query error for each size of the squares."""
        summary, rng = self._reference(point, real).real, point.rng(3)
        if point.method == FLOOR:
            other = summary.again(len(summary), rng)
        else:
            other = Summary.of(self._synthetic(point, real), summary.grid)
        values = {}
        for fraction in FRACTIONS:
            queries = SquareQueries.draw(rng, summary.grid, fraction=fraction, scale=summary.scale)
            truth, counts = (queries.scattered(item.visits, item.grid, rng) for item in (summary, other))
            values[f"{fraction:.4f}"] = average_relative_error(truth, counts, int(summary.visits.sum()))
        return values

    def _attacks(self, point: Point, real: Trajectories) -> dict[str, float]:
        """Return the resilience to both attacks for each kappa."""
        grid = Grid(point.data.bounds, point.grid)
        attacks = self._keep(
            ("attacks", point.data.key, point.users, point.grid),
            lambda: {name: prepared(real, grid)[1] for name, prepared in ATTACKS.items()},
        )
        published = None if point.method == FLOOR else self._synthetic(point, real)
        return {
            f"{name}@{kappa}": ratio
            for name, attack in attacks.items()
            for kappa, ratio in zip(KAPPAS, attack(published)["resilience"], strict=True)
        }

    def _seconds(self, point: Point, real: Trajectories) -> dict[str, float]:
        """Return seconds of each stage and in all, every report of every device really drawn."""
        self._keep(
            ("warm", point.data.key, point.method, point.grid),
            lambda: self._run(point, real.take(np.arange(min(WARM_UP, len(real)))), "devices"),
        )
        begin = time.perf_counter()
        run = self._run(point, real, "devices")
        total = time.perf_counter() - begin
        return {"total": total, "trajectories": float(len(real))} | run.seconds

    def _synthetic(self, point: Point, real: Trajectories) -> Trajectories:
        if point.method == WALKS:
            paths = CellPaths.from_trajectories(real, Grid(point.data.bounds, point.grid))
            return uniform_walks(paths.sizes, paths.grid, point.rng(4), crs=real.crs)
        return self._run(point, real, "counts").trajectories

    def _run(self, point: Point, real: Trajectories, simulation: Any) -> Run:
        data, options = point.data, dict(point.options)
        if point.method == "ngram-full":
            if data.pois is None:
                raise InputError(f"{data.title} has no table of places, which ngram-full needs")
            options["pois"] = data.pois
        settings = Settings.of(
            point.epsilon,
            bounds=data.bounds,
            grid=point.grid,
            method=CENTRAL_LAPLACE if point.method == CENTRAL else method(point.method),
            seed=int(point.rng(1).integers(1 << 62)),
            simulation=simulation,
            # As in the literature, every trip plays a user, also where the data say whose it is.
            unit="trip",
            outside="clamp",
            options=options,
        )
        return run(real, settings)

    def _reference(self, point: Point, real: Trajectories) -> Reference:
        """Return the real side of the evaluation, with the same queries for all methods in the same repeat."""
        key, first = ("reference", point.data.key, point.users, point.grid), replace(point, repeat=0)
        base: Reference = self._keep(
            key, lambda: Reference.of(real, Grid(point.data.bounds, point.grid), first.rng(0))
        )
        if point.repeat == 0:
            return base
        return self._keep((*key, point.repeat), lambda: base.redrawn(point.rng(0)))

    def _keep(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Return what `make` returns, made once while it is in use; the oldest of a dozen is forgotten."""
        if key not in self._kept:
            while len(self._kept) >= 12:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = make()
        return self._kept[key]
