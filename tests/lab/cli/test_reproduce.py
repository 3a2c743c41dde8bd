from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ldptrace_lab.cli.reproduce import register

pytestmark = pytest.mark.slow


@pytest.fixture
def app() -> typer.Typer:
    application = typer.Typer()
    register(application)
    # A second command keeps the first one's name on the command line.
    application.command("other")(lambda: None)
    return application


def test_own_file(app: typer.Typer, tmp_path: Path) -> None:
    file = tmp_path / "trips.csv"
    lines = [f"{k},{k % 7}.5,{k % 5}.5\n{k},{k % 6}.5,{k % 4}.5" for k in range(40)]
    file.write_text("traj_id,x,y\n" + "\n".join(lines) + "\n")
    out = tmp_path / "out"
    arguments = ["reproduce", "lambda", "--data", str(file), "--bounds", "0,0,7,7", "--grid", "3"]
    result = CliRunner().invoke(app, [*arguments, "--repeats", "1", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "Query error" in result.stdout
    assert sorted(entry.name for entry in out.iterdir()) == [
        "cells",
        "lambda.csv",
        "lambda.html",
        "lambda.json",
        "lambda.svg",
    ]


def test_unknown_name(app: typer.Typer) -> None:
    result = CliRunner().invoke(app, ["reproduce", "everything"])
    assert result.exit_code == 2
