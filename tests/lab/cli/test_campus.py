"""`ldptrace generate campus` writes walks and the places that they connect."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from ldptrace.cli import application
from ldptrace.errors import InputError
from ldptrace.io import read
from ldptrace_lab.campus.pois import Pois, Visits


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(
        application("generate"), [str(argument) for argument in ("generate", *arguments)]
    )


@pytest.mark.slow
def test_campus_with_its_places(tmp_path: Path) -> None:
    output, places = tmp_path / "campus.parquet", tmp_path / "places.csv"
    result = run("campus", "-o", output, "--pois", places, "-n", 30, "--seed", 3, "--visits", 2, 4)
    assert result.exit_code == 0, result.output
    visits = Visits.of(read(output))
    assert len(visits) == 30
    assert np.diff(visits.offsets).max() <= 4
    assert visits.poi.max() < len(Pois.from_csv(places))


def test_other_formats_lose_the_visits_and_say_so(tmp_path: Path) -> None:
    result = run("campus", "-o", tmp_path / "campus.csv", "-n", 3, "--seed", 3)
    assert result.exit_code == 0
    assert "the visits (columns poi and poi_t) need Parquet" in result.stderr


def test_nothing_is_written_where_something_is_wrong(tmp_path: Path) -> None:
    result = run("campus", "-o", tmp_path / "t.parquet", "--buildings", "nowhere.geojson")
    assert isinstance(result.exception, InputError)
    assert "there is no file nowhere.geojson" in str(result.exception)
    assert not list(tmp_path.iterdir())
