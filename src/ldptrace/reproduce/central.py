"""An anchor under another trust model: a trusted curator adds Laplace noise to exact counts.

The same statistics as the one-report method go into the same path model, at the same epsilon, but the curator
has seen everybody's trajectory. It is here so that a reader sees what the local model costs, and it is not among
the methods of `synthesize`.
"""

from __future__ import annotations

import math

import numpy as np

from ldptrace.curator.estimates import Estimate, Estimates
from ldptrace.methods.base import Job, Method, Synthesis
from ldptrace.models.path import PathModel
from ldptrace.plan import Ask, Plan
from ldptrace.simulation.answers import answers

NAME = "central-laplace"


def _run(job: Job) -> Synthesis:
    """Count, add noise, fit, draw. The split of the budget minimises the sum of all variances."""
    grid = job.paths.grid
    asks = [ask for round_ in Plan.single_report(grid, job.epsilon).rounds for ask in round_.asks]
    wishes = np.array([(_sensitivity(ask) ** 2 * ask.question.domain) ** (1 / 3) for ask in asks])
    budgets = job.epsilon * wishes / wishes.sum()
    with job.stages("count and add noise"):
        estimates = Estimates(
            {
                ask.question.name: _noisy(ask, float(budget), job)
                for ask, budget in zip(asks, budgets, strict=True)
            }
        )
    with job.stages("fit model"):
        model = PathModel.from_estimates(grid, estimates)
    with job.stages("synthesise"):
        paths = model.sample(job.count, job.rng)
    return Synthesis(paths, None, estimates, model, placement="neighbours")


def _sensitivity(ask: Ask) -> float:
    """Most that another trajectory in the place of one user's changes the counts, in the sum over items."""
    return 2.0 * ask.randomizer.capacity


def _noisy(ask: Ask, budget: float, job: Job) -> Estimate:
    users = len(job.paths)
    rows = answers(ask.question, job.paths, np.arange(users, dtype=np.int64), job.rng)
    counts = np.bincount(rows[rows >= 0], minlength=ask.question.domain).astype(np.float64)
    scale = _sensitivity(ask) / budget
    noisy = counts + job.rng.laplace(0.0, scale, len(counts))
    errors = np.full(len(counts), math.sqrt(2.0) * scale / users)
    return Estimate(ask.question, noisy / users, errors, users)


CENTRAL_LAPLACE = Method(
    NAME,
    "exact counts with Laplace noise by a trusted curator, calibrated path model",
    _run,
    leaks="the curator sees every trajectory: this is central, not local differential privacy",
)
