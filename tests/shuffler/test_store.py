"""The storage of the shuffler: batches are fixed before they are sent, and what is gone stays gone."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ldptrace.errors import InputError
from ldptrace.protocol.problems import Problem
from ldptrace.shuffler.served import NO_WINDOW, Served
from ldptrace.shuffler.slots import Slots
from ldptrace.shuffler.store import DELETED, FILE, FIXED, KNOWN, OPEN, SENT, Sealed, Store
from ldptrace.shuffler.witness import identity
from ldptrace.web.problems import Refused, ServerProblem, StorageUnavailable
from shuffler_kit import BATCH, HOUR, NOW, sealed, serving, standing, telling

SIZE, WINDOW, ADMITTED = (
    Problem.WRONG_SIZE.number,
    Problem.WRONG_WINDOW.number,
    ServerProblem.NOT_ADMITTED.number,
)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now: float = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def sent(store: Store) -> dict[int, set[bytes]]:
    """The reports of every batch that is fixed, by its window."""
    size = 81 + 41
    found: dict[int, set[bytes]] = {}
    for batch, _ in store.unsent():
        if batch.state == FIXED:
            data = b"".join(store.reports(batch))
            pieces = [data[at : at + size] for at in range(0, len(data), size)]
            assert len(pieces) == batch.reports == len(set(pieces))
            found[batch.window] = set(pieces)
    return found


def states(store: Store) -> list[tuple[int, str, int]]:
    return [(batch.window, batch.state, batch.reports) for batch in store.batches()]


def test_a_batch_is_all_reports_of_its_window_once(tmp_path: Path, clock: Clock) -> None:
    plan = standing()
    store = serving(tmp_path, plan, clock)
    made = [sealed(plan, value, window) for value, window in enumerate((0, 1, 0, 1, 0, 0))]
    assert store.take(plan.id, made) == [0] * 6
    assert store.take(plan.id, made[:2] + made[:2]) == [0] * 4
    assert store.close_due() == [] == store.unsent()
    clock.now = NOW + 2.5 * HOUR
    assert [(one.window, one.state) for one in store.close_due()] == [(0, FIXED)]
    assert sent(store) == {0: {one.body for one in made if one.window == 0}}
    # The set is fixed: what comes now is refused, also if the clock goes back.
    for now in (clock.now, NOW):
        clock.now = now
        assert store.take(plan.id, [sealed(plan, 9, 0), made[0]]) == [WINDOW] * 2
    assert sent(store) == {0: {one.body for one in made if one.window == 0}}
    [(batch, entry)] = store.unsent()
    assert entry.token == "token"
    store.acknowledged(batch, '{"counted":4}')
    assert states(store) == [(0, SENT, 4), (1, OPEN, 2)]
    assert store.unsent() == []


def test_the_order_is_drawn_for_each_sending(tmp_path: Path, clock: Clock) -> None:
    plan = telling()
    store = serving(tmp_path, plan, clock)
    store.take(plan.id, [sealed(plan, value) for value in range(30)])
    clock.now = NOW + HOUR
    store.close_due()
    [(batch, _)] = store.unsent()
    orders = {b"".join(store.reports(batch)) for _ in range(4)}
    assert len(orders) == 4


def test_a_small_batch_is_deleted_and_its_number_stays(tmp_path: Path, clock: Clock) -> None:
    plan = telling()
    store = serving(tmp_path, plan, clock)
    made = [sealed(plan, value) for value in range(BATCH - 1)]
    store.take(plan.id, made)
    clock.now = NOW + HOUR
    assert [one.state for one in store.close_due()] == [DELETED]
    assert not any(one.body[:40] in store.path.read_bytes() for one in made)
    [(batch, _)] = store.unsent()
    assert (batch.state, batch.reports) == (DELETED, BATCH - 1)
    store.acknowledged(batch, "{}")
    assert states(store) == [(NO_WINDOW, KNOWN, BATCH - 1)]


def test_acknowledged_reports_leave_the_file(tmp_path: Path, clock: Clock) -> None:
    plan = telling()
    store = serving(tmp_path, plan, clock)
    made = [sealed(plan, value) for value in range(100)]
    store.take(plan.id, made)
    clock.now = NOW + HOUR
    store.close_due()
    assert all(one.body[:40] in store.path.read_bytes() for one in made)
    store.acknowledged(store.unsent()[0][0], "{}")
    assert not any(one.body[:40] in store.path.read_bytes() for one in made)


def test_what_is_no_sealed_report_of_an_open_window_is_refused(tmp_path: Path, clock: Clock) -> None:
    plan = standing()
    store, good = serving(tmp_path, plan, clock), sealed(plan, 1, 0)
    bodies = [b"", good.body[1:], good.body + b"\0", bytes(len(good.body))]
    assert store.take(plan.id, [Sealed(body, 0) for body in bodies]) == [SIZE] * 4
    far = [30, 2**32, NO_WINDOW]
    assert store.take(plan.id, [Sealed(good.body, window) for window in far]) == [WINDOW] * 3
    assert store.batches() == []
    with pytest.raises(Refused, match="does not serve"):
        store.take("0" * 64, [good])


def test_a_batch_is_never_larger_than_the_curator_takes(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = standing()
    store, made = (
        serving(tmp_path, plan, clock, admission=True),
        [sealed(plan, n, 0) for n in range(BATCH + 1)],
    )
    codes = [line[0] for line in store.make_codes(plan.id, [0], len(made))]
    monkeypatch.setattr("ldptrace.shuffler.served.MAX_UPLOAD", BATCH * Served.of(plan).size)
    coded = [Sealed(one.body, 0, code) for one, code in zip(made, codes, strict=True)]
    full = ServerProblem.CAMPAIGN_FULL.number
    assert store.take(plan.id, coded) == [0] * BATCH + [full]
    # One that is held is acknowledged again, and the code of the other one is still unused.
    assert store.take(plan.id, coded) == [0] * BATCH + [full]
    monkeypatch.undo()
    assert store.take(plan.id, coded) == [0] * (BATCH + 1)


def test_a_code_is_good_for_one_report_of_one_window(tmp_path: Path, clock: Clock) -> None:
    plan = standing()
    store = serving(tmp_path, plan, clock)
    [mine, hers] = store.make_codes(plan.id, [0, 1], 2)

    def take(value: int, window: int, code: str) -> int:
        one = sealed(plan, value, window)
        [problem] = store.take(plan.id, [Sealed(one.body, window, code)])
        # A report that is held is acknowledged again without a second code.
        assert store.take(plan.id, [one]) == [problem]
        return problem

    assert [take(1, 0, mine[0]), take(2, 0, mine[0]), take(3, 0, hers[1]), take(4, 1, hers[1])] == [
        *(0, ADMITTED, ADMITTED, 0)
    ]
    assert [take(5, 0, ""), take(6, 0, "\udcff")] == [ADMITTED] * 2
    assert states(store) == [(0, OPEN, 1), (1, OPEN, 1)]
    raw = store.path.read_bytes()
    secrets = [code.partition("-")[2] for code in (*mine, *hers)]
    assert not any(code.encode() in raw or bytes.fromhex(code) in raw for code in secrets)


def test_codes_come_before_reports(tmp_path: Path, clock: Clock) -> None:
    plan = telling()
    store = serving(tmp_path, plan, clock)
    store.take(plan.id, [sealed(plan, 1)])
    with pytest.raises(InputError, match="too late"):
        store.make_codes(plan.id, [NO_WINDOW], 3)
    with pytest.raises(InputError, match="codes can be made at once"):
        store.make_codes(plan.id, [NO_WINDOW], 0)
    assert not store.plan(plan.id).admission


def test_reports_are_on_the_disk_before_they_are_acknowledged(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, made = sqlite3.connect, list[sqlite3.Connection]()
    monkeypatch.setattr(
        "sqlite3.connect", lambda *path, **options: made.append(connect(*path, **options)) or made[-1]
    )
    serving(tmp_path, telling(), clock)
    # FULL: a transaction ends when the disk has it.
    assert [one.execute("PRAGMA synchronous").fetchone() for one in made] == [(2,)]


def test_a_plan_that_is_added_again_keeps_its_codes(tmp_path: Path, clock: Clock) -> None:
    plan = telling()
    store = serving(tmp_path, plan, clock)
    store.make_codes(plan.id, [NO_WINDOW], 3)
    store.add_plan(plan, "http://curator.example/v1/campaigns/trips", "another", admission=False)
    assert store.plan(plan.id).token == "another"
    assert store.take(plan.id, [sealed(plan, 1)]) == [ADMITTED]


def test_what_is_secret_of_a_batch_is_drawn_and_goes_with_it(tmp_path: Path, clock: Clock) -> None:
    plan = standing()
    store = serving(tmp_path, plan, clock)
    codes = store.make_codes(plan.id, [0, 1], 1)[0]
    for window, code in enumerate(codes):
        store.take(plan.id, [Sealed(sealed(plan, 1, window).body, window, code)])
    clock.now = NOW + 2.5 * HOUR
    store.close_due()
    with sqlite3.connect(store.path) as file:
        salts = [salt for (salt,) in file.execute("SELECT salt FROM batches")]
        left = file.execute("SELECT label FROM codes").fetchall()
    file.close()
    # Nobody can choose where a report stands, and no code of a closed window is left.
    assert len(set(salts)) == 2
    assert all(len(set(salt)) > 8 for salt in salts)
    assert left == [(1,)]


# How a storage is set back: by a backup or a copy in a new place; by bytes that are written over the live files, which
# keep their numbers on the disk; or by a snapshot of the disk, which a witness on another disk recognises.
WAYS = [
    "copy",
    "backup",
    "backup in place",
    "copy in place",
    "folder in place",
    "folder mirrored",
    "snapshot",
]


@pytest.mark.parametrize("how", WAYS)
def test_a_file_that_was_set_back_sends_nothing_of_an_open_window(
    how: str, tmp_path: Path, clock: Clock
) -> None:
    plan, data, kept = standing(), tmp_path / "a", tmp_path / "kept"
    store = serving(data, plan, clock)
    if how == "folder mirrored" and identity(next(data.glob("witness-*"))).endswith(":"):
        pytest.skip("this file system does not tell generations: a file may get the number of a deleted one")
    if how == "snapshot":
        store.close()
        (tmp_path / "apart").mkdir()
        store = Store(data, clock, tmp_path / "apart")
    early = [sealed(plan, value, 0) for value in range(4)]
    store.take(plan.id, early)
    clock.now = NOW + 2.5 * HOUR
    store.close_due()
    store.take(plan.id, [sealed(plan, value, 1) for value in range(4)])
    shutil.copytree(data, kept)
    if how.startswith("backup"):
        (kept / FILE).unlink()
        store.backup(kept / FILE)
    # A report comes after the backup, and the batch of window 1 is sent.
    store.take(plan.id, [sealed(plan, 9, 1)])
    clock.now = NOW + 4 * HOUR
    store.close_due()
    assert set(sent(store)) == {0, 1}
    store.close()
    set_back(how, data, kept)
    # The clock is that of the backup, or later.
    for now in (NOW + 2.5 * HOUR, NOW + 9 * HOUR):
        clock.now = now
        again = Store(data, clock)
        assert again.take(plan.id, [sealed(plan, 9, 1)]) == [WINDOW]
        assert again.take(plan.id, [sealed(plan, 9, 2)]) == [WINDOW]
        again.close_due()
        # The set that was fixed before the backup is sent, the other one only as a number.
        assert sent(again) == {0: {one.body for one in early}}
        assert states(again) == [(0, FIXED, 4), (1, DELETED, 4)]
        again.close()
    # Windows that begin later are served.
    again = Store(data, clock)
    later = int((clock.now + 86_400 - NOW) // HOUR)
    clock.now += HOUR
    assert again.take(plan.id, [sealed(plan, 9, later + 1)]) == [0]


def test_a_restored_backup_takes_nothing_of_windows_that_had_begun(tmp_path: Path, clock: Clock) -> None:
    """Also if nothing was sent since, because the original may go on elsewhere; the backup has no open batches."""
    plan = standing()
    store = serving(tmp_path, plan, clock)
    store.take(plan.id, [sealed(plan, 1, 0)])
    store.backup(tmp_path / "kept")
    store.close()
    (tmp_path / "kept").rename(store.path)
    store = Store(tmp_path, clock)
    assert store.take(plan.id, [sealed(plan, 2, 0)]) == [WINDOW]
    assert states(store) == [(0, DELETED, 1)]


def set_back(how: str, data: Path, kept: Path) -> None:
    """Put kept files back."""
    if how in ("copy", "backup"):
        (data / FILE).rename(data.parent / "broken")
        shutil.copy(kept / FILE, data / FILE)
        return
    if how == "folder mirrored":
        for path in data.iterdir():
            if not (kept / path.name).exists():
                path.unlink()
    for path in kept.iterdir():
        if path.name == FILE or how.startswith("folder"):
            # A file that is there keeps its number.
            (data / path.name).write_bytes(path.read_bytes())


def test_a_running_shuffler_that_was_set_back_sends_nothing(tmp_path: Path, clock: Clock) -> None:
    """As by a snapshot of a machine with its memory: the witness on another disk is that of later."""
    plan = telling()
    (tmp_path / "apart").mkdir()
    store = Store(tmp_path / "data", clock, tmp_path / "apart")
    store.add_plan(plan, "http://curator.example/v1/campaigns/trips", "token", admission=False)
    store.take(plan.id, [sealed(plan, value) for value in range(4)])
    [witness] = (tmp_path / "apart").iterdir()
    witness.rename(witness.with_name("witness-later"))
    clock.now = NOW + HOUR
    assert store.close_due() == []
    assert sent(store) == {}
    assert states(store) == [(NO_WINDOW, DELETED, 4)]


def test_nothing_is_sent_before_the_witness_was_replaced(tmp_path: Path, clock: Clock) -> None:
    plan = telling()
    store = serving(tmp_path / "data", plan, clock)
    store.take(plan.id, [sealed(plan, value) for value in range(4)])
    clock.now = NOW + HOUR

    def broken(folder: Path) -> None:
        raise OSError("the disk is full")

    store.witness.sync = broken
    with pytest.raises(StorageUnavailable, match="disk is full"):
        store.close_due()
    # The new witness stands beside the old one.
    assert len(list((tmp_path / "data").glob("witness-*"))) == 2
    assert store.unsent() == []
    store.close()
    store = Store(tmp_path / "data", clock)
    assert states(store) == [(NO_WINDOW, FIXED, 4)]
    assert store.unsent() == []
    store.close_due()
    assert len(sent(store)[NO_WINDOW]) == 4
    assert len(list((tmp_path / "data").glob("witness-*"))) == 1


def test_a_backup_holds_no_report_of_an_open_window(tmp_path: Path, clock: Clock) -> None:
    plan = telling()
    store, made = serving(tmp_path, plan, clock), sealed(plan, 1)
    store.take(plan.id, [made])
    store.backup(tmp_path / "kept.sqlite")
    assert made.body[:40] not in (tmp_path / "kept.sqlite").read_bytes()
    assert (tmp_path / "kept.sqlite").stat().st_mode & 0o777 == 0o600
    assert states(store) == [(NO_WINDOW, OPEN, 1)]


def test_a_batch_of_the_expected_size_never_waits_for_a_larger_table(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown: list[int] = []
    grow = Slots.grow
    monkeypatch.setattr(Slots, "grow", lambda slots: (grow(slots), grown.append(slots.capacity)))
    plan = telling(batch=60)
    store, size = serving(tmp_path, plan, clock), Served.of(plan).size
    made = [Sealed(b"\x04" + os.urandom(size - 1), NO_WINDOW) for _ in range(200)]
    # Twice the least batch.
    assert [store.take(plan.id, made[at : at + 10]) for at in range(0, 120, 10)] == [[0] * 10] * 12
    assert grown == []
    assert store.take(plan.id, made) == [0] * 200
    assert grown == [360]
    clock.now = NOW + HOUR
    store.close_due()
    assert sent(store) == {NO_WINDOW: {one.body for one in made}}


def test_the_file_is_for_its_owner_and_for_this_program(tmp_path: Path, clock: Clock) -> None:
    store = Store(tmp_path / "data", clock)
    assert store.path.stat().st_mode & 0o777 == 0o600
    assert store.path.parent.stat().st_mode & 0o777 == 0o700
    store.close()
    store.path.write_bytes(b"no database" * 100)
    with pytest.raises(StorageUnavailable, match="cannot be used"):
        Store(tmp_path / "data", clock)


def test_the_file_of_a_held_batch_tells_nothing_of_the_order(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same set in two orders and groupings gives the same bytes, apart from the counters of the header."""
    monkeypatch.setattr("secrets.token_bytes", lambda size: bytes(size))
    plan = telling()
    made = [sealed(plan, value) for value in range(40)]

    def bytes_of(name: str, groups: list[list[Sealed]]) -> bytes:
        store = serving(tmp_path / name, plan, clock)
        for group in groups:
            store.take(plan.id, group)
        # The witness differs.
        store._connection.execute("UPDATE meta SET value = '' WHERE key = 'mark'")  # type: ignore[union-attr]
        store.close()
        data = bytearray(store.path.read_bytes())
        for first, last in ((24, 28), (92, 96)):
            data[first:last] = bytes(last - first)
        return bytes(data)

    orders: list[Any] = [[made], [made[::-1]], [[one] for one in made[7:] + made[:7]]]
    assert len({bytes_of(str(number), groups) for number, groups in enumerate(orders)}) == 1
