from __future__ import annotations

import pytest

from ldptrace import plugins
from ldptrace.cli import AREAS, application
from ldptrace.cli.common import Progress, random_source


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
