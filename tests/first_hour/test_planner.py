"""The first hour of a transport planner with a CSV from a vendor: encodings, commas, dates, strange names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ldptrace.cli import application
from ldptrace.errors import FormatError, InputError
from ldptrace.io import read, read_with_account

BERLIN = "13.0,52.3,13.8,52.7"
MOVEBANK = "event-id,timestamp,location-long,location-lat,individual-local-identifier"
HEAD = "Gerät;Fahrt;Breitengrad;Längengrad;Zeit"
ROWS = [
    "A;1;52,5163;13,3777;01.05.2024 08:00:00",
    "A;1;52,5170;13,3889;01.05.2024 08:02:00",
    "A;2;52,5186;13,4010;01.05.2024 17:00:00",
    "A;2;52,5190;13,4110;01.05.2024 17:03:00",
    "B;1;52,5219;13,4132;01.05.2024 09:00:00",
    "B;1;52,5230;13,4200;01.05.2024 09:01:00",
]
COLUMNS = {"user": "Gerät", "id": "Fahrt", "t": "Zeit"}


def saved(folder: Path, lines: list[str], encoding: str = "utf-8", name: str = "export.csv") -> Path:
    (folder / name).write_bytes("\r\n".join([*lines, ""]).encode(encoding))
    return folder / name


def run(*arguments: object, code: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(
        application(str(arguments[0])), [str(argument) for argument in arguments], catch_exceptions=False
    )
    assert result.exit_code == code, result.output
    return result.stdout, result.stderr


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_the_file_as_the_vendor_sends_it(tmp_path: Path, encoding: str) -> None:
    trips = read(saved(tmp_path, [HEAD, *ROWS], encoding), timezone="Europe/Berlin", **COLUMNS)
    assert trips.sizes.tolist() == [2, 2, 2]
    assert trips.y[0] == 52.5163
    assert trips.crs == "EPSG:4326"
    assert trips.users.tolist() == [0, 0, 1]
    assert trips.t is not None
    # Eight in the morning in Berlin is six in Greenwich.
    assert trips.t[0] == 1_714_543_200
    assert trips.timezone == "Europe/Berlin"


def test_what_is_not_understood_is_said_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(
        FormatError, match=r"which trajectory a point belongs to .* name it with id \(--id Gerät,"
    ):
        read(saved(tmp_path, [HEAD, *ROWS]))
    with pytest.raises(InputError, match="there is no column 'fahrt' for id; the columns are Gerät, Fahrt"):
        read(saved(tmp_path, [HEAD, *ROWS]), id="fahrt")


# Devices draw afresh in every run, and what becomes of two reports is anybody's guess.
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_the_whole_way_on_the_command_line(tmp_path: Path) -> None:
    path = saved(tmp_path, [HEAD, *ROWS], "latin-1")
    named = ("--user", "Gerät", "--id", "Fahrt", "--t", "Zeit", "--timezone", "Europe/Berlin")
    out, _ = run("inspect", path, *named)
    assert "users        2 (column Gerät)" in out
    assert "Fahrt repeats between users, so user and trip together identify a trajectory" in out
    assert "2024-05-01T08:00:00+02:00" in out
    _, err = run("synthesize", path, "-o", tmp_path / "syn.csv", "--epsilon", 1, "--bounds", BERLIN, *named)
    assert "2 devices out of 3 trajectories" in err
    assert read(tmp_path / "syn.csv").provenance is not None


def test_one_log_without_any_id_is_cut_at_its_gaps(tmp_path: Path) -> None:
    rows = [row.split(";", 2)[2] for row in ROWS]
    path = saved(tmp_path, ["Breitengrad;Längengrad;Zeit", *rows])
    trips = read(path, t="Zeit", split_gap=900)
    assert trips.sizes.tolist() == [2, 2, 2]
    # It is one person's log: whoever synthesises it counts one user.
    assert trips.users.tolist() == [0, 0, 0]
    with pytest.raises(FormatError, match="--split-gap"):
        read(path, t="Zeit")


@pytest.mark.parametrize(
    ("times", "first", "said"),
    [
        (["1714543200", "1714543260"], 1_714_543_200, None),
        (["1714543200000", "1714543260000"], 1_714_543_200, "milliseconds"),
        (["1714543200000000", "1714543260000000"], 1_714_543_200, "microseconds"),
        (["2024-05-01T08:00:00+02:00", "2024-05-01T08:01:00+02:00"], 1_714_543_200, None),
        (["2024-05-01 06:00:00", "2024-05-01 06:01:00"], 1_714_543_200, None),
        (["2024-05-01T06:00:00.250Z", "2024-05-01T06:01:00Z"], 1_714_543_200.25, None),
        (["20240501060000", "20240501060100"], 1_714_543_200, None),
        (["01/05/2024 06:00:00", "01/05/2024 06:01:00"], 1_714_543_200, "day first"),
        (["05/01/2024 06:00:00 AM", "05/01/2024 06:01:00 AM"], 1_714_543_200, None),
        (["2024-05-01", "2024-05-01"], 1_714_521_600, "without a time of the day"),
        (["08:00:00", "08:01:00"], 28_800, None),
        (["8:00", "8:01"], 28_800, None),
    ],
)
def test_times_as_people_write_them(tmp_path: Path, times: list[str], first: float, said: str | None) -> None:
    path = saved(tmp_path, ["trip,lon,lat,time", *(f"1,13.4,52.5,{time}" for time in times)])
    trips, report = read_with_account(path)
    assert trips.t is not None
    assert trips.t[0] == first
    assert len(trips.t) == 2
    assert (said or "") in report.line()
    out, _ = run("inspect", path)
    assert "Traceback" not in out


def test_dates_that_begin_with_the_month_name_the_option(tmp_path: Path) -> None:
    path = saved(tmp_path, ["trip,lon,lat,time", "1,13.4,52.5,05/13/2024 06:00:00"])
    with pytest.raises(InputError, match="--month-first"):
        read(path)
    times = read(path, month_first=True).t
    assert times is not None
    assert times.tolist() == [1_715_580_000]


def test_a_day_and_a_clock_in_two_columns(tmp_path: Path) -> None:
    path = saved(tmp_path, ["trip,lon,lat,date,time", "1,13.4,52.5,2024-05-01,06:00:00"])
    trips = read(path)
    assert trips.t is not None
    assert trips.t.tolist() == [1_714_543_200]


def test_times_that_cannot_be_are_told(tmp_path: Path) -> None:
    lines = ["trip,lon,lat,t", "1,13.4,52.5,1714543200", "1,13.5,52.5,1714543200", "1,14.5,52.5,1714543201"]
    out, _ = run("inspect", saved(tmp_path, lines))
    assert "time stands still in 1 step to another place" in out
    assert "1 step faster than 1,224 km/h" in out


@pytest.mark.parametrize(
    ("header", "row", "user", "trips"),
    [
        ("uid,tid,lat,lng,datetime", "1,0,52.5,13.4,2024-05-01 08:00:00", "uid", 1),
        ("user_id,tracked_at,latitude,longitude", "1,2024-05-01 08:00:00,52.5,13.4", "user_id", 1),
        (
            MOVEBANK,
            "7,2024-05-01 08:00:00.000,13.4,52.5,stork",
            "individual-local-identifier",
            1,
        ),
        ("MMSI,BaseDateTime,LAT,LON,SOG", "219000001,2024-05-01T08:00:00,52.5,13.4,7", None, 1),
        ("shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence", "S1,52.5,13.4,1", None, 1),
        ("traj_id,t,geometry", "1,2024-05-01 08:00:00,POINT (13.4 52.5)", None, 1),
        ("trip_id,t,geom", "1,2024-05-01 08:00:00,SRID=4326;POINT(13.4 52.5)", None, 1),
        (
            "trip_id,t,location",
            '1,2024-05-01 08:00:00,"{""type"": ""Point"", ""coordinates"": [13.4, 52.5]}"',
            None,
            1,
        ),
    ],
)
def test_the_usual_names_of_other_tools(
    tmp_path: Path, header: str, row: str, user: str | None, trips: int
) -> None:
    found = read(saved(tmp_path, [header, row]))
    assert len(found) == trips
    assert found.user == user
    assert (found.x[0], found.y[0]) == (13.4, 52.5)


def test_points_of_a_gtfs_shape_follow_their_numbers(tmp_path: Path) -> None:
    lines = [
        "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence",
        "a,52.5,13.5,2",
        "a,52.4,13.4,1",
        "a,52.6,13.6,10",
    ]
    assert read(saved(tmp_path, lines, name="shapes.csv")).x.tolist() == [13.4, 13.5, 13.6]


def test_two_users_with_trip_zero_stay_two(tmp_path: Path) -> None:
    lines = ["user,trip,lon,lat", "a,0,13.4,52.5", "b,0,13.5,52.6", "a,0,13.41,52.5"]
    found = read(saved(tmp_path, lines))
    assert found.sizes.tolist() == [2, 1]
    assert found.ids is None
    assert np.array_equal(found.users, [0, 1])


def test_across_the_antimeridian_no_jump_is_counted(tmp_path: Path) -> None:
    longitudes = (179.91, 179.94, 179.97, -180.0, -179.97, -179.94, -179.91)
    path = saved(tmp_path, ["trip,lon,lat", *(f"1,{lon},-17" for lon in longitudes)])
    out, _ = run("inspect", path)
    assert "jumps" not in out
    assert "bounds       179.91,-17,180.09,-17" in out
    result = CliRunner().invoke(
        application("inspect"), ["inspect", str(path), "--bounds", "177,-20,-177,-12"]
    )
    assert "as in 177,-20,183,-12" in str(result.exception)
    out, _ = run("inspect", path, "--bounds", "177,-20,183,-12")
    assert "1 trajectory, 7 points" in out
