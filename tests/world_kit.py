"""Devices, a shuffler, a curator, clocks and windows in one process, with simulated time and a simulated network.

The shuffler is the real application in an event loop without threads, sockets and waiting. A process can be killed at
every await and before every statement of a database, and after every commit; a disk can be full, and each operator can
put back an older copy of the storage. Every report names a
value of its own, so that a loss or a double count shows.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import inspect
import itertools
import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from starlette.types import Message

from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import SEALED_TYPE
from ldptrace.protocol.standing import Standing
from ldptrace.server import campaigns
from ldptrace.server.counting import Counter, Label, Submission, count_batch, note_deleted
from ldptrace.server.storage import Database, open_database
from ldptrace.shuffler.app import create_app
from ldptrace.shuffler.sender import Request
from ldptrace.shuffler.store import DELETED, FILE, FIXED, KNOWN, Store
from ldptrace.shuffler.witness import PREFIX
from ldptrace.web.answers import BATCH_TYPE
from ldptrace.web.intake import Intake
from ldptrace.web.limits import Settings
from ldptrace.web.problems import Refused, StorageUnavailable
from server_kit import TELLING, VALUES, telling_report
from shuffler_kit import BATCH, HOUR, KEY, NOW, sealed, standing

DEVICES, WINDOWS = 6, 3
# The direct collection asks every hour, too.
DIRECT = TELLING.changed(standing=Standing(HOUR, HOUR, NOW, 20, HOUR // 2))  # type: ignore[arg-type]
# Offset of the values of direct reports.
DIRECTLY = VALUES // 2


class Killed(KeyboardInterrupt):
    """A process ends here, as with SIGKILL. Event loops pass on this kind of error at once."""


class Trouble:
    """What is about to happen to a process: it is killed, or its disk is full, at a step that is counted down."""

    def __init__(self) -> None:
        self.kill_write = self.kill_await = self.full_write = 0

    def write(self) -> None:
        """Count a statement of a database, or a change of a folder."""
        self.full_write -= 1
        if self.full_write == 0:
            raise sqlite3.OperationalError("database or disk is full")
        self.kill_write -= 1
        if self.kill_write == 0:
            raise Killed

    def resume(self) -> None:
        """Count an await."""
        self.kill_await -= 1
        if self.kill_await == 0:
            raise Killed

    def none(self) -> None:
        self.kill_write = self.kill_await = self.full_write = 0


class Watched(sqlite3.Connection):
    """A connection whose statements are counted."""

    trouble: Trouble | None = None

    def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
        if sql.startswith("ROLLBACK") or self.trouble is None:
            return super().execute(sql, *rest)
        self.trouble.write()
        found = super().execute(sql, *rest)
        if sql == "COMMIT":
            self.trouble.write()
        return found


def watched(trouble: Trouble) -> contextlib.AbstractContextManager[object]:
    """Connections that are made meanwhile belong to this process. Nothing waits for the disk."""
    connect = sqlite3.connect

    def made(path: Any, **options: Any) -> sqlite3.Connection:
        found = connect(path, factory=Watched, **options)
        found.execute("PRAGMA synchronous = OFF")
        found.trouble = trouble
        return found

    return mock.patch("sqlite3.connect", made)


class Loop(asyncio.BaseEventLoop):
    """An event loop that runs one step after the other, in a time of its own; work for threads is done at once."""

    def __init__(self, trouble: Trouble, now: Callable[[], float]) -> None:
        super().__init__()
        self._trouble, self._now = trouble, now

    def time(self) -> float:
        return self._now()

    def run_in_executor(self, executor: Any, work: Any, *arguments: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        future = self.create_future()
        try:
            future.set_result(work(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def settle(self) -> None:
        """Run until nobody can go on at this time."""
        asyncio._set_running_loop(self)
        try:
            while True:
                while self._scheduled and self._scheduled[0]._when <= self.time():  # type: ignore[attr-defined]
                    self._ready.append(heapq.heappop(self._scheduled))  # type: ignore[attr-defined]
                if not self._ready:  # type: ignore[attr-defined]
                    return
                handle = self._ready.popleft()  # type: ignore[attr-defined]
                if not handle._cancelled:
                    self._trouble.resume()
                    handle._run()
        finally:
            asyncio._set_running_loop(None)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Say nothing of tasks that a killed process left behind."""


class Process:
    """A process of one party: a loop, and whatever it begins with. It is started when it is needed."""

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, Any]], now: Callable[[], float]) -> None:
        self.trouble = Trouble()
        self._begin, self._now = begin, now
        self._loop: Loop | None = None
        self.it: Any = None
        self.kills = 0

    def call(self, work: Callable[[Any], Coroutine[Any, Any, Any]], copies: int = 1) -> Any:
        """The result of the last of some copies of the same work, or None if the process was killed meanwhile."""
        try:
            loop = self._started()
            tasks = [loop.create_task(work(self.it)) for _ in range(copies)]
            loop.settle()
        except Killed:
            self.kill()
            return None
        if not tasks or not tasks[-1].done() or tasks[-1].exception() is not None:
            return None
        return tasks[-1].result()

    def kill(self) -> None:
        """End at once."""
        self.kills += 1
        self.trouble.none()
        if self._loop is not None:
            self._loop._ready.clear()  # type: ignore[attr-defined]
            for task in asyncio.all_tasks(self._loop):
                coroutine = task.get_coro()
                # What never began would complain of it, in whatever test runs when it is collected.
                if inspect.iscoroutine(coroutine) and inspect.getcoroutinestate(coroutine) == "CORO_CREATED":
                    coroutine.close()
            self._loop.close()
        self._loop = None

    def _started(self) -> Loop:
        if self._loop is None:
            loop = self._loop = Loop(self.trouble, self._now)
            task = loop.create_task(self._begin())
            loop.settle()
            if task.exception() is not None:
                # It cannot begin, for example because its disk is full: it is begun again when it is needed.
                raise Killed
            self.it = task.result()
        return self._loop


@cache
def seal_of(plan: Plan, value: int, window: int) -> bytes:
    """The sealed report of a device, the same in all histories."""
    return sealed(plan, value, window).body


@cache
def direct_of(plan: Plan, value: int, window: int) -> bytes:
    return telling_report(value, plan, window)


class World:
    """Everybody. `folder` is on a quick disk; `curators` is a folder made by `make_curator`."""

    def __init__(self, folder: Path, curators: Path, *, admission: bool = False, twin: bool = False) -> None:
        self.time = float(NOW)
        self.shuffler_off = self.curator_off = 0.0
        self.folder = folder
        shutil.copytree(curators / "data", folder / "curator")
        documents = json.loads((curators / "plans.json").read_text())
        self.plan, self.direct = (Plan.from_json(documents[name]) for name in ("trips", "direct"))
        self._twin = twin
        self.settled_at = self.time
        self.curator = Process(self._begin_curator, lambda: self.time)
        self.shuffler = Process(self._begin_shuffler, lambda: self.time)
        self.database: Database | None = None
        self.store: Store | None = None
        self.put_faults: list[str] = []
        # Messages that are still on their way; whoever sent them has given up.
        self.late: list[Callable[[], object]] = []
        # (window, sealed reports) of all that left the shuffler, and (time, window, bytes).
        self.left: list[tuple[int, frozenset[bytes]]] = []
        self.seen: list[tuple[float, str, int]] = []
        # Values that were acknowledged, with a number that grows; what was taken back by restored backups.
        self.acknowledged: dict[int, int] = {}
        self.directly: dict[int, int] = {}
        self.excused: set[int] = set()
        self.excused_directly: set[int] = set()
        # When the shuffler learned that the curator has the batch of a window.
        self.taken: dict[int, int] = {}
        self._number = itertools.count()
        self._backup_at = self._curator_backup_at = -1
        (folder / "shuffler").mkdir()
        store = Store(folder / "shuffler", self.shuffler_clock)
        store.add_plan(self.plan, "http://curator/v1/campaigns/trips", "token", admission=admission)
        self.codes = store.make_codes(self.plan.id, range(WINDOWS), DEVICES) if admission else None
        store.close()

    def shuffler_clock(self) -> float:
        return self.time + self.shuffler_off

    def curator_clock(self) -> float:
        return self.time + self.curator_off

    def value(self, device: int, window: int) -> int:
        """What a device says in a window; in the twin of a history, device 0 has made another trip."""
        other = DEVICES * WINDOWS if self._twin and device == 0 else 0
        return 1 + device * WINDOWS + window + other

    def send(self, device: int, window: int, fault: str) -> None:
        """A device sends its report to the shuffler."""
        value = self.value(device, window)
        body = seal_of(self.plan, value, window)
        code = self.codes[device][window] if self.codes else ""
        if fault == "lost":
            return
        if fault == "late":
            self.late.append(lambda: self.send(device, window, "unanswered"))
            return
        answer = self.shuffler.call(
            lambda app: _post(app, self.plan.id, window, body, code), 1 + (fault == "twice")
        )
        if answer == 200 and fault != "unanswered":
            self.acknowledged.setdefault(value, next(self._number))

    def send_directly(self, device: int, window: int, fault: str) -> None:
        """A device of the direct collection sends its report to the curator."""
        value = DIRECTLY + self.value(device, window)
        body = direct_of(self.direct, value, window)
        if fault == "lost":
            return
        if fault == "late":
            self.late.append(lambda: self.send_directly(device, window, "unanswered"))
            return

        async def submit(intake: Intake[Submission, Any]) -> list[int]:
            return list(await intake.submit("direct", Submission(body)))

        codes = self.curator.call(submit, 1 + (fault == "twice"))
        # Counted now or before.
        if codes in ([0], [8]) and fault != "unanswered":
            self.directly.setdefault(value, next(self._number))

    def pass_time(self, seconds: float) -> None:
        """Time passes, late messages arrive, and the shuffler does what is due."""
        self.time += seconds
        arriving, self.late = self.late, []
        for message in arriving:
            message()
        self.shuffler.call(_nothing)

    def back_up(self, how: str) -> None:
        """The operator of the shuffler makes a backup, or copies its folder."""
        kept = self.folder / "kept"
        shutil.rmtree(kept, ignore_errors=True)
        self.shuffler.kill()
        if self.store is not None:
            self.store.close()
        shutil.copytree(self.folder / "shuffler", kept)
        if how == "backup":
            (kept / FILE).unlink()
            store = Store(self.folder / "shuffler", self.shuffler_clock)
            store.backup(kept / FILE)
            store.close()
        self._backup_at = next(self._number)

    def restore(self, how: str) -> None:
        """What was kept takes the place of the shuffler's storage: its file as a new file or written over the live one,
        or its folder over the live folder."""
        if self._backup_at < 0:
            return
        self.shuffler.kill()
        if self.store is not None:
            self.store.close()
        place, kept = self.folder / "shuffler", self.folder / "kept"
        if how == "file":
            (place / FILE).unlink()
        for path in kept.iterdir():
            if how == "folder" or not path.name.startswith(PREFIX):
                (place / path.name).write_bytes(path.read_bytes())
        self.excused |= {value for value, at in self.acknowledged.items() if at > self._backup_at}

    def back_up_curator(self) -> None:
        """The operator of the curator copies its folder."""
        self._stop_curator()
        shutil.rmtree(self.folder / "kept_curator", ignore_errors=True)
        shutil.copytree(self.folder / "curator", self.folder / "kept_curator")
        self._curator_backup_at = next(self._number)

    def restore_curator(self) -> None:
        """The copy of the curator's folder takes its place; what it has acknowledged since is lost."""
        if self._curator_backup_at < 0:
            return
        self._stop_curator()
        shutil.rmtree(self.folder / "curator")
        shutil.copytree(self.folder / "kept_curator", self.folder / "curator")
        lost = {window for window, at in self.taken.items() if at > self._curator_backup_at}
        self.excused |= {value for value in self.acknowledged if (value - 1) % WINDOWS in lost}
        self.excused_directly |= {
            value for value, at in self.directly.items() if at > self._curator_backup_at
        }

    def _stop_curator(self) -> None:
        self.curator.kill()
        if self.database is not None:
            self.database.close_all()
            self.database = None

    def end(self) -> None:
        """All troubles end, and everything that can be sent is sent."""
        self.shuffler_off = self.curator_off = 0.0
        self.put_faults = []
        for process in (self.shuffler, self.curator):
            process.kill()
        # Longer than the longest pause between two attempts.
        self.pass_time(400.0)
        self.settled_at = self.time
        last = self.span(WINDOWS - 1)[1]
        while self.time < last:
            self.pass_time(HOUR / 4)
        self.pass_time(400.0)

    def span(self, window: int) -> tuple[float, float]:
        assert self.plan.standing is not None
        first, last = self.plan.standing.counted(window)
        return first, last

    def counted(self, name: str) -> dict[int, int]:
        """How often each value was counted."""
        database = self._opened()
        found: dict[int, int] = {}
        with database.reading() as session:
            for (data,) in session.rows(
                "SELECT counts FROM tallies JOIN rounds ON rounds.key = tallies.round WHERE campaign = ?",
                name,
            ):
                row = np.frombuffer(data, dtype="<i8")
                for value in np.flatnonzero(row).tolist():
                    found[value] = found.get(value, 0) + int(row[value])
        return found

    def check(self) -> None:
        """The promises that hold for every history."""
        by_window: dict[int, set[frozenset[bytes]]] = {}
        for window, reports in self.left:
            assert len(reports) >= BATCH, f"a batch of {len(reports)} left"
            by_window.setdefault(window, set()).add(reports)
        assert all(len(sets) == 1 for sets in by_window.values()), "two sets of one window left"
        store = Store(self.folder / "shuffler", self.shuffler_clock)
        states = {one.window: one.state for one in store.batches()}
        store.close()
        counts = self.counted("trips")
        assert all(count == 1 for count in counts.values()), "a report was counted twice"
        for value in self.acknowledged.keys() - self.excused - counts.keys():
            window = (value - 1) % WINDOWS
            # In a batch that was deleted and reported, or one that the curator could not be given, or told of, for as
            # long as it takes it.
            late = self.settled_at >= self.span(window)[1] + HOUR
            assert states[window] == KNOWN or (late and states[window] in (FIXED, DELETED)), (
                f"{value} is lost"
            )
        counts = self.counted("direct")
        assert all(count == 1 for count in counts.values()), "a direct report was counted twice"
        assert self.directly.keys() - self.excused_directly <= counts.keys(), "a direct report is lost"

    def close(self) -> None:
        for process in (self.shuffler, self.curator):
            process.kill()
        if self.store is not None:
            self.store.close()
        if self.database is not None:
            self.database.close_all()

    def _opened(self) -> Database:
        if self.database is not None:
            self.database.close_all()
        with watched(self.curator.trouble):
            self.database = open_database(self.folder / "curator")
            self.database.connection()
        return self.database

    async def _begin_curator(self) -> Intake[Submission, Any]:
        database = self._opened()
        intake: Intake[Submission, Any] = Intake(Counter(database, self.curator_clock).count)
        intake.start()
        return intake

    async def _begin_shuffler(self) -> Any:
        if self.store is not None:
            self.store.close()
        with watched(self.shuffler.trouble):
            self.store = Store(self.folder / "shuffler", self.shuffler_clock)
        self.store.witness.sync = lambda folder: self.shuffler.trouble.write()
        app = create_app(self.store, Settings(rate=0), self._put)
        self._lifespan = app.inner.router.lifespan_context(app.inner)  # type: ignore[attr-defined]
        await self._lifespan.__aenter__()
        return app

    def _put(self, request: Request) -> tuple[int, str]:
        """The network between shuffler and curator."""
        fault = self.put_faults.pop(0) if self.put_faults else ""
        body = b"".join(request.body)
        window = int(request.url.split("/")[-2])
        self.seen.append((self.time, request.media_type, len(body)))
        if request.media_type == BATCH_TYPE:
            size = len(seal_of(self.plan, 1, 0))
            pieces = [body[at : at + size] for at in range(0, len(body), size)]
            self.left.append((window, frozenset(pieces)))
            assert len(set(pieces)) == len(pieces), "a report twice in a batch"
        if fault == "late":
            self.late.append(lambda: self._arrive(request.media_type, window, body))
        if fault in ("lost", "late"):
            raise OSError
        found = self._arrive(request.media_type, window, body, 1 + (fault == "twice"))
        if found is None or fault == "unanswered":
            raise OSError
        if found[0] == 200 and request.media_type == BATCH_TYPE:
            self.taken[window] = next(self._number)
        return found

    def _arrive(self, kind: str, window: int, body: bytes, times: int = 1) -> tuple[int, str] | None:
        """A batch, or the number of reports of a deleted one, arrives at the curator, who answers if alive."""
        label = Label("trips", self.plan.id, window)

        async def count(_: object) -> tuple[int, str]:
            assert self.database is not None
            try:
                if kind == BATCH_TYPE:
                    answer = count_batch(self.database, label, body, self.curator_clock())
                else:
                    number = json.loads(body)["deleted"]
                    answer = note_deleted(self.database, label, number, self.curator_clock())
            except Refused as refused:
                return refused.problem.status, json.dumps({"code": refused.problem.code})
            except StorageUnavailable:
                return 503, "{}"
            return 200, json.dumps(answer)

        mine = asyncio._get_running_loop()
        try:
            found: tuple[int, str] | None = self.curator.call(count, times)
        finally:
            asyncio._set_running_loop(mine)
        return found


async def _nothing(_: object) -> None:
    """Do what is due."""


async def _post(app: Any, plan: str, window: int, body: bytes, code: str) -> int:
    """Send a report over ASGI, and return the status."""
    status: list[int] = []
    parts = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Message:
        for part in parts:
            return part
        # The device stays until it is answered.
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            status.append(message["status"])

    path = f"/v2/plans/{plan}/windows/{window}/reports"
    headers = [(b"content-type", SEALED_TYPE.encode()), (b"ldptrace-admission", code.encode())]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": ("192.0.2.1", 1),
        "server": ("shuffler", 80),
    }
    await app(scope, receive, send)
    return status[0]


def make_curator(folder: Path) -> Path:
    """Make the folder of a curator with a shuffled campaign and a direct one, from which every history begins."""
    database = open_database(folder / "data")
    documents = {}
    for name, plan in (("trips", standing()), ("direct", DIRECT)):
        campaigns.create(database, name, plan.changed(campaign=None), actor="test", key=KEY)
        documents[name] = campaigns.open_round(database, name, actor="test").plan.to_json()
    database.tidy()
    database.close_all()
    (folder / "plans.json").write_text(json.dumps(documents))
    return folder


@contextlib.contextmanager
def begun(folder: Path, curators: Path, **options: bool) -> Iterator[World]:
    """A new world, whose draws are the same every time, and different from each other, as names of witnesses are."""
    world = World(folder, curators, **options)
    with mock.patch("secrets.token_bytes", random.Random(1).randbytes):
        try:
            yield world
        finally:
            world.close()
