"""One report per user: the whole budget for one question, a model fitted to all answers together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ldptrace.core.parallel import child
from ldptrace.core.placement import Style
from ldptrace.curator.estimates import Estimates
from ldptrace.errors import InputError
from ldptrace.methods.base import Job, Method, Synthesis
from ldptrace.models import fit_model
from ldptrace.models.base import LatticeModel, MobilityModel
from ldptrace.models.space_time import TimedModel

if TYPE_CHECKING:
    from ldptrace.models.routes.options import StreetOptions

# Where m and K are not given, they follow from the mean trip, in units of the bounds. `roads` is a public road network
# or its file, `routes` are public trajectories or their file, `library` is how many routes are drawn from a network;
# `spacing` and `interval` say how far apart points are.
OPTIONS: dict[str, Any] = {
    "mean_trip": None,
    "most_moves": None,
    "cap": None,
    "shares": None,
    "placement": "neighbours",
    "area": None,
    "roads": None,
    "routes": None,
    "library": None,
    # Whether trips may leave the streets: where the answers show that they do (auto), or never.
    "off_streets": "auto",
    "spacing": None,
    "interval": None,
    # Whether to ask when trips leave and how fast they are; whether on which day too; where the centre of the map is.
    "time": False,
    "week": False,
    "centre": None,
}
# The child of the source of sampling that draws the library: no block has that number.
LIBRARY = 1 << 31


def _run(job: Job) -> Synthesis:
    options, public = OPTIONS | job.options, job.public
    if options["interval"] is not None and not options["time"] and not public.knows_speeds:
        raise InputError(
            f"points {options['interval']:g} seconds apart need trajectories with times, or a street map that knows "
            f"how fast its roads are{'' if public.network is None else f', and {public.network.name} does not'}"
        )
    if options["off_streets"] != "auto" and public.ways is None:
        raise InputError("off-streets has a meaning only with a map: give roads or routes")
    streets = None if public.ways is None else _streets(options)
    plan = job.plan("single-report")
    with job.stages("collect"):
        tally = job.collect(plan)
    with job.stages("estimate"):
        estimates = Estimates.from_tally(plan, tally)
    with job.stages("fit model"):
        model = fit_model(
            estimates,
            public.area,
            public.ways,
            rng=child(job.sampling, LIBRARY),
            streets=streets,
            progress=job.stages.tell,
        )
    # Public knowledge is named as such, and what it gives by itself.
    notes = (*public.notes, *([] if model.map_note is None else [model.map_note]))
    return Synthesis(plan, estimates, placed(model, options["placement"]), notes)


def _streets(options: Mapping[str, Any]) -> StreetOptions:
    """How trips follow the map."""
    from ldptrace.models.routes.options import StreetOptions
    from ldptrace.roads.library import Library

    library = None if options["library"] is None else Library(options["library"])
    return StreetOptions(library, options["off_streets"])


def placed(model: MobilityModel, placement: Style) -> MobilityModel:
    """The model with points placed in this way; on streets they are where the streets are."""
    if isinstance(model, TimedModel):
        return replace(model, space=placed(model.space, placement))
    return replace(model, placement=placement) if isinstance(model, LatticeModel) else model  # type: ignore[type-var]


METHODS = (
    Method(
        "single-report",
        "one set-valued report per user with the whole budget, calibrated path model; routes where there is a map",
        _run,
        options=dict(OPTIONS),
    ),
)
