"""The Spark engine on a standalone cluster with two workers on this machine, one of which is killed.

One test for all that needs the cluster, because starting it takes longest.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest
from typer.testing import CliRunner

import ldptrace as lt
from evaluation_data import values_of
from ldptrace.cli import application
from ldptrace.cli.common import typed_path
from ldptrace.core.parallel import CHUNK
from ldptrace.core.reading import Reading
from ldptrace.core.running import Running
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.facts import Facts
from ldptrace.curator.receive import Receiver
from ldptrace.device import Reporter
from ldptrace.engines.base import Crowd, Made
from ldptrace.engines.files import open_crowd
from ldptrace.engines.spark import Spark, _sum_groups, address, shared_files, split, sum_row
from ldptrace.engines.spark_crowd import SparkCrowd, _own_files
from ldptrace.engines.spark_reports import receive_files
from ldptrace.errors import FitWarning, InputError, NothingUsable
from ldptrace.evaluation.evaluator import evaluate
from ldptrace.evaluation.scorecard import Scorecard
from ldptrace.io.account import Account
from ldptrace.protocol.plan import Plan
from ldptrace.roads.library import Library
from ldptrace.simulation import Collection
from ldptrace.simulation.unit import TRIPS
from ports_kit import free_port
from programs_kit import require
from road_kit import lattice_roads
from synthesis_kit import run_files, run_method
from test_neighbours import cluster_says

BOUNDS = (0.0, 0.0, 1.0, 1.0)
CLUSTER = Running("spark")
SMALL: Any = {"bounds": BOUNDS, "grid": 4, "seed": 1, "repeat": 1, "attacks": False}
HOME = Path(pyspark.__file__).parent
SOURCE = Path(lt.__file__).parent.parent
# For a cluster of a minute: the machine code that better suits one of a day takes longer to make than it saves.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def launched(kind: str, folder: Path, *arguments: object) -> subprocess.Popen[bytes]:
    """A master or a worker in a group of processes of its own, so that its executors end with it."""
    environment = os.environ | {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder),
        "PYTHONPATH": str(SOURCE),
        "SPARK_DAEMON_MEMORY": "256m",
    }
    with (folder / f"{kind}.log").open("ab") as log:
        return subprocess.Popen(
            [HOME / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}", *map(str, arguments)],
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[Spark, list[subprocess.Popen[bytes]]]]:
    require("Java")
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    processes: list[subprocess.Popen[bytes]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", JAVA)
        patch.setenv("SPARK_MASTER_URL", url)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv(
            "PYSPARK_SUBMIT_ARGS",
            "--conf spark.ui.enabled=false --conf spark.executor.memory=512m --conf spark.executor.cores=1 "
            "--conf spark.task.maxFailures=8 --conf spark.sql.shuffle.partitions=2 "
            f"--conf spark.executorEnv.PYTHONPATH={SOURCE} --driver-memory 512m pyspark-shell",
        )
        try:
            processes.append(
                launched(
                    *("master.Master", folder, "--host", "127.0.0.1", "--port", port),
                    *("--webui-port", free_port()),
                )
            )
            for _ in range(2):
                processes.append(
                    launched(
                        *("worker.Worker", folder, "--host", "127.0.0.1", "--cores", 1, "--memory", "700m"),
                        *("--webui-port", free_port(), url),
                    )
                )
            with Spark.start() as spark:
                yield spark, processes[1:]
        finally:
            for process in processes:
                end(process)


def walks(count: int, seed: int = 1) -> Trajectories:
    """Trips of one to five points with times of a day."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(1, 6, count))))
    sizes = np.diff(offsets)
    leave = np.repeat(rng.random(count) * 80_000, sizes)
    t = leave + 60.0 * (np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes))
    return Trajectories(rng.random(offsets[-1]), rng.random(offsets[-1]), offsets, t=t)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files; Spark makes a partition of each or more."""
    target = tmp_path_factory.mktemp("walks")
    for number in range(3):
        lt.write(walks(700, number), target / f"{number}.parquet")
    return target


@pytest.mark.slow
def test_on_a_cluster_that_loses_a_worker(folder: Path, tmp_path: Path) -> None:
    with cluster(tmp_path) as (spark, workers):
        what_is_refused(spark, folder, tmp_path / "refused")
        made, card = synthesized(folder, tmp_path / "before"), evaluated(spark, folder)
        tallied(spark, tmp_path / "reports")
        points_and_users(spark, tmp_path)
        files_of_text(spark, tmp_path / "texts")
        along_streets(spark, tmp_path)
        commands(folder, tmp_path)
        what_is_not_written(spark, tmp_path)
        (tmp_path / "neighbours").mkdir()
        cluster_says(str(tmp_path / "neighbours"))
        with lost(workers[0]):
            # What the worker had put aside is found again from the files, and nothing else is different.
            assert on_cluster(spark, folder).to_json() == card
        assert synthesized(folder, tmp_path / "after") == made


@contextmanager
def lost(worker: subprocess.Popen[bytes]) -> Iterator[None]:
    """A worker that is killed a second after the work has begun."""
    killed = threading.Timer(1.0, end, [worker])
    killed.start()
    yield
    assert not killed.is_alive()
    assert worker.poll() is not None


def what_is_refused(spark: Spark, folder: Path, target: Path) -> None:
    """What the data cannot answer; and tasks read what they find the same in Spark's rows."""
    crowd = SparkCrowd(spark, str(folder), Reading(bounds=BOUNDS))
    assert crowd.timed
    assert not crowd.dated
    with pytest.raises(InputError, match="the day of the week is not known"):
        run_files(folder, target, 1.0, CLUSTER, bounds=BOUNDS, grid=4, week=True)
    with pytest.raises(NothingUsable, match=r"nothing in it can be used: .* MOST OF IT IS LOST"):
        run_files(folder, target, 1.0, CLUSTER, bounds=(5.0, 5.0, 6.0, 6.0), grid=4)
    by_rows = SparkCrowd(spark, str(folder), Reading(bounds=BOUNDS))
    by_rows._split, by_rows._groups = None, 2
    points = [found.add_up(lambda block, _: block.points, 0) for found in (crowd, by_rows)]
    assert points[0] == points[1] == lt.read(folder).points


def synthesized(folder: Path, target: Path) -> list[object]:
    """From files to files, with times."""
    run = run_files(folder, target, 1.0, CLUSTER, bounds=BOUNDS, grid=4, seed=5, count=CHUNK + 10)
    assert run.users == 2100
    made = lt.read(target)
    assert len(made) == run.count == CHUNK + 10
    assert made.ids is not None
    assert np.array_equal(np.sort(made.ids), np.arange(CHUNK + 10))
    assert made.t is not None
    assert dict(made.provenance or {})["plan_id"] == run.privacy()["plan_id"]
    assert any(ask.question.name == "departure" for ask in run.synthesis.plan.rounds[0].asks)  # type: ignore[union-attr]
    return [made.x.tobytes(), made.t.tobytes()]


def files_of_text(spark: Spark, target: Path) -> None:
    """Files with the same ids, each with trips of its own."""
    target.mkdir()
    for number in range(2):
        rows = [f"{k},{k + 10 * number + step},{k}" for k in range(3) for step in range(2)]
        (target / f"{number}.csv").write_text("\n".join(["traj_id,x,y", *rows]) + "\n")
    crowd = SparkCrowd(spark, str(target), Reading(format="csv"))
    assert crowd.add_up(lambda block, _: block.sizes.tolist(), []) == [2] * 6
    assert lt.read(target).sizes.tolist() == [2] * 6


def along_streets(spark: Spark, tmp_path: Path) -> None:
    """A model of streets draws on a cluster what it draws here."""
    roads = lattice_roads(5, 0.2)
    trips = Library(routes=200).draw(roads, np.random.default_rng(1)).points()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        run = run_method(trips, 5.0, bounds=BOUNDS, grid=4, seed=5, roads=roads, library=300, time="off")
    assert run.release is not None
    here = run.release.draw(60, np.random.default_rng(2)).trips()
    labels = {"crs": None, "provenance": {"epsilon": "5"}}
    for spark.shares_disk in (False, True):
        target = tmp_path / f"streets {spark.shares_disk}"
        spark.write(run.release.draw(60, np.random.default_rng(2)), target, labels)
        there = lt.read(target)
        assert np.array_equal(there.x, here.x)
        assert np.array_equal(there.offsets, here.offsets)
        assert there.provenance == labels["provenance"]


def evaluated(spark: Spark, folder: Path) -> str:
    """What is not random in a scorecard is that of this machine, to the last digits; floors are equal in law."""
    lt.write(replace(walks(800, 9), provenance={"epsilon": "1"}), beside(folder))
    here = evaluate(lt.read(folder), walks(800, 9), **SMALL)
    there = on_cluster(spark, folder)
    for name, value in values_of(here).items():
        # Squares and their points are drawn by the driver from the same tables and the same seed.
        assert values_of(there)[name]["value"] == pytest.approx(value["value"], rel=1e-9), name
    for name in ("density_error", "fine_density_error_24"):
        floors = [values_of(card)[name]["floor"] for card in (here, there)]
        assert floors[0] == pytest.approx(floors[1], rel=0.5)
    assert there.sets[0]["privacy"] == {"epsilon": "1"}
    return there.to_json()


def on_cluster(spark: Spark, folder: Path) -> Scorecard:
    """The scorecard of the set beside the folder."""
    crowds: list[Crowd] = [SparkCrowd(spark, str(path)) for path in (folder, beside(folder))]
    return evaluate(*crowds, **SMALL)


def beside(folder: Path) -> Path:
    return folder.parent / f"{folder.name}-other.parquet"


def tallied(spark: Spark, target: Path) -> None:
    """Reports in files: some twice, one cut off, one known already, one of another version."""
    plan = Facts(50, 1.0, BOUNDS, grid=4).plan()
    reporter = Reporter(plan, "none")
    reports = [reporter.report([(0.1, 0.2), (0.9, 0.2)]) for _ in range(40)]
    of_another_version = b"\0" + reports[5][1:]
    files = {"a": b"".join(reports[:25]), "b": b"".join((*reports[20:], of_another_version, reports[3][:-1]))}
    target.mkdir()
    for name, data in files.items():
        (target / name).write_bytes(data)
    tally, counts, ids = receive_files(spark, [str(target)], plan, known=_ids(plan, reports[0]))
    receiver = Receiver(plan, 0, _ids(plan, reports[0]))
    codes = [*receiver.receive(files["a"]), *receiver.receive(files["b"])]
    assert tally == receiver.tally
    assert sorted(counts.elements()) == sorted(int(code) for code in codes)
    assert sorted(_cut_in(ids, 16)) == sorted(_cut_in(receiver.ids, 16))


def _ids(plan: Plan, report: bytes) -> bytes:
    receiver = Receiver(plan)
    receiver.receive(report)
    return receiver.ids


def _cut_in(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def commands(folder: Path, tmp_path: Path) -> None:
    """`evaluate` and `tally` on the session that there is; what Spark cannot read is one clear sentence."""
    plan = Facts(50, 1.0, BOUNDS, grid=4).plan()
    (tmp_path / "plan.json").write_text(plan.to_json())
    (tmp_path / "answer").write_bytes(Reporter(plan, "none").report([(0.1, 0.2)]))
    tally = ["tally", tmp_path / "answer", "--plan", tmp_path / "plan.json", "--ids", tmp_path / "ids"]
    tally += ["-o", tmp_path / "tally.json", "--engine", "spark"]
    for counted in (1, 0):
        result = CliRunner().invoke(
            application("tally"), [str(word) for word in tally], catch_exceptions=False
        )
        assert f"{counted} of 1 report counted" in result.stderr
    assert len((tmp_path / "ids").read_bytes()) == 16
    evaluate_it = ["evaluate", folder, folder, "--engine", "spark", "--bounds", "0,0,1,1", "--no-attacks"]
    evaluate_it += ["--repeat", 1, "--grid", 2, "--json", tmp_path / "card.json"]
    result = CliRunner().invoke(
        application("evaluate"), [str(word) for word in evaluate_it], catch_exceptions=False
    )
    assert "2,100 trajectories, 6,348 points" in result.stderr
    assert json.loads((tmp_path / "card.json").read_text())["metrics"]["density_error"]["value"] == 0.0
    missing = ["evaluate", "nowhere", "nowhere", "--engine", "spark"]
    with pytest.raises(InputError, match="Spark cannot read it"):
        CliRunner().invoke(application("evaluate"), missing, catch_exceptions=False)


def points_and_users(spark: Spark, tmp_path: Path) -> None:
    """One row per point, in any order; and one trajectory of each user."""
    trips = walks(300)
    owner = np.repeat(np.arange(300), trips.sizes)
    rows = np.random.default_rng(2).permutation(trips.points)
    points = pa.table(
        {
            "user_id": owner[rows] % 7,
            "trip": owner[rows] // 7,
            "x": trips.x[rows],
            "y": trips.y[rows],
            "t": trips.t[rows],
        }  # type: ignore[index]
    )
    pq.write_table(points, tmp_path / "points.parquet")
    plan = Facts(300, 1.0, BOUNDS, grid=4).plan()
    collection = Collection(plan, np.random.default_rng(3))
    crowd = SparkCrowd(spark, str(tmp_path / "points.parquet"), Reading(bounds=BOUNDS))
    assert crowd.users == 300
    assert sum(crowd.add_up(collection, collection.nothing).users) == 300
    crowd.play_devices("user", np.random.default_rng(1))
    assert crowd.users == 7
    assert sorted(crowd.add_up(_trips_of(), [])) == sorted(300 // 7 + (user < 300 % 7) for user in range(7))
    one_of_each(spark, tmp_path / "owned.parquet")


def one_of_each(spark: Spark, target: Path) -> None:
    """Of each user one trip with points, if there is any, and how many there were: as on this machine."""
    lists = [
        [(0.1, 0.1)],
        [(0.2, 0.2)],
        [],
        [(0.3, 0.3), (0.4, 0.4)],
        [],
        [(0.5, 0.5)],
        [(0.6, 0.6)],
        [(np.nan, 0.0)],
    ]
    whose = ["a", "a", "a", "b", "c", None, None, "b"]
    owned = Trajectories.from_lists(lists).to_arrow().append_column("user_id", pa.array(whose))
    pq.write_table(owned, target)
    expected = {"a": 2, "b": 1, "c": 0}
    for seed in range(2):
        here, there = [], SparkCrowd(spark, str(target), Reading(bounds=BOUNDS))
        with ExitStack() as resources:
            local, _ = open_crowd(target, Reading(bounds=BOUNDS), Running(), resources)
            for crowd in (local, there):
                assert crowd.play_devices("user", np.random.default_rng(seed)).name == "user"
                here.append(sorted(crowd.add_up(_trips_of(), [])))
                assert (crowd.users, crowd.account.trajectories) == (5, 8)
        assert here[0] == here[1] == sorted([*expected.values(), 1, 1])


def _trips_of() -> Callable[[Trajectories, int], list[int]]:
    """How many trips each device of a block has: work that is sent to the executors, which have no module of tests."""

    def counts(block: Trajectories, _: int) -> list[int]:
        assert block.extra is not None
        found: list[int] = block.extra[TRIPS].to_pylist()
        # One without points is that of a user who has no other.
        assert [count > 0 for count in found] == [size > 0 for size in block.sizes]
        return found

    return counts


def what_is_not_written(spark: Spark, tmp_path: Path) -> None:
    """Nor read: a file of reports that is longer than a value of Spark may be, empty as it is."""
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 31)
    with pytest.raises(InputError, match=r"may have 2,147,483,647 bytes, this has 2,147,483,648: cut it"):
        receive_files(spark, [str(tmp_path / "large")], Facts(50, 1.0, BOUNDS, grid=4).plan())
    (tmp_path / "large").unlink()
    with pytest.raises(InputError, match="folder of Parquet"):
        spark.write(Made(walks(5)), tmp_path / "out.csv", {})


def test_sums_of_groups_are_made_in_order() -> None:
    rows = [
        sum_row(number << 20, found=[number], account=Account("", "spark", 2, 1, 0)) for number in range(5)
    ]
    table = pa.Table.from_batches(rows).append_column("group", pa.array([0, 0, 0, 1, 1]))
    found = [batch.to_pylist()[0] for batch in _sum_groups(iter(table.to_batches()))]
    assert [row["number"] >> 20 for row in found] == [0, 3]
    assert [pickle.loads(row["found"]) for row in found] == [[0, 1, 2], [3, 4]]
    accounts = [pickle.loads(row["account"]) for row in found]
    assert [(account.trajectories, account.rows) for account in accounts] == [(3, 6), (2, 4)]


def test_addresses_stay_as_they_were_typed() -> None:
    assert address(typed_path("s3a://bucket/trips")) == "s3a://bucket/trips"
    assert address(typed_path("out")) == address(Path("out")) == "out"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Files of 1 to 4 row groups, the second with a name that an address has to spell."""
    made = []
    for number, name in enumerate(("a", "b c", "d", "e")):
        rows = 100 * (number + 1)
        table = pa.table({"x": np.arange(rows), "y": np.full(rows, number)})
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=100)
        made.append(tmp_path / f"{name}.parquet")
    return made


@pytest.mark.parametrize("most", [1, 1000, 5000, 1 << 30])
def test_every_row_is_read_once(files: list[Path], most: int) -> None:
    tasks, rows = split(files, most)
    assert rows == 1000
    found = pa.concat_tables(_own_files(tasks, iter([pa.record_batch({"id": list(range(len(tasks)))})])))
    assert sorted(zip(found["y"].to_pylist(), found["x"].to_pylist(), strict=True)) == [
        (number, row) for number in range(4) for row in range(100 * (number + 1))
    ]


def test_small_files_are_read_together_and_large_ones_in_pieces(files: list[Path]) -> None:
    assert split(files, 1 << 30) == ((tuple((path, 0, 1) for path in files),), 1000)
    # A row group is never cut.
    assert split(files[:2], 1)[0] == (
        ((files[1], 0, 2),),
        ((files[1], 1, 2),),
        ((files[0], 0, 1),),
    )
    assert split([], 10) == ((), 0)


def test_files_are_read_by_tasks_only_if_this_machine_sees_all_of_them(files: list[Path]) -> None:
    addresses = [path.as_uri() for path in reversed(files)]
    assert shared_files(addresses) == files
    assert shared_files([*addresses, "hdfs://name/trips.parquet"]) is None
    assert shared_files([*addresses, files[0].with_name("gone.parquet").as_uri()]) is None
    assert shared_files([]) is None
