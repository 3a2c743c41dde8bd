"""A fleet of simulated devices for a real server: each device draws one report and sends it until the server
acknowledges it; a sealed report of a shuffled plan, until its shuffler does. The devices do not wait for
`Reporter.delay` as a real client does.

Faults occur at chosen rates: a drop loses the request or the response, a duplicate is sent after the acknowledgement,
and garbage is sent in addition. A seed repeats trips and faults; reports are always drawn with random numbers of the
operating system. The module has its own small HTTP client, because a library would hide faults.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import ssl
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, repeat
from typing import Any
from urllib.parse import urlsplit

from ldptrace.core.trajectories import Trajectories
from ldptrace.device import Reporter
from ldptrace.device.track import Point
from ldptrace.errors import InputError, LdptraceError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import ADMISSION

Headers = tuple[tuple[str, str], ...]
# Seconds until a connection, or an answer, is given up.
PATIENCE = 30.0


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes


@dataclass(frozen=True)
class Target:
    """The address of the server."""

    host: str
    port: int
    tls: bool
    prefix: str

    @staticmethod
    def of(url: str) -> Target:
        """Parse an address.

        >>> Target.of("http://127.0.0.1:8000/")
        Target(host='127.0.0.1', port=8000, tls=False, prefix='')
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise InputError(f"this is not an address: {url!r}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"an address is http://host:port or https://host, got {url!r}")
        tls = parts.scheme == "https"
        return Target(parts.hostname, port or (443 if tls else 80), tls, parts.path.rstrip("/"))


class Connection:
    """One connection, opened when it is first used and then kept open."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def request(self, method: str, path: str, body: bytes = b"", headers: Headers = ()) -> Answer:
        """Send a request and read its answer. Raises `ConnectionError` if the server closes the connection, does not
        answer in time, or cannot be reached; any fault ends the connection."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await _read(await self._send(method, path, body, headers))
        except (OSError, EOFError, TimeoutError, ValueError, IndexError, asyncio.LimitOverrunError) as error:
            self.close()
            raise ConnectionError(str(error) or type(error).__name__) from None

    async def send_and_leave(self, path: str, body: bytes, headers: Headers, part: float) -> None:
        """Send this part of a POST request, then end the connection without reading the answer."""
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self._send("POST", path, body, headers, part)
        self.close()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None

    async def _send(
        self, method: str, path: str, body: bytes, headers: Headers, part: float = 1.0
    ) -> asyncio.StreamReader:
        """Send a request, or a part of it, on the open connection or a new one, and return what to read."""
        target = self._target
        if self._reader is None or self._writer is None or self._writer.is_closing():
            context = ssl.create_default_context() if target.tls else None
            self._reader, self._writer = await asyncio.open_connection(target.host, target.port, ssl=context)
        given = (("Host", f"{target.host}:{target.port}"), *headers, ("Content-Length", len(body)))
        lines = [f"{method} {target.prefix}{path} HTTP/1.1", *(f"{name}: {value}" for name, value in given)]
        data = "\r\n".join([*lines, "", ""]).encode("ascii") + body
        self._writer.write(data[: max(1, int(part * len(data)))])
        await self._writer.drain()
        return self._reader


async def _read(reader: asyncio.StreamReader) -> Answer:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    status = int(first.split(" ")[1])
    fields = dict(line.lower().split(":", 1) for line in lines if ":" in line)
    if "content-length" in fields:
        return Answer(status, await reader.readexactly(int(fields["content-length"])))
    if fields.get("transfer-encoding", "").strip() == "chunked":
        parts = []
        while size := int(await reader.readline(), 16):
            parts.append(await reader.readexactly(size))
            await reader.readline()
        await reader.readline()
        return Answer(status, b"".join(parts))
    return Answer(status, b"")


REPORTS = (("Content-Type", "application/vnd.ldptrace.reports"),)
SEALED = (("Content-Type", "application/vnd.ldptrace.sealed"),)
# Answers after which the same report is sent again, and the seconds between attempts.
AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
PAUSES = (0.02, 0.1, 0.5, 1.0)


@dataclass(frozen=True)
class Faults:
    """The rate of each kind of fault, per device."""

    duplicates: float = 0.0
    drops: float = 0.0
    garbage: float = 0.0

    def __post_init__(self) -> None:
        for name in ("duplicates", "drops", "garbage"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"--{name} is a probability from 0 to 1, got {getattr(self, name):g}")


@dataclass
class Outcome:
    """The result of a fleet. Of a standing one, the devices are the answers that they tried to give; acknowledged
    answers by window, and the largest number of answers of one device as an epsilon. `due` is the number of answers
    that the devices owe. `missed` counts windows that ended before the device could answer, because the clock was too
    fast for the machine.
    """

    devices: int = 0
    acknowledged: int = 0
    # Final refusals by problem, and what happened on the way.
    refused: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    windows: Counter[int] = field(default_factory=Counter)
    most_given: Fraction = Fraction(0)
    due: int = 0
    missed: int = 0

    @property
    def complete(self) -> bool:
        return self.acknowledged == self.devices


class FleetStopped(LdptraceError):
    """The error that the server did not answer for longer than the fleet waits."""


async def run_fleet(fleet: Fleet, trips: Callable[[Plan], Trajectories], users: int) -> Outcome:
    """Play `users` devices; `trips` gives the trajectories once the plan is known, the n-th device has the n-th."""
    plan = await fleet.plan()
    if plan.standing is not None:
        raise InputError(
            "the campaign is standing: give --windows, the number of windows that the devices answer"
        )
    trajectories, reporter = some_trips(trips, plan), Reporter(plan, "none")
    outcome, numbers = Outcome(users), iter(range(users))

    async def player(connection: Connection) -> None:
        for number in numbers:
            report = reporter.report(points_of(trajectories, number % len(trajectories)))
            await fleet.play(connection, report, fleet.admission(number), outcome)

    await fleet.run(player, users, outcome)
    return outcome


@dataclass(eq=False)
class Fleet:
    """The common state of the devices: the server, the faults, and how many seconds they wait for it; simultaneous
    connections, admission codes of each device, and a listener for progress. `tell` is called once if the server is not
    there at first."""

    url: str
    campaign: str
    faults: Faults
    seed: int | None
    patience: float
    tell: Callable[[str], None] | None = None
    concurrency: int = 64
    sheets: Sequence[Sequence[str]] | None = None
    progress: Callable[[Outcome], None] | None = None

    def __post_init__(self) -> None:
        self._target = Target.of(self.url)
        self._path = f"/v1/campaigns/{self.campaign}"
        # Where reports go: to the campaign, or to the shuffler of its plan.
        self._reports, self._type = self._path, REPORTS
        self._chance = random.Random(self.seed)
        # When the server answered last.
        self._answered = 0.0

    async def run(
        self, player: Callable[[Connection], Coroutine[Any, Any, None]], users: int, outcome: Outcome
    ) -> None:
        """Run as many players at once as there are connections."""
        if self.sheets is not None and len(self.sheets) < users:
            raise InputError(f"there are admission codes for {len(self.sheets):,} of {users:,} devices")
        started = time.monotonic()

        async def connected() -> None:
            with closing(Connection(self._target)) as connection:
                await player(connection)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.concurrency, users)):
                    group.create_task(connected())
        except ExceptionGroup as failed:
            # All players see the same silence; one of them says so.
            stopped = failed.subgroup(FleetStopped)
            raise (failed if stopped is None else stopped.exceptions[0]) from None
        outcome.seconds = time.monotonic() - started

    def admission(self, device: int, answer: int = 0, window: int | None = None) -> Headers:
        """Return the header with the admission code of one answer. Two answers of a device have different codes. A
        shuffler's code for a time window begins with the number of the window."""
        if self.sheets is None:
            return ()
        sheet = self.sheets[device]
        code = next((code for code in sheet if code.startswith(f"{window}-")), None)
        return ((ADMISSION, sheet[answer] if code is None else code),)

    async def plan(self) -> Plan:
        """Return the campaign's plan, as soon as the server is there."""
        self._answered = time.monotonic()
        with closing(Connection(self._target)) as connection:
            answer = await self._settled(connection, "GET", f"{self._path}/plan", b"", (), Counter())
        self.tell = None
        if answer.status != 200:
            raise InputError(f"the server has no plan for the fleet: {_code(answer)}")
        plan = Plan.from_json(answer.body)
        if plan.shuffled is not None:
            # Reports go to its shuffler, and to nobody else.
            self._target = Target.of(plan.shuffled.address)
            self._reports, self._type = f"/v2/plans/{plan.id}", SEALED
        return plan

    async def play(
        self,
        connection: Connection,
        report: bytes,
        admission: Headers,
        outcome: Outcome,
        window: int | None = None,
    ) -> bool:
        """Play one device: inject faults, then send its report until it is settled; whether it was counted. Sealed
        reports name their window outside."""
        place = f"/windows/{window}" if self._type is SEALED and window is not None else ""
        path, chance = f"{self._reports}{place}/reports", self._chance
        headers = (*self._type, *admission)
        if chance.random() < self.faults.garbage:
            outcome.events["garbage"] += 1
            await self._besides(connection, path, _garbage(report, chance), self._type)
        if chance.random() < self.faults.drops:
            # Half of the time the whole request arrives and only its answer is lost.
            outcome.events["drops"] += 1
            part = 1.0 if chance.random() < 0.5 else chance.random()
            await connection.send_and_leave(path, report, headers, part)
        again = chance.random() < self.faults.duplicates
        answer = await self._settled(connection, "POST", path, report, headers, outcome.events)
        counted = answer.status == 200 or _code(answer) == "duplicate"
        if counted:
            outcome.acknowledged += 1
        else:
            outcome.refused[_code(answer)] += 1
        if counted and again:
            outcome.events["duplicates"] += 1
            await self._besides(connection, path, report, headers)
        if self.progress is not None:
            self.progress(outcome)
        return counted

    async def _settled(
        self,
        connection: Connection,
        method: str,
        path: str,
        body: bytes,
        headers: Headers,
        events: Counter[str],
    ) -> Answer:
        """Send a request until its answer is final, unless the server is silent for too long."""
        for longest in chain(PAUSES, repeat(PAUSES[-1])):
            if time.monotonic() - self._answered > self.patience:
                raise FleetStopped(f"the server did not answer for {self.patience:g} seconds")
            pause = longest * (0.5 + self._chance.random())
            try:
                answer = await connection.request(method, path, body, headers)
            except ConnectionError as error:
                events["connections lost"] += 1
                if self.tell is not None:
                    self.tell(
                        f"no server answers at {self._target.host}:{self._target.port} ({error}); trying again for "
                        f"{self.patience:g} s (--patience)"
                    )
                    self.tell = None
            else:
                self._answered = time.monotonic()
                if answer.status not in AGAIN:
                    return answer
                events["asked to send later"] += 1
            await asyncio.sleep(pause)
        raise AssertionError("pauses do not end")

    async def _besides(self, connection: Connection, path: str, body: bytes, headers: Headers) -> None:
        """Send something whose answer does not matter."""
        with suppress(ConnectionError):
            await connection.request("POST", path, body, headers)


def city_trips(count: int, seed: int | None) -> Callable[[Plan], Trajectories]:
    """Return trips of a generated city, scaled to the bounds of the plan."""

    def trips(plan: Plan) -> Trajectories:
        from ldptrace.generators import city

        size = 20_000.0
        made = city(count, seed, size=size)
        x0, y0, x1, y1 = plan.grid.bounds
        return Trajectories(
            x0 + made.x * ((x1 - x0) / size), y0 + made.y * ((y1 - y0) / size), made.offsets, t=made.t
        )

    return trips


def some_trips(trips: Callable[[Plan], Trajectories], plan: Plan) -> Trajectories:
    """Return the trajectories of a fleet for a plan. There must be at least one."""
    trajectories = trips(plan)
    if len(trajectories) == 0:
        raise InputError("the fleet needs at least one trajectory")
    return trajectories


def points_of(trips: Trajectories, number: int) -> list[Point]:
    """Return the points of one trajectory, with times if it has times."""
    trip = trips[number]
    columns = [trip.x, trip.y] if trip.t is None else [trip.x, trip.y, trip.t]
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _garbage(report: bytes, chance: random.Random) -> bytes:
    """Return bytes that are not a report of this plan. They contain at most the header of the report."""
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
    """Return the problem that a response names."""
    try:
        problem = json.loads(answer.body)
        return str(problem["code"])
    except (ValueError, KeyError, TypeError):
        return f"HTTP {answer.status}"
