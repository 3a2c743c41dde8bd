"""A collection from the command line: plan, reports, tally, estimates, and every file in words."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli_kit import PLAN, error_of, run, status
from ldptrace.cli.own import own_trips
from ldptrace.core.reading import Reading
from ldptrace.core.times import OWN_CLOCKS
from ldptrace.curator import Tally
from ldptrace.device import Reporter, trip_of
from ldptrace.device.files import read_trips
from ldptrace.device.program import main as device
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import report_bytes
from shuffled_kit import KEY, shuffled


@pytest.mark.usefixtures("folder")
def test_a_report_and_again_the_same(folder: Path) -> None:
    first = run("report", "--plan", "plan.json", "--trajectory", "trip.csv", "-o", "report")
    assert first.exit_code == 0, first.output
    data = Path("report").read_bytes()
    assert len(data) == report_bytes(PLAN.rounds[0]) <= 64
    Path("other.csv").write_text("id,x,y\n1,5.5,5.5\n")
    assert run("report", "--plan", "plan.json", "--trajectory", "other.csv", "-o", "again").exit_code == 0
    assert Path("again").read_bytes() == data
    assert run("report", "--plan", "plan.json", "--sent").exit_code == 0
    assert "plan-answered" in error_of(
        "report", "--plan", "plan.json", "--trajectory", "trip.csv", "-o", "new"
    )
    assert not Path("new").exists()
    assert "sent" in run("decode", str(folder / "ledger.json")).stdout


@pytest.mark.parametrize("text", ["", "id,x,y\n", "id,x,y\n1,nan,nan\n", "id,x,y\n1,1e300,-1e300\n"])
@pytest.mark.usefixtures("folder")
def test_every_trajectory_is_answered(text: str) -> None:
    """Silence would be an answer too."""
    Path("odd.csv").write_text(text)
    result = run("report", "--plan", "plan.json", "--trajectory", "odd.csv", "-o", "report")
    assert result.exit_code == 0, result.output
    assert len(Path("report").read_bytes()) == report_bytes(PLAN.rounds[0])


def line(*coordinates: str) -> str:
    return '{"type":"LineString","coordinates":[' + ",".join(coordinates) + "]}"


ODD_FILES = {
    "home.geojson": '{"type":"Point","coordinates":[1,1]}',
    "home as a feature.geojson": '{"type":"Feature","geometry":{"type":"Point","coordinates":[1,1]},"properties":{}}',
    "places.geojson": '{"type":"FeatureCollection","features":['
    + ",".join(['{"type":"Feature","geometry":{"type":"Point","coordinates":[1,1]},"properties":{}}'] * 2)
    + "]}",
    "nothing.geojson": '{"type":"FeatureCollection","features":[]}',
    "no features.geojson": '{"type":"FeatureCollection","features":[null,7,"x",{}]}',
    "no geometry.geojson": '{"type":"Feature","geometry":null,"properties":null}',
    "null.geojson": line("[1,null]", "[2,2]"),
    "nulls.geojson": line("null", "null"),
    "numbers.geojson": line("1", "2"),
    "text.geojson": line('["1","2"]', '["a","b"]'),
    "deep.geojson": line("[[1,2]]", "[[3,4]]"),
    "huge.geojson": line(f"[1{'0' * 400},1]", "[1,1]"),
    "thousands of digits.geojson": line(f"[1{'0' * 5000},1]", f"[-1{'0' * 9000},1]"),
    "infinite.geojson": line("[1e999,1]", "[-1e999,1]"),
    "no numbers.geojson": line("[NaN,NaN]", "[NaN,1]"),
    "not on earth.geojson": line("[1,1000]", "[5000,2000]"),
    "odd times.geojson": '{"type":"Feature","geometry":'
    + line("[1,1]", "[2,2]")
    + ',"properties":{"times":7}}',
    "words.csv": "id,x,y\n1,here,there\n1,there,here\n",
    "header.csv": "id,x,y\n",
    "ragged.csv": "id,x,y\n1\n2,3,4,5,6\n",
    "empty places.csv": "id,x,y\n1,,\n",
    "infinite.csv": "id,x,y\n1,inf,-inf\n1,nan,1e400\n",
    "empty.csv": "",
    "words.gpx": '<gpx><trk><trkseg><trkpt lat="x" lon="y"/></trkseg></trk></gpx>',
    "nothing.gpx": "<gpx/>",
    "words.dat": "#0:\n>0:a,b;\n",
    "cut.gpx": '<gpx><trk><trkseg><trkpt lat="1" lon="1"/>',
    "page.gpx": "<html></html>",
    "cut.geojson": "{",
    "other.geojson": '{"type":"Foo"}',
    "other.json": '{"type":"Foo"}',
    "bomb.geojson": "[" * 100_000,
    "columns.csv": "a,b\n1,2\n",
    "cut.csv": "id,lo",
    "photo.parquet": "PNG",
}


@pytest.mark.parametrize("name", ODD_FILES)
@pytest.mark.usefixtures("folder")
def test_whatever_is_in_a_trajectory_file_it_is_answered(name: str) -> None:
    Path(name).write_text(ODD_FILES[name])
    result = run("report", "--plan", "plan.json", "--trajectory", name, "-o", "report")
    assert result.exit_code == 0, result.output
    assert len(Path("report").read_bytes()) == report_bytes(PLAN.rounds[0])


@pytest.mark.usefixtures("folder")
def test_a_file_in_which_no_trip_was_found_is_named() -> None:
    """Silent towards the curator, never towards the person."""
    words = "no trip was found in it, and the device answers that there is none"
    for name, found in (("columns.csv", False), ("trip.csv", True)):
        if not found:
            Path(name).write_text(ODD_FILES[name])
        given = ("--trajectory", name, "-o", "report", "--ledger", f"{name}.json")
        said = run("report", "--plan", "plan.json", *given).output
        assert (f"{name}: {words}" in said) != found
        # And why, with options that the command has.
        assert ("columns.csv: no column for x" in said) != found
        assert ("(--x, --y)" in said) != found
    named = ("--trajectory", "columns.csv", "--x", "a", "--y", "b", "--id", "a", "-o", "report")
    assert words not in run("report", "--plan", "plan.json", *named, "--ledger", "named.json").output


@pytest.mark.parametrize("name", [name for name in ODD_FILES if name.endswith((".gpx", ".geojson"))])
@pytest.mark.usefixtures("folder")
def test_both_commands_make_the_same_of_a_file(name: str) -> None:
    Path(name).write_text(ODD_FILES[name])
    # NaN is not equal to itself.
    assert repr(own_trips(Path(name), Reading())) == repr(read_trips([name]))
    given = ["--plan", "plan.json", "--ledger", "theirs.json", "--trajectory", name, "-o", "theirs"]
    assert device(["report", *given]) == 0
    assert len(Path("theirs").read_bytes()) == report_bytes(PLAN.rounds[0])


@pytest.mark.slow
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3), st.lists))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
def test_whatever_the_coordinates_are(tmp_path_factory: pytest.TempPathFactory, coordinates: object) -> None:
    file = tmp_path_factory.mktemp("odd") / "odd.geojson"
    file.write_text(json.dumps({"type": "LineString", "coordinates": coordinates}))
    own = own_trips(file, Reading())
    assert own.crs == "EPSG:4326"
    assert len(Reporter(PLAN, "none").report(own.recordings)) == report_bytes(PLAN.rounds[0])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("trip.xyz", "1 2 3"),
        ("trip.xyz", '{"type":"LineString","coordinates":[[1,1],[2,2]]}'),
        ("missing.csv", None),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_missing_file_and_an_unknown_format_are_errors(name: str, text: str | None, folder: Path) -> None:
    if text is not None:
        Path(name).write_text(text)
    assert error_of("report", "--plan", "plan.json", "--trajectory", name, "-o", "report")
    assert not Path("report").exists()
    assert not (folder / "ledger.json").exists()


@pytest.mark.usefixtures("folder")
def test_explain_alone_spends_nothing(folder: Path) -> None:
    result = run("report", "--plan", "plan.json", "--explain")
    assert "would leave this device" in result.stdout
    assert not (folder / "ledger.json").exists()
    result = run("report", "--plan", "plan.json", "--trajectory", "trip.csv", "-o", "report", "--explain")
    assert Path("report").read_bytes().hex() in result.stdout


@pytest.mark.usefixtures("folder")
def test_first_wrong_steps() -> None:
    assert "say what to do" in error_of("report", "--plan", "plan.json")
    assert "--trajectory" in error_of("report", "--plan", "plan.json", "-o", "report")
    args = ("report", "--plan", "plan.json", "--trajectory", "trip.csv", "-o", "report")
    assert "plan-over-limit" in error_of(*args, "--limit", "0.5")
    assert "plan-changed" in error_of(*args, "--plan-id", "0" * 64)
    assert "plan-no-such-round" in error_of(*args, "--round", "2")
    Path("plan.json").write_text(PLAN.to_json() + "\n")
    assert "plan-malformed" in error_of(*args)
    Path("plan.json").write_bytes(b"\xff")
    assert "plan-malformed" in error_of(*args)
    assert not Path("report").exists()


@pytest.mark.usefixtures("folder")
def test_coordinates_must_fit() -> None:
    Path("plan.json").write_text(Plan.single_report(PLAN.grid, 1.0, crs="EPSG:3857").to_json())
    Path("trip.csv").write_text("id,lon,lat\n1,0.5,0.5\n1,3.0,4.0\n")
    args = ("report", "--plan", "plan.json", "--trajectory", "trip.csv", "-o", "report")
    assert "plan-other-coordinates" in error_of(*args)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_from_reports_to_estimates() -> None:
    for person in range(12):
        args = ("report", "--plan", "plan.json", "--trajectory", "trip.csv", "-o", f"r{person}")
        assert run(*args, "--ledger", f"l{person}.json").exit_code == 0
    Path("batch").write_bytes(b"".join(Path(f"r{person}").read_bytes() for person in range(10)))
    result = run("tally", "batch", "r9", "r10", "--plan", "plan.json", "-o", "one.json", "--ids", "ids")
    assert result.exit_code == 0, result.output
    assert "11 of 12 reports counted" in result.output
    assert "1 omitted, duplicate" in result.output
    # A second run that knows the ids counts only what is new.
    result = run("tally", "r10", "r11", "--plan", "plan.json", "-o", "two.json", "--ids", "ids")
    assert "1 of 2 reports counted" in result.output
    result = run("estimate", "one.json", "two.json", "--plan", "plan.json", "-o", "estimates.json")
    assert result.exit_code == 0, result.output
    questions = json.loads(Path("estimates.json").read_text())["questions"]
    assert sum(found["users"] for found in questions.values()) == 12
    for name, words in {
        "plan.json": "A plan of protocol version 1",
        "one.json": "A tally of round 1",
        "estimates.json": "Estimates of plan",
        "batch": "One or more reports",
    }.items():
        assert words in run("decode", name).stdout
    assert "10 reports of" in run("decode", "batch", "--plan", "plan.json").stdout


@pytest.mark.usefixtures("folder")
def test_questions_that_nobody_answered_are_named_and_have_no_table() -> None:
    Path("tally.json").write_text(Tally.zero(PLAN, 0).to_json())
    result = run("estimate", "tally.json", "--plan", "plan.json")
    assert result.exit_code == 0, result.output
    assert "Nobody answered: length, start, end" in result.stdout
    assert "inf" not in result.stdout


@pytest.mark.usefixtures("folder")
@pytest.mark.usefixtures("folder")
def test_hours_are_shown_with_whose_they_are() -> None:
    """What a report would say, estimates and a fitted model: devices answer about their own clocks."""
    timed = Plan.single_report(Grid((0, 0, 6, 6), 6), 4, questions=["departure", "visits"])
    Path("timed.json").write_text(timed.to_json())
    Path("zoned.csv").write_text("id,x,y,t\n1,0.5,0.5,1700206200\n1,3.0,4.0,1700206800\n")
    given = ("--plan", "timed.json", "--trajectory", "zoned.csv", "--explain", "--ledger", "l.json")
    assert "Hours are those of the clock of this device." in run("report", *given).output
    said = run("report", *given, "--timezone", "Asia/Shanghai").output
    assert "Hours are those of Asia/Shanghai." in said
    assert "Hours are" not in run("report", "--plan", "plan.json", *given[2:]).output
    reporter = Reporter(timed, "none")
    Path("r").write_bytes(b"".join(reporter.report([(1.0, 1.0, 3600.0)]) for _ in range(20)))
    assert run("tally", "r", "--plan", "timed.json", "-o", "t.json").exit_code == 0
    said = run("estimate", "t.json", "--plan", "timed.json", "-o", "e.json").output
    assert OWN_CLOCKS in said
    assert OWN_CLOCKS in run("fit", "e.json", "-o", "f.npz").output


@pytest.mark.usefixtures("folder")
def test_a_tally_goes_to_stdout_too() -> None:
    run("report", "--plan", "plan.json", "--trajectory", "trip.csv", "-o", "r")
    result = run("tally", "r", "--plan", "plan.json")
    assert json.loads(result.stdout)["format"] == "ldptrace-tally"


def test_times_of_a_file_reach_the_questions_about_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the device's own clock showed them: 7:30 UTC on a Friday is half past eight in Lagos."""
    monkeypatch.setenv("TZ", "Africa/Lagos")
    time.tzset()
    try:
        (tmp_path / "trip.csv").write_text("id,x,y,t\n1,0.5,0.5,1700206200\n1,3.0,4.0,1700206800\n")
        (tmp_path / "day.csv").write_text("id,x,y,t\n1,0.5,0.5,30600\n1,3.0,4.0,31200\n")
        for name in ("trip.csv", "day.csv"):
            [recording] = own_trips(tmp_path / name, Reading()).recordings
            points = recording.points
            trip = trip_of(points, PLAN.grid)
            assert trip.hour is not None
            assert trip.hour % 24 == 8
            assert trip.seconds == 600
        # A file that states its zone is right about the hours, wherever it is read.
        when = pa.array([1_700_206_200, 1_700_206_800], pa.timestamp("s", "America/Los_Angeles"))
        pq.write_table(
            pa.table({"trip_id": [1, 1], "x": [0.5, 3.0], "y": [0.5, 4.0], "t": when}), tmp_path / "z.parquet"
        )
        own = own_trips(tmp_path / "z.parquet", Reading())
        assert own.timezone == "America/Los_Angeles"
        assert trip_of(own.recordings[0].points, PLAN.grid).hour % 24 == 23
        assert own.recordings[0].arrival == 1_700_206_800
        own = own_trips(tmp_path / "trip.csv", Reading(timezone="America/Los_Angeles"))
        assert trip_of(own.recordings[0].points, PLAN.grid).hour % 24 == 23
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.usefixtures("folder")
def test_a_tally_of_reports_none_of_which_counts_is_an_error() -> None:
    """Zero counts that nobody wanted look like an unused collection; those of other windows and repeats do not."""
    Path("batch").write_bytes(b"x" * 200)
    Path("tally.json").write_text("before")
    wrong = error_of("tally", "batch", "--plan", "plan.json", "-o", "tally.json", "--ids", "ids")
    assert wrong.startswith("none of ")
    assert "can be counted: " in wrong
    assert "unknown-version" in wrong
    assert Path("tally.json").read_text() == "before"
    assert not Path("ids").exists()
    run("report", "--plan", "plan.json", "--trajectory", "trip.csv", "-o", "r", "--ledger", "l.json")
    for counted in ("1 of 1 report counted", "0 of 1 report counted"):
        again = run("tally", "r", "--plan", "plan.json", "-o", "tally.json", "--ids", "ids")
        assert again.exit_code == 0, again.output
        assert counted in again.output


@pytest.mark.usefixtures("folder")
def test_a_folder_of_reports_is_counted_and_a_broken_plan_is_named() -> None:
    Path("pile").mkdir()
    for name in ("a", "b"):
        told = ("report", "--plan", "plan.json", "--trajectory", "trip.csv", "-o", f"pile/{name}")
        run(*told, "--ledger", f"{name}.json")
    Path("pile/.hidden").write_bytes(b"x")
    assert "2 of 2 reports counted" in run("tally", "pile", "--plan", "plan.json", "-o", "t.json").output
    for command in ("tally pile --plan trip.csv", "report --plan trip.csv --trajectory trip.csv -o r"):
        assert error_of(*command.split()).startswith("trip.csv: plan-malformed: ")


def test_a_shuffled_plan_is_answered_with_a_sealed_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = shuffled(Plan.single_report(Grid((0.0, 0.0, 10.0, 10.0), 6), 2))
    paths = [tmp_path / name for name in ("plan.json", "trip.csv", "report", "ledger.json")]
    paths[0].write_text(plan.to_json())
    paths[1].write_text("traj_id,x,y\n1,1,1\n1,2,2\n")
    told = ("report", "--plan", paths[0], "--trajectory", paths[1], "-o", paths[2], "--ledger", paths[3])
    assert status(*told, "--no-shuffled") == 2
    assert "plan-not-wanted" in capsys.readouterr().err
    assert status(*told, "--most-local", "1") == 2
    assert status(*told, "--local-limit", "1") == 2
    assert "plan-over-limit" in capsys.readouterr().err
    assert not paths[3].exists()
    assert status(*told, "--explain") == 0
    said = capsys.readouterr()
    assert "only the curator can read the report" in said.out
    assert "2 of 30 if shuffler and curator work together" in said.err
    opened = KEY.opener(plan.id).open(paths[2].read_bytes(), b"")
    assert opened is not None
    assert opened[0] == 2
