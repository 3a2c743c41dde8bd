"""Methods and commands of other packages."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from ldptrace import plugins
from ldptrace.cli import application, main
from ldptrace.errors import InputError
from ldptrace.methods import method, names


def give(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: EntryPoints(points).select(group=group)
    )


def test_the_laboratory_is_found_like_any_other_package() -> None:
    assert {"ngram", "ngram-full"} <= set(plugins.installed(plugins.METHODS))
    assert "reproduce" in plugins.installed(plugins.COMMANDS)
    assert method("ngram").name == "ngram"
    assert names()[0] == "single-report"
    assert len(set(names())) == len(names())


def test_names_are_listed_without_loading_anything() -> None:
    code = "import ldptrace.plugins as p, sys; print(sorted(p.installed(p.METHODS)), 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'ngram'" in done.stdout
    assert done.stdout.endswith("False\n")


def test_two_packages_with_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = [EntryPoint("walker", value, plugins.METHODS) for value in ("json:loads", "json:dumps")]
    give(monkeypatch, *twice)
    with pytest.raises(InputError, match=r"both give ldptrace.methods the name 'walker'"):
        names()


def test_the_same_entry_point_twice_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, *[EntryPoint("walker", "json:loads", plugins.METHODS)] * 2)
    assert "walker" in names()


def test_a_method_that_does_not_load_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, EntryPoint("walker", "nobody.has_this:METHOD", plugins.METHODS))
    with pytest.raises(InputError, match=r"walker of a package does not load .*No module named 'nobody'"):
        method("walker")


def test_a_method_is_a_method_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    give(
        monkeypatch,
        EntryPoint("walker", "json:loads", plugins.METHODS),
        EntryPoint("other", "ldptrace_lab.ngram.recipes:NGRAM", plugins.METHODS),
    )
    for name in ("walker", "other"):
        with pytest.raises(InputError, match=f"of {name} must be a Method of that name"):
            method(name)


def test_own_names_cannot_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    give(
        monkeypatch,
        EntryPoint("paper", "json:loads", plugins.METHODS),
        EntryPoint("inspect", "json:loads", plugins.COMMANDS),
    )
    assert method("paper").summary
    assert names().count("paper") == 1
    assert "inspect" in {command.callback.__name__ for command in application().registered_commands}


def test_a_command_that_does_not_load_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give(monkeypatch, EntryPoint("broken", "nobody.has_this:register", plugins.COMMANDS))
    assert len(application("--help").registered_commands) > 10
    assert "warning: broken of a package does not load" in capsys.readouterr().err
    with pytest.raises(InputError, match="does not load"):
        application("broken")


def test_a_command_loads_alone() -> None:
    app = application("reproduce")
    assert [command.callback.__name__ for command in app.registered_commands] == ["reproduce"]


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "x.parquet"),
        ("generate", "campus", "-o", "x.parquet", "--visits", "2", "3"),
        ("inspect", "x.csv", "--format", "checkins"),
        ("synthesize", "x.csv", "-o", "y.csv", "--epsilon", "1", "--bounds", "0,0,1,1", "--method", "dpt"),
        (
            "stream",
            "x.csv",
            "-o",
            "y.csv",
            "--epsilon",
            "1",
            "--bounds",
            "0,0,1,1",
            "--tick",
            "60",
            "--method",
            "lpa",
        ),
    ],
)
def test_without_the_laboratory_the_error_names_its_package(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give(monkeypatch)
    monkeypatch.delitem(sys.modules, "ldptrace.cli.generate", raising=False)
    monkeypatch.setattr(sys, "argv", ["ldptrace", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "pip install 'ldptrace[lab]'" in capsys.readouterr().err


def test_the_laboratory_gives_the_names_that_are_told() -> None:
    for group, names_of_it in plugins.LABORATORY.items():
        given = [name for name, point in plugins.installed(group).items() if "ldptrace_lab" in point.value]
        assert sorted(names_of_it) == sorted(given)
