from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ldptrace as lt
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError
from ldptrace.io import read, read_with_account, write
from ldptrace.io.provenance import beside

LINES = Trajectories.from_lists([[(13.4, 52.5), (13.5, 52.6)], [(13.4, 52.4)]], crs="EPSG:4326")
PROMISE = {"epsilon": "1", "method": "single-report", "plan": None}


@pytest.mark.parametrize("extension", ["parquet", "geojson", "csv", "csv.gz", "gpx", "dat"])
def test_the_promise_travels_with_every_format(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"syn.{extension}"
    write(replace(LINES, provenance=PROMISE), path)
    assert read(path).provenance == PROMISE
    assert read(path).take([1]).provenance == PROMISE
    assert beside(path).exists() == (extension not in {"parquet", "geojson"})
    write(LINES, path)
    assert read(path).provenance is None
    assert not beside(path).exists()


def test_a_promise_never_outlives_its_data(tmp_path: Path) -> None:
    path = tmp_path / "syn.csv"
    write(replace(LINES, provenance=PROMISE), path)
    path.write_text("trip,x,y\n1,2,3\n")
    found, report = read_with_account(path)
    assert found.provenance is None
    assert "syn.csv.promise.json was made about other data" in report.line()
    beside(path).write_text("{")
    assert "is not JSON" in read_with_account(path)[1].line()
    beside(path).write_text("[]")
    assert "is no promise" in read_with_account(path)[1].line()


def test_the_promise_is_no_trajectory_file_of_its_folder(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(replace(LINES, provenance=PROMISE), tmp_path / f"{name}.csv")
    assert len(read(tmp_path)) == 4


def test_several_files_have_a_promise_only_when_it_is_the_same(tmp_path: Path) -> None:
    write(replace(LINES, provenance=PROMISE), tmp_path / "a.parquet")
    write(replace(LINES, provenance=PROMISE), tmp_path / "b.parquet")
    assert read(tmp_path).provenance == PROMISE
    write(LINES, tmp_path / "c.parquet")
    assert read(tmp_path).provenance is None


def test_what_a_file_states_about_privacy(tmp_path: Path) -> None:
    def stated(metadata: dict[str, str]) -> object:
        pq.write_table(LINES.to_arrow().replace_schema_metadata(metadata), tmp_path / "a.parquet")
        return read(tmp_path / "a.parquet").provenance

    assert stated({}) is None
    assert stated({"ldptrace": "[]"}) is None
    assert stated({"ldptrace": json.dumps({"privacy": {"epsilon": "2"}})}) == {"epsilon": "2"}
    assert stated({"ldptrace": json.dumps({"epsilon": "2", "seed": 7})}) == {"epsilon": "2"}
    strange = {"epsilon": "1", "plan": {"format": "other"}}
    assert stated({"ldptrace": json.dumps(strange)}) == strange | {"explanation": []}
    with pytest.raises(FormatError, match="is not JSON"):
        stated({"ldptrace": "not json"})


@pytest.mark.slow
def test_synthesize_then_evaluate_shows_the_promise(tmp_path: Path) -> None:
    real = Trajectories.from_lists([[(0.1, 0.1), (0.9, 0.9)], [(0.2, 0.8), (0.8, 0.2)]] * 200)
    synthetic = lt.synthesize(real, epsilon=1.0, bounds=(0, 0, 1, 1), grid=4, seed=1)
    assert lt.evaluate(real, synthetic, seed=1).document()["privacy"]["epsilon"] == "1"
    for name in ("syn.csv", "syn.parquet"):
        lt.write(synthetic, tmp_path / name)
        card = lt.evaluate(real, lt.read(tmp_path / name), seed=1)
        assert card.document()["privacy"]["method"] == "single-report"
