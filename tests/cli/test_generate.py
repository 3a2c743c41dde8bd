"""`ldptrace generate` writes what the generators make, and nothing where something is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from ldptrace import generators
from ldptrace.cli import application
from ldptrace.errors import InputError
from ldptrace.io import read
from ldptrace.roads import read_roads


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(
        application("generate"), [str(argument) for argument in ("generate", *arguments)]
    )


@pytest.mark.slow
def test_city_is_the_city_of_the_seed(tmp_path: Path) -> None:
    output = tmp_path / "city.parquet"
    options = ("--seed", 7, "--interval", 9, "--size", 4000, "--minutes", 3, "--picture", tmp_path / "c.png")
    result = run("city", "-o", output, "-n", 40, *options)
    assert result.exit_code == 0, result.output
    trips = generators.city(40, 7, interval=9.0, size=4000.0, minutes=3.0)
    np.testing.assert_array_equal(read(output).x, trips.x)
    assert "public bounds: --bounds 0,0,4000,4000" in result.stderr
    assert (tmp_path / "c.png").stat().st_size > 0


@pytest.mark.slow
def test_presets_can_be_overridden(tmp_path: Path) -> None:
    output = tmp_path / "city.csv"
    assert run("city", "-o", output, "-n", 5, "--preset", "porto", "--noise", 0, "--seed", 1).exit_code == 0
    trips = generators.city(5, 1, size=13_000.0, minutes=8.15, interval=15.0, noise=0.0)
    np.testing.assert_allclose(read(output).x, trips.x)


def test_network_of_two_tables(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("node_id,x,y\n1,0,0\n2,900,0\n3,900,900\n")
    (tmp_path / "e.csv").write_text("node1,node2,edge_class\n1,2,1\n2,3,3\n")
    output = tmp_path / "trips.dat"
    result = run(
        "network", "-o", output, "--nodes", tmp_path / "n.csv", "--edges", tmp_path / "e.csv", "-n", 9
    )
    assert result.exit_code == 0, result.output
    assert len(read(output)) == 9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["city", "-o", "trips.xyz"], "extension of .*trips.xyz is not known"),
        (
            ["city", "-o", "t.parquet", "--preset", "campus"],
            "no preset 'campus' here; there are oldenburg, porto",
        ),
        (["city", "-o", "t.parquet", "--picture", "p.xyz"], "a picture can be .*, not p.xyz"),
        (["city", "-o", "t.parquet", "--picture", "p.png", "-n", "0"], "cannot be drawn"),
        (["city", "-o", "t.parquet", "--interval", "0"], "interval must be a positive"),
        (["network", "-o", "t.parquet", "--nodes", "no.csv", "--edges", "no.csv"], "there is no file no.csv"),
    ],
)
def test_nothing_is_written_where_something_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert isinstance(result.exception, InputError)
    with pytest.raises(InputError, match=message):
        raise result.exception
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_roads_of_a_city_are_written_beside_its_trips(tmp_path: Path) -> None:
    settings = ("-n", 20, "--size", 4000, "--minutes", 3, "--seed", 7)
    result = run("city", "-o", tmp_path / "city.parquet", *settings, "--roads-out", tmp_path / "roads")
    assert result.exit_code == 0, result.output
    roads = read_roads(tmp_path / "roads")
    assert f"{roads.nodes:,} nodes, {roads.edges:,} directed edges" in result.stderr
    again = run("network", "-o", tmp_path / "n.parquet", "-n", 20, "--roads", tmp_path / "roads", "--seed", 1)
    assert again.exit_code == 0, again.output
    assert len(read(tmp_path / "n.parquet")) == 20


def test_a_network_is_given_in_one_way_and_roads_go_into_a_folder(tmp_path: Path) -> None:
    result = run("network", "-o", tmp_path / "a.csv")
    assert "either as --roads, or as --nodes and --edges" in str(result.exception)
    (tmp_path / "file").write_text("")
    result = run("city", "-o", tmp_path / "a.csv", "-n", 1, "--roads-out", tmp_path / "file")
    assert isinstance(result.exception, InputError)
    assert not (tmp_path / "a.csv").exists()
