from __future__ import annotations

import errno
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli_kit import status
from ldptrace.cli import application
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.scorecard import Scorecard
from ldptrace.io import parquet, read, write

LINES = Trajectories(
    [13.40, 13.41, 13.42, 13.5], [52.5, 52.51, 52.52, 52.6], [0, 3, 4], t=[0, 15, 5000, 7], crs="EPSG:4326"
)


def run(*arguments: object, exit_code: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(
        application("inspect"), [str(argument) for argument in arguments], catch_exceptions=False
    )
    assert result.exit_code == exit_code, result.output
    return result.stdout, result.stderr


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write(LINES, tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


def test_inspect_tells_a_person(source: Path) -> None:
    out, _ = run("inspect", source)
    for word in ("2 trajectories, 4 points", "EPSG:4326", "13.4,52.5,13.5,52.6", "interval", "duration", "█"):
        assert word in out


def test_inspect_tells_a_program(source: Path) -> None:
    out, _ = run("inspect", source, "--json", "-")
    seen = json.loads(out)
    assert seen["trajectories"] == 2
    assert seen["file"]["format"] == "parquet"
    assert seen["points_per_trajectory"]["max"] == 3
    assert seen["interval_seconds"]["min"] == 15


def test_inspect_says_what_is_left_out_and_what_jumps(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,x,y\n1,0,0\n1,nan,0\n1,500,500\n2,900,1\n")
    out, _ = run("inspect", path, "--bounds", "-1,-1,600,600")
    assert "omitted 1 point (not a number)" in out
    assert (
        "1 point of 1 trip lies outside the bounds: omitted, 1 trip wholly outside counts as no trip" in out
    )
    assert "1 step longer than a quarter of the area" in out
    assert "no times" in out


@pytest.mark.parametrize("extension", ["csv", "csv.gz", "gpx", "geojson", "parquet"])
def test_convert_between_formats(source: Path, extension: str) -> None:
    target = source.parent / f"out.{extension}"
    out, err = run("convert", source, target)
    assert out == ""
    assert "2 trajectories, 4 points" in err
    assert "wrote 2 trajectories" in err
    found = read(target)
    assert found.x.tolist() == LINES.x.tolist()
    assert found.crs == LINES.crs


def test_convert_to_a_named_format(source: Path) -> None:
    run("convert", source, source.parent / "out.txt", "--to", "dat")
    assert (source.parent / "out.txt").read_text().startswith("#0:\n>0:13.4,52.5;")


def test_convert_cuts_and_filters(source: Path) -> None:
    _, err = run("convert", source, source.parent / "out.csv", "--split-gap", "900", "--min-points", "2")
    assert "omitted 2 trajectories (fewer than 2 points); cut at gaps over 900 s into 3 trajectories" in err
    assert read(source.parent / "out.csv").sizes.tolist() == [2]


def test_convert_projects(source: Path) -> None:
    pytest.importorskip("pyproj")
    run("convert", source, source.parent / "out.parquet", "--to-crs", "EPSG:3857")
    assert read(source.parent / "out.parquet").crs == "EPSG:3857"


def test_convert_says_that_a_format_holds_no_time_zone(source: Path) -> None:
    _, err = run("convert", source, source.parent / "out.csv", "--timezone", "Asia/Tokyo")
    assert "read" in err
    assert "out.csv with --timezone Asia/Tokyo" in err
    _, err = run("convert", source, source.parent / "out.parquet", "--timezone", "Asia/Tokyo")
    assert "--timezone" not in err


def test_nothing_is_written_when_the_output_is_not_known(source: Path) -> None:
    with pytest.raises(InputError, match="what can be written is"):
        run("convert", source, source.parent / "out.docx")
    with pytest.raises(InputError, match="no point lies in the bounds 0,0,1,1"):
        run("convert", source, source.parent / "out.csv", "--bounds", "0,0,1,1")
    assert [path.name for path in source.parent.iterdir()] == ["in.parquet"]


def test_a_wrong_word_is_a_usage_error(source: Path) -> None:
    _, err = run("inspect", source, "--outside", "keep", exit_code=2)
    assert "keep" in err
    assert "clamp" in err


def test_whose_trips_they_may_be_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("traj_id,taxi_id,x,y\n1,7,0,0\n2,7,1,1\n3,8,2,2\n")
    out, _ = run("inspect", path)
    assert "column taxi_id repeats between trips: does it name users? (--user taxi_id)" in out
    assert "\nusers" not in out
    out, _ = run("inspect", path, "--user", "taxi_id")
    assert "users        2 (column taxi_id)" in out
    assert "repeats" not in out


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="the system has no such signal")
@pytest.mark.parametrize("library", ["lets it pass", "makes another error of it", "swallows it"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_that_ends_the_program_leaves_no_hidden_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    number: int,
    code: int,
    library: str,
) -> None:
    """As a library does in the middle of its import."""
    source, target = tmp_path / "a.csv", tmp_path / "b.parquet"
    source.write_text("id,x,y\n1,0,0\n1,1,1\n")
    target.write_text("old")
    before = signal.getsignal(number)

    def killed(_: Trajectories) -> None:
        try:
            os.kill(os.getpid(), number)
        except SystemExit:
            if library == "makes another error of it":
                raise AttributeError("partially initialized module") from None
            if library == "lets it pass":
                raise

    @contextmanager
    def half(path: Path) -> Iterator[Callable[[Trajectories], None]]:
        path.write_text("half")
        yield killed

    monkeypatch.setattr(parquet, "writer", half)
    assert status("convert", source, target) == code
    assert capsys.readouterr().err.splitlines()[-1] == "stopped"
    assert target.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"a.csv", "b.parquet"}
    assert signal.getsignal(number) is before


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="the system has no such signal")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_during_an_import_ends_the_program_soon_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    """Compiled libraries swallow whatever is raised while they are imported, as this one does."""
    source, target = tmp_path / "a.csv", tmp_path / "b.parquet"
    source.write_text("id,x,y\n1,0,0\n1,1,1\n")
    (tmp_path / "swallowing.py").write_text(
        "import os\ntry:\n    os.kill(os.getpid(), int(os.environ['NUMBER']))\nexcept BaseException:\n    pass\n"
    )
    monkeypatch.setenv("NUMBER", str(int(number)))
    monkeypatch.syspath_prepend(tmp_path)
    before = signal.getsignal(number)
    reached = []

    @contextmanager
    def slow(path: Path) -> Iterator[Callable[[Trajectories], None]]:
        import_module("swallowing")
        for _ in range(200):
            time.sleep(0.1)
        reached.append(path)
        yield lambda _: None

    monkeypatch.setattr(parquet, "writer", slow)
    try:
        assert status("convert", source, target) == code
    finally:
        sys.modules.pop("swallowing", None)
    assert reached == []
    assert not target.exists()
    assert signal.getsignal(number) is before


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="the system has no such signal")
def test_a_signal_that_nohup_ignores_stays_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / "a.csv", tmp_path / "b.parquet"
    source.write_text("id,x,y\n1,0,0\n1,1,1\n")
    writer = parquet.writer

    @contextmanager
    def hung_up(path: Path) -> Iterator[Callable[[Trajectories], None]]:
        os.kill(os.getpid(), signal.SIGHUP)
        with writer(path) as write_part:
            yield write_part

    monkeypatch.setattr(parquet, "writer", hung_up)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert status("convert", source, target) == 0
    finally:
        signal.signal(signal.SIGHUP, before)
    assert len(read(target)) == 1


def test_all_files_of_a_command_stay_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files that were already written go, and replaced ones come back, if a later file does not fit on the disk."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    promise = tmp_path / "card.json"
    for name in ("real.csv", "syn.csv"):
        (tmp_path / name).write_text(
            "id,x,y\n" + "".join(f"{k},{k % 5},{k % 3}\n{k},1,2\n" for k in range(20))
        )
    promise.write_text("old")
    monkeypatch.setattr(Scorecard, "to_tex", full)
    files = (tmp_path / "real.csv", tmp_path / "syn.csv")
    arguments = (
        "--json",
        promise,
        "--csv",
        tmp_path / "card.csv",
        "--tex",
        tmp_path / "card.tex",
        "--no-attacks",
    )
    assert status("evaluate", *files, *arguments) == 2
    assert "No space left on device" in capsys.readouterr().err.splitlines()[-1]
    assert promise.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"real.csv", "syn.csv", "card.json"}
