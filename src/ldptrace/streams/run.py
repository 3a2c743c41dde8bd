"""Simulate a stream from a file with times: devices report in the order of the times, and synthetic travellers depart.
What is published for a step uses only the reports before the beginning of the step."""

from __future__ import annotations

import math
import os
import time as clock
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ldptrace.core.arrays import Ints
from ldptrace.core.times import iso
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.accounting import stated_lifetime
from ldptrace.curator.facts import Facts
from ldptrace.curator.hiding import usual_batch
from ldptrace.curator.memory import Change
from ldptrace.engines.local import Memory, numbered
from ldptrace.errors import DataWarning, InputError, PrivacyWarning
from ldptrace.io.files import trajectories_of, write_sets
from ldptrace.methods.public import Public
from ldptrace.models.routes.options import StreetOptions
from ldptrace.protocol.exact import decimal_text, epsilon_fraction
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.protocol.limits import MIN_BATCH
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.shares import DEFAULT_SHARES
from ldptrace.protocol.units import duration_words
from ldptrace.protocol.words import alone, explain, trusted
from ldptrace.simulation.streams import EXPERIMENT, Streams
from ldptrace.simulation.unit import play_devices
from ldptrace.streams.now import Hidden, Now, Shown, Travellers
from ldptrace.streams.occasions import Occasions, arrivals, tally_of_step
from ldptrace.streams.settings import WARM_UP, Settings, seconds_at


def notes_of(
    settings: Settings,
    trips: Trajectories,
    every: float,
    span: float,
    public: Public,
    plan: Plan | None = None,
) -> list[str]:
    """Return how often a device answers in a stream of `span` seconds, what its answers to a shuffled plan cost
    together, whom the promise protects, and what is public, in sentences."""
    notes = []
    if settings.presence == "hidden":
        answers = max(1, math.ceil(span / every))
        often, each = "once", "this answer"
        if answers > 1:
            often = f"once in {duration_words(max(round(every), 1))}"
            each = f"each answer, of which there are at most {answers} here"
        notes.append(
            f"Every device answers {often}, at a moment of its own that does not depend on its trips; epsilon holds "
            f"for {each}."
        )
        if plan is not None and plan.shuffled is not None and answers > 1:
            notes.append(together(plan, answers))
    if not _of_users(settings, trips):
        notes.append("The unit is the trip: a person with k trips is protected with k epsilon only.")
    return notes + public.notes


def together(plan: Plan, answers: int) -> str:
    """Return what this many answers of one device to a shuffled plan cost together, in both cases."""
    row, local = plan.shuffled, plan.epsilon
    assert row is not None
    central = float(answers * row.epsilon)
    # Without the package that composes answers, the plain sum holds.
    if find_spec("dp_accounting") is not None:
        central = min(central, stated_lifetime(row.hidden, float(local), float(row.delta), answers))
    return (
        f"All {answers} answers of a device together cost at most epsilon {central:g} with delta "
        f"{float(answers * row.delta):g} if shuffler and curator do not work together, and epsilon "
        f"{decimal_text(answers * local)} if they do."
    )


def promise_of(
    epsilon: float, settings: Settings, trips: Trajectories, plan: Plan | None, notes: list[str], users: int
) -> dict[str, Any]:
    """Return the promise to `users` devices. For a method of another package, `plan` is None."""
    unit = "user" if plan is not None and _of_users(settings, trips) else "trip"
    text = decimal_text(epsilon_fraction(epsilon))
    return {
        "method": settings.method,
        **(alone(text, unit) if plan is None else trusted(plan, unit)),
        "leaks": settings.leaks,
        "unit": unit,
        "users": users,
        "simulated": True,
        "experiment": None if settings.seed is None else EXPERIMENT,
        "sample_seed": None,
        "timezone": trips.timezone,
        "notes": notes,
        "explanation": [] if plan is None else explain(plan),
        "plan": None if plan is None else plan.document(),
        "plan_id": None if plan is None else plan.id,
    }


def _of_users(settings: Settings, trips: Trajectories) -> bool:
    """Whether a device belongs to a user, who may have several trips."""
    return trips.user is not None and settings.presence == "hidden"


# Shares of the reports without a map: a step has few, and both ends of a trip say most about the rest of it (tried on
# six generated cities and on arrivals of Oldenburg that no table shows).
SHARES = DEFAULT_SHARES | {"terminals": 0.20, "visits": 0.40, "links": 0.20, "pace": 0.02}
QUESTIONS = tuple(SHARES)
# Positions of the travellers of one step: they are in memory together.
MOST_POSITIONS = 100_000_000


@dataclass(frozen=True)
class Step:
    """One step: its end, its number of reports, the remembered reports, and the processor seconds of the fit."""

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
    """Synthetic trips with times of the input, and the steps. Trips that were written to a file are not included."""

    count: int
    trajectories: Trajectories
    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes that were found, in the order of the steps."""
        return tuple(change for step in self.steps for change in step.changes)


def stream(
    real: Any,
    epsilon: float,
    *,
    bounds: Bounds,
    settings: Settings,
    public: Public | None = None,
    live: Callable[[str], None] | None = None,
    target: str | os.PathLike[str] | None = None,
    to: str | None = None,
) -> Streamed:
    """Replay trips in the order of their times, and draw synthetic trips step by step. Each answer costs epsilon.

    `public` is an area, a street map, or public routes. `live` is called with the positions at each tick as a JSON
    line. With a `target`, trips are written to this file step by step, in the format `to`, and need not fit into
    memory.
    """
    public = public or Public()
    trips = trajectories_of(real, private=True)
    if trips.t is None:
        raise InputError("a stream needs trajectories with times, and these have none")
    cast = _Cast.of(trips, settings)
    if settings.leaks and settings.other is None:
        warnings.warn(f"this is not eps-LDP: {settings.leaks}", PrivacyWarning, stacklevel=2)
    public.refuse_private(Memory(cast.trips))
    facts = facts_of(
        cast.count, epsilon, bounds, cast.trips.crs, settings.grid, for_map=public.ways is not None
    )
    if settings.shuffled:
        facts = replace(facts, shuffled=True, delta=settings.delta).simulated()
        facts = replace(facts, batch=cast.batch_of_step(settings))
    grid, steps = facts.map_grid(), list[Step]()
    plan: Plan | None = None
    if settings.other is None:
        play = _Play(cast, facts.plan(), settings, public)
        parts, plan, notes = play.parts(live, steps), play.plan, play.notes
    else:
        parts, notes = _other(cast, grid, epsilon, settings, public, live)
    about = promise_of(epsilon, settings, cast.trips, plan, notes, cast.count)
    labels: dict[str, Any] = {"crs": cast.trips.crs, "timezone": cast.trips.timezone, "provenance": about}
    whole = Trajectories.concat([])
    if target is None:
        whole = replace(Trajectories.concat(list(parts)), **labels)
        count = len(whole)
    else:
        count = write_sets(numbered(parts, labels), Path(target), to)
    return Streamed(count, whole, tuple(steps), tuple(notes))


@dataclass(frozen=True, eq=False)
class _Cast:
    """The trips with times, the device of each trip, when the stream begins and ends, the time between two answers of a
    device, and the sources of random numbers."""

    trips: Trajectories
    devices: Ints
    start: float
    end: float
    every: float
    source: Streams

    @staticmethod
    def of(trips: Trajectories, settings: Settings) -> _Cast:
        """Assign trips to devices. A device belongs to a user, or to a trip if users are not known. If a trip was cut,
        its device answers about one piece."""
        source = Streams.of(settings.seed)
        trips, _ = play_devices(trips, "trip", source.devices)
        devices = np.arange(len(trips))
        if _of_users(settings, trips):
            devices = np.unique(trips.users, return_inverse=True)[1].astype(np.int64)
        start, end = _period(trips, settings)
        return _Cast(trips, devices, start, end, settings.every or max(end - start, settings.tick), source)

    @property
    def count(self) -> int:
        return int(self.devices.max()) + 1

    def batch_of_step(self, settings: Settings) -> int:
        """Return the least batch of a step, which is a batch of its own. Each device answers once in `every`."""
        answers = int(self.count * min(settings.seconds / self.every, 1.0))
        batch = usual_batch(answers)
        if batch < MIN_BATCH:
            raise InputError(
                f"each step of a shuffled stream is a batch of at least {MIN_BATCH} reports, and about {answers} of "
                f"{self.count:,} devices answer in a step of {settings.seconds:g} s: give a longer step, or a shorter "
                "every"
            )
        return batch


class _Play:
    """The simulation: devices with the input trips, and the newest model with its travellers."""

    def __init__(self, cast: _Cast, plan: Plan, settings: Settings, public: Public) -> None:
        self.cast, self.settings, self.plan = cast, settings, plan
        trips, every, span = cast.trips, cast.every, (cast.start, cast.end)
        _check_tick(trips, settings, cast.end - cast.start)
        self._least = 0 if plan.shuffled is None else plan.shuffled.batch
        steps = max(1, math.ceil((cast.end - cast.start) / settings.seconds))
        self._edges = np.append(cast.start + settings.seconds * np.arange(steps), cast.end)
        self._reporting, phases = cast.source.devices.spawn(2)
        self._drawing, library = cast.source.sampling.spawn(2)
        if settings.presence == "shown":
            self.occasions = Occasions.shown(trips, span)
            self.rate: Shown | Hidden = Shown(settings.seconds)
        else:
            self.occasions = Occasions.hidden(trips, cast.devices, every, span, phases)
            self.rate = Hidden(cast.count, every, cast.start)
        self.notes = notes_of(settings, trips, every, cast.end - cast.start, public, plan) + self._deleted()
        public.check(plan.grid.bounds, trips.crs)
        self.now = Now(
            plan,
            settings.seconds,
            remember=settings.remember,
            public=public.ways,
            area=public.area,
            streets=StreetOptions(off_streets=settings.off_streets),
            rng=library,
            warm_up=WARM_UP,
        )

    def parts(self, live: Callable[[str], None] | None, steps: list[Step]) -> Iterator[Trajectories]:
        """Yield the travellers of one step after the other, and add each step to `steps`."""
        settings, start, end = self.settings, self.cast.start, self.cast.end
        on_arrival = start if settings.presence == "shown" else None
        travellers, begun, reports = Travellers(settings.tick, end), clock.process_time(), 0
        changes: tuple[Change, ...] = ()
        for number, (begin, until) in enumerate(pairwise(self._edges.tolist())):
            count = int(self._drawing.poisson(self.rate.per_second * (until - begin)))
            drawn = self.now.travellers(count, self._drawing, settings.tick, on_arrival)
            left = travellers.leave(drawn, begin + self._drawing.random(count) * (until - begin))
            if live is not None:
                first, beyond = (math.ceil((t - start) / settings.tick - 1e-9) for t in (begin, until))
                for line in travellers.lines(start, range(first, beyond + (until >= end))):
                    live(line)
            travellers.arrived(until)
            memory, seconds = self.now.memory, clock.process_time() - begun
            known = memory.effective, memory.half_life, self.now.with_trip.value, self.rate.per_second
            steps.append(Step(until, reports, *known, seconds, changes))
            if count:
                yield left
            which = self._answers(number)
            # The curator gets none of a batch that is too small.
            which = which[:0] if len(which) < self._least else which
            reports = len(which)
            tally = tally_of_step(self.plan, self.cast.trips, which, self._reporting)
            begun = clock.process_time()
            changes = self.now.add(tally, until) if reports else ()
            self.rate.add(reports, self.now.with_trip, (begin + until) / 2)

    def _answers(self, number: int) -> Ints:
        """Return the trips of the reports of a step. Reports of the very beginning belong to the first step."""
        return self.occasions.between(self._edges[number] if number else -math.inf, self._edges[number + 1])

    def _deleted(self) -> list[str]:
        """Return a sentence about the batches that the shuffler deletes, if there are any. What is published never
        depends on the last one."""
        sizes = [len(self._answers(number)) for number in range(len(self._edges) - 2)]
        small = [size for size in sizes if size < self._least]
        if not small:
            return []
        return [
            f"{len(small):,} of the {len(sizes):,} steps before the last had fewer than {self._least:,} reports: a "
            f"shuffler deletes such a batch, so {sum(small):,} of {sum(sizes):,} answers were paid for and not counted."
        ]


def _period(trips: Trajectories, settings: Settings) -> tuple[float, float]:
    """Return when the stream begins and ends: as given, otherwise with the first and the last time of the trips."""
    assert trips.t is not None
    known = trips.t[np.isfinite(trips.t)]
    if not len(known) and (settings.start is None or settings.end is None):
        raise InputError("a stream needs trajectories with times, and these have none")
    start, end = (
        float(observed) if given is None else seconds_at(given, trips.timezone)
        for given, observed in (
            (settings.start, known.min(initial=np.inf)),
            (settings.end, known.max(initial=-np.inf)),
        )
    )
    if end < start or (end == start and settings.start is not None):
        raise InputError(
            f"a stream ends after it begins, and this one begins at {_words(start, trips)} and ends at "
            f"{_words(end, trips)}"
        )
    if len(known) and (end < known.min() or start > known.max()):
        first, last = (_words(float(second), trips) for second in (known.min(), known.max()))
        warnings.warn(f"no trip is in the stream: they are from {first} to {last}", DataWarning, stacklevel=5)
    return start, end


def _words(second: float, trips: Trajectories) -> str:
    return str(iso(second, trips.timezone)) if trips.has_dates else f"{second / 3600:.4g} h"


def _check_tick(trips: Trajectories, settings: Settings, span: float) -> None:
    """Raise an error if ticks are so short that the travellers of a step do not fit into memory."""
    assert trips.t is not None
    some = trips.sizes > 0
    # No trip is longer than the stream, whatever its times are.
    travelled = float(np.nansum(np.clip(arrivals(trips)[some] - trips.t[trips.offsets[:-1][some]], 0, span)))
    positions = travelled / settings.tick / max(span / settings.seconds, 1.0)
    if positions > MOST_POSITIONS:
        raise InputError(
            f"a tick of {settings.tick:g} s makes about {positions:,.0f} positions in a step of "
            f"{settings.seconds:g} s, and at most {MOST_POSITIONS:,} are possible"
        )


def facts_of(
    devices: int,
    epsilon: float,
    bounds: Bounds,
    crs: str | None,
    grid: int | Literal["auto"] = "auto",
    *,
    for_map: bool = False,
) -> Facts:
    """Return the facts of a stream: which questions its devices are asked, with or without a map."""
    shares = None if for_map else SHARES
    return Facts(
        devices, epsilon, bounds, crs, grid=grid, for_map=for_map, questions=QUESTIONS, shares=shares
    )


def _other(
    cast: _Cast,
    grid: Grid,
    epsilon: float,
    settings: Settings,
    public: Public,
    live: Callable[[str], None] | None,
) -> tuple[Iterator[Trajectories], list[str]]:
    """Run a stream method of another installed package."""
    method = settings.other
    assert method is not None
    for name, given in (("area", public.area), ("a map", public.ways), ("live", live)):
        if given is not None:
            raise InputError(f"method {method.name} has no use for {name}")
    rng = cast.source.sampling
    made = method.run(cast.trips, grid, epsilon, settings.tick, rng, **vars(settings.options))
    return iter([made]), [f"{method.public[0].upper()}{method.public[1:]}."]
