from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path

import pytest

import ldptrace as lt
from cli_kit import run
from evaluation_data import drifting_walks
from ldptrace.cli.common import read_input
from ldptrace.cli.evaluate import open_sets
from ldptrace.core.reading import Names, Reading
from ldptrace.core.running import Running
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.files import Files


def test_a_second_file_has_its_own_columns_and_is_not_cut(tmp_path: Path) -> None:
    real, synthetic = tmp_path / "real.csv", tmp_path / "synthetic.csv"
    real.write_text("a,x,y,t\n1,0,0,0\n1,1,1,100\n1,2,2,110\n")
    synthetic.write_text("id,x,y,t\n1,0,0,0\n1,1,1,100\n1,2,2,110\n")
    with ExitStack() as resources:
        sets = open_sets(Running(), real, [synthetic], Reading(names=Names(id="a"), split_gap=60), resources)
    assert [len(found) for found in sets if isinstance(found, Trajectories)] == [2, 1]


@pytest.mark.parametrize(
    "text", ["1,2,3", "1,2,3,4,5", "a,b,c,d", "", "1 2 3 4", "1,2,1,4", "0,0,-1,5", "0,0,nan,1"]
)
def test_bounds_that_are_no_box_are_shown(text: str, tmp_path: Path) -> None:
    lt.write(drifting_walks(5, 1), tmp_path / "walks.csv")
    result = run("inspect", str(tmp_path / "walks.csv"), "--bounds", text)
    assert re.search("bounds must be.*got", str(result.exception))


def test_the_account_of_what_was_read_goes_to_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,x,y\n1,0,0\n1,inf,0\n")
    read_input(path, Reading())
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"{path}: 1 trajectory, 1 point; omitted 1 point (infinite)\n"


def test_what_fits_is_read_and_what_does_not_is_opened(tmp_path: Path) -> None:
    source = tmp_path / "walks.parquet"
    lt.write(drifting_walks(50, 1), source)
    with ExitStack() as resources:
        kinds = [
            open_sets(Running(memory=memory), source, [source], Reading(), resources)
            for memory in (1 << 30, 1000)
        ]
        assert [type(item) for item in (*kinds[0], *kinds[1])] == [Trajectories, Trajectories, Files, Files]
