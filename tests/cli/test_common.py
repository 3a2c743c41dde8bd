from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace import plugins
from ldptrace.cli import AREAS, application
from ldptrace.cli.common import (
    Progress,
    parse_bounds,
    random_source,
    read_input,
)
from ldptrace.errors import InputError


@pytest.mark.parametrize(
    "text", ["1,2,3", "1,2,3,4,5", "a,b,c,d", "", "1 2 3 4", "1,2,1,4", "0,0,-1,5", "0,0,nan,1"]
)
def test_bounds_that_are_no_box_are_shown(text: str) -> None:
    with pytest.raises(InputError, match=r"--bounds .*X0,Y0,X1,Y1.*got"):
        parse_bounds(text)


def test_no_bounds_are_none() -> None:
    assert parse_bounds(None) is None


def test_the_report_of_what_was_read_goes_to_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,x,y\n1,0,0\n1,inf,0\n")
    read_input(path)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"{path}: 1 trajectory, 1 point; left out 1 point (infinite)\n"


def test_progress_is_silent_away_from_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress() as stages, stages("read"):
        pass
    assert capsys.readouterr().err == ""


def test_the_same_seed_is_the_same_source() -> None:
    assert random_source(5).random() == random_source(5).random()
    assert random_source(None).random() != random_source(None).random()


def test_a_command_loads_its_own_area_and_nothing_else() -> None:
    for area, commands in AREAS.items():
        whole = application(commands[0])
        names = {command.name or command.callback.__name__ for command in whole.registered_commands}
        assert names | {group.name for group in whole.registered_groups} == set(commands), area


def test_an_unknown_command_has_the_whole_help() -> None:
    everything = application("--help")
    own, others = sum(map(len, AREAS.values())), len(plugins.installed(plugins.COMMANDS))
    assert len(everything.registered_commands) + len(everything.registered_groups) == own + others
