from __future__ import annotations

import io
from pathlib import Path

import pytest

from ldptrace import plugins
from ldptrace.cli import AREAS, application, main
from ldptrace.cli.common import Progress
from ldptrace.server import campaigns, registry
from ldptrace.server.storage import open_database
from server_kit import SINGLE


def test_progress_is_silent_away_from_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress() as stages, stages("read"):
        pass
    assert capsys.readouterr().err == ""


def test_a_command_loads_its_own_area_and_nothing_else() -> None:
    for area, commands in AREAS.items():
        whole = application(commands[0])
        names = {command.name or command.callback.__name__ for command in whole.registered_commands}
        assert names | {group.name for group in whole.registered_groups} == set(commands), area


def test_an_unknown_command_has_the_whole_help() -> None:
    everything = application("--help")
    own, others = sum(map(len, AREAS.values())), len(plugins.installed(plugins.COMMANDS))
    assert len(everything.registered_commands) + len(everything.registered_groups) == own + others


WRONG = {
    "plan --users many": "error: invalid value for '--users': 'many' is not a whole number; `ldptrace plan --help` "
    "lists what is allowed\n",
    "plan --users 9 --epsilon much": "error: epsilon must be a number, got 'much'\n",
    "plan --users 0 --epsilon 1": "the expected number of users must be from 1 to 10^12, got 0",
    "plan --users": "error: option '--users' requires an argument; `ldptrace plan --help` lists what is allowed\n",
    "reproduce fig --scale huge": "'huge' is not one of 'quick', 'paper'; `ldptrace reproduce --help`",
    "synthesize": "error: missing argument 'source'; `ldptrace synthesize --help` lists what is allowed\n",
    "plan --colour red": "no such option: --colour",
    "campaign create here there": "unexpected extra argument",
    "synthesise": "error: no such command 'synthesise'; did you mean 'synthesize'; `ldptrace --help` lists what is "
    "allowed\n",
    "plan --users 9 --epsilon 1 --crs EPSG:4326 --bounds 0,0,20000,20000": "the bounds 0,0,20000,20000 are no degrees",
    "plan --users 9 --epsilon 1 --bounds 0,0,1e300,1e300": "the number 1e+300 is too large or too small for a plan",
    "synthesize a.csv -o b.csv --epsilon 1 --bounds 0,0,9,9 --count 99999999999999999999": "count must be at most "
    "1,000,000,000, got 99999999999999999999",
    "generate city -o b.csv -n 99999999999999999999": "from 0 to 1,000,000,000, got 99999999999999999999",
    "synthesize a.csv -o b.csv --epsilon 1 --bounds 0,0,9,9 --model ./b.csv": "b.csv is given for two outputs",
    "evaluate a.csv b.csv --html c.html --json c.html": "c.html is given for two outputs",
    "generate city -o b.csv --size 1e12": "a city needs a side of 3,000 to 200,000 metres, got 1000000000000.0",
    "serve --data pyproject.toml": "cannot write pyproject.toml: it is a file, and a folder is needed",
    "guess": "error: no such command 'guess'; `ldptrace --help` lists what is allowed\n",
}


@pytest.mark.parametrize("line", WRONG)
def test_one_sentence(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["ldptrace", *line.split()])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert WRONG[line] in said.err
    assert said.err.count("\n") == 1


def test_a_pipe_without_arrows_gets_question_marks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "trips.csv").write_text("traj_id,x,y\n1,1,1\n1,2,2\n")
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr("sys.stdout", pipe)
    monkeypatch.setattr("sys.argv", ["ldptrace", "inspect", str(tmp_path / "trips.csv")])
    with pytest.raises(SystemExit) as end:
        main()
    pipe.flush()
    assert end.value.code in (None, 0)
    assert "????" in pipe.buffer.getvalue().decode("cp1252")  # type: ignore[attr-defined]


def test_no_command_shows_the_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["ldptrace"])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    assert end.value.code == 2
    assert "synthesize" in said.out + said.err
    assert "error" not in said.err


def test_a_no_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    database = open_database(tmp_path)
    campaigns.create(database, "trips", SINGLE, actor="test")
    monkeypatch.setattr("sys.argv", ["ldptrace", "campaign", "delete", "trips", "--data", str(tmp_path)])
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert capsys.readouterr().err.endswith("nothing done\n")
    with database.reading() as session:
        assert registry.find(session, "trips").name == "trips"
    database.close_all()
