"""Tests that miss a program are skipped and counted, and fail in CI."""

from __future__ import annotations

from pathlib import Path

import pytest

import programs_kit
from programs_kit import closing_lines, require


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """A machine on which no program is installed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(programs_kit, "POSTGRES", tmp_path)
    return monkeypatch


@pytest.mark.parametrize("program", sorted(programs_kit.NAMES))
def test_a_test_without_its_program_is_skipped_by_name(bare: pytest.MonkeyPatch, program: str) -> None:
    with pytest.raises(pytest.skip.Exception, match=f"^no {program}$"):
        require(program)


def test_nothing_is_skipped_in_ci(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no Chromium"):
        require("Chromium")


def test_a_program_on_the_path_is_found(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "node"
    program.touch(0o755)
    assert require("Node") == program


def test_the_newest_database_server_beside_the_path_is_found(
    bare: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for version in ("9", "15"):
        (tmp_path / version / "bin").mkdir(parents=True)
        (tmp_path / version / "bin" / "initdb").touch()
    assert require("PostgreSQL") == tmp_path / "15" / "bin" / "initdb"


def test_the_closing_lines_count_by_program() -> None:
    def skipped(reason: str) -> pytest.TestReport:
        where = ("tests/test_x.py", 1, f"Skipped: {reason}")
        return pytest.TestReport("x", ("x", 1, "x"), {}, "skipped", where, "setup")  # type: ignore[arg-type]

    reports = [skipped("no Chromium")] * 29 + [skipped("no Node"), skipped("another reason")]
    assert closing_lines(reports) == [
        "29 tests of the pages did not run: no Chromium",
        "1 test of the JavaScript client did not run: no Node",
    ]
