"""Measures one cell: runs a method on a data set and looks at what came out."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
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
from ldptrace.protocol.questions import Question
from ldptrace.settings import Settings
from ldptrace.simulation.answers import answers
from ldptrace.synthesis import Run, run
from ldptrace_lab.reproduce.data import DataSet
from ldptrace_lab.reproduce.results import Cell

# Not a method of `synthesize`, but an anchor under another trust model: what the local model costs.
CENTRAL = "central-laplace"


def noisy_statistics(paths: CellPaths, epsilon: float, rng: np.random.Generator) -> Estimates:
    """Return the one-report method's statistics of all users with Laplace noise of a trusted curator, eps-DP together.

    The split of the budget minimises the sum of all variances. The noise is floating point, from a seeded generator:
    good enough to measure and not to release. The methods of `ldptrace_lab.central` have exact noise.
    """
    plan = Plan.single_report(paths.grid, epsilon)
    asks = [ask for round_ in plan.rounds for ask in round_.asks]
    # By how much the replacement of one trajectory changes the counts at most, summed over the items.
    sensitivity = [2.0 * ask.question.capacity for ask in asks]
    wishes = np.array(
        [(most**2 * ask.question.domain) ** (1 / 3) for most, ask in zip(sensitivity, asks, strict=True)]
    )
    scales = np.array(sensitivity) / (epsilon * wishes / wishes.sum())
    noisy = (_noisy(ask.question, float(scale), paths, rng) for ask, scale in zip(asks, scales, strict=True))
    return Estimates(plan, {estimate.question.name: estimate for estimate in noisy})


def _noisy(question: Question, scale: float, paths: CellPaths, rng: np.random.Generator) -> Estimate:
    users = len(paths)
    rows = answers(question, paths, np.arange(users, dtype=np.int64), rng)
    counts = np.bincount(rows[rows >= 0], minlength=question.domain).astype(np.float64)
    noisy = counts + rng.laplace(0.0, scale, len(counts))
    errors = np.full(len(counts), math.sqrt(2.0) * scale / users)
    return Estimate(question, noisy / users, errors, users)


def _central(job: Job) -> Synthesis:
    with job.stages("count and add noise"):
        estimates = noisy_statistics(job.paths, job.epsilon, job.devices)
    with job.stages("fit model"):
        model = PathModel.fit(estimates)
    return Synthesis(None, estimates, model)


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


@dataclass
class Bench:
    """Data sets by their key, and the real side of the evaluation for the set in use."""

    sets: dict[str, DataSet]
    _kept: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def measure(self, cell: Cell) -> dict[str, float]:
        """Return the values of a cell by name."""
        data = self.sets[cell.data]
        real = self._real(data, cell.users)
        with warnings.catch_warnings():
            # Every table and plot names what is not private; what is poor or noisy shows in its values.
            for kind in (PrivacyWarning, FitWarning, NoiseWarning):
                warnings.simplefilter("ignore", kind)
            values: dict[str, float] = getattr(self, f"_{cell.measure}")(cell, data, real)
        return values

    def _metrics(self, cell: Cell, data: DataSet, real: Trajectories) -> dict[str, float]:
        reference = self._reference(cell, data, real)
        if cell.method == FLOOR:
            pair = reference.bootstrap(len(real), self._rng(cell, 2))
        else:
            pair = reference.pair(self._synthetic(cell, data, real))
        return of_pair(METRICS, pair)

    def _queries(self, cell: Cell, data: DataSet, real: Trajectories) -> dict[str, float]:
        """Return the query error for each size of the squares."""
        reference = self._reference(cell, data, real)
        summary, rng = reference.real, self._rng(cell, 3)
        other = (
            summary.again(len(summary), rng)
            if cell.method == FLOOR
            else Summary.of(self._synthetic(cell, data, real), summary.grid)
        )
        values = {}
        for fraction in FRACTIONS:
            queries = SquareQueries.draw(rng, summary.grid, fraction=fraction, scale=summary.scale)
            truth, counts = (queries.scattered(item.visits, item.grid, rng) for item in (summary, other))
            values[f"{fraction:.4f}"] = average_relative_error(truth, counts, int(summary.visits.sum()))
        return values

    def _attacks(self, cell: Cell, data: DataSet, real: Trajectories) -> dict[str, float]:
        """Return the resilience to both attacks for each kappa."""
        grid = Grid(data.bounds, cell.grid)
        attacks = self._keep(
            ("attacks", cell.data, cell.users, cell.grid),
            lambda: {name: prepared(real, grid)[1] for name, prepared in ATTACKS.items()},
        )
        published = None if cell.method == FLOOR else self._synthetic(cell, data, real)
        return {
            f"{name}@{kappa}": ratio
            for name, attack in attacks.items()
            for kappa, ratio in zip(KAPPAS, attack(published)["resilience"], strict=True)
        }

    def _seconds(self, cell: Cell, data: DataSet, real: Trajectories) -> dict[str, float]:
        """Return seconds of each stage and in all, every report of every device really drawn."""
        self._keep(
            ("warm", cell.data, cell.method, cell.grid),
            lambda: self._run(cell, data, real.take(np.arange(min(WARM_UP, len(real)))), "devices"),
        )
        begin = time.perf_counter()
        run = self._run(cell, data, real, "devices")
        total = time.perf_counter() - begin
        return {"total": total, "trajectories": float(len(real))} | run.seconds

    def _synthetic(self, cell: Cell, data: DataSet, real: Trajectories) -> Trajectories:
        if cell.method == WALKS:
            paths = CellPaths.from_trajectories(real, Grid(data.bounds, cell.grid))
            return uniform_walks(paths.sizes, paths.grid, self._rng(cell, 4), crs=real.crs)
        return self._run(cell, data, real, "counts").trajectories

    def _run(self, cell: Cell, data: DataSet, real: Trajectories, simulation: Any) -> Run:
        options = dict(cell.options)
        if cell.method == "ngram-full":
            if data.pois is None:
                raise InputError(f"{data.title} has no table of places, which ngram-full needs")
            options["pois"] = data.pois
        settings = Settings.of(
            cell.epsilon,
            bounds=data.bounds,
            grid=cell.grid,
            method=CENTRAL_LAPLACE if cell.method == CENTRAL else method(cell.method),
            seed=int(self._rng(cell, 1).integers(1 << 62)),
            simulation=simulation,
            # As in the literature, every trip plays a user, also where the data say whose it is.
            unit="trip",
            outside="clamp",
            options=options,
        )
        return run(real, settings)

    def _real(self, data: DataSet, users: int | None) -> Trajectories:
        everyone = data.trajectories
        if users is None or users >= len(everyone):
            return everyone
        return self._keep(("users", data.key, users), lambda: everyone.take(np.arange(users)))

    def _reference(self, cell: Cell, data: DataSet, real: Trajectories) -> Reference:
        """Return the real side of the evaluation, with the same queries for all methods in the same repeat."""
        base: Reference = self._keep(
            ("reference", cell.data, cell.users, cell.grid),
            lambda: Reference.of(real, Grid(data.bounds, cell.grid), self._rng(replace(cell, repeat=0), 0)),
        )
        if cell.repeat == 0:
            return base
        return self._keep(
            ("reference", cell.data, cell.users, cell.grid, cell.repeat),
            lambda: base.redrawn(self._rng(cell, 0)),
        )

    def _keep(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Return what `make` returns, made once while it is in use; the oldest of a dozen is forgotten."""
        if key not in self._kept:
            while len(self._kept) >= 12:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = make()
        return self._kept[key]

    @staticmethod
    def _rng(cell: Cell, purpose: int) -> np.random.Generator:
        """Return the random numbers for a purpose: the same for all methods and settings, others in every repeat."""
        return np.random.default_rng([cell.seed, cell.repeat, purpose])
