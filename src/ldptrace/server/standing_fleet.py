"""Simulated devices that answer a standing plan in each window, with ledgers in memory and a clock that may run faster.

Each device accepts the plan, draws its phase, and from then on answers each window once, at or after its end and after
a wait that does not depend on trips, until its lifetime is spent. A seed repeats the trips; phases, waits and reports
are drawn from the operating system's source.
"""

from __future__ import annotations

import asyncio
import heapq
import random
from collections.abc import Callable

from ldptrace.core.trajectories import Trajectories
from ldptrace.device import Ledger, Recording, Reporter
from ldptrace.device.book import Acceptance
from ldptrace.device.storage import MemoryFile
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.standing import Standing
from ldptrace.server.fleet import Connection, Fleet, Outcome, points_of, some_trips

# How many trips a person makes in the time of one window, each as likely as the others.
TRIPS = (0, 0, 1, 1, 2, 3)
# Seconds of the system's clock between two looks at the time.
LOOK = 0.05


async def run_standing_fleet(
    fleet: Fleet,
    trips: Callable[[Plan], Trajectories],
    users: int,
    windows: int,
    clock: Callable[[], float],
) -> Outcome:
    """Play `users` devices, each of which answers this many windows; `trips` is the pool that their trips are drawn
    from."""
    plan = await fleet.plan()
    if plan.standing is None:
        raise InputError("the campaign is not standing: omit --windows")
    pool, every = some_trips(trips, plan), plan.standing.every
    seed, begin = random.Random(fleet.seed).getrandbits(32), clock()
    devices = [_Device(number, plan, plan.standing, begin, windows) for number in range(users)]
    due = [(device.due(), device.number) for device in devices]
    heapq.heapify(due)
    outcome = Outcome(due=users * min(windows, plan.standing.answers(plan.epsilon)))

    async def player(connection: Connection) -> None:
        while due:
            (when, number), now = due[0], clock()
            if when > now:
                await asyncio.sleep(LOOK)
                continue
            heapq.heappop(due)
            device = devices[number]
            recordings = _recordings(pool, every, seed, number, now)
            if await _answer(fleet, connection, device, recordings, now, outcome):
                outcome.missed += device.advance()
                if device.behind < device.last:
                    heapq.heappush(due, (device.due(), number))

    await fleet.run(player, users, outcome)
    outcome.most_given = max(device.ledger.spent for device in devices)
    return outcome


async def _answer(
    fleet: Fleet,
    connection: Connection,
    device: _Device,
    recordings: list[Recording],
    now: float,
    outcome: Outcome,
) -> bool:
    """Answer a window for a device, and return whether it has windows left to answer."""
    try:
        report = device.reporter.report(recordings, now=now)
    except PlanRefused as refused:
        outcome.events[refused.problem.code] += 1
        return refused.problem is Problem.PLAN_NOT_DUE
    outcome.devices += 1
    row = device.row
    admission = fleet.admission(device.number, row.answers - 1, row.window)
    if not await fleet.play(connection, report, admission, outcome, row.window):
        return False
    outcome.windows[row.window] += 1
    device.reporter.sent(window=row.window)
    return True


class _Device:
    """A device with its ledger. `behind` is the last window that it has answered or missed, `last` the last one that it
    plays."""

    def __init__(self, number: int, plan: Plan, standing: Standing, now: float, windows: int) -> None:
        self.number = number
        self._plan, self._standing = plan, standing
        self.ledger = Ledger(MemoryFile(), standing.lifetime)
        self.reporter = Reporter(plan, self.ledger)
        self.behind = self.reporter.accept(now).window
        self.last = self.behind + windows

    @property
    def row(self) -> Acceptance:
        """What the ledger holds of the plan."""
        row = self.ledger.acceptance(self._plan)
        assert row is not None
        return row

    def due(self) -> float:
        """Return when it sends its next answer: after the end of the window and a random wait."""
        row = self.row
        return self._standing.end(row.window + 1, row.phase) + self.reporter.delay()

    def advance(self) -> int:
        """Take note of the windows that are answered or over, and return how many were missed."""
        answered = min(self.row.window, self.last)
        missed, self.behind = max(0, answered - self.behind - 1), answered
        return missed


def _recordings(trips: Trajectories, every: int, seed: int, number: int, now: float) -> list[Recording]:
    """Return the recordings of a device in the last two windows: random trips at random times."""
    recordings = list[Recording]()
    for period in range(int(now // every) - 2, int(now // every) + 1):
        chance = random.Random(f"{seed} {number} {period}")
        for _ in range(chance.choice(TRIPS)):
            arrival = (period + chance.random()) * every
            place = chance.randrange(len(trips))
            if arrival <= now:
                recordings.append(Recording(points_of(trips, place), arrival))
    return recordings
