"""One report per user: the whole budget for one question, a model fitted to all answers together."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ldptrace.core.drawing import Points, Ways
from ldptrace.core.parallel import child
from ldptrace.core.placement import Style
from ldptrace.curator.estimates import Estimates
from ldptrace.curator.facts import SINGLE, Asked
from ldptrace.errors import InputError
from ldptrace.methods.base import Job, Method, Synthesis
from ldptrace.models import fit_model
from ldptrace.models.base import LatticeModel, MobilityModel
from ldptrace.models.space_time import TimedModel
from ldptrace.options import option


@dataclass(frozen=True, kw_only=True)
class Options(Points, Ways, Asked):
    """The options of the method: how points are drawn, the public map, what is asked, and these."""

    placement: Style = option("neighbours", help="How points are placed in their cells.")
    library: int | None = option(
        None,
        help="Number of routes that are drawn from a road network; by default by the number of users.",
        least=1,
    )


# The child of the source of sampling that draws the library: no block has that number.
LIBRARY = 1 << 31


def _run(job: Job) -> Synthesis:
    options, public = job.options, job.public
    timed = job.facts is not None and job.facts.time
    if options.interval is not None and not timed and not public.knows_speeds:
        raise InputError(
            f"points {options.interval:g} seconds apart need trajectories with times, or a street map that knows "
            f"how fast its roads are{'' if public.network is None else f', and {public.network.name} does not'}"
        )
    if options.off_streets != "auto" and public.ways is None:
        raise InputError("off-streets has a meaning only with a map: give roads or routes")
    streets = None
    if public.ways is not None:
        # The rooms of the map load for those who have one.
        from ldptrace.models.routes.options import StreetOptions
        from ldptrace.roads.library import Library

        library = None if options.library is None else Library(options.library)
        streets = StreetOptions(library, options.off_streets)
    plan = job.plan(SINGLE)
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
    return Synthesis(plan, estimates, placed(model, options.placement), notes)


def placed(model: MobilityModel, placement: Style) -> MobilityModel:
    """Return the model with points placed in this way; on streets they are where the streets are."""
    if isinstance(model, TimedModel):
        return replace(model, space=placed(model.space, placement))
    return replace(model, placement=placement) if isinstance(model, LatticeModel) else model  # type: ignore[type-var]


METHODS = (
    Method(
        SINGLE,
        "one set-valued report per user with the whole budget, calibrated path model; routes where there is a map",
        _run,
        options=Options,
    ),
)
