"""The mechanism of the LDPTrace paper and its variants (sections 5 and 6.5)."""

from __future__ import annotations

from dataclasses import dataclass

from ldptrace.curator.estimates import Estimates
from ldptrace.methods.base import Job, Method, Synthesis
from ldptrace.models.lengths import length_quantile
from ldptrace.models.markov import MarkovModel
from ldptrace.options import option


@dataclass(frozen=True)
class Options:
    """The parameters of the paper."""

    quantile: float = option(
        0.9, help="Share of the users whose trips are at most as long as the longest counted."
    )
    alpha: float = option(
        0.3, help="After k cells, the weight of the end is multiplied by alpha + beta k (eq. 14)."
    )
    beta: float = option(0.2, help="See alpha.")
    capped: bool = option(
        False, help="Whether that weight is as in the published code: min(1, alpha + beta (k - 1))."
    )


def _run(job: Job, name: str) -> Synthesis:
    options: Options = job.options
    plan = job.plan(name)
    with job.stages("collect lengths"):
        tally = job.collect(plan)
    with job.stages("estimate lengths"):
        estimates = Estimates.from_tally(plan, tally)
        plan = plan.paper_second_round(length_quantile(estimates["length"], options.quantile))
    with job.stages("collect transitions"):
        tally = job.collect(plan, round_number=1)
    with job.stages("estimate model"):
        estimates = estimates.joined(Estimates.from_tally(plan, tally))
        alpha, beta = (1.0, 0.0) if name == "noadapt" else (options.alpha, options.beta)
        model = MarkovModel.fit(estimates, alpha=alpha, beta=beta, capped=options.capped)
    return Synthesis(plan, estimates, model)


def _method(name: str, summary: str, leaks: str | None = None) -> Method:
    return Method(name, summary, lambda job: _run(job, name), leaks, Options)


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
