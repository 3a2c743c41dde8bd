"""A file with times, played in its own order: devices report as time goes by, and synthetic travellers leave.

What is published for a step uses only what had been reported by its beginning.
"""

from __future__ import annotations

import math
import time as clock
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.changes import Change
from ldptrace.curator.memory import Remember
from ldptrace.curator.planning import choose_grid, choose_plan
from ldptrace.errors import InputError, PrivacyWarning
from ldptrace.io.files import trajectories_of
from ldptrace.plugins import STREAMS, StreamMethod, installed, load
from ldptrace.protocol.exact import decimal_text, epsilon_fraction
from ldptrace.protocol.grid import Bounds, Grid, checked_bounds
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.shares import DEFAULT_SHARES, Wanted
from ldptrace.protocol.units import plan_crs
from ldptrace.protocol.words import explain
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes
from ldptrace.simulation.streams import EXPERIMENT
from ldptrace.streams.now import Now
from ldptrace.streams.occasions import Occasions, arrivals, tally_of_step
from ldptrace.streams.rate import Hidden, Shown
from ldptrace.streams.travellers import Travellers

Presence = Literal["hidden", "shown"]
DEFAULT = "single-report"
# Ticks of a step.
STEP = 50
SHOWN = "a report is sent when a trip has ended, so that its arrival shows that there was one, and when"
QUESTIONS = (*DEFAULT_SHARES, "pace")


@dataclass(frozen=True)
class Settings:
    """How a stream is played: durations in seconds.

    A model is fitted every `step` (None: 50 ticks). Devices answer once in `every` (None: once, in the whole input).
    """

    tick: float
    step: float | None = None
    every: float | None = None
    remember: Remember = "auto"
    presence: Presence = "hidden"

    def __post_init__(self) -> None:
        for name in ("tick", "step", "every"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InputError(f"{name} must be a positive number of seconds, got {value!r}")
        if self.presence not in ("hidden", "shown"):
            raise InputError(f"presence is hidden or shown, got {self.presence!r}")
        if self.presence == "shown" and self.every is not None:
            raise InputError("with presence shown a device reports after every trip: every does not apply")

    @property
    def seconds(self) -> float:
        """The length of a step."""
        return STEP * self.tick if self.step is None else self.step


@dataclass(frozen=True)
class Step:
    """What one step was: until when, how many reports came in, what is remembered, and how long the fit took."""

    time: float
    reports: int
    effective: float
    half_life: float
    with_trip: float
    departures: float
    seconds: float
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, eq=False)
class Streamed:
    """Synthetic trips on the clock of the input, and how each step went."""

    trajectories: Trajectories
    steps: tuple[Step, ...] = ()
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = field(default=())


def stream(
    real: Any,
    epsilon: float,
    *,
    bounds: Bounds,
    settings: Settings,
    grid: int | Literal["auto"] = "auto",
    method: str = DEFAULT,
    public: RoadNetwork | Routes | None = None,
    seed: int | None = None,
    live: Callable[[str], None] | None = None,
    **options: Any,
) -> Streamed:
    """Play timed trips in their own order, and publish synthetic ones step by step, with epsilon for each answer.

    `public` is a street map, or public routes. `live` is given the positions of each tick as a JSON line. The devices
    draw from the operating system; with a `seed` they repeat the same draws, for experiments. `options` are those of
    another `method`.
    """
    trips = _timed(trajectories_of(real))
    budget, bounds = epsilon_fraction(epsilon), checked_bounds(bounds)
    devices, rng = _devices(trips, settings), np.random.default_rng(seed)
    count = int(devices.max()) + 1
    n = choose_grid(count, float(budget)) if grid == "auto" else grid
    if method != DEFAULT:
        found = other_method(method).run(trips, Grid(bounds, n), epsilon, settings.tick, rng, **options)
        note = f"{other_method(method).public[0].upper()}{other_method(method).public[1:]}."
        about = _promise(epsilon, settings, trips, None, method, seed, [note])
        about["leaks"] = other_method(method).public
        return Streamed(replace(found, crs=trips.crs, provenance=about), notes=(note,))
    if options:
        raise InputError(f"method {method} has no option {sorted(options)[0]!r}")
    if settings.presence == "shown":
        warnings.warn(f"presence shown is not eps-LDP: {SHOWN}", PrivacyWarning, stacklevel=2)
    wanted = Wanted(for_map=public is not None, questions=QUESTIONS)
    plan, _ = choose_plan(count, budget, bounds, n=n, wanted=wanted, crs=plan_crs(trips.crs))
    played = _Play(trips, devices, settings, plan, public, rng)
    parts, steps = [], []
    for step, left in played.steps(live):
        steps.append(step)
        parts.append(left)
    whole = Trajectories.concat(parts)
    notes = _notes(settings, trips, played.every, public)
    about = _promise(epsilon, settings, trips, plan, method, seed, notes)
    changes = tuple(change for step in steps for change in step.changes)
    kept = whole.take(whole.sizes > 0)
    return Streamed(
        replace(kept, crs=trips.crs, timezone=trips.timezone, provenance=about),
        tuple(steps),
        changes,
        tuple(notes),
    )


def other_method(name: str) -> StreamMethod:
    """The stream method of that name, of an installed package."""
    known = installed(STREAMS)
    if name not in known:
        raise InputError(f"a stream has the methods {', '.join(sorted([DEFAULT, *known]))}, got {name!r}")
    found = load(known[name])
    if not isinstance(found, StreamMethod):
        raise InputError(f"{name} is no method for streams but a {type(found).__name__}")
    return found


class _Play:
    """The input with its devices on one side, the model of now and its travellers on the other."""

    def __init__(
        self,
        trips: Trajectories,
        devices: NDArray[np.int64],
        settings: Settings,
        plan: Plan,
        public: RoadNetwork | Routes | None,
        rng: np.random.Generator,
    ) -> None:
        assert trips.t is not None
        self.trips, self.settings, self.plan = trips, settings, plan
        self.start, self.end = float(trips.t.min()), float(trips.t.max())
        self.every = settings.every or max(self.end - self.start, settings.tick)
        self._reporting, self._drawing, library, phases = rng.spawn(4)
        count = int(devices.max()) + 1
        if settings.presence == "shown":
            self.occasions = Occasions.shown(trips)
            self.rate: Shown | Hidden = Shown(settings.seconds)
        else:
            self.occasions = Occasions.hidden(trips, devices, self.every, self.start, self.end, phases)
            self.rate = Hidden(count, self.every, self.start)
        self.now = Now(plan, settings.seconds, remember=settings.remember, public=public, rng=library)

    def steps(self, live: Callable[[str], None] | None) -> Any:
        """One step after the other: what it was, and the travellers who left in it."""
        settings, length = self.settings, self.settings.seconds
        travellers, begun, reports = Travellers(settings.tick, self.end), clock.perf_counter(), 0
        found: tuple[Change, ...] = ()
        for number in range(max(1, math.ceil((self.end - self.start) / length))):
            begin = self.start + number * length
            until = min(begin + length, self.end)
            count = int(self._drawing.poisson(self.rate.per_second * (until - begin)))
            drawn = self.now.travellers(count, self._drawing, settings.tick)
            left = travellers.leave(drawn, begin + self._drawing.random(count) * (until - begin))
            if live is not None:
                self._tell(travellers, begin, until, live)
            travellers.arrived(until)
            memory = self.now.memory
            step = Step(
                until,
                reports,
                memory.effective,
                memory.half_life,
                self.now.with_trip.value,
                self.rate.per_second,
                clock.perf_counter() - begun,
                found,
            )
            yield step, left
            which = self.occasions.between(begin, until)
            reports = len(which)
            if number == 0:
                # Whoever reports at the very beginning belongs to the first step.
                which = self.occasions.between(-math.inf, until)
            tally = tally_of_step(self.plan, self.trips, which, self._reporting)
            begun = clock.perf_counter()
            found = self.now.add(tally, until) if len(which) else ()
            self.rate.add(len(which), self.now.with_trip, (begin + until) / 2)

    def _tell(self, travellers: Travellers, begin: float, until: float, live: Callable[[str], None]) -> None:
        """The positions of the ticks of one step."""
        tick = self.settings.tick
        first, beyond = (math.ceil((moment - self.start) / tick - 1e-9) for moment in (begin, until))
        last = beyond + (until >= self.end)
        for line in travellers.lines(self.start, range(first, last)):
            live(line)


def _timed(trips: Trajectories) -> Trajectories:
    if trips.t is None or not len(trips.t):
        raise InputError("a stream needs trajectories with times, and these have none")
    return trips


def _devices(trips: Trajectories, settings: Settings) -> NDArray[np.int64]:
    """The device of each trip: its user's, or one of its own."""
    if trips.user is None or settings.presence == "shown":
        return np.arange(len(trips))
    return np.unique(trips.users, return_inverse=True)[1].astype(np.int64)


def _notes(
    settings: Settings, trips: Trajectories, every: float, public: RoadNetwork | Routes | None
) -> list[str]:
    notes = []
    if settings.presence == "hidden":
        span = float(arrivals(trips)[trips.sizes > 0].max()) - float(np.min(trips.t))  # type: ignore[arg-type]
        answers = max(1, math.ceil(span / every))
        notes.append(
            f"Every device answers once in {every:g} s, at a moment of its own that does not depend on its trips; "
            f"epsilon holds for each answer, of which there are at most {answers} here."
        )
    if trips.user is None or settings.presence == "shown":
        notes.append("The unit is the trip: a person with several trips gives away epsilon for each.")
    if public is not None:
        roads: Any = getattr(public, "roads", public)
        notes.append(f"Trips follow {roads.name}, which is public and costs no epsilon.")
    return notes


def _promise(
    epsilon: float,
    settings: Settings,
    trips: Trajectories,
    plan: Plan | None,
    method: str,
    seed: int | None,
    notes: list[str],
) -> dict[str, Any]:
    """What was promised, as plain data for files."""
    whose = "user" if trips.user is not None and settings.presence == "hidden" else "trip"
    return {
        "method": method,
        "epsilon": decimal_text(epsilon_fraction(epsilon)),
        "leaks": SHOWN if settings.presence == "shown" else None,
        "unit": whose,
        "users": len(trips),
        "experiment": None if seed is None else EXPERIMENT,
        "sample_seed": None,
        "notes": notes,
        "explanation": [] if plan is None else explain(plan),
        "plan": None if plan is None else plan.document(),
        "plan_id": None if plan is None else plan.id,
    }
