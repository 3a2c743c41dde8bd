"""What is on the disk is a function of the set of reports: neither their order nor their grouping shows."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldptrace.shuffler.slots import FIRST, Slots, full

SIZE = 100
# Counters of transactions and of changes of the tables in the header of a database file.
COUNTERS = ((24, 28), (40, 44), (92, 96))


def reports(count: int, size: int = SIZE) -> list[bytes]:
    return [
        b"\x04" + hashlib.shake_256(number.to_bytes(4, "big")).digest(size - 1) for number in range(count)
    ]


def opened(path: Path | str, size: int = SIZE) -> tuple[sqlite3.Connection, Slots]:
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode = TRUNCATE", "synchronous = OFF", "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    slots = Slots(connection, "held", size, b"salt", 0, 0)
    slots.make()
    return connection, slots


def fill(connection: sqlite3.Connection, slots: Slots, groups: Sequence[Sequence[bytes]]) -> int:
    """Add reports, one transaction for each group, and return how many are new."""
    for group in groups:
        connection.execute("BEGIN IMMEDIATE")
        for report in group:
            slots.add(report)
        connection.execute("COMMIT")
    [(rows,)] = connection.execute("SELECT count(*) FROM held")
    assert slots.capacity == rows
    return slots.count


def bytes_of(path: Path, groups: Sequence[Sequence[bytes]], size: int = SIZE) -> bytes:
    connection, slots = opened(path, size)
    fill(connection, slots, groups)
    connection.close()
    data = bytearray(path.read_bytes())
    for first, last in COUNTERS:
        data[first:last] = bytes(last - first)
    path.unlink()
    return bytes(data)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "size"), [(30, SIZE), (1000, SIZE), (120, 6000)])
def test_the_file_tells_nothing_of_the_order(count: int, size: int, tmp_path: Path) -> None:
    """Small tables, tables that grew, and reports larger than a page."""
    made = reports(count, size)
    by_hash = sorted(made, key=lambda one: hashlib.sha256(one).digest())
    orders = [
        [made],
        [made[::-1]],
        [by_hash[:7], by_hash[7:]],
        [[one] for one in by_hash],
        [made[count // 2 :], made[: count // 2], made],
    ]
    assert len({bytes_of(tmp_path / "one.sqlite", groups, size) for groups in orders}) == 1
    # The same would be found of nothing: another set has another file.
    assert bytes_of(tmp_path / "one.sqlite", [made[1:]], size) != bytes_of(
        tmp_path / "one.sqlite", [made], size
    )


@pytest.mark.slow
@given(st.lists(st.integers(0, 150), max_size=400))
@settings(max_examples=30, deadline=None)
def test_it_is_a_set(numbers: list[int]) -> None:
    made = reports(152)
    connection, slots = opened(":memory:")
    assert fill(connection, slots, [[made[number] for number in numbers]]) == len(set(numbers))
    places = slots.places()
    assert sorted(map(slots.at, places)) == sorted(made[number] for number in set(numbers))
    assert {number for number, report in enumerate(made) if report in slots} == set(numbers)
    connection.close()


def test_a_report_that_is_held_makes_no_table_grow() -> None:
    made = reports(43)
    connection, slots = opened(":memory:")
    assert fill(connection, slots, [made[:42], made[:42]]) == 42
    assert full(42, FIRST)
    assert slots.capacity == FIRST
    assert fill(connection, slots, [made]) == 43
    assert slots.capacity == 2 * FIRST
    connection.close()
