"""Simulated devices that answer a standing plan in each window, with ledgers in memory and a clock that may run faster.

Each device accepts the plan, draws its phase, and from then on answers each window once, at or after its end and after
a wait that does not depend on trips, until its lifetime is spent. A seed repeats the trips; phases, waits and reports
are drawn from the operating system's source.
"""

from __future__ import annotations

import asyncio
import heapq
import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction

from ldptrace.core.trajectories import Trajectories
from ldptrace.device import Ledger, Recording, Reporter
from ldptrace.device.book import Acceptance
from ldptrace.device.storage import MemoryFile
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.standing import Standing
from ldptrace.server.fleet import Connection, Fleet, Outcome, Playing, points_of, some_trips

# How many trips a person makes in the time of one window, each as likely as the others.
TRIPS = (0, 0, 1, 1, 2, 3)
# Seconds of the system's clock between two looks at the time.
LOOK = 0.05


@dataclass
class StandingOutcome(Outcome):
    """The result of a standing fleet: acknowledged answers by window, and the largest number of answers of one device.
    `due` is the number of answers that the devices owe. `missed` counts windows that ended before the device could
    answer, because the clock was too fast for the machine.
    """

    windows: Counter[int] = field(default_factory=Counter)
    most_given: Fraction = Fraction(0)
    due: int = 0
    missed: int = 0


async def run_standing_fleet(
    fleet: Fleet,
    trips: Callable[[Plan], Trajectories],
    users: int,
    windows: int,
    clock: Callable[[], float],
    seed: int | None = None,
    playing: Playing | None = None,
) -> StandingOutcome:
    """Play `users` devices, each of which answers this many windows; `trips` is the pool that their trips are drawn
    from."""
    plan = await fleet.plan()
    if plan.standing is None:
        raise InputError("the campaign is not standing: omit --windows")
    crowd = _Crowd(plan, plan.standing, some_trips(trips, plan), users, windows, clock, seed)
    due = users * min(windows, plan.standing.answers(plan.epsilon))
    outcome, started = StandingOutcome(0, due=due), time.monotonic()
    playing = playing or Playing()

    async def player() -> None:
        with closing(Connection(fleet.target)) as connection:
            while (number := await crowd.next_due()) is not None:
                report = crowd.answer(number, outcome)
                if report is None:
                    continue
                outcome.devices += 1
                row = crowd.row(number)
                window, admission = row.window, playing.admission(number, row.answers - 1, row.window)
                if await fleet.play(connection, report, admission, outcome, window):
                    outcome.windows[window] += 1
                    crowd.acknowledged(number, window)
                playing.show(outcome)

    await playing.run(player, users)
    outcome.most_given, outcome.missed = crowd.most_given(), crowd.missed
    outcome.seconds = time.monotonic() - started
    return outcome


class _Crowd:
    """The devices with their ledgers, and when each device is due."""

    def __init__(
        self,
        plan: Plan,
        standing: Standing,
        trips: Trajectories,
        users: int,
        windows: int,
        clock: Callable[[], float],
        seed: int | None,
    ) -> None:
        self._plan = plan
        self._standing = standing
        self._trips = trips
        self._clock = clock
        self._seed = random.Random(seed).getrandbits(32)
        self._reporters = []
        # Windows of each device that it has answered or missed, up to which one; and the last one that it plays.
        self._behind: list[int] = []
        self._last: list[int] = []
        self.missed = 0
        now = clock()
        self._due: list[tuple[float, int]] = []
        for number in range(users):
            self._reporters.append(Reporter(plan, Ledger(MemoryFile(), standing.lifetime)))
            row = self._reporters[number].accept(now)
            self._behind.append(row.window)
            self._last.append(row.window + windows)
            self._due.append((self._when(number, row.window + 1, row.phase), number))
        heapq.heapify(self._due)

    def _when(self, number: int, window: int, phase: int) -> float:
        """Return when a device sends its answer about a window: after the end of the window and a random wait."""
        return self._standing.end(window, phase) + self._reporters[number].delay()

    async def next_due(self) -> int | None:
        """Return the next device whose answer is due, as soon as it is; None when nobody waits for one."""
        while self._due:
            due, number = self._due[0]
            if due <= self._clock():
                heapq.heappop(self._due)
                return number
            await asyncio.sleep(LOOK)
        return None

    def answer(self, number: int, outcome: Outcome) -> bytes | None:
        """Return the report of a device that is due, or None if it gives no more answers."""
        reporter, now = self._reporters[number], self._clock()
        try:
            report = reporter.report(self._recordings(number, now), now=now)
        except PlanRefused as refused:
            outcome.events[refused.problem.code] += 1
            if refused.problem is Problem.PLAN_NOT_DUE:
                self._again(number)
            return None
        return report

    def acknowledged(self, number: int, window: int) -> None:
        self._reporters[number].sent(window=window)
        self._again(number)

    def row(self, number: int) -> Acceptance:
        """Return what the ledger of a device holds of the plan."""
        row = self._reporters[number].ledger.acceptance(self._plan)  # type: ignore[union-attr]
        assert row is not None
        return row

    def most_given(self) -> Fraction:
        return max(reporter.ledger.spent for reporter in self._reporters)  # type: ignore[union-attr]

    def _again(self, number: int) -> None:
        row = self.row(number)
        answered = min(row.window, self._last[number])
        self.missed += max(0, answered - self._behind[number] - 1)
        self._behind[number] = answered
        if answered < self._last[number]:
            heapq.heappush(self._due, (self._when(number, row.window + 1, row.phase), number))

    def _recordings(self, number: int, now: float) -> list[Recording]:
        """Return the recordings of a device in the last two windows: random trips at random times."""
        every, found = self._standing.every, list[Recording]()
        for period in range(int(now // every) - 2, int(now // every) + 1):
            chance = random.Random(f"{self._seed} {number} {period}")
            for _ in range(chance.choice(TRIPS)):
                arrival = (period + chance.random()) * every
                place = chance.randrange(len(self._trips))
                if arrival <= now:
                    found.append(Recording(points_of(self._trips, place), arrival))
        return found
