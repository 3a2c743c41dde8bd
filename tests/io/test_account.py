from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from ldptrace.core.outside import Crossings
from ldptrace.core.reading import Names, Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.files import open_batches
from ldptrace.errors import DataWarning, FormatError, InputError, NothingUsable
from ldptrace.io import account as accounts
from ldptrace.io import read_with_account, write
from ldptrace.io.account import Account, Owners, Parsed, each, in_memory, naming, of_table
from ldptrace.io.files import trajectories_of
from trajectory_kit import assert_same


@pytest.mark.parametrize(
    ("name", "values", "user", "hinted"),
    [
        ("taxi", [1, 1, 2], None, True),
        ("Vehicle-ID", ["a", None, "a"], None, True),
        ("taxi", [1, 2, 3], None, False),
        ("taxi", [1, None, None], None, False),
        ("mode", ["bus", "bus", "tram"], None, False),
        ("taxi", [1, 1, 2], "taxi", False),
    ],
)
def test_a_column_that_may_name_users_is_suggested_and_never_taken(
    name: str, values: list[object], user: str | None, hinted: bool
) -> None:
    trips = replace(
        Trajectories.from_lists([[(0, 0)]] * 3), extra=pa.table({"speed": [1, 1, 1], name: values}), user=user
    )
    found = Owners.of(trips)
    assert found.repeated == (name if hinted else None)
    said = f"column {name} repeats between trips: does it name users? (--user {name})"
    assert found.hint == (said if hinted else "")
    assert Owners.of(Trajectories.from_lists([[(0, 0)]])).hint == ""


def trips(taxis: list[object]) -> Trajectories:
    found = Trajectories.from_lists([[(0, 0), (1, 1)]] * len(taxis))
    return replace(found, extra=pa.table({"taxi": taxis}))


def test_repeats_are_seen_from_part_to_part() -> None:
    parts = [Owners.of(trips([first, first + 1])) for first in (0, 2, 4)]
    assert (parts[0] + parts[1] + parts[2]).repeated is None
    assert (parts[0] + parts[1] + parts[0]).repeated == "taxi"
    assert (parts[0] + Owners() + parts[0]).repeated == "taxi"
    assert (Owners(repeated="taxi") + parts[1]).repeated == "taxi"


def test_few_values_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "REMEMBERED", 3)
    found = sum((Owners.of(trips([10 * part, 10 * part + 1])) for part in range(50)), Owners())
    assert len(found.values["taxi"]) == 4
    assert len(Owners.of(trips(list(range(9)))).values["taxi"]) == 3


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_a_file_in_batches_says_the_same(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write(trips([7, 8, 9, 7]), path)
    found = open_batches(path, always=True)
    assert found is not None
    assert sum(len(batch) for batch in found) == 4
    assert found.account.owners.repeated == read_with_account(path)[1].owners.repeated == "taxi"
    assert "does it name users? (--user taxi)" in found.account.line()
    found.close()


def test_functions_warn_and_values_stay_where_they_are() -> None:
    with pytest.warns(DataWarning, match="column taxi repeats between trips"):
        trajectories_of(trips([7, 7]).to_arrow())
    account = read_with_account(trips([123_456, 1]))[1]
    assert "123456" not in json.dumps(account.to_dict())
    assert account.to_dict()["owners"] is None


HERE = Path("trips.csv")


def one(id: int, **said: object) -> Parsed:
    return Trajectories([id], [id], [0, 1], ids=[id]), Account(rows=3, **said)  # type: ignore[arg-type]


def joined(*parts: Parsed) -> Parsed:
    files = {Path(str(number)): part for number, part in enumerate(parts)}
    return each(lambda path, _: files[path])(list(files), Reading())


def test_files_are_added_up() -> None:
    first = one(4, dropped={"a": 1}, notes=("n",), doubts={"odd rows": 2})
    found, account = joined(first, one(5, dropped={"a": 2, "b": 0}, notes=("n", "m"), doubts={"odd rows": 1}))
    assert found.ids is not None
    assert found.ids.tolist() == [4, 5]
    assert (account.rows, account.dropped, account.notes) == (6, {"a": 3}, ("n", "m"))
    assert account.doubts == {"odd rows": 3}


def test_ids_that_repeat_between_files_are_no_ids() -> None:
    found, account = joined(one(4), one(4))
    assert found.ids is None
    assert account.notes == ("numbered anew, because ids repeat between the files",)


@pytest.mark.parametrize(
    ("dropped", "dropped_points", "omitted"),
    [
        ({}, {}, ""),
        ({"empty": 1}, {}, "; omitted 1 trajectory (empty)"),
        ({}, {"a": 1, "b": 1}, "; omitted 2 points (1 a, 1 b)"),
    ],
)
def test_what_was_omitted(
    dropped: Mapping[str, int], dropped_points: Mapping[str, int], omitted: str
) -> None:
    account = Account("-", "csv", 9, 1, 2, dropped, dropped_points, ("sorted",))
    assert account.line() == f"-: 1 trajectory, 2 points{omitted}; sorted"
    assert account.to_dict()["dropped_points"] == dropped_points


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (NothingUsable("no\n rows"), NothingUsable),
        (pa.ArrowInvalid("bad block\nmore"), FormatError),
        (EOFError("ends too early"), FormatError),
        (OSError("Not a gzipped file"), FormatError),
        (PermissionError(13, "Permission denied"), InputError),
    ],
)
def test_whatever_goes_wrong_names_the_file_in_one_line(error: Exception, kind: type[Exception]) -> None:
    with pytest.raises(InputError, match=r"^trips\.csv: ") as caught, naming(HERE):
        raise error
    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)


def test_what_is_no_error_of_a_file_passes() -> None:
    with pytest.raises(ZeroDivisionError), naming(HERE):
        raise ZeroDivisionError


def test_a_reader_of_one_file_reads_several() -> None:
    def read(path: Path, _: Reading) -> Parsed:
        if path.name == "bad":
            raise FormatError("not this")
        return one(int(path.name))

    assert len(each(read)([Path("1"), Path("2")], Reading())[0]) == 2
    with pytest.raises(FormatError, match=r"^bad: not this"):
        each(read)([Path("1"), Path("bad")], Reading())


def test_accounts_of_parts_add_up() -> None:
    parts = [
        Account("a", "csv", 5, 3, 30, {"short": 1}, {"infinite": 2}, ("n",), Crossings("clamp", 1, 1)),
        Account(
            "a", "csv", 6, 4, 40, {"short": 2}, {}, ("n", "m"), Crossings("clamp", 2, 3), {"jumps of it": 1}
        ),
    ]
    whole = parts[0] + parts[1]
    assert (whole.rows, whole.trajectories, whole.points) == (11, 7, 70)
    said = "omitted 3 trajectories (short) and 2 points (infinite); "
    said += "4 points of 3 trips moved to the border of the bounds"
    assert whole.line() == f"a: 7 trajectories, 70 points; {said}; 1 jump of it; n; m"


@pytest.mark.parametrize(
    ("account", "said"),
    [
        (Account("a", "csv", 9, 4, 30, crossings=Crossings("drop", 5, 7)), "4 of 9 trajectories are left"),
        (
            Account("a", "csv", 9, 9, 30, crossings=Crossings("cut", 6, 7, empty=5)),
            "4 of 9 trajectories are left",
        ),
        (Account("a", "csv", 9, 9, 30, crossings=Crossings("cut", 6, 31)), "30 of 61 points are left"),
        (Account("a", "csv", 9, 9, 30, {}, {"not a number": 40}), "30 of 70 points are left"),
        (Account("a", "csv", 9, 9, 30, crossings=Crossings("clamp", 6, 29)), ""),
        (Account("a", "csv", 9, 5, 30, {"short": 4}), ""),
    ],
)
def test_that_most_is_lost_comes_first(account: Account, said: str) -> None:
    assert account.mostly_lost().endswith(said)
    assert account.line().startswith("a: MOST OF IT IS LOST: " if said else f"a: {account.trajectories} ")


@pytest.mark.parametrize(
    ("account", "nothing"),
    [
        (Account("a", "csv", 0, 0, 0), True),
        (Account("a", "csv", 2, 2, 0), False),
        (Account("a", "csv", 2, 2, 0, {}, {"infinite": 3}), True),
        (Account("a", "csv", 2, 2, 0, crossings=Crossings("cut", 2, 5, empty=2)), True),
        (Account("a", "csv", 2, 2, 5, crossings=Crossings("clamp", 2, 5)), True),
        (Account("a", "csv", 2, 2, 6, crossings=Crossings("clamp", 2, 5)), False),
    ],
)
def test_nothing_is_left(account: Account, nothing: bool) -> None:
    assert account.nothing_left == nothing


ROWS = {"trip": [1, 1, 2], "lon": [13.4, 13.5, 13.6], "lat": [52.4, 52.5, 52.6]}
WANTED = Trajectories([13.4, 13.5, 13.6], [52.4, 52.5, 52.6], [0, 2, 3], ids=[1, 2], crs="EPSG:4326")


def test_rows_points_and_what_was_left_out() -> None:
    table = pa.table({"trip": [1, None, 1], "x": [0, 1, 2], "y": [5, 6, 7], "t": [9, 8, 7]})
    parsed = of_table(table, Reading())
    assert parsed[1].rows == 3
    assert parsed[1].dropped_points == {"no trajectory id": 1}
    assert parsed[0].x.tolist() == [2, 0]
    assert parsed[1].notes == ("points sorted by time",)
    assert of_table(table.slice(2), Reading())[1].dropped_points == {}


def test_what_the_user_said_counts() -> None:
    table = pa.table({"a": [1, 2], "b": [3, 4], "t": ["2024-07-01 12:00:00"] * 2})
    parsed = of_table(table, Reading(names=Names(x="b", y="a"), timezone="Europe/Berlin", split_gap=900))
    trips = parsed[0]
    assert (len(trips), trips.x.tolist(), trips.timezone) == (1, [3, 4], "Europe/Berlin")
    assert trips.t is not None
    assert trips.t.tolist() == [1_719_828_000.0] * 2


def test_a_complaint_names_the_line() -> None:
    with pytest.raises(NothingUsable, match="line 2: column x holds 'a', not a number"):
        of_table(pa.table({"trip": [1], "x": ["a"], "y": [1]}), Reading(), place="line", first=2)


def test_trajectories_are_themselves() -> None:
    parsed = in_memory(WANTED, Reading())
    assert parsed[0] is WANTED
    assert parsed[1].rows == 2


def test_tables_and_frames_are_read_alike() -> None:
    pandas = pytest.importorskip("pandas")
    table = pa.table(ROWS)
    for data in (table, table.to_batches()[0], table.to_reader(), pandas.DataFrame(ROWS)):
        parsed = in_memory(data, Reading())
        assert_same(parsed[0], WANTED)
        assert parsed[1].rows == 3


def test_named_columns_count_in_memory_too() -> None:
    parsed = in_memory(
        pa.table({"a": [1], "b": [2], "who": [7]}), Reading(names=Names(x="b", y="a", id="who"))
    )
    assert (parsed[0].x.tolist(), parsed[0].y.tolist()) == ([2], [1])


def test_frames_with_geometry_count_their_rows() -> None:
    geopandas = pytest.importorskip("geopandas")
    points = geopandas.points_from_xy(ROWS["lon"], ROWS["lat"])
    frame = geopandas.GeoDataFrame({"trip": ROWS["trip"]}, geometry=points, crs="EPSG:4326")
    parsed = in_memory(frame, Reading())
    assert_same(parsed[0], WANTED)
    assert parsed[1].rows == 3


@pytest.mark.parametrize("data", [7, None, [(0, 1)], {"x": [1]}])
def test_anything_else_is_refused(data: object) -> None:
    with pytest.raises(InputError, match=rf"trajectories are needed \(.*\), got {type(data).__name__}"):
        in_memory(data, Reading())


def test_times_without_a_zone_beside_others_are_counted() -> None:
    table = pa.table(
        {"trip": [1, 1], "x": [0, 1], "y": [5, 6], "t": ["2024-05-01T08:00Z", "2024-05-01 10:01"]}
    )
    parsed = of_table(table, Reading(timezone="Europe/Berlin"))
    assert parsed[0].t is not None
    assert (parsed[0].t - 1_714_550_400).tolist() == [0, 60]
    what = "times without a zone, read on the clocks of Europe/Berlin, beside times with one"
    assert parsed[1].doubts == {what: 1}
