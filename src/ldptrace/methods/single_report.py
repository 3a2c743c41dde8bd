"""One report per user: the whole budget for one question, a model fitted to all answers together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ldptrace.curator.estimates import Estimates
from ldptrace.curator.planning import TRIP, outlook
from ldptrace.io.area import read_area
from ldptrace.methods.base import Job, Method, Synthesis
from ldptrace.models.path.model import PathModel
from ldptrace.protocol.plan import Plan

# Where m and K are not given, they follow from the mean trip, in sides of the map.
OPTIONS: dict[str, Any] = {
    "trip": TRIP,
    "most_moves": None,
    "cap": None,
    "shares": None,
    "placement": "neighbours",
    "area": None,
}
AREA_NOTE = "Paths and points were kept in an area that is public; it was not learned from reports."


def _run(job: Job) -> Synthesis:
    grid, options = job.grid, OPTIONS | job.options
    area = options["area"]
    if isinstance(area, str | Path):
        area = read_area(area)
    view = outlook(job.users, job.epsilon, grid.n, trip=options["trip"], most_moves=options["most_moves"])
    plan = Plan.single_report(
        grid,
        job.epsilon,
        most_moves=view.most_moves,
        cap=options["cap"] or view.cap,
        shares=options["shares"],
    )
    with job.stages("collect"):
        tally = job.collect(plan)
    with job.stages("estimate"):
        estimates = Estimates.from_tally(plan, tally)
    with job.stages("fit model"):
        model = PathModel.fit(estimates, area)
    notes = () if area is None else (AREA_NOTE,)
    return Synthesis(plan, estimates, model, placement=options["placement"], notes=notes)


METHODS = (
    Method(
        "single-report",
        "one set-valued report per user with the whole budget, calibrated path model",
        _run,
        options=dict(OPTIONS),
    ),
)
