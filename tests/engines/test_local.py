"""The local engine: blocks give what the whole gives, whatever is in memory at a time."""

from __future__ import annotations

import gzip
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.csv import write_csv

import ldptrace as lt
from ldptrace.core.outside import within
from ldptrace.core.parallel import CHUNK
from ldptrace.core.reading import Reading
from ldptrace.core.running import Running
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator import Estimates
from ldptrace.curator.facts import Facts
from ldptrace.curator.planning import choose_grid
from ldptrace.engines.base import Made
from ldptrace.engines.files import Files, open_batches
from ldptrace.engines.local import Memory, numbered, write_drawn
from ldptrace.errors import InputError, NothingUsable, PrivacyWarning
from ldptrace.io.files import write_sets
from ldptrace.models.base import Along, Sampler
from ldptrace.models.path.model import PathModel
from ldptrace.simulation import Collection, collect
from synthesis_kit import run_files, run_method

BOUNDS = (0.0, 0.0, 1.0, 1.0)


def walks(count: int, seed: int = 1) -> Trajectories:
    """Trajectories of one to five points; one in a hundred leaves the bounds."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(1, 6, count))))
    x = rng.random(offsets[-1])
    x[offsets[:-1][rng.random(count) < 0.01]] = 3.0
    return Trajectories(x, rng.random(offsets[-1]), offsets)


def opened(path: Path, memory: int = 1 << 18) -> Files:
    found = open_batches(path, Reading(bounds=BOUNDS), memory=memory, always=True)
    assert found is not None
    return found


def test_a_tally_is_the_same_from_blocks_and_from_all_paths_at_once() -> None:
    crowd = Memory(walks(CHUNK + 1000))
    plan = Facts(crowd.users, 1.0, BOUNDS, grid=4).plan()
    collection = Collection(plan, np.random.default_rng(3).spawn(1)[0])
    from_blocks = crowd.add_up(collection, collection.nothing)
    assert from_blocks == crowd.collect(collection)
    assert from_blocks == collect(plan, crowd.paths(plan.grid), np.random.default_rng(3))
    assert sum(from_blocks.users) == crowd.users


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three Parquet files with row groups of different sizes."""
    target = tmp_path_factory.mktemp("walks")
    trips = walks(CHUNK + 5000)
    for number, (start, stop) in enumerate(((0, 9000), (9000, 9001), (9001, len(trips)))):
        pq.write_table(
            trips.part(start, stop).to_arrow(), target / f"{number}.parquet", row_group_size=7000 + number
        )
    return target


@pytest.mark.slow
@pytest.mark.parametrize(
    ("memory", "method"), [(1 << 16, "single-report"), (1 << 16, "paper"), (1 << 30, "paper")]
)
def test_files_give_what_memory_gives(folder: Path, tmp_path: Path, method: str, memory: int) -> None:
    settings = {"bounds": BOUNDS, "grid": 4, "method": method, "seed": 5}
    whole = run_method(lt.read(folder, bounds=BOUNDS), 1.0, **settings)
    run = run_files(folder, tmp_path / "out", 1.0, Running(memory=memory, batches=True), **settings)
    again = lt.read(tmp_path / "out")
    assert run.count == run.users == len(whole.trajectories) == len(again)
    assert np.array_equal(again.x, whole.trajectories.x)
    assert np.array_equal(again.offsets, whole.trajectories.offsets)
    assert again.ids is not None
    assert np.array_equal(again.ids, np.arange(len(again)))
    assert dict(again.provenance or {})["plan_id"] == whole.privacy()["plan_id"]
    assert "lie outside the bounds: omitted" in run.account.line()


@pytest.mark.slow
def test_a_pilot_from_files_is_that_of_memory(folder: Path, tmp_path: Path) -> None:
    source, settings = folder / "0.parquet", {"bounds": BOUNDS, "pilot": 0.2, "seed": 5, "count": 100}
    whole = run_method(lt.read(source, bounds=BOUNDS), 0.5, **settings)
    run_files(source, tmp_path / "out.parquet", 0.5, **settings)
    assert np.array_equal(lt.read(tmp_path / "out.parquet").x, whole.trajectories.x)


@pytest.mark.parametrize("unit", ["user", "trip"])
def test_users_with_several_trajectories(tmp_path: Path, unit: str) -> None:
    trips = walks(3000)
    names = [None if number % 17 == 0 else f"user {number % 700}" for number in range(3000)]
    source = tmp_path / "real.parquet"
    lt.write(replace(trips, extra=pa.table({"user_id": names}), user="user_id"), source)
    settings = {"bounds": BOUNDS, "grid": 4, "seed": 5, "unit": unit}
    whole = run_method(lt.read(source, bounds=BOUNDS), 1.0, **settings)
    run = run_files(source, tmp_path / "out.parquet", 1.0, **settings)
    assert (run.users, run.unit) == (whole.users, whole.unit)
    assert np.array_equal(lt.read(tmp_path / "out.parquet").x, whole.trajectories.x)


@pytest.mark.parametrize("order", ["sorted", "shuffled"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("memory", [1 << 14, 1 << 30])
def test_points_are_assembled_into_trips(tmp_path: Path, order: str, kind: str, memory: int) -> None:
    """The same trips in the same order as all in memory, from any number of parts."""
    trips = walks(700)
    owner = np.repeat(np.arange(700), trips.sizes)
    within = np.arange(trips.points) - np.repeat(trips.offsets[:-1], trips.sizes)
    rows = (
        np.random.default_rng(2).permutation(trips.points) if order == "shuffled" else np.arange(trips.points)
    )
    table = pa.table(
        {
            "trip": [f"t{number}" for number in owner[rows]],
            "x": trips.x[rows],
            "y": trips.y[rows],
            "t": within[rows],
        }
    )
    source = tmp_path / f"points.{kind}"
    if kind == "csv":
        write_csv(table, source)
    else:
        pq.write_table(table, source, row_group_size=500)
    whole = lt.read(source, bounds=BOUNDS)
    batches = opened(source, memory)
    parts = Trajectories.concat(list(batches))
    batches.close()
    assert np.array_equal(parts.offsets, whole.offsets)
    assert np.array_equal(parts.x, whole.x)
    assert parts.t is not None
    assert np.array_equal(parts.t, whole.t)
    assert batches.expected == 700


@pytest.mark.parametrize("kind", ["trips.parquet", "points.parquet", "points.csv"])
def test_a_trip_larger_than_memory_is_told(tmp_path: Path, kind: str) -> None:
    """Short trips around a long one: all are read where it fits, and it is named where it does not."""
    sizes = [3] * 40 + [4000] + [3] * 40
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    trips = Trajectories(np.linspace(0, 1, offsets[-1]), np.linspace(0, 1, offsets[-1]), offsets)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    table = pa.table({"trip": owner, "x": trips.x, "y": trips.y})
    source = tmp_path / kind
    if kind == "trips.parquet":
        lt.write(trips, source)
    elif kind == "points.csv":
        write_csv(table, source)
    else:
        pq.write_table(table, source, row_group_size=500)
    batches = opened(source, 1 << 18)
    assert np.array_equal(Trajectories.concat(list(batches)).offsets, offsets)
    batches.close()
    with pytest.raises(InputError, match="one trajectory has 4,000 points, 0 MB, and the limit is 0 MB"):
        list(opened(source, 1 << 16))


def test_blocks_of_dense_trips_are_drawn_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldptrace.engines.local._DRAWN", 10)
    labels = {"crs": None, "provenance": None}
    trips = walks(2 * CHUNK + 5)
    write_drawn(Made(trips), tmp_path / "out.parquet", labels)
    assert pq.read_metadata(tmp_path / "out.parquet").num_row_groups == 3
    assert np.array_equal(lt.read(tmp_path / "out.parquet").x, trips.x)


def test_whole_numbers_may_be_followed_by_fractions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The reader looks at the first of its blocks, and the fractions are in the last.
    monkeypatch.setattr("ldptrace.io.csv.BLOCK_BYTES", 1 << 16)
    source = tmp_path / "points.csv"
    rows = [f"{number},{0.5 if number > 8_990 else 0},0" for number in range(9_000)]
    source.write_text("trip,x,y\n" + "\n".join(rows) + "\nlast,0.25,1\n")
    batches = opened(source, 1 << 20)
    found = Trajectories.concat(list(batches))
    batches.close()
    assert len(found) == 9_001
    assert found.x[-1] == 0.25


def test_what_was_put_aside_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source = tmp_path / "points.csv"
    source.write_text("trip,x,y\n1,0,0\n1,1,1\n2,0,1\n")
    batches = opened(source)
    assert len(list(tmp_path.iterdir())) == 2
    batches.close()
    assert list(tmp_path.iterdir()) == [source]


def test_files_without_anything_usable_say_so(tmp_path: Path) -> None:
    source = tmp_path / "far.parquet"
    lt.write(Trajectories.from_lists([[(5, 5), (6, 6)]]), source)
    with pytest.raises(InputError, match="no point lies in the bounds"):
        list(opened(source))
    lt.write(Trajectories.from_lists([]), source)
    with pytest.raises(NothingUsable):
        list(opened(source))


def test_a_method_without_a_model_reads_everything_into_memory(folder: Path, tmp_path: Path) -> None:
    settings = {"bounds": BOUNDS, "grid": 4, "method": "ngram", "hide_length": True, "seed": 1}
    source = folder / "0.parquet"
    run = run_files(source, tmp_path / "out.parquet", 1.0, **settings)
    assert np.array_equal(
        lt.read(tmp_path / "out.parquet").x, run_method(source, 1.0, **settings).trajectories.x
    )
    assert run.release is None


def test_an_interrupted_output_leaves_nothing(tmp_path: Path) -> None:
    class Interrupted(Made):
        count = 4 * CHUNK

        def pieces(self, number: int) -> Iterator[Trajectories]:
            if number == 2:
                raise KeyboardInterrupt
            yield self.trajectories

    for target in (tmp_path / "out", tmp_path / "out.parquet"):
        with pytest.raises(KeyboardInterrupt):
            write_drawn(Interrupted(walks(CHUNK)), target, {"crs": None, "provenance": None})
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out", "out.parquet", "out.csv"])
@pytest.mark.parametrize("count", [0, 5, CHUNK + 1])
def test_any_number_to_any_output(tmp_path: Path, name: str, count: int) -> None:
    plan = Facts(1000, 1.0, BOUNDS, grid=4).plan()
    paths = Memory(walks(1000)).paths(plan.grid)
    model = PathModel.fit(Estimates.from_tally(plan, collect(plan, paths, np.random.default_rng(1))))
    draw = Sampler.of(model, count, np.random.default_rng(2))
    write_drawn(draw, tmp_path / name, {"crs": "EPSG:4326", "provenance": {"epsilon": "1"}})
    expected = model.sample(count, np.random.default_rng(2))
    if count:
        found = lt.read(tmp_path / name)
        assert found.crs == "EPSG:4326"
        np.testing.assert_allclose(found.x, expected.x)
    elif name != "out.csv":
        assert pq.read_table(tmp_path / name).num_rows == 0


def test_very_dense_points_are_drawn_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than a piece is drawn at a time, and what is written is what is drawn in memory."""
    inside = within(walks(1000), BOUNDS)[0]
    model = run_method(inside, 1.0, bounds=BOUNDS, grid=2, method="paper", seed=1, time="off").synthesis.model
    assert model is not None
    draw = Sampler.of(model, 300, np.random.default_rng(2), Along(spacing=0.01))
    whole = draw.trips()
    monkeypatch.setattr("ldptrace.models.base.DENSE", 2000)
    pieces = list(draw.pieces(0))
    assert len(pieces) > 3
    assert max(piece.points for piece in pieces) < 6000
    write_drawn(draw, tmp_path / "out", {"crs": None, "provenance": None})
    np.testing.assert_array_equal(lt.read(tmp_path / "out").x, whole.x)


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        write_drawn(Made(walks(5)), tmp_path / "out", {"crs": None, "provenance": None})
    assert (tmp_path / "out" / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(("first", "dated"), [(0.0, False), (1.7e9, True)])
def test_files_know_whether_their_times_are_dates(tmp_path: Path, first: float, dated: bool) -> None:
    plain = walks(50)
    lt.write(replace(plain, t=first + np.arange(plain.points)), tmp_path / "timed.parquet")
    crowd = opened(tmp_path / "timed.parquet")
    assert crowd.timed
    assert crowd.dated == dated


def test_those_who_are_left_are_counted_before_a_grid_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nine in ten leave the bounds, which is known only when they are read. Trips may get worse, so that few are enough
    for a finer grid; no other test takes this epsilon, whose grids are remembered."""
    monkeypatch.setattr("ldptrace.curator.planning.WORSE", 1.0)
    trips = Trajectories.concat([Trajectories.from_lists([[(5, 5)]] * 9_000), walks(1_000)])
    lt.write(trips, tmp_path / "real.parquet")
    settings = {"bounds": BOUNDS, "seed": 5, "count": 5, "outside": "drop"}
    with pytest.warns(PrivacyWarning, match="stay silent"):
        whole = run_method(lt.read(tmp_path / "real.parquet"), 5.5, **settings)
    with pytest.warns(PrivacyWarning, match="stay silent"):
        run = run_files(tmp_path / "real.parquet", tmp_path / "out.parquet", 5.5, **settings)
    assert run.grid == whole.grid
    assert run.grid.n < choose_grid(len(trips), 5.5)
    assert run.users == run.account.trajectories == whole.users


def test_who_has_no_times_answers_without(tmp_path: Path) -> None:
    """Some clocks failed: the others' times count, however many trajectories are in a batch."""
    trips = walks(2000)
    t = 30_000.0 + 60.0 * np.arange(trips.points) % 7200
    t[np.repeat(np.arange(2000) % 10 == 3, trips.sizes)] = np.nan
    pq.write_table(replace(trips, t=t).to_arrow(), tmp_path / "real.parquet", row_group_size=500)
    found = []
    for memory in (1 << 16, 1 << 30):
        crowd = opened(tmp_path / "real.parquet", memory)
        assert crowd.timed
        plan = Facts(crowd.users, 1.0, BOUNDS, grid=4, time=True).plan()
        found.append(crowd.collect(Collection(plan, np.random.default_rng(3).spawn(1)[0])))
    assert found[0] == found[1]
    known = Memory(replace(trips, t=np.nan_to_num(t, nan=30_000.0)).take(trips.x[trips.offsets[:-1]] < 2))
    assert found[0] != known.collect(Collection(plan, np.random.default_rng(3).spawn(1)[0]))


def test_what_is_published_of_each_trajectory_goes_anywhere(tmp_path: Path) -> None:
    real, settings = (
        walks(300),
        {"bounds": BOUNDS, "grid": 4, "method": "ngram", "seed": 1, "hide_length": True},
    )
    real = real.take(np.logical_and.reduceat((real.x <= 1) & (real.y <= 1), real.offsets[:-1]))
    whole = run_method(real, 1.0, **settings)
    for name in ("out", "out.parquet", "out.csv"):
        run_files(real, tmp_path / name, 1.0, **settings)
        np.testing.assert_allclose(lt.read(tmp_path / name).x, whole.trajectories.x)


@pytest.mark.parametrize("name", ["out.csv", "out.tsv.gz", "out.parquet", "out.geojson"])
def test_block_by_block_is_the_file_of_all_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for room in ("base", "local"):
        monkeypatch.setattr(f"ldptrace.engines.{room}.CHUNK", 64)
    trips = replace(walks(6 * 64 + 9), crs="EPSG:4326", provenance={"epsilon": "1"})
    trips = replace(trips, ids=np.arange(len(trips)), t=60.0 * np.arange(trips.points) % 900)
    labels = {"crs": trips.crs, "provenance": trips.provenance}
    (tmp_path / "blocks").mkdir()
    write_drawn(Made(trips), tmp_path / "blocks" / name, labels)
    lt.write(trips, tmp_path / name)
    files = [(folder / name).read_bytes() for folder in (tmp_path, tmp_path / "blocks")]
    assert name == "out.parquet" or len({gzip.decompress(d) if name.endswith("z") else d for d in files}) == 1
    again, expected = lt.read(tmp_path / "blocks" / name), lt.read(tmp_path / name)
    np.testing.assert_array_equal(again.x, expected.x)
    assert again.provenance == expected.provenance == {"epsilon": "1"}


@pytest.mark.parametrize("name", ["parts.parquet", "parts.csv", "parts.geojson"])
def test_parts_are_written_as_they_come(name: str, tmp_path: Path) -> None:
    """Ids go on from part to part, and only a few parts are in memory at a time."""
    seen: list[weakref.ref[Trajectories]] = []

    def parts() -> Iterator[Trajectories]:
        for number in range(12):
            part = Trajectories.from_lists([[(number, 0.0), (number, 1.0)], [(number, 2.0), (number, 3.0)]])
            seen.append(weakref.ref(part))
            yield part
            del part
            assert sum(alive() is not None for alive in seen) <= 4

    labels = {"provenance": {"epsilon": "1"}}
    assert write_sets(numbered(parts(), labels), tmp_path / name) == 24
    found = lt.read(tmp_path / name)
    assert found.x.tolist() == np.repeat(np.arange(12.0), 4).tolist()
    assert found.ids is not None
    assert found.ids.tolist() == list(range(24))
