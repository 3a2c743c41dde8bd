"""One report per user: the whole budget for one question, a model fitted to all answers together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldptrace.core.area import Area
from ldptrace.core.parallel import child
from ldptrace.core.placement import Style
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import Estimates
from ldptrace.curator.planning import TRIP, outlook
from ldptrace.errors import InputError
from ldptrace.io import read
from ldptrace.io.area import read_area
from ldptrace.methods.base import Job, Method, Synthesis
from ldptrace.models import LatticeModel, MobilityModel, TimedModel, fit_model
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.units import plan_crs

if TYPE_CHECKING:
    from ldptrace.roads.network import RoadNetwork
    from ldptrace.roads.routes import Routes

# Where m and K are not given, they follow from the mean trip, in sides of the map. `roads` is a public road network
# or its file, `routes` are public trajectories or their file, `library` is how many routes are drawn from a network;
# `spacing` and `interval` say how far apart points are.
OPTIONS: dict[str, Any] = {
    "trip": TRIP,
    "most_moves": None,
    "cap": None,
    "shares": None,
    "placement": "neighbours",
    "area": None,
    "roads": None,
    "routes": None,
    "library": None,
    "spacing": None,
    "interval": None,
    # Whether to ask when trips leave and how fast they are; whether on which day too; where the centre of the map is.
    "time": False,
    "week": False,
    "centre": None,
}
# The child of the source of sampling that draws the library: no block has that number.
LIBRARY = 1 << 31
AREA_NOTE = "Paths and points were kept in an area that is public; it was not learned from reports."


def _run(job: Job) -> Synthesis:
    grid, options = job.grid, OPTIONS | job.options
    area, public = options["area"], public_routes(options["roads"], options["routes"])
    if isinstance(area, str | Path):
        area = read_area(area)
    if options["interval"] is not None and public is None and not options["time"]:
        raise InputError(
            "points so many seconds apart need trajectories with times, or a street map that knows how fast "
            "its roads are"
        )
    library = None
    if public is not None:
        # The rooms of the map load for those who have one.
        from ldptrace.roads.library import Library
        from ldptrace.roads.network import RoadNetwork

        if options["library"] is not None:
            library = Library(options["library"])
        if isinstance(public, RoadNetwork):
            public.check_against(grid.bounds, None)
    view = outlook(job.users, job.epsilon, grid.n, trip=options["trip"], most_moves=options["most_moves"])
    plan = Plan.single_report(
        grid,
        job.epsilon,
        most_moves=view.most_moves,
        cap=options["cap"] or view.cap,
        shares=options["shares"],
        for_map=public is not None,
        crs=plan_crs(job.crowd.crs),
        time=options["time"],
        week=options["week"],
        centre=options["centre"],
    )
    with job.stages("collect"):
        tally = job.collect(plan)
    with job.stages("estimate"):
        estimates = Estimates.from_tally(plan, tally)
    with job.stages("fit model"):
        model = fit_model(
            estimates,
            area,
            public,
            rng=child(job.sampling, LIBRARY),
            library=library,
            progress=job.stages.tell,
        )
    return Synthesis(plan, estimates, placed(model, options["placement"]), _notes(area, public, model))


def placed(model: MobilityModel, placement: Style) -> MobilityModel:
    """The model with points placed in this way; on streets they are where the streets are."""
    if isinstance(model, TimedModel):
        return replace(model, space=placed(model.space, placement))
    return replace(model, placement=placement) if isinstance(model, LatticeModel) else model  # type: ignore[type-var]


def public_routes(roads: object, routes: object) -> RoadNetwork | Routes | None:
    """What is public about the ways that people take: a network or routes, given as such or as a file."""
    if roads is None and routes is None:
        return None
    if roads is not None and routes is not None:
        raise InputError("give a road network or public routes, not both")
    from ldptrace.roads import RoadNetwork, read_roads
    from ldptrace.roads.routes import Routes

    if isinstance(roads, str | Path):
        roads = read_roads(roads)
    if isinstance(routes, str | Path):
        routes = read(routes)
    if isinstance(routes, Trajectories):
        routes = Routes.from_trajectories(routes)
    if roads is not None and not isinstance(roads, RoadNetwork):
        raise InputError(f"roads must be a RoadNetwork or a file, got {type(roads).__name__}")
    if routes is not None and not isinstance(routes, Routes):
        raise InputError(f"routes must be Trajectories, Routes or a file, got {type(routes).__name__}")
    return roads if routes is None else routes


def _notes(area: Area | None, public: RoadNetwork | Routes | None, model: MobilityModel) -> tuple[str, ...]:
    """Public knowledge is named as such, and what it gives by itself."""
    notes = [] if area is None else [AREA_NOTE]
    if public is not None:
        roads: Any = getattr(public, "roads", public)
        notes.append(f"Trips follow {roads.name}, which is public and costs no epsilon.")
        notes += [model.map_note] if model.map_note else []
    return tuple(notes)


METHODS = (
    Method(
        "single-report",
        "one set-valued report per user with the whole budget, calibrated path model; routes where there is a map",
        _run,
        options=dict(OPTIONS),
    ),
)
