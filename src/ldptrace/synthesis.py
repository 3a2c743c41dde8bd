"""Turn real trips into synthetic trips: the code behind the command, the Python function and every engine.

Each trajectory plays a device. A method makes a plan, collects reports and fits a model, from which trips are drawn.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import date as Date
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ldptrace.core.atomic import check_folder, is_folder
from ldptrace.core.drawing import Drawing, OffStreets, Points
from ldptrace.core.reading import CUT, Outside
from ldptrace.core.running import Mode, Running, Stages, UnitName
from ldptrace.core.times import zone_words
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import Estimates
from ldptrace.curator.facts import SINGLE, Asked
from ldptrace.engines.base import Crowd, Draw, Made
from ldptrace.engines.files import open_crowd
from ldptrace.engines.local import Memory
from ldptrace.errors import DataWarning, InputError, NoiseWarning, PrivacyWarning
from ldptrace.io.account import Account
from ldptrace.io.files import refuse_unnamed_users
from ldptrace.io.formats import for_writing
from ldptrace.methods import Job, Method, Synthesis
from ldptrace.methods.public import Public, refuse_same_file
from ldptrace.methods.release import Release
from ldptrace.models.lengths import smooth_lengths
from ldptrace.protocol.exact import decimal_text, epsilon_fraction, ratio_at_most
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Length
from ldptrace.protocol.randomizers import PrivSet
from ldptrace.protocol.round import Ask, Round
from ldptrace.protocol.words import CENTRAL, CURATOR, alone, explain, trusted
from ldptrace.settings import Settings
from ldptrace.simulation import Collection, Members
from ldptrace.simulation.streams import EXPERIMENT, Streams
from ldptrace.simulation.unit import Unit


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A finished synthesis: the synthetic trips, how they were made, and how long each stage took."""

    settings: Settings
    synthesis: Synthesis
    grid: Grid
    # What was read and what was omitted.
    account: Account
    # The seed of sampling and placement, where it may be published; the devices' seed is kept nowhere.
    sample_seed: int | None
    seconds: dict[str, float]
    # Whose privacy it is: a user's, a trip's, or a trajectory's if the user is unknown.
    unit: Unit
    # Users who took part, one report each.
    users: int
    # That the result is mostly noise, where it is.
    noise: str | None = None
    # The model with all that a release from it needs, where the method has one.
    release: Release | None = None
    # Synthetic trajectories; those that went to files were never all in memory, and are not here.
    count: int = 0
    # The zone whose hours devices answered about; None where the input states none.
    timezone: str | None = None
    # Whose hours they are, in words, where devices were asked about times.
    clocks: str | None = None
    trajectories: Trajectories = field(default_factory=lambda: Trajectories.concat([]))

    def __repr__(self) -> str:
        model = self.synthesis.model
        rows = [
            ("method", self.method.name),
            ("epsilon", f"{self.epsilon:g} for each {self.unit.name}{self.apart}"),
            ("devices", f"{self.users:,}"),
            ("cells", f"{self.grid.n} x {self.grid.n}"),
            ("made", repr(self.trajectories)[1:-1].removeprefix("Trajectories: ")),
            ("seconds", ", ".join(f"{stage} {spent:.2f}" for stage, spent in self.seconds.items())),
            ("note", self.noise),
            ("without", None if model is None or model.without_trip is None else str(model.without_trip)),
            ("map", None if model is None else model.map_note),
        ]
        return "\n".join(["<Run>", *(f"  {name:<9}{value}" for name, value in rows if value)])

    @property
    def apart(self) -> str:
        """What follows epsilon where reports are shuffled."""
        plan = self.synthesis.plan
        if plan is None or plan.shuffled is None:
            return ""
        return (
            f" through a shuffler (delta {float(plan.shuffled.delta):g}; {float(plan.epsilon):g} if it works with the "
            "curator)"
        )

    @property
    def method(self) -> Method:
        return self.settings.recipe

    @property
    def epsilon(self) -> float:
        """What was promised: of shuffled reports the central epsilon, which is below the wanted one where eps0 is at
        its bound."""
        plan = self.synthesis.plan
        return (
            self.settings.epsilon if plan is None or plan.shuffled is None else float(plan.shuffled.epsilon)
        )

    @property
    def seeded(self) -> bool:
        """Whether the devices had a seed. A run with a seed is an experiment and must not be published."""
        return self.settings.seed is not None

    def privacy(self) -> dict[str, Any]:
        """Return the privacy promise as plain data, for files and reports."""
        plan, model = self.synthesis.plan, self.synthesis.model
        noise = None if self.noise is None else f"{self.noise[0].upper()}{self.noise[1:]}."
        return {
            "method": self.method.name,
            "summary": self.method.summary,
            **self._trusted(),
            "leaks": self.settings.leaks,
            "unit": self.unit.name,
            "users": self.users,
            # Somebody holds the trips that these devices were made of.
            "simulated": True,
            "without_trip": None if model is None else model.share_document,
            "experiment": EXPERIMENT if self.seeded else None,
            "sample_seed": self.sample_seed,
            "timezone": self.timezone,
            "notes": [said for said in (self.unit.sentence, noise, *self.synthesis.notes) if said],
            "explanation": [] if plan is None else explain(plan),
            "plan": None if plan is None else plan.document(),
            "plan_id": None if plan is None else plan.id,
        }

    def _trusted(self) -> dict[str, Any]:
        """Return what is promised, and whom one must trust for that."""
        plan, epsilon = self.synthesis.plan, decimal_text(epsilon_fraction(self.epsilon))
        if plan is not None and plan.shuffled is not None:
            return trusted(plan, self.unit.name)
        if CENTRAL not in (self.settings.leaks or ""):
            return alone(epsilon, self.unit.name)
        added = getattr(self.settings.options, "neighbours", None) == "added"
        adjacency = "one trip more or less" if added else "one trip replaced by another"
        return alone(epsilon) | {"local_epsilon": None, "trust": CURATOR, "adjacency": adjacency}


def synthesize(
    real: Any,
    epsilon: float,
    *,
    bounds: Bounds | None = None,
    bounds_from_data: bool = False,
    outside: Outside = CUT,
    grid: int | Literal["auto"] = "auto",
    method: str = SINGLE,
    count: int | None = None,
    area: Any = None,
    roads: Any = None,
    routes: Any = None,
    spacing: float | None = None,
    interval: float | None = None,
    off_streets: OffStreets = "auto",
    time: Literal["auto", "off"] = "auto",
    week: bool = False,
    centre: tuple[float, float] | None = None,
    date: Date | str | None = None,
    timezone: str | None = None,
    month_first: bool = False,
    crs: str | None = None,
    shuffled: bool = False,
    delta: float | None = None,
    unit: UnitName = "user",
    pilot: float | None = None,
    simulation: Mode = "counts",
    seed: int | None = None,
    sample_seed: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> Trajectories:
    """Make synthetic trips that resemble the real trips, under epsilon-local differential privacy.

    The function simulates a collection: each trajectory of `real` stands for the device of one user. If a column
    identifies the users, each user has one device, and one trajectory of the user is drawn at random. An empty
    trajectory stands for a device without a trip.

    Arguments about the data and about privacy:

    - `real`: trajectories, a data frame, an Arrow table or the name of a file.
    - `epsilon`: the privacy budget of each user; smaller is more private.
    - `shuffled`, `delta`: whether reports go through an independent shuffler. `epsilon` is then what an answer costs if
      shuffler and curator do not work together, with this delta (by default 1e-8), and fewer users tell as much.
    - `unit`: what epsilon protects: "user" for each user with all trips, "trip" for each single trip.
    - `bounds`: the rectangle (x0, y0, x1, y1) that the grid covers, from public knowledge.
    - `bounds_from_data`: whether to take the bounds from `real`, which reveals the outermost real points.
    - `outside`: "cut" cuts trips at the bounds, and "clamp" moves points outside the bounds to the border. "drop" omits
      trips that leave the bounds, which is less private: a missing report reveals such a trip.
    - `crs`: the coordinate system, such as "EPSG:4326".

    Arguments about the model and the synthetic trips:

    - `method`, `options`: the name of the method, by default "single-report", and a dictionary of its further options.
      See the page "Methods and their options" of the documentation.
    - `grid`: the number of cells per side; "auto" chooses the number from epsilon, the number of users, and whether
      there is a street map.
    - `pilot`: the fraction of users who are asked first how far they travel, to choose the grid.
    - `count`: the number of synthetic trips; by default the estimated number of devices with a trip.
    - `area`: public polygons, or their file; synthetic trips that do not follow streets stay inside the polygons.
    - `roads`: a public road network or its file; synthetic trips follow its streets.
    - `routes`: public trips or their file; synthetic trips follow the routes of these public trips.
    - `off_streets`: "auto" lets some synthetic trips leave the streets if the reports show that real trips do; "never"
      keeps all synthetic trips on streets.
    - `spacing`: the distance between two points of a synthetic trip, in metres if coordinates are degrees.
    - `interval`: the time between two points of a synthetic trip, in seconds.

    Arguments about time:

    - `time`: "auto" asks about times if `real` has a column of times, or if its format can hold them, so that synthetic
      trips have times too; "off" does not ask.
    - `week`: whether devices are also asked for the day of the week.
    - `centre`: the public centre of the city, by default the middle of the bounds. One question about time asks whether
      a trip goes towards the centre or away from it, and in which part of the day.
    - `date`: the date of the synthetic trips; without a date, their times are seconds of the local day.
    - `timezone`: the local time zone, such as "Europe/Berlin".
    - `month_first`: whether dates in a file such as 05/04/2026 begin with the month; by default the day is first.

    Arguments about random numbers:

    - `simulation`: "counts" draws the counts of all reports directly, which is fast; "devices" draws each report.
    - `seed`: makes an experiment repeatable. Never publish a result that was made with a seed, because anyone who
      guesses the seed can undo the noise.
    - `sample_seed`: makes only the drawing of trips from the fitted model repeatable; this seed may be published.
    """
    given = dict(locals())
    done = run(given.pop("real"), Settings.of(**given))
    if done.account.is_notable:
        warnings.warn(done.account.line(), DataWarning, stacklevel=2)
    return done.trajectories


def run(
    real: Any,
    settings: Settings,
    target: str | os.PathLike[str] | None = None,
    *,
    to: str | None = None,
    running: Running | None = None,
    stages: Stages | None = None,
) -> Run:
    """Do the same as `synthesize`, and also return the plan, the estimates, the model and the time of each stage.

    With a `target`, the trips are written to this file or folder in the format `to`, and need not fit into memory.
    With a seed, the trips are the same as in memory. `running` says where the work runs.
    """
    stages, running = stages or Stages(), running or Running()
    if target is not None and not running.spark:
        # What cannot be written is an error before any data is read. A folder is written in batches.
        if is_folder(Path(target)):
            check_folder(Path(target))
            running = replace(running, batches=True)
        else:
            for_writing(Path(target), to)
    ways = settings.ways
    refuse_same_file(real, area=ways.area, roads=ways.roads, routes=ways.routes)
    if settings.leaks:
        warnings.warn(f"this is not eps-LDP: {settings.leaks}", PrivacyWarning, stacklevel=3)
    streams = Streams.of(settings.seed, settings.sample_seed)
    with ExitStack() as resources:
        with stages("read the map"):
            public = Public.of(ways.area, ways.roads, ways.routes)
        with stages("read"):
            recipe = settings.recipe
            crowd, write = open_crowd(real, settings.reading, running, resources, passes=recipe.has_model)
        with stages("choose trajectories"):
            if isinstance(crowd, Memory) and settings.unit == "user":
                refuse_unnamed_users(crowd.whole(), crowd.account.source)
            public.refuse_private(crowd)
            unit = crowd.play_devices(settings.unit, streams.devices)
        done = _learned(crowd, unit, public, settings, streams, stages)
        draw, labels = _publication(done, crowd, streams)
        if target is None:
            with stages("synthesise"):
                trips = draw.trips()
            labels["crs"] = labels["crs"] or trips.crs
            done = replace(done, trajectories=replace(trips, **labels))
        else:
            with stages("synthesise and write"):
                write(draw, Path(target), labels, to)
        return replace(done, count=draw.count, account=crowd.account)


def _learned(
    crowd: Crowd, unit: Unit, public: Public, settings: Settings, streams: Streams, stages: Stages
) -> Run:
    """Do everything up to the fitted model. The trips are drawn later."""
    bounds = settings.reading.bounds or crowd.whole().bounds()
    options = settings.options
    # Devices are asked about time if the method can ask, and the data have times.
    time = settings.time == "auto" and crowd.timed and isinstance(options, Asked) and not options.shares
    drawing = _drawing(settings, crowd, time=time)
    crs = crowd.crs or public.crs
    public.check(bounds, crs)
    users, mean_trip, members, asked = crowd.users, None, None, list[str]()
    if settings.pilot is not None:
        with stages("pilot"):
            pilot = run_pilot(crowd, settings.epsilon, bounds, settings.pilot, streams.devices)
        users, members = users - pilot.users, pilot.rest
        mean_trip = pilot.trip * max(bounds[2] - bounds[0], bounds[3] - bounds[1])
        asked.append(
            f"A pilot asked other users first how far they travel (plan {pilot.plan.id[:12]}, the same epsilon, one "
            f"report each): {pilot.trip:.2f} sides of the map; the grid was chosen by that for the remaining "
            f"{users:,} users."
        )
    facts = settings.facts(users, bounds, crs, time=time, mean_trip=mean_trip)
    grid, noise = facts.map_grid(), facts.noise()
    if noise:
        warnings.warn(noise, NoiseWarning, stacklevel=4)
    job = Job(
        crowd,
        grid,
        float(facts.budget) if facts.shuffled else settings.epsilon,
        settings.count,
        streams.devices,
        streams.sampling,
        settings.simulation,
        stages,
        settings.options,
        members,
        public,
        crs,
        streams.seeded,
        facts=facts,
    )
    synthesis = settings.recipe.run(job)
    synthesis = replace(synthesis, notes=(*synthesis.notes, *asked))
    done = Run(
        settings,
        synthesis,
        grid,
        crowd.account,
        streams.sample_seed,
        stages.seconds,
        unit,
        crowd.users,
        noise,
        timezone=crowd.timezone,
        clocks=zone_words(crowd.timezone, dates=crowd.dated)
        if time and (crowd.dated or crowd.timezone)
        else None,
    )
    if synthesis.model is None:
        return done
    return replace(done, release=Release(synthesis.model, drawing, crs, done.privacy()))


# Cells per side of the grid of a pilot: a small first collection that estimates how far people travel, to choose the
# grid of the main collection. Its users are drawn without looking at their data, and send no other report.
PILOT_CELLS = 6


@dataclass(frozen=True, eq=False)
class Pilot:
    """The result of the pilot, and the users who are left for the main collection."""

    plan: Plan
    trip: float
    users: int
    rest: Members


def pilot_plan(epsilon: float | Fraction, bounds: Bounds) -> Plan:
    """Make the plan of the pilot: each user reports how many cells of a coarse grid the trip crosses."""
    budget = epsilon_fraction(epsilon)
    question = Length(PILOT_CELLS, 6 * PILOT_CELLS)
    ask = Ask(question, PrivSet.best(question.domain, 1, ratio_at_most(budget)))
    return Plan("pilot", Grid(bounds, PILOT_CELLS), budget, (Round((ask,), "everyone"),))


def run_pilot(crowd: Crowd, epsilon: float, bounds: Bounds, share: float, rng: np.random.Generator) -> Pilot:
    """Ask a share of the users how long their trip is, and estimate the mean length as a fraction of the side of the
    map."""
    plan = pilot_plan(epsilon, bounds)
    drawing, devices = rng.spawn(2)
    members = Members(share, drawing)
    estimate = Estimates.from_tally(plan, crowd.collect(Collection(plan, devices, members=members)))["length"]
    if not 0 < estimate.users < crowd.users:
        raise InputError(f"{crowd.users} users are too few for a pilot of {share:g}")
    moves = float(smooth_lengths(estimate) @ np.arange(len(estimate.frequencies)))
    return Pilot(plan, max(moves, 0.5) / PILOT_CELLS, estimate.users, replace(members, others=True))


def _drawing(settings: Settings, crowd: Crowd, *, time: bool) -> Drawing:
    """Return how synthetic trips are drawn: spacing, interval, day and time zone."""
    if time and settings.options.week and not crowd.dated:
        raise InputError("the day of the week is not known: the input has times of day without a date")
    if settings.date is not None and not time:
        raise InputError(
            "a date needs times: the method does not ask for any, the input has none, or time is off"
        )
    points = settings.options if isinstance(settings.options, Points) else Points()
    return Drawing(points.spacing, points.interval, settings.date, crowd.timezone)


def _publication(done: Run, crowd: Crowd, streams: Streams) -> tuple[Draw, dict[str, Any]]:
    """Return the trips to publish, which are still to be drawn, and their labels."""
    if done.release is not None:
        count = done.settings.count
        wanted = done.release.model.trips(crowd.users) if count is None else count
        return done.release.draw(wanted, streams.sampling), done.release.labels(streams.sample_seed)
    made = done.synthesis.trajectories
    if made is None:
        raise InputError(f"method {done.method.name} made neither a model nor trajectories")
    timezone = None if made.t is None else crowd.timezone
    return Made(made), {"crs": crowd.crs, "provenance": done.privacy(), "timezone": timezone}
