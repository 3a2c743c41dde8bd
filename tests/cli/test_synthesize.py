"""`synthesize` as a person uses it, through the real entry point."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldptrace as lt
from cli_kit import error_of, status
from ldptrace.methods.release import Release
from ldptrace.models import load_model
from ldptrace.simulation.streams import EXPERIMENT
from trajectory_kit import straight_trips


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "trips.parquet"
    lt.write(straight_trips(600, seed=3), path)
    return path


BOUNDS = "0,0,20000,20000"
SECRET = 918273645564738291
ZONED = pa.timestamp("us", "America/Los_Angeles")


@pytest.mark.slow
def test_a_private_copy_with_its_promise(trips: Path, tmp_path: Path) -> None:
    out, model = tmp_path / "synthetic.parquet", tmp_path / "model.npz"
    arguments = ("--epsilon", 1, "--bounds", BOUNDS, "--method", "paper", "--seed", 1, "--grid", 6)
    assert status("synthesize", trips, "-o", out, "--model", model, *arguments) == 0
    assert len(lt.read(out)) == 600
    promise = json.loads(pq.read_schema(out).metadata[b"ldptrace"])
    assert promise["method"] == "paper"
    assert promise["epsilon"] == "1"
    assert len(lt.MarkovModel.load(model).sample_paths(10, np.random.default_rng(0))) == 10


@pytest.mark.slow
def test_the_same_seed_writes_the_same_data(trips: Path, tmp_path: Path) -> None:
    sets = []
    for name in ("a", "b"):
        out = tmp_path / f"{name}.parquet"
        assert (
            status(
                "synthesize", trips, "-o", out, "--epsilon", 1, "--bounds", BOUNDS, "--seed", 7, "--grid", 4
            )
            == 0
        )
        sets.append(lt.read(out))
    assert np.array_equal(sets[0].x, sets[1].x)


# The last run has no seed: its answers are others every time.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_a_seeded_run_says_that_it_is_no_release_and_not_its_seed(
    trips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, card, page = tmp_path / "s.parquet", tmp_path / "card.json", tmp_path / "card.html"
    arguments = ("--epsilon", 1, "--bounds", BOUNDS, "--grid", 4)
    assert status("synthesize", trips, "-o", out, *arguments, "--seed", SECRET) == 0
    assert EXPERIMENT in " ".join(capsys.readouterr().err.split())
    said = pq.read_schema(out).metadata[b"ldptrace"].decode()
    assert json.loads(said)["experiment"] == EXPERIMENT
    assert (
        status("evaluate", trips, out, "--bounds", BOUNDS, "--json", card, "--html", page, "--no-attacks")
        == 0
    )
    assert json.loads(card.read_text())["privacy"]["experiment"] == EXPERIMENT
    assert EXPERIMENT in " ".join(page.read_text().split())
    assert EXPERIMENT in " ".join(capsys.readouterr().err.split())
    for text in (said, card.read_text(), page.read_text()):
        assert str(SECRET) not in text
    assert status("synthesize", trips, "-o", out, *arguments) == 0
    assert EXPERIMENT not in " ".join(capsys.readouterr().err.split())
    assert json.loads(pq.read_schema(out).metadata[b"ldptrace"])["experiment"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--epsilon", "0", "--bounds", BOUNDS), "epsilon must be above 0"),
        (("--epsilon", "-1", "--bounds", BOUNDS), "epsilon must be above 0"),
        (("--epsilon", "1"), "--bounds-from-data"),
        (("--epsilon", "1", "--bounds", BOUNDS, "--grid", "1"), "2 to 256"),
        (("--epsilon", "1", "--bounds", BOUNDS, "--grid", "fine"), "whole number or auto"),
        (("--epsilon", "1", "--bounds", "0,0,1"), "four numbers"),
        (("--epsilon", "1", "--bounds", "-9,-9,-8,-8"), "bounds"),
        (("--epsilon", "1", "--bounds", BOUNDS, "--method", "magic"), "the methods are single-report"),
        (("--epsilon", "1", "--bounds", BOUNDS, "--option", "x"), "NAME=VALUE"),
        (("--epsilon", "1", "--bounds", BOUNDS, "--option", "x=1"), "no option 'x'"),
        (
            ("--epsilon", "1", "--bounds", BOUNDS, "--spacing", "-3"),
            "spacing must be a positive number, got -3",
        ),
    ],
)
def test_a_wrong_step_gets_one_sentence_and_writes_nothing(
    arguments: tuple[str, ...], message: str, trips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.parquet"
    out.write_bytes(b"before")
    assert status("synthesize", trips, "-o", out, *arguments) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    assert message in errors[0]
    assert out.read_bytes() == b"before"


@pytest.mark.parametrize(
    "wrong",
    [("--grid", "1"), ("--spacing", "-3"), ("--interval", "0"), ("--date", "soon"), ("--roads", "nowhere")],
)
def test_what_cannot_be_is_told_before_the_data_are_read(wrong: tuple[str, str], tmp_path: Path) -> None:
    said = error_of(
        "synthesize", str(tmp_path / "none"), "-o", "out.csv", "--epsilon", "1", "--bounds", BOUNDS, *wrong
    )
    assert str(tmp_path / "none") not in said


def test_bounds_from_data_warns(trips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("out.parquet", "out.csv", "out.geojson", "folder"):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            status(
                *("synthesize", trips, "-o", tmp_path / name, "--epsilon", 1, "--bounds-from-data"),
                *("--method", "paper", "--count", 3),
            )
        assert "not eps-LDP: the bounds were taken from the raw data" in capsys.readouterr().err
        assert "the bounds were taken from the raw data" in lt.read(tmp_path / name).provenance["leaks"]  # type: ignore[index]


@pytest.mark.slow
def test_trips_stay_in_a_public_area(trips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    land, out, model = tmp_path / "land.geojson", tmp_path / "s.parquet", tmp_path / "model.npz"
    ring = [[0, 0], [20000, 0], [20000, 9000], [9000, 20000], [0, 20000], [0, 0]]
    land.write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    arguments = ("--epsilon", 1, "--bounds", BOUNDS, "--grid", 6, "--seed", 1, "--area", land)
    assert status("synthesize", trips, "-o", out, "--model", model, *arguments) == 0
    for made in (lt.read(out), load_model(model).sample(500, np.random.default_rng(1), spacing=300.0)):
        assert (made.x + made.y).max() <= 29_000
    promise = json.loads(pq.read_schema(out).metadata[b"ldptrace"])
    assert any("an area that is public" in note for note in promise["notes"])
    capsys.readouterr()
    assert status("synthesize", trips, "-o", tmp_path / "p.parquet", "--method", "paper", *arguments) == 2
    assert "has no option 'area'" in capsys.readouterr().err
    assert not (tmp_path / "p.parquet").exists()


@pytest.mark.slow
def test_a_folder_to_a_folder_and_a_file_give_the_same(tmp_path: Path) -> None:
    """Input larger than --memory comes in batches, and nothing of the result depends on that."""
    rng = np.random.default_rng(3)
    source = tmp_path / "real"
    source.mkdir()
    for number in range(2):
        points = rng.random((2, 4000))
        lt.write(lt.Trajectories(*points, np.arange(0, 4001, 4)), source / f"{number}.parquet")
    common = ["synthesize", str(source), "--epsilon", "1", "--bounds", "0,0,1,1", "--seed", "4"]
    for name, memory in (("whole.parquet", "1G"), ("batches.parquet", "4K"), ("folder", "4K")):
        assert status(*common, "-o", tmp_path / name, "--memory", memory, "--grid", 4) == 0
    first, *others = (lt.read(tmp_path / name) for name in ("whole.parquet", "batches.parquet", "folder"))
    assert len(first) == 2000
    for other in others:
        assert np.array_equal(first.x, other.x)
        assert dict(other.provenance or {})["epsilon"] == "1"


@pytest.mark.parametrize("memory", ["", "0", "many", "12X"])
def test_memory_that_is_no_size_is_refused(
    trips: Path, tmp_path: Path, memory: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--epsilon", 1, "--bounds", BOUNDS, "--memory", memory)
    assert status("synthesize", trips, "-o", tmp_path / "out.parquet", *arguments) == 2
    assert "memory must be a number of bytes" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
def test_times_dates_and_none(trips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--epsilon", 1, "--bounds", BOUNDS, "--grid", 6, "--seed", 1)
    out, model = tmp_path / "s.parquet", tmp_path / "model.npz"
    dated = ("--date", "2026-07-14", "--timezone", "Europe/Paris", "--interval", 20)
    assert status("synthesize", trips, "-o", out, "--model", model, *arguments, *dated) == 0
    made = lt.read(out)
    assert made.timezone == "Europe/Paris"
    assert made.has_dates
    inner = np.ones(made.points, dtype=bool)
    inner[made.offsets[:-1]] = False
    assert made.t is not None
    assert np.all(np.diff(made.t)[inner[1:]] > 0)
    assert status("sample", model, "-o", out, "--count", 50) == 0
    drawn = lt.read(out)
    assert drawn.has_dates
    assert drawn.provenance is not None
    assert "local times of Europe/Paris" in drawn.provenance["notes"][-1]
    assert status("sample", model, "-o", out, "--count", 50, "--date", "2027-07-14") == 0
    assert lt.read(out).t.min() > drawn.t.max()  # type: ignore[union-attr]
    assert status("synthesize", trips, "-o", out, "--time", "off", *arguments) == 0
    assert lt.read(out).t is None
    capsys.readouterr()
    assert status("synthesize", trips, "-o", tmp_path / "no.parquet", *arguments, "--date", "tomorrow") == 2
    assert "a date is written as" in capsys.readouterr().err
    assert not (tmp_path / "no.parquet").exists()


def test_a_plan_that_asks_about_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "plan.json"
    arguments = ("--users", 1000, "--epsilon", 1, "--bounds", "-8.7,41,-8.4,41.4", "--crs", "EPSG:4326")
    assert status("plan", *arguments, "--time", "-o", out) == 0
    assert "the hour at which it begins" in capsys.readouterr().out
    plan = lt.Plan.from_json(out.read_bytes())
    assert plan.crs == "EPSG:4326"
    assert {"departure", "pace", "tides"} <= {ask.question.name for ask in plan.rounds[0].asks}


@pytest.mark.slow
def test_ctrl_c_in_the_middle_of_a_fit_leaves_nothing_behind(trips: Path, tmp_path: Path) -> None:
    """The time of a long fit is told, then its rounds; a real signal ends it, and no file is begun or left over."""
    aside = tmp_path / "aside"
    aside.mkdir()
    arguments = [
        "--epsilon",
        "10",
        "--bounds",
        BOUNDS,
        "--grid",
        "16",
        "--model",
        str(tmp_path / "model.npz"),
    ]
    command = ["synthesize", str(trips), "-o", str(tmp_path / "out.parquet"), *arguments]
    running = subprocess.Popen(
        [sys.executable, "-c", "from ldptrace.cli import main; main()", *command],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(aside)},
        # Who runs the tests in the background may have told them to take no notice of it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert running.stderr is not None
    said = []
    for line in running.stderr:
        said.append(line)
        if "fit: round 1" in line:
            break
    running.send_signal(signal.SIGINT)
    rest = running.stderr.read()
    running.stderr.close()
    assert running.wait() == 130, rest
    assert rest.splitlines()[-1] == "stopped"
    assert any(
        re.search(r"fitting 16 x 16 cells, [\d,]+ potentials: about \d+ s on two cores", line)
        for line in said
    )
    assert list(tmp_path.iterdir()) == [aside]
    assert list(aside.iterdir()) == []


@pytest.mark.slow
def test_the_zone_of_the_input_is_named_and_stored(
    trips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dated, zoned, out, model = (tmp_path / name for name in ("a.parquet", "b.parquet", "s.csv", "m.npz"))
    day = lt.read(trips)
    t = np.linspace(1.7e9, 1.7e9 + 80_000, day.points)
    lt.write(lt.Trajectories(day.x, day.y, day.offsets, t=t), dated)
    table = pq.read_table(dated)
    table = table.set_column(
        table.column_names.index("t"),
        "t",
        pa.ListArray.from_arrays(
            pa.array(day.offsets, pa.int32()), pa.array((t * 1e6).astype(np.int64)).cast(ZONED)
        ),
    )
    pq.write_table(table.replace_schema_metadata({}), zoned)
    arguments = ("--epsilon", 1, "--bounds", BOUNDS, "--seed", 1, "--grid", 4, "-o", out, "--model", model)
    for path, words, stored in (
        (
            dated,
            "UTC, which is assumed because no time zone such as Europe/Berlin is stated; --timezone names one",
            None,
        ),
        (zoned, "Hours are those of America/Los_Angeles.", "America/Los_Angeles"),
    ):
        assert status("synthesize", path, *arguments, "--force") == 0
        assert words in " ".join(capsys.readouterr().err.split())
        synthetic = lt.read(out)
        assert synthetic.timezone == stored
        assert synthetic.provenance is not None
        assert synthetic.provenance["timezone"] == stored
        assert Release.load(model).drawing.timezone == stored
