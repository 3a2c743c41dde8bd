"""Devices from the command line; with a server they are in `tests/server/test_fleet.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ldptrace.cli import application
from ldptrace.cli.fleet import _from_file
from ldptrace.core.reading import Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError, LdptraceError
from ldptrace.io import write
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ports_kit import free_port

GRID = Grid((0.0, 0.0, 6.0, 6.0), 4)


def run(*options: str) -> Result:
    where = ("--url", f"http://127.0.0.1:{free_port()}", "--campaign", "town", "--users", "2")
    return CliRunner().invoke(application("fleet"), ["fleet", *where, "--patience", "0.1", *options])


def test_devices_keep_every_trip_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "trips.geojson"
    write(Trajectories.from_lists([[(99.0, 1.0), (2.0, 2.0)], []], crs="EPSG:4326"), path)
    trips = _from_file(path, Reading())
    assert trips(Plan.single_report(GRID, 1.0, crs="EPSG:4326")).sizes.tolist() == [2, 0]
    assert trips(Plan.single_report(GRID, 1.0)).points == 2
    with pytest.raises(
        InputError, match=r"the plan's bounds are in EPSG:3857, the trajectories of .* in EPSG:4326"
    ):
        trips(Plan.single_report(GRID, 1.0, crs="EPSG:3857"))


def test_the_columns_of_the_file_can_be_named(tmp_path: Path) -> None:
    """The hint of the error names an option that the command has."""
    path = tmp_path / "trips.csv"
    path.write_text("ride,east,north\n" + "".join(f"{k // 3},{k},{k}\n" for k in range(9)))
    hint = run("--input", str(path), "--x", "east", "--y", "north")
    assert "--id ride" in str(hint.exception)
    named = run("--input", str(path), "--x", "east", "--y", "north", "--id", "ride")
    assert "did not answer" in str(named.exception)


def test_a_server_that_is_not_there_is_told() -> None:
    gone = run()
    assert isinstance(gone.exception, LdptraceError), gone.output
    assert "did not answer" in str(gone.exception)
    assert gone.stderr.count("no server answers at 127.0.0.1:") == 1
    assert "trying again for 0.1 s (--patience)" in gone.stderr


@pytest.mark.parametrize("option", ["--duplicates", "--drops", "--garbage"])
def test_shares_are_probabilities(option: str) -> None:
    wrong = run(option, "1.5")
    assert isinstance(wrong.exception, InputError)
    assert str(wrong.exception) == f"{option} is a probability from 0 to 1, got 1.5"
