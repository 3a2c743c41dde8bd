"""The mechanism of the LDPTrace paper and its variants (sections 5 and 6.5)."""

from __future__ import annotations

from ldptrace.curator.estimates import Estimates
from ldptrace.methods.base import Job, Method, Synthesis
from ldptrace.models.lengths import length_quantile
from ldptrace.models.markov import MarkovModel

OPTIONS = {"quantile": 0.9, "alpha": 0.3, "beta": 0.2, "capped": False}


def _run(job: Job, name: str) -> Synthesis:
    options = OPTIONS | job.options
    plan = job.plan(name)
    with job.stages("collect lengths"):
        tally = job.collect(plan)
    with job.stages("estimate lengths"):
        estimates = Estimates.from_tally(plan, tally)
        plan = plan.paper_second_round(length_quantile(estimates["length"], options["quantile"]))
    with job.stages("collect transitions"):
        tally = job.collect(plan, round_number=1)
    with job.stages("estimate model"):
        estimates = estimates.joined(Estimates.from_tally(plan, tally))
        alpha, beta = (1.0, 0.0) if name == "noadapt" else (options["alpha"], options["beta"])
        model = MarkovModel.fit(estimates, alpha=alpha, beta=beta, capped=options["capped"])
    return Synthesis(plan, estimates, model)


def _method(name: str, summary: str, leaks: str | None = None) -> Method:
    return Method(name, summary, lambda job: _run(job, name), leaks, dict(OPTIONS))


METHODS = (
    _method("paper", "the paper's mechanism, padded with null reports so that it is eps-LDP"),
    _method(
        "paper-unpadded",
        "the paper's mechanism as printed and coded",
        leaks="the number of reports a user sends reveals the length of the trajectory",
    ),
    _method("randsyn", "variant RandSyn: no beginning and terminated transitions"),
    _method("combtran", "variant CombTran: beginnings and ends reported together with the moves"),
    _method("noadapt", "variant NoAdapt: no re-weighting of the end"),
)
