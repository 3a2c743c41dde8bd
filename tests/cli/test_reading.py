from __future__ import annotations

import inspect
from contextlib import ExitStack
from pathlib import Path
from typing import get_args

import pytest

import ldptrace as lt
from evaluation_data import drifting_walks
from ldptrace.cli.reading import (
    OPTIONS,
    Outside,
    bytes_of,
    open_sets,
    parse_bounds,
    read_input,
    reading_of,
    unnamed,
    with_reading,
)
from ldptrace.core.columns import Names
from ldptrace.core.outside import POLICIES
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.local import Files
from ldptrace.errors import InputError
from ldptrace.io.reading import Reading


def test_a_command_takes_the_options_and_gets_one_value() -> None:
    seen: list[tuple[str, Reading]] = []

    @with_reading(without=("split_gap",))
    def look(source: str, reading: Reading, count: int = 1) -> None:
        """Look."""
        seen.append((source * count, reading))

    assert list(inspect.signature(look).parameters) == ["source", "count", *list(OPTIONS)[:-1]]
    given = {name: default for name, (_, default) in OPTIONS.items() if name != "split_gap"}
    look(source="a", count=2, **given | {"bounds": "0,0,1,1", "x": "east", "outside": "drop"})
    assert seen == [("aa", Reading(names=Names(x="east"), bounds=(0, 0, 1, 1), outside="drop"))]
    assert (look.__name__, look.__doc__) == ("look", "Look.")


def test_the_options_are_those_of_reading() -> None:
    assert reading_of() == Reading()
    assert unnamed(reading_of(x="a", crs="EPSG:4326", split_gap=60)) == Reading(crs="EPSG:4326")
    assert get_args(Outside) == POLICIES


@pytest.mark.parametrize(
    "text", ["1,2,3", "1,2,3,4,5", "a,b,c,d", "", "1 2 3 4", "1,2,1,4", "0,0,-1,5", "0,0,nan,1"]
)
def test_bounds_that_are_no_box_are_shown(text: str) -> None:
    with pytest.raises(InputError, match=r"--bounds .*X0,Y0,X1,Y1.*got"):
        parse_bounds(text)


def test_no_bounds_are_none() -> None:
    assert parse_bounds(None) is None


def test_the_account_of_what_was_read_goes_to_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,x,y\n1,0,0\n1,inf,0\n")
    read_input(path, Reading())
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"{path}: 1 trajectory, 1 point; omitted 1 point (infinite)\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    lt.write(drifting_walks(50, 1), tmp_path / "walks.parquet")
    return tmp_path / "walks.parquet"


def test_what_fits_is_read_and_what_does_not_is_opened(source: Path) -> None:
    with ExitStack() as resources:
        kinds = [
            open_sets("local", source, [source], Reading(), resources, memory=memory)
            for memory in (1 << 30, 1000)
        ]
        assert [type(item) for item in (*kinds[0], *kinds[1])] == [Trajectories, Trajectories, Files, Files]


def test_memory_is_a_number() -> None:
    with pytest.raises(InputError, match="such as 512M"):
        bytes_of("--memory", "much")
