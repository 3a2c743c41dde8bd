"""A method with a trusted curator as `synthesize` knows it: learn with noise, then draw from what was learnt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.methods.base import Job, Method, Synthesis
from ldptrace.options import option
from ldptrace_lab.central.curator import SystemSource, TrustedCurator

Features = TypeVar("Features")
TRUST = "needs a trusted curator, who sees every trajectory: central, not local differential privacy"


@dataclass(frozen=True)
class Options:
    """The options of every method with a trusted curator."""

    neighbours: Literal["replaced", "added"] = option(
        "replaced", help="Which data sets are neighbours: one trajectory replaced by another, or one added."
    )


def central_method(
    name: str,
    summary: str,
    learn: Callable[[Job, TrustedCurator], Features],
    synthetic: Callable[[Features, int, np.random.Generator], Trajectories],
    *,
    note: str,
    options: type[Options] = Options,
) -> Method:
    """Make a method: `learn` reads the trajectories only through the curator, `synthetic` only what was learnt."""

    def run(job: Job) -> Synthesis:
        # Noise that nobody may know: of the operating system, unless the run is an experiment that repeats.
        source = job.devices if job.seeded else SystemSource()
        curator = TrustedCurator(job.epsilon, source, job.options.neighbours)
        with job.stages("count and add noise"):
            features = learn(job, curator)
        with job.stages("synthesise"):
            made = synthetic(features, job.users if job.count is None else job.count, job.sampling)
        return Synthesis(trajectories=made, notes=(note,))

    return Method(
        name, f"{summary}; needs a trusted curator", run, leaks=TRUST, options=options, has_model=False
    )
