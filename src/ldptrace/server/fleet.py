"""Real devices against a real server: each draws one report and sends it until it is acknowledged.

Faults come at chosen rates: a drop loses the request or the answer, a duplicate is sent after it was
acknowledged, garbage is sent besides. A seed repeats trips and faults; reports are always drawn from the
operating system's source.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from ldptrace.core.trajectories import Trajectories
from ldptrace.device import Reporter
from ldptrace.device.track import Point
from ldptrace.errors import InputError, LdptraceError
from ldptrace.protocol.plan import Plan
from ldptrace.server.wire import Answer, Connection, ConnectionEnded, Target

REPORTS = (("Content-Type", "application/vnd.ldptrace.reports"),)
# Answers after which the same report is sent again, and the seconds between attempts.
AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
PAUSES = (0.02, 0.1, 0.5, 1.0)


@dataclass(frozen=True)
class Faults:
    """How often each thing goes wrong, per device."""

    duplicates: float = 0.0
    drops: float = 0.0
    garbage: float = 0.0

    def __post_init__(self) -> None:
        for name in ("duplicates", "drops", "garbage"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"--{name} is a probability from 0 to 1, got {getattr(self, name):g}")


@dataclass
class Outcome:
    """What became of a fleet."""

    devices: int
    acknowledged: int = 0
    # Final refusals by problem, and what happened on the way.
    refused: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        return self.acknowledged == self.devices


class FleetStopped(LdptraceError):
    """The server did not answer for longer than the fleet waits."""


async def run_fleet(
    url: str,
    campaign: str,
    trips: Callable[[Plan], Trajectories],
    users: int,
    *,
    faults: Faults | None = None,
    seed: int | None = None,
    concurrency: int = 64,
    patience: float = 600.0,
    admissions: list[str] | None = None,
    progress: Callable[[Outcome], None] | None = None,
) -> Outcome:
    """Play `users` devices; `trips` gives the trajectories once the plan is known, the n-th device has the n-th."""
    if admissions is not None and len(admissions) < users:
        raise InputError(f"there are {len(admissions):,} admission tokens for {users:,} devices")
    target = Target.of(url)
    fleet = Fleet(target, campaign, faults or Faults(), random.Random(seed), patience)
    plan = await fleet.plan()
    if plan.standing is not None:
        raise InputError("the campaign is standing: --windows says how many windows the devices answer")
    found = trips(plan)
    if len(found) == 0:
        raise InputError("the fleet needs at least one trajectory")
    reporter = Reporter(plan)
    outcome = Outcome(users)
    numbers = iter(range(users))
    started = time.monotonic()

    async def player() -> None:
        with closing(Connection(target)) as connection:
            for number in numbers:
                report = reporter.report(points_of(found, number % len(found)))
                admission = () if admissions is None else (("Ldptrace-Admission", admissions[number]),)
                await fleet.play(connection, report, admission, outcome)
                if progress is not None:
                    progress(outcome)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, users)):
                group.create_task(player())
    except* FleetStopped as stopped:
        # All players see the same silence; one of them tells.
        raise stopped.exceptions[0] from None
    outcome.seconds = time.monotonic() - started
    return outcome


class Fleet:
    """What the devices share: where the server is, what goes wrong, and how long they wait."""

    def __init__(
        self, target: Target, campaign: str, faults: Faults, chance: random.Random, patience: float
    ) -> None:
        self.target = target
        self._path = f"/v1/campaigns/{campaign}"
        self._faults = faults
        self._chance = chance
        self._patience = patience
        self._answered = time.monotonic()

    @staticmethod
    def at(url: str, campaign: str, faults: Faults, seed: int | None, patience: float) -> Fleet:
        """A fleet for the campaign of a server."""
        return Fleet(Target.of(url), campaign, faults, random.Random(seed), patience)

    async def plan(self) -> Plan:
        """The campaign's plan, as soon as the server is there."""
        with closing(Connection(self.target)) as connection:
            for pause in self._pauses():
                try:
                    answer = await connection.request("GET", f"{self._path}/plan")
                except ConnectionEnded:
                    await asyncio.sleep(pause)
                    continue
                self._answered = time.monotonic()
                if answer.status == 200:
                    return Plan.from_json(answer.body)
                if answer.status not in AGAIN:
                    raise InputError(f"the server has no plan for the fleet: {_code(answer)}")
                await asyncio.sleep(pause)
        raise AssertionError("pauses do not end")

    async def play(
        self,
        connection: Connection,
        report: bytes,
        admission: tuple[tuple[str, str], ...],
        outcome: Outcome,
    ) -> bool:
        """One device: faults, then its report until it is acknowledged or refused for good; whether it was counted."""
        path, chance = f"{self._path}/reports", self._chance
        headers = (*REPORTS, *admission)
        if chance.random() < self._faults.garbage:
            outcome.events["garbage"] += 1
            await self._besides(connection, path, _garbage(report, chance), REPORTS)
        if chance.random() < self._faults.drops:
            # Half of the time the whole request arrives and only its answer is lost.
            outcome.events["drops"] += 1
            part = 1.0 if chance.random() < 0.5 else chance.random()
            await connection.send_and_leave("POST", path, report, headers, part)
        again = chance.random() < self._faults.duplicates
        for pause in self._pauses():
            try:
                answer = await connection.request("POST", path, report, headers)
            except ConnectionEnded:
                outcome.events["connections lost"] += 1
                await asyncio.sleep(pause)
                continue
            self._answered = time.monotonic()
            if answer.status == 200 or _code(answer) == "duplicate":
                outcome.acknowledged += 1
                break
            if answer.status not in AGAIN:
                outcome.refused[_code(answer)] += 1
                return False
            outcome.events["told to come back"] += 1
            await asyncio.sleep(pause)
        if again:
            outcome.events["duplicates"] += 1
            await self._besides(connection, path, report, headers)
        return True

    async def _besides(
        self, connection: Connection, path: str, body: bytes, headers: tuple[tuple[str, str], ...]
    ) -> None:
        """Send something whose answer does not matter."""
        try:
            await connection.request("POST", path, body, headers)
        except ConnectionEnded:
            connection.close()

    def _pauses(self) -> Iterator[float]:
        """Seconds to wait before each next attempt, until nobody was answered for too long."""
        attempt = 0
        while True:
            if time.monotonic() - self._answered > self._patience:
                raise FleetStopped(f"the server did not answer for {self._patience:g} seconds")
            pause = PAUSES[min(attempt, len(PAUSES) - 1)]
            yield pause * (0.5 + self._chance.random())
            attempt += 1


def city_trips(count: int, seed: int | None) -> Callable[[Plan], Trajectories]:
    """Trips of a generated city, stretched over the plan's bounds."""

    def trips(plan: Plan) -> Trajectories:
        from ldptrace.generators import city

        size = 20_000.0
        made = city(count, seed, size=size)
        x0, y0, x1, y1 = plan.grid.bounds
        return Trajectories(
            x0 + made.x * ((x1 - x0) / size), y0 + made.y * ((y1 - y0) / size), made.offsets, t=made.t
        )

    return trips


def points_of(trips: Trajectories, number: int) -> list[Point]:
    """The points of one trajectory, with their times where it has them."""
    part = slice(int(trips.offsets[number]), int(trips.offsets[number + 1]))
    columns = [trips.x, trips.y] if trips.t is None else [trips.x, trips.y, trips.t]
    return list(zip(*(column[part].tolist() for column in columns), strict=True))


def _garbage(report: bytes, chance: random.Random) -> bytes:
    """Bytes that are no report of this plan. The report itself is not part of them beyond its header."""
    kinds: tuple[Callable[[], bytes], ...] = (
        lambda: b"",
        lambda: os.urandom(chance.randrange(1, 400)),
        lambda: report[: chance.randrange(1, 19)],
        lambda: b"\x02" + os.urandom(len(report) - 1),
        lambda: report[:17] + b"\xff" + os.urandom(len(report) - 18),
        lambda: report[:18] + b"\xff" + os.urandom(len(report) - 19),
        lambda: b'{"format":"ldptrace-tally"}',
    )
    return chance.choice(kinds)()


def _code(answer: Answer) -> str:
    """The problem that an answer names."""
    try:
        found = json.loads(answer.body)
        return str(found["code"])
    except (ValueError, KeyError, TypeError):
        return f"HTTP {answer.status}"
