from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from ldptrace.core.outside import Crossings
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError, NothingUsable
from ldptrace.io.account import Account, Parsed, each, naming
from ldptrace.io.reading import Reading

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


@pytest.mark.parametrize(
    ("dropped", "dropped_points", "omitted"),
    [
        ({}, {}, []),
        ({"empty": 1}, {}, ["1 trajectory (empty)"]),
        ({}, {"a": 1, "b": 1}, ["2 points (1 a, 1 b)"]),
    ],
)
def test_what_was_omitted(
    dropped: Mapping[str, int], dropped_points: Mapping[str, int], omitted: list[str]
) -> None:
    account = Account("-", "csv", 9, 1, 2, dropped, dropped_points, ("sorted",))
    assert account.omitted() == omitted
    assert account.line().startswith("-: 1 trajectory, 2 points")
    assert account.line().endswith("; sorted")
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

    assert len(each(read)([Path("1"), Path("2")], Reading()).trajectories) == 2
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
