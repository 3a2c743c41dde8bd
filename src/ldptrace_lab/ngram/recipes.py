"""NGRAM, the method that the paper compares with: on cells, and with all it knows of places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, fields, make_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.placement import place
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.methods.base import Job, Method, Synthesis
from ldptrace_lab.campus.checkins import read_checkins
from ldptrace_lab.campus.pois import Pois, Visits
from ldptrace_lab.ngram.cells import Ngram
from ldptrace_lab.ngram.full import Knowledge, NgramFull, Regions

LEAK = (
    "the length of each trajectory is taken as public and shows in the output (hide_length=true closes this)"
)


def _options(name: str, own: Sequence[tuple[str, Any]], *kinds: type) -> type:
    """Make the record of the options of a mechanism from those fields of its classes that have defaults."""
    taken = [entry for kind in kinds for entry in fields(kind) if entry.default is not MISSING]
    return make_dataclass(
        name,
        [
            *((key, Any, value) for key, value in own),
            *((each.name, each.type, each.default) for each in taken),
        ],
        frozen=True,
    )


def _of(kind: type, options: Any) -> dict[str, Any]:
    """Return the values of the options that belong to a class."""
    return {each.name: getattr(options, each.name) for each in fields(kind) if each.default is not MISSING}


def _run(job: Job) -> Synthesis:
    mechanism = Ngram(job.grid, job.epsilon, **_of(Ngram, job.options))
    with job.stages("perturb and reconstruct"):
        published = mechanism.perturb(job.paths, job.devices)
    picked = published.take(chosen(len(published), job.count, job.sampling))
    with job.stages("place points"):
        return Synthesis(trajectories=place(picked, job.sampling))


def _run_full(job: Job) -> Synthesis:
    pois = places(job.options.pois)
    visits = Visits.of(job.real)
    knowledge = _of(Knowledge, job.options)
    with job.stages("cut regions"):
        regions = Regions.build(pois, Knowledge(**knowledge | {"merge": tuple(knowledge["merge"])}))
        _ = regions.follows
    with job.stages("perturb and reconstruct"):
        mechanism = NgramFull(regions, job.epsilon, **_of(NgramFull, job.options))
        published = mechanism.perturb(visits, job.devices)
    everyone = Trajectories(
        pois.x[published.poi],
        pois.y[published.poi],
        published.offsets,
        t=published.t,
        crs=pois.crs,
        extra=published.to_arrow(),
    )
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
            return read_checkins(given).pois
        except InputError:
            raise error from None


def chosen(users: int, count: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return whose outputs are published: everybody's once; beyond that some again, below that not all."""
    rounds, rest = divmod(users if count is None else count, users)
    everyone = np.arange(users, dtype=np.int64)
    return np.concatenate([np.tile(everyone, rounds), rng.permutation(users)[:rest]])


NGRAM = Method(
    "ngram",
    "NGRAM on cells, physical distance only: each user's perturbed trajectory is published",
    _run,
    leaks=LEAK,
    options=_options("NgramOptions", (), Ngram),
    has_model=False,
    closed_by="hide_length",
)
NGRAM_FULL = Method(
    "ngram-full",
    "NGRAM with its public knowledge of places: categories, opening hours, reachability",
    _run_full,
    leaks=LEAK,
    options=_options("NgramFullOptions", [("pois", None)], Knowledge, NgramFull),
    has_model=False,
    closed_by="hide_length",
)
