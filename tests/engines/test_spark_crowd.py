"""What the tasks of a cluster do, without one."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.reading import Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.spark_crowd import (
    _WHOSE,
    _add_up_parts,
    _alone,
    _has_dates,
    _kinds,
    _trajectories,
    _whole_trips,
    _worked,
)
from ldptrace.simulation.unit import TRIPS

PARSE = partial(_trajectories, Reading(crs="EPSG:3857"))
TRIP_A_ROW = partial(_whole_trips, [])


def devices(
    parse: Any, drawn: np.random.Generator | None, batches: list[pa.RecordBatch], whole: Any = TRIP_A_ROW
) -> tuple[Trajectories, Any]:
    """The devices of a partition, and what was read."""
    work = partial(_alone, lambda block, _: [block])
    (found,) = _worked(work, parse, drawn, whole, iter(batches))
    (row,) = found.to_pylist()
    return Trajectories.concat(pickle.loads(row["found"])), pickle.loads(row["account"])


def rows(trips: Trajectories, size: int) -> list[pa.RecordBatch]:
    return trips.to_arrow().combine_chunks().to_batches(max_chunksize=size)


def walks(count: int) -> Trajectories:
    rng = np.random.default_rng(count)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(1, 6, count))))
    return Trajectories(rng.random(offsets[-1]), rng.random(offsets[-1]), offsets)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=20), st.integers(1, 12))
def test_tables_end_where_trips_end(sizes: list[int], batch: int) -> None:
    owner = np.repeat(np.arange(len(sizes)), sizes)
    table = pa.table({"user": owner // 3, "trip": owner % 3, "row": np.arange(len(owner))})
    found = list(_whole_trips(["user", "trip"], iter(table.to_batches(max_chunksize=batch))))
    assert pa.concat_tables(found)["row"].to_pylist() == list(range(len(owner)))
    trips = [set(zip(part["user"].to_pylist(), part["trip"].to_pylist(), strict=True)) for part in found]
    assert sum(len(names) for names in trips) == len(sizes)


def test_a_partition_adds_up_whatever_its_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldptrace.engines.base.CHUNK", 8)
    trips = walks(30)

    def lengths(block: Trajectories, number: int) -> list[tuple[int, int]]:
        return [(number, len(block))]

    for size in (3, 100):
        (found,) = _worked(partial(_alone, lengths), PARSE, None, TRIP_A_ROW, iter(rows(trips, size)))
        (row,) = found.to_pylist()
        assert pickle.loads(row["found"]) == [(0, 8), (1, 8), (2, 8), (3, 6)]
        account, devices = pickle.loads(row["account"])
        assert (account.trajectories, account.rows, devices) == (30, 30, 30)
    assert list(_worked(partial(_alone, lengths), PARSE, None, TRIP_A_ROW, iter([]))) == []


def test_parts_are_put_aside_and_found_again() -> None:
    trips = walks(20)
    work = lambda block, number: (block.x.sum(), [block.points])  # noqa: E731
    made = list(_worked(work, PARSE, None, TRIP_A_ROW, iter(rows(trips, 6))))
    table = pa.Table.from_batches(made).to_pylist()
    assert [row["part"] is None for row in table] == [False, True]
    assert pickle.loads(table[1]["found"]) == [trips.points]
    aside = pa.Table.from_batches(made[:1]).select(["number", "part"]).to_batches()
    (total,) = _add_up_parts(lambda part, number: [(part, number)], iter(aside))
    assert pickle.loads(total.to_pylist()[0]["found"]) == [(pytest.approx(trips.x.sum()), 0)]
    assert list(_add_up_parts(work, iter([]))) == []


def test_dates_are_looked_for_where_the_rows_are() -> None:
    plain = walks(5)
    timed = Trajectories(plain.x, plain.y, plain.offsets, t=np.arange(plain.points))
    dated = Trajectories(plain.x, plain.y, plain.offsets, t=1.7e9 + np.arange(plain.points))
    for trips, expected in ((plain, False), (timed, False), (dated, True)):
        (found,) = _has_dates(PARSE, partial(_whole_trips, []), iter(rows(trips, 100)))
        assert found.to_pylist() == [{"dated": expected}]


def test_of_a_trip_that_was_cut_one_piece_answers() -> None:
    trips = Trajectories.from_lists([[(0.1, 0), (5, 0), (6, 0), (0.2, 0)], [(0.3, 0)], [(9, 9)]] * 50)
    parse = partial(_trajectories, Reading(bounds=(0, 0, 1, 1)))
    batches = rows(trips, 10)
    found = [devices(parse, np.random.default_rng(1), batches)[0].x for _ in range(2)]
    np.testing.assert_array_equal(found[0], found[1])
    assert len(found[0]) == 100
    assert set(found[0]) == {0.1, 0.2, 0.3}
    assert len(devices(parse, None, batches)[0]) == 200


def test_one_trip_of_each_user_answers_and_knows_how_many_there_were() -> None:
    trips = Trajectories.from_lists([[(0.1, 0)], [(0.2, 0)], [], [(0.3, 0)], [], [(0.4, 0)], [(9.0, 0)]])
    whose = pa.array(["a", "a", "a", "b", "c", None, None])
    table = (
        trips.to_arrow()
        .append_column("user_id", whose)
        .append_column(_WHOSE, pa.array([1, 1, 1, 2, 3, 4, 5]))
    )
    parse = partial(_trajectories, Reading(bounds=(0, 0, 1, 1)), with_user=True)
    seen = set()
    for seed in range(8):
        together = partial(_whole_trips, [_WHOSE])
        block, (account, number) = devices(parse, np.random.default_rng(seed), table.to_batches(3), together)
        assert block.extra is not None
        assert block.extra[TRIPS].to_pylist() == [2, 1, 0, 1, 0]
        assert block.sizes.tolist() == [1, 1, 0, 1, 0]
        assert (number, account.trajectories) == (5, 7)
        seen.add(float(block.x[0]))
    assert seen == {0.1, 0.2}


def test_geometries_are_counted_where_the_rows_are() -> None:
    lines = ["SRID=3857;LINESTRING (0 0, 1 1)"] * 3 + ["SRID=3857;POINT (5 5)", None]
    table = pa.table({"wkt": lines, "user": list("abcde")})
    (found,) = (batch.to_pylist()[0] for batch in _kinds("wkt", iter(table.select(["wkt"]).to_batches())))
    assert found == {"points": 1, "lines": 3, "crs": "EPSG:3857"}
    # A task whose rows are points all the same reads them as trips, as the others do.
    parse = partial(_trajectories, Reading(), lines=True, with_user=True)
    trips = parse(table.slice(3))[0]
    assert (trips.sizes.tolist(), trips.user) == ([1, 0], "user")
