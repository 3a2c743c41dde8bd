"""NGRAM, the method that the paper compares with: on cells, and with all it knows of places."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from ldptrace.baselines.ngram import Ngram
from ldptrace.methods.base import Job, Method, Synthesis

LEAK = (
    "the length of each trajectory is taken as public and shows in the output (hide_length=true closes this)"
)
OPTIONS = {
    field.name: field.default for field in dataclasses.fields(Ngram) if field.name not in ("grid", "epsilon")
}


def _run(job: Job) -> Synthesis:
    mechanism = Ngram(job.paths.grid, job.epsilon, **(OPTIONS | job.options))
    with job.stages("perturb and reconstruct"):
        published = mechanism.perturb(job.paths, job.rng)
    return Synthesis(published.take(chosen(len(published), job.count, job.rng)))


def chosen(users: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Whose outputs are published: everybody's once; beyond that some again, below that not all."""
    rounds, rest = divmod(count, users)
    everyone = np.arange(users, dtype=np.int64)
    return np.concatenate([np.tile(everyone, rounds), rng.permutation(users)[:rest]])


METHODS = (
    Method(
        "ngram",
        "NGRAM on cells, physical distance only: each user's perturbed trajectory is published",
        _run,
        leaks=LEAK,
        options=OPTIONS,
        closed_by="hide_length",
    ),
)
