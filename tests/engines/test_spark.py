"""The Spark engine on a standalone cluster with two workers on this machine, one of which is killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest

import ldptrace as lt
from ldptrace.core.parallel import CHUNK
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.planning import choose_plan
from ldptrace.curator.tally import Tally
from ldptrace.engines.spark import Spark, SparkCrowd, address
from ldptrace.errors import InputError
from ldptrace.simulation import Collection
from ldptrace.synthesis import run_files

BOUNDS = (0.0, 0.0, 1.0, 1.0)
HOME = Path(pyspark.__file__).parent
SOURCE = Path(lt.__file__).parent.parent


pytestmark = pytest.mark.slow


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


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


@pytest.fixture(scope="session")
def cluster(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Spark, list[subprocess.Popen[bytes]]]]:
    folder, port = tmp_path_factory.mktemp("cluster"), free_port()
    url = f"spark://127.0.0.1:{port}"
    processes = [
        launched("master.Master", folder, "--host", "127.0.0.1", "--port", port, "--webui-port", free_port())
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_MASTER_URL", url)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv(
            "PYSPARK_SUBMIT_ARGS",
            "--conf spark.ui.enabled=false --conf spark.executor.memory=512m --conf spark.executor.cores=1 "
            "--conf spark.task.maxFailures=8 --conf spark.sql.shuffle.partitions=4 "
            f"--conf spark.executorEnv.PYTHONPATH={SOURCE} --driver-memory 512m pyspark-shell",
        )
        try:
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
    rng = np.random.default_rng(seed)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(1, 6, count))))
    return Trajectories(rng.random(offsets[-1]), rng.random(offsets[-1]), offsets)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("walks")
    trips = walks(CHUNK + 20_000)
    for number, start in enumerate(range(0, len(trips), 15_000)):
        part = trips.part(start, min(start + 15_000, len(trips)))
        pq.write_table(part.to_arrow(), target / f"{number}.parquet")
    return target


def test_from_files_to_files_with_a_lost_worker(
    cluster: tuple[Spark, list[subprocess.Popen[bytes]]], folder: Path, tmp_path: Path
) -> None:
    spark, workers = cluster
    plan, _ = choose_plan(50_000, 1.0, BOUNDS, n=4)
    collection = Collection(plan, np.random.default_rng(3).spawn(1)[0])
    crowd = SparkCrowd(spark, str(folder), BOUNDS)
    assert crowd.users == CHUNK + 20_000
    quiet = crowd.add_up(collection, collection.nothing)
    assert sum(quiet.users) == crowd.users

    first = run_files(
        crowd, tmp_path / "first", 1.0, engine=spark, bounds=BOUNDS, grid=4, seed=5, count=CHUNK + 10
    )
    made = lt.read(tmp_path / "first")
    assert len(made) == first.count == CHUNK + 10
    assert made.ids is not None
    assert np.array_equal(np.sort(made.ids), np.arange(CHUNK + 10))
    assert dict(made.provenance or {})["plan_id"] == first.privacy()["plan_id"]

    killed: list[float] = []

    def kill() -> None:
        time.sleep(2)
        end(workers[0])
        killed.append(time.monotonic())

    thread = threading.Thread(target=kill)
    thread.start()

    def slow(block: Trajectories, number: int) -> Tally:
        time.sleep(3)
        return collection(block, number)

    disturbed = crowd.add_up(slow, collection.nothing)
    assert killed
    assert killed[0] < time.monotonic()
    thread.join()
    assert disturbed == quiet
    run_files(crowd, tmp_path / "again", 1.0, engine=spark, bounds=BOUNDS, grid=4, seed=5, count=CHUNK + 10)
    again = lt.read(tmp_path / "again")
    assert np.array_equal(made.x, again.x)


def test_points_and_users(cluster: tuple[Spark, list[subprocess.Popen[bytes]]], tmp_path: Path) -> None:
    """One row per point, in any order; and one trajectory of each user."""
    spark, _ = cluster
    trips = walks(300)
    owner = np.repeat(np.arange(300), trips.sizes)
    rows = np.random.default_rng(2).permutation(trips.points)
    within = np.arange(trips.points) - np.repeat(trips.offsets[:-1], trips.sizes)
    points = pa.table({"trip": owner[rows], "x": trips.x[rows], "y": trips.y[rows], "t": within[rows]})
    pq.write_table(points, tmp_path / "points.parquet")
    plan, _ = choose_plan(300, 1.0, BOUNDS, n=4)
    collection = Collection(plan, np.random.default_rng(3))
    crowd = SparkCrowd(spark, str(tmp_path / "points.parquet"), BOUNDS)
    assert crowd.users == 300
    assert sum(crowd.add_up(collection, collection.nothing).users) == 300

    owned = trips.to_arrow().append_column("user_id", pa.array([number % 40 for number in range(300)]))
    pq.write_table(owned, tmp_path / "owned.parquet")
    crowd = SparkCrowd(spark, str(tmp_path / "owned.parquet"), BOUNDS)
    assert crowd.play_devices("user", np.random.default_rng(1)).name == "user"
    assert sum(crowd.add_up(collection, collection.nothing).users) == 40


def test_what_a_cluster_does_not_write_is_refused(
    cluster: tuple[Spark, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="folder of Parquet"):
        cluster[0].write(lambda count, _: walks(count), 5, tmp_path / "out.csv", {})


def test_addresses_stay_as_they_were_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["ldptrace", "synthesize", "s3a://bucket/trips", "-o", "out"])
    assert address(Path("s3a://bucket/trips")) == "s3a://bucket/trips"
    assert address(Path("out")) == "out"
