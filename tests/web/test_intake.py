"""Group commit: what waits together is counted together, and whoever cannot be served is told so."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from ldptrace.server.counting import Codes, Counter, Submission
from ldptrace.server.storage import Database, open_database
from ldptrace.web import intake
from ldptrace.web.intake import Intake
from ldptrace.web.problems import Refused, ServerProblem, StorageUnavailable
from server_kit import DUPLICATE, TELLING, counts, of, opened, telling_report


@pytest.fixture
def database(tmp_path: Path) -> Database:
    found = open_database(tmp_path)
    for name in ("trips", "others"):
        opened(found, name, TELLING)
    return found


async def outcome(
    counting: Intake[Submission, Codes], campaign: str, *bodies: bytes
) -> list[list[int] | ServerProblem]:
    """What each of some submissions that arrive at once is told."""
    told = await asyncio.gather(
        *(counting.submit(campaign, Submission(body)) for body in bodies), return_exceptions=True
    )
    found: list[list[int] | ServerProblem] = []
    for one in told:
        if isinstance(one, Refused):
            assert isinstance(one.problem, ServerProblem)
            found.append(one.problem)
        else:
            assert not isinstance(one, BaseException)
            found.append(one.tolist())
    return found


async def until_waiting(counting: Intake[Submission, Codes], bytes_: int) -> None:
    """Until so many bytes wait to be counted."""
    while counting.waiting < bytes_:
        await asyncio.sleep(0)


def test_requests_that_wait_share_a_transaction(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = [telling_report(value) for value in range(7)]
    monkeypatch.setattr(intake, "MAX_GROUP", 3 * len(reports[0]))
    groups: list[tuple[str, int]] = []

    def observe(campaign: str, codes: Sequence[Codes], seconds: float) -> None:
        groups.append((campaign, len(codes)))
        assert seconds >= 0

    async def run() -> None:
        counting = Intake(Counter(database).count, observe)
        waiting = [asyncio.create_task(outcome(counting, "trips", *reports[:5], reports[0]))]
        others = [telling_report(value, of(TELLING, "others")) for value in (5, 6)]
        waiting += [asyncio.create_task(outcome(counting, "others", *others))]
        await until_waiting(counting, 8 * len(reports[0]))
        counting.start()
        assert await waiting[0] == [[0]] * 5 + [[DUPLICATE]]
        assert await waiting[1] == [[0]] * 2
        assert counting.waiting == 0
        await counting.stop()

    asyncio.run(run())
    # Three fit into one; then it is the turn of the other campaign.
    assert groups == [("trips", 3), ("others", 2), ("trips", 3)]
    assert counts(database, "trips")[:7] == [1] * 5 + [0, 0]
    assert counts(database, "others")[:7] == [0] * 5 + [1, 1]


def test_stopping_counts_what_waits_and_takes_nothing_more(database: Database) -> None:
    async def run() -> None:
        counting = Intake(Counter(database).count)
        early = asyncio.create_task(outcome(counting, "trips", telling_report(1)))
        await until_waiting(counting, 1)
        counting.start()
        await counting.stop()
        assert await early == [[0]]
        assert await outcome(counting, "trips", telling_report(2)) == [ServerProblem.STOPPING]

    asyncio.run(run())
    assert sum(counts(database, "trips")) == 1


def test_beyond_what_may_wait_devices_are_sent_away(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = telling_report(1), telling_report(2)
    monkeypatch.setattr(intake, "MAX_WAITING", len(one) + len(two) - 1)

    async def run() -> None:
        counting = Intake(Counter(database).count)
        first = asyncio.create_task(outcome(counting, "trips", one))
        await until_waiting(counting, 1)
        assert await outcome(counting, "trips", two) == [ServerProblem.BUSY]
        counting.start()
        assert await first == [[0]]
        assert await outcome(counting, "trips", two) == [[0]]
        assert await outcome(counting, "nowhere", one) == [ServerProblem.NO_SUCH_CAMPAIGN]
        await counting.stop()

    asyncio.run(run())


@pytest.mark.parametrize(("failures", "told"), [(3, [0]), (4, ServerProblem.STORAGE_UNAVAILABLE)])
def test_a_database_that_fails_for_a_while(
    database: Database, monkeypatch: pytest.MonkeyPatch, failures: int, told: object
) -> None:
    monkeypatch.setattr(intake, "PAUSES", (0.0, 0.0, 0.0))
    left, count = [failures], Counter.count

    def failing(self: Counter, name: str, submissions: list[Submission]) -> list[Codes]:
        left[0] -= 1
        if left[0] >= 0:
            raise StorageUnavailable("gone")
        return count(self, name, submissions)

    monkeypatch.setattr(Counter, "count", failing)

    async def run() -> None:
        counting = Intake(Counter(database).count)
        counting.start()
        assert await outcome(counting, "trips", telling_report(1)) == [told]
        await counting.stop()

    asyncio.run(run())
    assert sum(counts(database, "trips")) == (failures == 3)


def test_a_campaign_whose_rows_are_locked_does_not_delay_another(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "PAUSES", (0.3,))
    count, order = Counter.count, list[str]()

    def failing(self: Counter, name: str, submissions: list[Submission]) -> list[Codes]:
        order.append(name)
        if name == "trips" and order.count("trips") == 1:
            raise StorageUnavailable("locked")
        return count(self, name, submissions)

    monkeypatch.setattr(Counter, "count", failing)

    async def run() -> None:
        counting = Intake(Counter(database).count)
        counting.start()
        first = asyncio.create_task(outcome(counting, "trips", telling_report(1)))
        await until_waiting(counting, 1)
        assert await outcome(counting, "others", telling_report(2, of(TELLING, "others"))) == [[0]]
        assert not first.done()
        # What waits for its next attempt is counted before the end.
        await counting.stop()
        assert await first == [[0]]
        assert counting.waiting == 0

    asyncio.run(run())
    assert order == ["trips", "others", "trips"]


def test_a_submission_that_cannot_be_counted_does_not_fail_its_neighbours(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, poison = Counter.count, telling_report(3)

    def failing(self: Counter, name: str, submissions: list[Submission]) -> list[Codes]:
        if any(one.body == poison for one in submissions):
            raise ValueError("something nobody thought of")
        return count(self, name, submissions)

    monkeypatch.setattr(Counter, "count", failing)

    async def run() -> None:
        counting = Intake(Counter(database).count)
        bodies = (telling_report(1), poison, telling_report(2))
        waiting = asyncio.create_task(outcome(counting, "trips", *bodies))
        await until_waiting(counting, 3 * len(poison))
        counting.start()
        assert await waiting == [[0], ServerProblem.STORAGE_UNAVAILABLE, [0]]
        assert counting.waiting == 0
        await counting.stop()

    asyncio.run(run())
    assert counts(database, "trips")[1:4] == [1, 1, 0]
