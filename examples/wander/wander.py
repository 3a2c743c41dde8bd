"""Trips between the places where trips begin: a method for ldptrace in thirty lines."""

import numpy as np

from ldptrace import Trajectories
from ldptrace.curator import Estimates
from ldptrace.methods import Job, Method, Synthesis
from ldptrace.protocol.exact import epsilon_fraction, ratio_at_most
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Start
from ldptrace.protocol.randomizers import GRR
from ldptrace.protocol.round import Ask, Round


def run(job: Job) -> Synthesis:
    # Every device says in which cell its trip begins, with all of epsilon.
    question = Start(job.grid.n)
    ask = Ask(question, GRR(question.domain, 1, ratio_at_most(epsilon_fraction(job.epsilon))))
    plan = Plan("wander", job.grid, job.epsilon, (Round((ask,), "everyone"),))
    estimates = Estimates.from_tally(plan, job.collect(plan))
    # The curator knows nothing else: a trip goes straight from one such cell to another.
    weights = np.maximum(estimates["start"].frequencies, 1e-9)
    count, rng, n = job.users if job.count is None else job.count, job.sampling, job.grid.n
    cells = rng.choice(n * n, 2 * count, p=weights / weights.sum())
    x0, y0, x1, y1 = job.grid.bounds
    x = x0 + (x1 - x0) * (cells // n + rng.random(2 * count)) / n
    y = y0 + (y1 - y0) * (cells % n + rng.random(2 * count)) / n
    trips = Trajectories(x, y, np.arange(0, 2 * count + 1, 2))
    return Synthesis(plan, estimates, trajectories=trips)


WANDER = Method("wander", "straight trips between the places where trips begin", run, has_model=False)
