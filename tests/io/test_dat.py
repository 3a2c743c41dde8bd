from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError
from ldptrace.io import read, read_with_account, write


def saved(folder: Path, text: str) -> Path:
    path = folder / "a.dat"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "#3:\n>0:1.5,2;3,4;\n#7:\n>0:5,6;\n",
        "#3:\r\n>0: 1.5,2;3,4\r\n#7:\r\n>0: 5,6\r\n",
        "#3:\n>0:1.5,2;3,4;\n#7:\n>0:5,6;",
        "#3:\n\n>0:1.5,2;3,4;\n\n#7:\n>0:5,6;\n\n",
    ],
)
def test_spellings(tmp_path: Path, text: str) -> None:
    found = read(saved(tmp_path, text))
    assert found.ids is not None
    assert found.ids.tolist() == [3, 7]
    assert found.sizes.tolist() == [2, 1]
    assert found.x.tolist() == [1.5, 3, 5]
    assert found.y.tolist() == [2, 4, 6]
    assert found.crs is None


def test_the_text_that_is_written(tmp_path: Path) -> None:
    write(Trajectories.from_lists([[(1.5, 2), (3, 4)], [(5, 6)]]), tmp_path / "a.dat")
    assert (tmp_path / "a.dat").read_text() == "#0:\n>0:1.5,2;3,4;\n#1:\n>0:5,6;\n"


def test_empty_trajectories_and_missing_numbers_are_counted(tmp_path: Path) -> None:
    found, report = read_with_account(saved(tmp_path, "#0:\n>0:\n#1:\n>0:1,2;nan,3;\n"))
    assert found.ids is not None
    assert found.ids.tolist() == [0, 1]
    assert (report.dropped, report.empty) == ({}, 1)
    assert report.dropped_points == {"not a number": 1}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("#0:\n>0:1,2;\n#1:\n>0:1,2;3;\n", 4),
        ("#0:\n>0:1,2;x,3;\n", 2),
        ("#0:\n>0:1,2;\nwhat is this\n", 3),
        ("#0:\n>0:1,2,3;\n", 2),
        ("traj_id,x,y\n1,2,3\n", 1),
    ],
)
def test_what_is_not_the_format_names_file_and_line(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(
        FormatError, match=rf"a.dat: line {line}: expected '#<number>:' or '>0:x,y;x,y;\.\.\.', got"
    ):
        read(saved(tmp_path, text))
