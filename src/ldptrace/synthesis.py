"""From real trajectories to synthetic ones: every trajectory plays a device, the rest is the pipeline."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from datetime import date as Date
from pathlib import Path
from typing import Any, Literal

from ldptrace.core.outside import DEFAULT as DEFAULT_OUTSIDE
from ldptrace.core.outside import Outside
from ldptrace.core.stages import Stages
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.planning import TRIP, choose_grid, mostly_noise
from ldptrace.engines.base import Crowd, Draw, Engine, Made
from ldptrace.engines.local import Memory
from ldptrace.errors import InputError, NoiseWarning, PrivacyWarning
from ldptrace.io.files import trajectories_of
from ldptrace.io.reading import Reading
from ldptrace.methods import DEFAULT, Job, Method, Synthesis, method
from ldptrace.methods.pilot import Pilot, run_pilot
from ldptrace.methods.release import Drawing, Release, day_of
from ldptrace.protocol.exact import decimal_text, epsilon_fraction
from ldptrace.protocol.grid import Bounds, Grid, checked_bounds
from ldptrace.protocol.words import explain
from ldptrace.simulation.channels import Mode
from ldptrace.simulation.streams import EXPERIMENT, Streams
from ldptrace.simulation.unit import Unit, UnitName, play_devices

PAPER_GRID = 6


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A finished synthesis: the data, how it came about, and how long each stage took."""

    trajectories: Trajectories
    synthesis: Synthesis
    method: Method
    grid: Grid
    epsilon: float
    # The seed of sampling and placement, where it may be published; the devices' seed is kept nowhere.
    sample_seed: int | None
    # Whether the devices were seeded, which makes this an experiment and not a release.
    seeded: bool
    seconds: dict[str, float]
    # Why this run is not eps-LDP for the whole trajectory, where it is not.
    leaks: str | None = None
    # Whose privacy it is: a user's, a trip's, or a trajectory's where nobody says whose it is.
    unit: Unit = field(default_factory=lambda: Unit("trajectory", ""))
    # Users who took part: one report each.
    users: int = 0
    # That the result is mostly noise, where it is.
    noise: str | None = None
    # Synthetic trajectories, those included that went to files and were never all in memory.
    count: int = 0
    # The model with all that a release from it needs, where the method has one.
    release: Release | None = None

    def __repr__(self) -> str:
        model = self.synthesis.model
        rows = [
            ("method", self.method.name),
            ("epsilon", f"{self.epsilon:g} for each {self.unit.name}"),
            ("devices", f"{self.users:,}"),
            ("cells", f"{self.grid.n} x {self.grid.n}"),
            ("made", repr(self.trajectories)[1:-1].removeprefix("Trajectories: ")),
            ("seconds", ", ".join(f"{stage} {spent:.2f}" for stage, spent in self.seconds.items())),
            ("note", self.noise),
            ("without", None if model is None or model.without_trip is None else str(model.without_trip)),
            ("map", None if model is None else model.map_note),
        ]
        return "\n".join(["<Run>", *(f"  {name:<9}{value}" for name, value in rows if value)])

    def privacy(self) -> dict[str, Any]:
        """What was promised, as plain data for files and reports."""
        plan, model = self.synthesis.plan, self.synthesis.model
        return {
            "method": self.method.name,
            "summary": self.method.summary,
            "epsilon": decimal_text(epsilon_fraction(self.epsilon)),
            "leaks": self.leaks,
            "unit": self.unit.name,
            "users": self.users,
            "without_trip": None if model is None else model.share_document,
            "experiment": EXPERIMENT if self.seeded else None,
            "sample_seed": self.sample_seed,
            "notes": [
                *(said for said in (self.unit.sentence, _sentence(self.noise)) if said),
                *self.synthesis.notes,
            ],
            "explanation": [] if plan is None else explain(plan),
            "plan": None if plan is None else plan.document(),
            "plan_id": None if plan is None else plan.id,
        }


def synthesize(
    real: Any,
    epsilon: float,
    *,
    bounds: Bounds,
    grid: int | Literal["auto"] = "auto",
    method: str = DEFAULT,
    count: int | None = None,
    seed: int | None = None,
    sample_seed: int | None = None,
    simulation: Mode = "counts",
    unit: UnitName = "user",
    time: Literal["auto", "off"] = "auto",
    date: Date | str | None = None,
    timezone: str | None = None,
    outside: Outside = DEFAULT_OUTSIDE,
    **options: Any,
) -> Trajectories:
    """Synthetic trajectories that behave like `real`, under eps-local differential privacy.

    `real` is whatever `ldptrace.read` takes: trajectories, a data frame, an Arrow table, the name of a file.
    Every trajectory plays one user's device; where a column says whose is whose, one of each user does
    (`unit="trip"`: all do, and what is promised holds for each trip only). Trips that leave the `bounds` are cut
    there, and one piece answers; `outside` may also be "clamp" (points move to the border, as on a device) or
    "drop". `bounds` are public knowledge about the area, not taken from the data.

    Where `real` has times, devices are asked for them too, unless `time` is "off", and synthetic trips have times:
    seconds of the local day, or dates of the day `date`. `timezone` names the zone whose clocks are local.

    An empty trajectory is a device without a trip: it answers null, and the model estimates how many there are. There
    are as many synthetic trips as devices with one, as estimated, unless `count` is given.

    The devices draw from the operating system. With a `seed` they repeat the same draws every time, for
    experiments: do not release such a result, whoever guesses the seed can test guesses about a user.
    `sample_seed` repeats only the sampling of the fitted model and the placement of points, and is no secret.
    """
    run = run_method(
        real,
        epsilon,
        bounds=bounds,
        grid=grid,
        method=method,
        count=count,
        seed=seed,
        sample_seed=sample_seed,
        simulation=simulation,
        unit=unit,
        time=time,
        date=date,
        timezone=timezone,
        outside=outside,
        **options,
    )
    return run.trajectories


def run_method(
    real: Any,
    epsilon: float,
    *,
    bounds: Bounds,
    grid: int | Literal["auto"] = "auto",
    method: str | Method = DEFAULT,
    count: int | None = None,
    seed: int | None = None,
    sample_seed: int | None = None,
    simulation: Mode = "counts",
    pilot: float | None = None,
    unit: UnitName = "user",
    time: Literal["auto", "off"] = "auto",
    date: Date | str | None = None,
    timezone: str | None = None,
    outside: Outside = DEFAULT_OUTSIDE,
    stages: Stages | None = None,
    **options: Any,
) -> Run:
    """As `synthesize`, with the plan, the estimates, the model and the time of each stage.

    `grid="auto"` is the paper's 6 x 6 for the paper's methods, and for one report per user the choice of
    `ldptrace.curator.planning`. With a `pilot`, that share of the users is asked first how far they travel, and N and m
    are chosen by their private answers.
    """
    chosen = _checked(method, count, simulation, options)
    epsilon_fraction(epsilon)
    bounds = checked_bounds(bounds)
    real = trajectories_of(real, Reading(timezone=timezone, bounds=bounds, outside=outside))
    if len(real) == 0:
        raise InputError("there are no trajectories: at least one user is needed")
    leaks = chosen.leak(options)
    if leaks:
        warnings.warn(f"method {chosen.name} is not eps-LDP: {leaks}", PrivacyWarning, stacklevel=3)
    stages = stages or Stages()
    streams = Streams.of(seed, sample_seed)
    everyone, whose = play_devices(real, unit, streams.devices)
    crowd = Memory(everyone)
    options = _with_time(time, crowd, chosen, options)
    drawing = _drawing(date, crowd, options)
    run = _learned(
        crowd, whose, chosen, epsilon, bounds, grid, count, streams, simulation, pilot, stages, options
    )
    run = replace(run, release=_release(run, crowd, drawing))
    draw, labels = _publication(run, crowd, count, streams)
    with stages("synthesise"):
        trajectories = draw.trips()
    labelled = replace(trajectories, **labels | {"crs": labels["crs"] or trajectories.crs})
    return replace(run, trajectories=labelled, count=len(labelled))


def run_files(
    crowd: Crowd,
    target: Path,
    epsilon: float,
    *,
    engine: Engine,
    bounds: Bounds,
    grid: int | Literal["auto"] = "auto",
    method: str | Method = DEFAULT,
    count: int | None = None,
    seed: int | None = None,
    sample_seed: int | None = None,
    simulation: Mode = "counts",
    pilot: float | None = None,
    unit: UnitName = "user",
    time: Literal["auto", "off"] = "auto",
    date: Date | str | None = None,
    to: str | None = None,
    stages: Stages | None = None,
    **options: Any,
) -> Run:
    """As `run_method`, from a crowd wherever it is to files; the run itself has no trajectories.

    Given a seed, the result is that of `run_method`, whatever is in memory at a time.
    """
    chosen = _checked(method, count, simulation, options)
    epsilon_fraction(epsilon)
    bounds = checked_bounds(bounds)
    leaks = chosen.leak(options)
    if leaks:
        warnings.warn(f"method {chosen.name} is not eps-LDP: {leaks}", PrivacyWarning, stacklevel=3)
    stages = stages or Stages()
    streams = Streams.of(seed, sample_seed)
    with stages("choose trajectories"):
        whose = crowd.play_devices(unit, streams.devices)
    options = _with_time(time, crowd, chosen, options)
    drawing = _drawing(date, crowd, options)
    run = _learned(
        crowd, whose, chosen, epsilon, bounds, grid, count, streams, simulation, pilot, stages, options
    )
    run = replace(run, release=_release(run, crowd, drawing))
    draw, labels = _publication(run, crowd, count, streams)
    with stages("synthesise and write"):
        engine.write(draw, target, labels, to)
    return replace(run, count=draw.count)


def _learned(
    crowd: Crowd,
    whose: Unit,
    chosen: Method,
    epsilon: float,
    bounds: Bounds,
    grid: int | Literal["auto"],
    count: int | None,
    streams: Streams,
    simulation: Mode,
    pilot_share: float | None,
    stages: Stages,
    options: dict[str, Any],
) -> Run:
    """Everything up to the fitted model; the trajectories are still to be drawn from it."""
    pilot: Pilot | None = None
    if pilot_share is not None:
        if "trip" not in chosen.options:
            raise InputError(f"method {chosen.name} has nothing to choose by a pilot")
        with stages("pilot"):
            pilot = run_pilot(crowd, epsilon, bounds, pilot_share, streams.devices)
        options = {"trip": pilot.trip} | options
    users = crowd.users - (0 if pilot is None else pilot.users)
    area = Grid(bounds, _cells(grid, chosen, users, epsilon, options))
    noise = mostly_noise(users, epsilon, area.n, trip=options.get("trip", TRIP))
    if noise:
        warnings.warn(noise, NoiseWarning, stacklevel=4)
    with stages("discretise"):
        crowd.prepare(area)
    synthesis = chosen.run(
        Job(
            crowd,
            area,
            epsilon,
            count,
            streams.devices,
            streams.sampling,
            simulation,
            stages,
            options,
            None if pilot is None else pilot.rest,
        )
    )
    if pilot is not None:
        synthesis = replace(synthesis, notes=(*synthesis.notes, _pilot_note(pilot, users)))
    return Run(
        Trajectories.concat([]),
        synthesis,
        chosen,
        area,
        epsilon,
        streams.sample_seed,
        streams.seeded,
        stages.seconds,
        chosen.leak(options),
        whose,
        crowd.users,
        noise,
    )


def _cells(
    grid: int | Literal["auto"], chosen: Method, users: int, epsilon: float, options: dict[str, Any]
) -> int:
    """Cells per side: as given, or chosen from public facts."""
    if grid != "auto":
        return grid
    if "trip" not in chosen.options:
        return PAPER_GRID
    return choose_grid(users, epsilon, options.get("trip", TRIP))


def _with_time(time: str, crowd: Crowd, chosen: Method, options: dict[str, Any]) -> dict[str, Any]:
    """The options of the method, with questions about time where there is something to ask and nobody objects."""
    if time not in ("auto", "off"):
        raise InputError(f"time must be auto or off, got {time!r}")
    asks = time == "auto" and "time" in chosen.options and not options.get("shares") and crowd.timed
    if asks and options.get("week") and not crowd.dated:
        raise InputError("nobody can say the day of the week: the times are of a day without a date")
    return {"time": True} | options if asks else options


def _drawing(date: Date | str | None, crowd: Crowd, options: dict[str, Any]) -> Drawing:
    """How synthetic trips are drawn."""
    if date is not None and not options.get("time"):
        raise InputError(
            "there is no date without times: the method does not ask for any, the input has none, or time is off"
        )
    day = None if date is None else day_of(date)
    return Drawing(options.get("spacing"), options.get("interval"), day, crowd.timezone)


def _release(run: Run, crowd: Crowd, drawing: Drawing) -> Release | None:
    """What the model can be published with."""
    if run.synthesis.model is None:
        return None
    return Release(run.synthesis.model, drawing, crowd.crs, run.privacy())


def _publication(run: Run, crowd: Crowd, count: int | None, streams: Streams) -> tuple[Draw, dict[str, Any]]:
    """What is published, to be drawn, and its labels."""
    if run.release is not None:
        wanted = run.release.model.trips(crowd.users) if count is None else count
        return run.release.draw(wanted, streams.sampling), run.release.labels(streams.sample_seed)
    if run.synthesis.trajectories is None:
        raise InputError(f"method {run.method.name} made neither a model nor trajectories")
    made = run.synthesis.trajectories
    timezone = None if made.t is None else crowd.timezone
    return Made(made), {"crs": crowd.crs, "provenance": run.privacy(), "timezone": timezone}


def _pilot_note(pilot: Pilot, rest: int) -> str:
    return (
        f"A pilot asked other users first how far they travel (plan {pilot.plan.id[:12]}, the same epsilon, one report "
        f"each): {pilot.trip:.2f} sides of the map; the grid was chosen by that for the remaining {rest:,} users."
    )


def _sentence(said: str | None) -> str | None:
    """What was said as a warning, as a sentence of its own."""
    return None if said is None else f"{said[0].upper()}{said[1:]}."


def _checked(
    method_or_name: str | Method, count: int | None, simulation: str, options: dict[str, Any]
) -> Method:
    chosen = method_or_name if isinstance(method_or_name, Method) else method(method_or_name)
    if count is not None and count < 0:
        raise InputError(f"the number of synthetic trajectories must not be negative, got {count}")
    if simulation not in ("counts", "devices"):
        raise InputError(f"simulation must be counts or devices, got {simulation!r}")
    unknown = set(options) - set(chosen.options)
    if unknown:
        raise InputError(
            f"method {chosen.name} has no option {sorted(unknown)[0]!r}; it has {sorted(chosen.options)}"
        )
    for name in ("spacing", "interval"):
        value = options.get(name)
        if value is not None and not (math.isfinite(value) and value > 0):
            raise InputError(f"{name} must be a positive number, got {value!r}")
    return chosen
