from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError, NothingUsable
from ldptrace.io.report import Parsed, Reading, ReadReport, by_reason, each, naming, total

HERE = Path("trips.csv")


def one(id: int, **said: object) -> Parsed:
    return Parsed(Trajectories([id], [id], [0, 1], ids=[id]), 3, **said)  # type: ignore[arg-type]


def test_files_are_added_up() -> None:
    joined = Parsed.concat(
        [one(4, dropped={"a": 1}, notes=("n",)), one(5, dropped={"a": 2, "b": 0}, notes=("n", "m"))]
    )
    assert joined.trajectories.ids is not None
    assert joined.trajectories.ids.tolist() == [4, 5]
    assert (joined.rows, joined.dropped, joined.notes) == (6, {"a": 3}, ("n", "m"))


def test_ids_that_repeat_between_files_are_no_ids() -> None:
    joined = Parsed.concat([one(4), one(4)])
    assert joined.trajectories.ids is None
    assert joined.notes == ("numbered anew, because ids repeat between the files",)


def test_counts_by_reason() -> None:
    assert total([{"a": 1, "b": 0}, {"a": 2, "c": 1}]) == {"a": 3, "c": 1}
    assert by_reason({"infinite": 7}) == "infinite"
    assert by_reason({"infinite": 7, "empty": 1200}) == "7 infinite, 1,200 empty"


@pytest.mark.parametrize(
    ("dropped", "dropped_points", "left_out"),
    [
        ({}, {}, []),
        ({"empty": 1}, {}, ["1 trajectory (empty)"]),
        ({}, {"a": 1, "b": 1}, ["2 points (1 a, 1 b)"]),
    ],
)
def test_what_was_left_out(
    dropped: Mapping[str, int], dropped_points: Mapping[str, int], left_out: list[str]
) -> None:
    report = ReadReport("-", "csv", 9, 1, 2, dropped, dropped_points, ("sorted",))
    assert report.left_out() == left_out
    assert report.line().startswith("-: 1 trajectory, 2 points")
    assert report.line().endswith("; sorted")
    assert report.to_dict()["dropped_points"] == dropped_points


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

    assert len(each(read)([Path("1"), Path("2")], Reading()).trajectories) == 2
    with pytest.raises(FormatError, match=r"^bad: not this"):
        each(read)([Path("1"), Path("bad")], Reading())


def test_reports_of_parts_add_up() -> None:
    parts = [
        ReadReport(
            "a", "csv", 5, 3, 30, {"short": 1}, {"infinite": 2}, ("n",), {"point": 1, "trajectory": 1}
        ),
        ReadReport("a", "csv", 6, 4, 40, {"short": 2}, {}, ("n", "m"), {"point": 3, "trajectory": 2}),
    ]
    whole = parts[0] + parts[1]
    assert (whole.rows, whole.trajectories, whole.points) == (11, 7, 70)
    said = "left out 3 trajectories (short) and 2 points (infinite); n; m; clamped 4 points of 3 trajectories"
    assert whole.line() == f"a: 7 trajectories, 70 points; {said}"
