"""`ldptrace roads` says what is in a network, draws and converts it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from ldptrace.cli import application
from ldptrace.errors import InputError
from ldptrace.roads import read_roads
from road_kit import block, write_geojson


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(application("roads"), [str(argument) for argument in ("roads", *arguments)])


@pytest.fixture
def network(tmp_path: Path) -> Path:
    return write_geojson(tmp_path / "block.geojson", block())


def test_it_says_what_is_in_a_network(network: Path) -> None:
    result = run(network)
    assert result.exit_code == 0, result.output
    assert "3 nodes, 7 directed edges; omitted 1 street (not for cars)" in result.stdout
    assert "residential" in result.stdout
    facts = json.loads(run(network, "--json", "-", "--mode", "foot").stdout)
    assert facts["nodes"] == 4
    assert set(facts["classes"]) == {"footway", "living_street", "residential"}
    result = run(network, "--json", network.parent / "facts.json", "--mode", "foot")
    assert json.loads((network.parent / "facts.json").read_text()) == facts
    assert "4 nodes" in result.stdout


@pytest.mark.slow
def test_it_converts_and_draws(network: Path, tmp_path: Path) -> None:
    assert run(network, "-o", tmp_path / "folder").exit_code == 0
    written, direct = read_roads(tmp_path / "folder"), read_roads(network)
    for column in ("x", "y", "length", "seconds", "shape_x"):
        np.testing.assert_array_equal(getattr(written, column), getattr(direct, column))
    assert run(network, "-o", tmp_path / "block.svg").exit_code == 0
    assert (tmp_path / "block.svg").read_text().count("<path") > 3
    assert run(network, "-o", tmp_path / "metres", "--to-crs", "EPSG:32633").exit_code == 0
    assert (tmp_path / "metres" / "nodes.csv").read_text().startswith("node_id,x,y\n")


def test_what_is_neither_a_folder_nor_a_picture_is_refused(network: Path, tmp_path: Path) -> None:
    for name, words in (
        ("streets.docx", "written as lines (.geojson, .gpkg), as a folder"),
        ("no/such.svg", "does not exist"),
        ("no/such.gpkg", "does not exist"),
    ):
        result = run(network, "-o", tmp_path / name)
        assert isinstance(result.exception, InputError), result.output
        assert words in str(result.exception)
        assert not (tmp_path / name).exists()
    # A year is no extension.
    assert run(network, "-o", tmp_path / "town.2024").exit_code == 0
    assert (tmp_path / "town.2024" / "nodes.csv").is_file()


def test_bounds_choose_a_part_and_bad_ones_write_nothing(network: Path, tmp_path: Path) -> None:
    result = run(network, "--bounds", "0,0,1,1", "-o", tmp_path / "none")
    assert isinstance(result.exception, InputError)
    assert "none of its roads lies in the bounds 0,0,1,1" in str(result.exception)
    assert not (tmp_path / "none").exists()
    result = run(network, "--bounds", "13.4005,52.4,13.5,52.6", "--json", "-")
    assert json.loads(result.stdout)["account"]["dropped"]["outside the bounds"] == 4


@pytest.mark.parametrize("name", ["lines.geojson", "lines.gpkg"])
def test_it_writes_lines(network: Path, tmp_path: Path, name: str) -> None:
    result = run(network, "-o", tmp_path / name)
    assert result.exit_code == 0, result.output
    written, direct = read_roads(tmp_path / name), read_roads(network)
    assert (written.nodes, written.edges) == (direct.nodes, direct.edges)
    assert written.length.sum() == pytest.approx(direct.length.sum())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted({"block.geojson", name})
