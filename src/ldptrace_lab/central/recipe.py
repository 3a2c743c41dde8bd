"""A method with a trusted curator as `synthesize` knows it: learn with noise, then draw from what was learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.methods.base import Job, Method, Synthesis
from ldptrace_lab.central.curator import SystemSource, TrustedCurator

Features = TypeVar("Features")
TRUST = "needs a trusted curator, who sees every trajectory: central, not local differential privacy"
OPTIONS: dict[str, Any] = {"neighbours": "replaced"}


def central_method(
    name: str,
    summary: str,
    learn: Callable[[Job, TrustedCurator, Mapping[str, Any]], Features],
    synthetic: Callable[[Features, int, np.random.Generator], Trajectories],
    *,
    note: str,
    options: Mapping[str, Any] | None = None,
) -> Method:
    """Make a method: `learn` reads the trajectories only through the curator, `synthetic` only what was learnt."""
    known = OPTIONS | dict(options or {})

    def run(job: Job) -> Synthesis:
        chosen = known | job.options
        # Noise that nobody may know: of the operating system, unless the run is an experiment that repeats.
        source = job.devices if job.seeded else SystemSource()
        curator = TrustedCurator(job.epsilon, source, chosen["neighbours"])
        with job.stages("count and add noise"):
            features = learn(job, curator, chosen)
        with job.stages("synthesise"):
            made = synthetic(features, job.users if job.count is None else job.count, job.sampling)
        return Synthesis(trajectories=made, notes=(note,))

    return Method(
        name, f"{summary}; needs a trusted curator", run, leaks=TRUST, options=known, has_model=False
    )
