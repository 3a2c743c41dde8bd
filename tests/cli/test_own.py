"""A person's own device: standing plans at the command line, and refusals that no point can cause."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldptrace as lt
from cli_kit import error_of, run
from ldptrace.cli.own import own_trips
from ldptrace.core.reading import Reading
from ldptrace.device import Ledger, Reporter
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import report_bytes, window_of
from ldptrace.protocol.standing import Standing
from ldptrace.protocol.units import moment

WEEK = Standing.of(7 * 86_400, epsilon=1, lifetime=2)
PLAN = Plan.single_report(Grid((0, 0, 6, 6), 6), 1).changed(standing=WEEK)
T0 = 1_700_000_000


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LDPTRACE_LEDGER", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    Path("plan.json").write_text(PLAN.to_json())
    Path("trip.csv").write_text(f"id,x,y,t\n1,1,1,{T0 + 100}\n1,5,5,{T0 + 900}\n")
    return tmp_path


def asked(now: object, *more: str, out: str = "report") -> tuple[int, str]:
    found = run(
        *("report", "--plan", "plan.json", "--trajectory", "trip.csv", "--ledger", "ledger.json"),
        *("--now", str(now), "-o", out, *more),
    )
    return found.exit_code, found.output


@pytest.mark.usefixtures("here")
def test_a_standing_plan_week_by_week() -> None:
    """Accepted, answered at once when a window has ended, the same bytes until sent, and no more than the lifetime."""
    code, said = asked(T0)
    assert code == 0
    due = re.search(r"nothing written: The next answer is due at (\S+)\.", said)
    assert due is not None
    assert not Path("report").exists()
    first = moment("--now", due[1])
    assert T0 < first <= T0 + WEEK.every
    assert asked(first - 1)[0] == 0
    assert not Path("report").exists()
    assert asked(due[1])[0] == 0
    data = Path("report").read_bytes()
    assert len(data) == report_bytes(PLAN.rounds[0])
    assert asked(first + 5, out="again")[0] == 0
    assert Path("again").read_bytes() == data
    assert run("report", "--plan", "plan.json", "--ledger", "ledger.json", "--sent").exit_code == 0
    code, said = asked(first + 5, out="new")
    assert (code, Path("new").exists()) == (0, False)
    assert "due at" in said
    assert asked(first + WEEK.every, out="second")[0] == 0
    assert window_of(Path("second").read_bytes()) == window_of(data) + 1
    later = ("--ledger", "ledger.json", "--now", str(first + 3 * WEEK.every), "-o", "third")
    said = error_of("report", "--plan", "plan.json", "--trajectory", "trip.csv", *later)
    assert "plan-lifetime" in said
    assert not Path("third").exists()
    assert Ledger("ledger.json").spent == 2
    decoded = run("decode", "ledger.json").stdout
    assert "2 answers" in decoded


@pytest.mark.usefixtures("here")
def test_trying_clocks_needs_a_ledger_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    command = ("report", "--plan", "plan.json", "--trajectory", "trip.csv", "--now", str(T0), "-o", "report")
    assert "give --ledger FILE" in error_of(*command)
    monkeypatch.setenv("LDPTRACE_LEDGER", "mine.json")
    assert "give --ledger FILE" in error_of(*command)
    assert not Path("mine.json").exists()
    assert "a moment with its zone" in error_of(*command[:-3], "noon", "-o", "report", "--ledger", "l.json")


@pytest.mark.usefixtures("here")
def test_explain_begins_with_what_was_given() -> None:
    command = ("report", "--plan", "plan.json", "--ledger", "ledger.json", "--now", str(T0), "--explain")
    lines = run(*command).stdout.splitlines()
    assert lines[0] == "Given so far: epsilon 0. Your limit is 5, so 5 is left."
    assert lines[1] == "You have not accepted this plan. It costs epsilon 1 every 7 days."
    assert PLAN.id in lines[2]
    assert not Path("ledger.json").exists()
    asked(T0)
    asked(T0 + WEEK.every)
    lines = run(*command).stdout.splitlines()
    assert lines[0] == "Given so far: epsilon 1. Your limit is 5, so 4 is left."
    assert lines[1] == "To this plan: 1 answer, epsilon 1 of its lifetime 2."
    assert lines[2].startswith("The next answer is due at ")
    lines = run(*command[:-2], str(T0 + 9 * WEEK.every), "--explain").stdout.splitlines()
    assert lines[2] == "An answer is due now."
    lines = run(*command, "--limit", "1").stdout.splitlines()
    assert "less than epsilon 1" in lines[2]


@pytest.mark.usefixtures("here")
def test_only_trips_of_the_window_are_told() -> None:
    """A plan that names the truth nearly always: a recorded trip of the window is in the report, others are not."""
    sure = Plan.single_report(Grid((0, 0, 6, 6), 6), 20, questions=["start"]).changed(
        standing=Standing.of(7 * 86_400, epsilon=20, lifetime=900)
    )
    Path("plan.json").write_text(sure.to_json())
    ledger = ("--limit", "900")
    asked(T0, *ledger)
    row = Ledger("ledger.json").standing[0]
    ends = [WEEK.end(row.window + k, row.phase) for k in (1, 2, 3)]
    arrivals = [T0 - 5, T0 + 5 if ends[0] > T0 + 5 else ends[0], ends[0] + 1, ends[1], ends[1] + 1]
    rows = [f"{k},{k}.5,{k}.5,{t}" for k, t in enumerate(arrivals)]
    Path("trip.csv").write_text("\n".join(["id,x,y,t", *rows, "9,0.5,0.5,30000"]) + "\n")
    named = []
    for end in ends:
        asked(end, *ledger, out="r")
        [(_, [slot])] = lt_read("r", sure)
        named.append([item for item in slot if item < 36])
    # Cell (k, k) is the start of trip k; one of those of the window is drawn.
    assert named[0] == [7]
    assert named[1] in ([14], [21])
    assert named[2] == [28]


def lt_read(path: str, plan: Plan) -> list[tuple[object, list[tuple[int, ...]]]]:
    from ldptrace.protocol.reports import read_report

    return list(read_report(Path(path).read_bytes(), plan, 0))


FILES = {
    "points.geojson": '{"type":"LineString","coordinates":[[1,1],[2,2]]}',
    "empty.geojson": '{"type":"FeatureCollection","features":[]}',
    "nothing.geojson": "",
    "points.gpx": '<gpx><trk><trkseg><trkpt lat="1" lon="1"/></trkseg></trk></gpx>',
    "empty.gpx": "<gpx></gpx>",
    "points.csv": "id,lon,lat\n1,1,1\n",
    "empty.csv": "id,lon,lat\n",
    "no numbers.csv": "id,lon,lat\n1,a,b\n",
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.usefixtures("here")
def test_a_refusal_depends_on_the_kind_of_file_alone(name: str) -> None:
    """A plan in metres refuses every file of longitudes and latitudes, whether it holds points or not."""
    metres = Plan.single_report(Grid((0, 0, 6, 6), 6), 1, crs="EPSG:3857")
    Path("plan.json").write_text(metres.to_json())
    Path(name).write_text(FILES[name])
    said = error_of(
        "report", "--plan", "plan.json", "--trajectory", name, "--ledger", "l.json", "-o", "report"
    )
    assert "plan-other-coordinates" in said
    assert not Path("report").exists()
    degrees = Plan.single_report(Grid((0, 0, 6, 6), 6), 1, crs="EPSG:4326")
    Path("plan.json").write_text(degrees.to_json())
    assert own_trips(Path(name), Reading()).crs == "EPSG:4326"
    command = ("report", "--plan", "plan.json", "--trajectory", name, "--ledger", "l.json", "-o", "report")
    assert run(*command).exit_code == 0


@pytest.mark.usefixtures("here")
def test_what_single_points_say_of_themselves_refuses_nothing() -> None:
    """A coordinate system beside each point, points that are none, lists of two sizes: the content, not the kind."""
    for text in (
        "id,wkt\n",
        "id,wkt\n1,SRID=4326;POINT(1 1)\n",
        "id,wkt\n1,LINESTRING(1 1)\n",
        "id,wkt\n1,\n",
    ):
        Path("points.csv").write_text(text)
        assert own_trips(Path("points.csv"), Reading()).crs is None
    for x, y in (([1.0, 2.0], [1.0]), ([1.0], [1.0])):
        pq.write_table(pa.table({"traj_id": [1], "x": [x], "y": [y]}), "lists.parquet")
        own = own_trips(Path("lists.parquet"), Reading())
        assert (len(own.recordings), own.crs) == (int(len(x) == len(y)), None)


@pytest.mark.usefixtures("here")
def test_tables_say_their_coordinates_with_and_without_rows() -> None:
    for name, x in (("degrees", [1.0]), ("metres", [])):
        trips = lt.Trajectories(np.array(x), np.array(x), np.array([0, len(x)]), crs="EPSG:25832")
        lt.write(trips, f"{name}.parquet")
        assert own_trips(Path(f"{name}.parquet"), Reading()).crs == "EPSG:25832"
    for text in ("id,x,y\n", "id,x,y\n1,2,3\n"):
        Path("plain.csv").write_text(text)
        assert own_trips(Path("plain.csv"), Reading()).crs is None
        assert own_trips(Path("plain.csv"), Reading(crs="EPSG:3857")).crs == "EPSG:3857"
    named = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}}
    for features in (
        [],
        [{"type": "Feature", "geometry": {"type": "LineString", "coordinates": [[1, 1], [2, 2]]}}],
    ):
        document = {"type": "FeatureCollection", "crs": named, "features": features}
        Path("named.geojson").write_text(json.dumps(document))
        assert own_trips(Path("named.geojson"), Reading()).crs == "EPSG:3857"


@pytest.mark.usefixtures("here")
def test_one_of_several_trips_is_drawn() -> None:
    rows = [f"{k},{k % 6}.5,0.5" for k in range(12)]
    Path("many.csv").write_text("\n".join(["id,x,y", *rows]) + "\n")
    trips = own_trips(Path("many.csv"), Reading()).recordings
    assert len(trips) == 12
    sure = Plan.single_report(Grid((0, 0, 6, 6), 6), 20, questions=["start"])
    seen = set()
    for _ in range(200):
        report = Reporter(sure, "none").report(trips)
        Path("r").write_bytes(report)
        [(_, [slot])] = lt_read("r", sure)
        seen |= {item for item in slot if item < 36}
    assert seen >= {6 * k for k in range(6)}


def test_moments() -> None:
    assert moment("--now", "2026-11-16T08:00+01:00") == moment("--now", "2026-11-16T07:00Z")
    for text in ("2026-11-16", "2026-11-16T08:00", "now", "", "nan", "9" * 401):
        with pytest.raises(InputError, match="a moment with its zone"):
            moment("--now", text)
