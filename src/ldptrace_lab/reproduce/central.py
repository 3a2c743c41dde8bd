"""An anchor under another trust model: a trusted curator adds Laplace noise to exact counts.

The same statistics as the one-report method go into the same path model, at the same epsilon, but the curator
has seen everybody's trajectory. It is here so that a reader sees what the local model costs, and it is not among
the methods of `synthesize`: its noise is floating point, from a seeded generator, which is good enough to measure and
not to release. The methods of `ldptrace_lab.central` have exact noise.
"""

from __future__ import annotations

import math

import numpy as np

from ldptrace.core.paths import CellPaths
from ldptrace.curator.estimates import Estimate, Estimates
from ldptrace.methods.base import Job, Method, Synthesis
from ldptrace.models.path.model import PathModel
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Question
from ldptrace.simulation.answers import answers

NAME = "central-laplace"


def noisy_statistics(paths: CellPaths, epsilon: float, rng: np.random.Generator) -> Estimates:
    """Return the one-report method's statistics of all users with Laplace noise, eps-DP together.

    The split of the budget minimises the sum of all variances.
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


def _run(job: Job) -> Synthesis:
    with job.stages("count and add noise"):
        estimates = noisy_statistics(job.paths, job.epsilon, job.devices)
    with job.stages("fit model"):
        model = PathModel.fit(estimates)
    return Synthesis(None, estimates, model)


CENTRAL_LAPLACE = Method(
    NAME,
    "exact counts with Laplace noise by a trusted curator, calibrated path model",
    _run,
    leaks="the curator sees every trajectory: this is central, not local differential privacy; its noise is for "
    "experiments only",
)
