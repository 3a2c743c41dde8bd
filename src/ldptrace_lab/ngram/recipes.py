"""NGRAM, the method that the paper compares with: on cells, and with all it knows of places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.placement import place
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.methods.base import Job, Method, Synthesis
from ldptrace.options import option
from ldptrace_lab.campus.checkins import read_checkins
from ldptrace_lab.campus.pois import Pois, Visits
from ldptrace_lab.ngram.cells import Ngram, Options
from ldptrace_lab.ngram.full.mechanism import Drawing, NgramFull
from ldptrace_lab.ngram.full.regions import Knowledge, Regions

LEAK = (
    "the length of each trajectory is taken as public and shows in the output (hide_length=true closes this)"
)


@dataclass(frozen=True, kw_only=True)
class FullOptions(Knowledge, Drawing):
    """The options of NGRAM with places."""

    # The table, or its file.
    pois: Any = option(None, help="Public table of the places.")


def _run(job: Job) -> Synthesis:
    mechanism = Ngram(job.grid, job.epsilon, **vars(job.options))
    with job.stages("perturb and reconstruct"):
        published = mechanism.perturb(job.paths, job.devices)
    picked = published.take(chosen(len(published), job.count, job.sampling))
    with job.stages("place points"):
        return Synthesis(trajectories=place(picked, job.sampling))


def _run_full(job: Job) -> Synthesis:
    pois = places(job.options.pois)
    visits = Visits.of(job.real)
    with job.stages("cut regions"):
        regions = Regions.build(pois, job.options)
        _ = regions.follows
    with job.stages("perturb and reconstruct"):
        drawing = {entry.name: getattr(job.options, entry.name) for entry in fields(Drawing)}
        mechanism = NgramFull(regions, job.epsilon, **drawing)
        published = mechanism.perturb(visits, job.devices)
    x, y, extra = pois.x[published.poi], pois.y[published.poi], published.to_arrow()
    everyone = Trajectories(x, y, published.offsets, t=published.t, crs=pois.crs, extra=extra)
    return Synthesis(trajectories=everyone.take(chosen(len(everyone), job.count, job.sampling)))


def places(given: Pois | str | Path | None) -> Pois:
    """Return the table of places: itself, a file that `generate campus` wrote, or a file of check-ins."""
    if isinstance(given, Pois):
        return given
    if given is None:
        raise InputError("ngram-full needs the public table of places: give its file as the option pois")
    if not Path(given).is_file():
        raise InputError(f"there is no file of places {given}")
    try:
        return Pois.from_csv(given)
    except InputError as error:
        try:
            return read_checkins(given)[0]
        except InputError:
            raise error from None


def chosen(users: int, count: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return whose outputs are published: everybody's once; beyond that some again, below that not all."""
    rounds, rest = divmod(users if count is None else count, users)
    everyone = np.arange(users, dtype=np.int64)
    return np.concatenate([np.tile(everyone, rounds), rng.permutation(users)[:rest]])


def _published(name: str, summary: str, run: Callable[[Job], Synthesis], options: type) -> Method:
    """Make a method that publishes each user's perturbed trajectory."""
    return Method(name, summary, run, leaks=LEAK, options=options, has_model=False, closed_by="hide_length")


NGRAM = _published(
    "ngram",
    "NGRAM on cells, physical distance only: each user's perturbed trajectory is published",
    _run,
    Options,
)
NGRAM_FULL = _published(
    "ngram-full",
    "NGRAM with its public knowledge of places: categories, opening hours, reachability",
    _run_full,
    FullOptions,
)
