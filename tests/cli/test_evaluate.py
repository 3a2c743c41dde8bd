"""`ldptrace evaluate` and `ldptrace attack`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import ldptrace as lt
from evaluation_data import drifting_walks
from ldptrace.cli import application
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.roads import write_roads
from road_kit import lattice_roads
from tick_kit import ticking


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    return application("evaluate")


def saved(trajectories: Trajectories, path: Path, privacy: object = None) -> str:
    table = trajectories.to_arrow()
    if privacy is not None:
        table = table.replace_schema_metadata({"ldptrace": json.dumps(privacy)})
    pq.write_table(table, path)
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    plan = Plan.single_report(Grid((0, 0, 10, 10), 6), 1.0)
    privacy = {"epsilon": "1", "method": "single-report", "plan": plan.document()}
    return [
        saved(drifting_walks(100, 1), tmp_path / "real.parquet"),
        saved(drifting_walks(100, 2), tmp_path / "one.parquet", privacy),
        saved(drifting_walks(80, 3), tmp_path / "two.parquet"),
    ]


@pytest.mark.slow
def test_table_json_and_page(app: typer.Typer, files: list[str], tmp_path: Path) -> None:
    made = [str(tmp_path / name) for name in ("card.json", "card.html")]
    options = ["--bounds", "0,0,10,10", "--seed", "3", "--json", made[0], "--html", made[1], "--no-samples"]
    result = CliRunner().invoke(app, ["evaluate", *files, *options], catch_exceptions=False)
    assert result.exit_code == 0
    assert "Density error" in result.stdout
    assert "*" in result.stdout
    assert "re-identification" in result.stdout
    document = json.loads(Path(made[0]).read_text(encoding="utf-8"))
    assert [item["name"] for item in document["sets"]] == ["one", "two"]
    assert document["privacy"]["epsilon"] == "1"
    assert document["evaluation"]["bounds"] == [0, 0, 10, 10]
    page = Path(made[1]).read_text(encoding="utf-8")
    assert "Each device sends 1 message in all." in page
    assert "Real trajectories are not shown" in page


def test_json_on_stdout_is_json_alone(app: typer.Typer, files: list[str]) -> None:
    result = CliRunner().invoke(
        app, ["evaluate", *files[:2], "--json", "-", "--no-attacks", "--seed", "1", "--repeat", "1"]
    )
    document = json.loads(result.stdout)
    assert document["attacks"] == {}
    assert document["evaluation"]["bounds_from"] == "the real set"
    assert "the bounds were taken from the real set" in result.stderr


def test_attack(app: typer.Typer, files: list[str], tmp_path: Path) -> None:
    made, html = tmp_path / "attacks.json", tmp_path / "attacks.html"
    options = ["--json", str(made), "--html", str(html)]
    result = CliRunner().invoke(app, ["attack", *files, *options], catch_exceptions=False)
    assert "Who stays hidden" in html.read_text(encoding="utf-8")
    assert "the other real trips" in result.stdout
    document = json.loads(made.read_text(encoding="utf-8"))
    assert set(document["attacks"]) == {"reidentification", "outlier"}
    assert [item["name"] for item in document["sets"]] == ["one", "two"]


@pytest.mark.slow
def test_a_road_network_adds_its_metrics_and_controls(
    app: typer.Typer, files: list[str], tmp_path: Path
) -> None:
    roads = tmp_path / "roads"
    roads.mkdir()
    nodes = [f"{i * 11 + j},{i},{j}" for i in range(11) for j in range(11)]
    (roads / "nodes.csv").write_text("\n".join(["id,x,y", *nodes]), encoding="utf-8")
    edges = [f"{i * 11 + j},{i * 11 + j + 1}" for i in range(11) for j in range(10)]
    edges += [f"{i * 11 + j},{i * 11 + 11 + j}" for i in range(10) for j in range(11)]
    (roads / "edges.csv").write_text("\n".join(["from,to", *edges]), encoding="utf-8")
    options = ["--bounds", "0,0,10,10", "--roads", str(roads), "--json", "-", "--no-attacks", "--seed", "1"]
    result = CliRunner().invoke(app, ["evaluate", *files[:2], *options], catch_exceptions=False)
    document = json.loads(result.stdout)
    assert document["evaluation"]["roads"] == "roads"
    entry = document["metrics"]["street_share"]
    assert set(entry["controls"]) == {"map_alone", "plain_routing"}
    assert entry["controls"]["map_alone"] > 0.99
    assert "Share on streets" in result.stderr
    with pytest.raises(InputError, match="no file or folder"):
        CliRunner().invoke(
            app, ["evaluate", *files[:2], "--roads", str(tmp_path / "none")], catch_exceptions=False
        )


@pytest.mark.parametrize("command", ["evaluate", "attack"])
def test_an_impossible_grid_is_told_before_anything_is_read(app: typer.Typer, command: str) -> None:
    with pytest.raises(InputError, match="from 2 to 256"):
        CliRunner().invoke(app, [command, "none", "none", "--grid", "0"], catch_exceptions=False)


def test_bad_input_is_one_sentence_and_nothing_is_written(
    app: typer.Typer, files: list[str], tmp_path: Path
) -> None:
    far = saved(Trajectories.from_lists([[(50, 50), (51, 51)]]), tmp_path / "far.parquet")
    made = tmp_path / "card.json"
    with pytest.raises(InputError, match=r"none of the 1 trajectories of the synthetic set far"):
        CliRunner().invoke(app, ["evaluate", files[0], far, "--json", str(made)], catch_exceptions=False)
    assert not made.exists()
    nowhere = tmp_path / "missing" / "card.html"
    with pytest.raises(InputError, match=r"cannot write .*card\.html: the folder .* does not exist"):
        CliRunner().invoke(
            app, ["evaluate", *files[:2], "--json", str(made), "--html", str(nowhere)], catch_exceptions=False
        )
    assert not made.exists()


@pytest.mark.slow
def test_sets_larger_than_memory(app: typer.Typer, files: list[str], tmp_path: Path) -> None:
    """The same documents, and an account of what was read."""
    for command in ("evaluate", "attack"):
        written = []
        for memory in ("1G", "3K"):
            target = tmp_path / f"{memory}.json"
            options = ["--bounds", "0,0,9,9", "--seed", "3", "--json", str(target), "--memory", memory]
            result = CliRunner().invoke(app, [command, *files, *options], catch_exceptions=False)
            assert result.exit_code == 0
            assert "80 trajectories" in result.stderr
            written.append(target.read_text(encoding="utf-8"))
        assert written[0] == written[1]


def test_files_of_one_name_are_seeds_and_tables_go_to_csv_and_latex(
    app: typer.Typer, files: list[str], tmp_path: Path
) -> None:
    made = tmp_path / "card.csv"
    options = ["--bounds", "0,0,10,10", "--seed", "3", "--no-attacks", "--repeat", "1", "--csv", str(made)]
    result = CliRunner().invoke(
        app, ["evaluate", files[0], f"ours={files[1]}", f"ours={files[2]}", *options, "--tex", "-"]
    )
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("% needs")
    rows = made.read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == ["ours"] * (len(rows) - 1)
    density = next(row.split(",") for row in rows if ",density_error," in row)
    assert float(density[3]) > 0
    assert density[-1] == "2"


def test_streams_and_gaps(app: typer.Typer, tmp_path: Path) -> None:
    real, other = (
        saved(ticking(40, 1), tmp_path / "real.parquet"),
        saved(ticking(40, 2), tmp_path / "a.parquet"),
    )
    options = [
        "--grid",
        "4",
        "--bounds",
        "0,0,8,8",
        "--no-attacks",
        "--repeat",
        "1",
        "--split-gap",
        "15",
        "--seed",
        "1",
    ]
    result = CliRunner().invoke(
        app, ["evaluate", real, other, *options, "--tick", "10", "--from", "3"], catch_exceptions=False
    )
    assert "Density error per tick" in result.stdout
    refused = CliRunner().invoke(app, ["evaluate", real, other, *options, "--tick", "10", "--from", "39"])
    assert isinstance(refused.exception, InputError)
    assert "compare from tick 0 to" in str(refused.exception)


def test_attacked_sets_have_names_of_their_own(app: typer.Typer, files: list[str]) -> None:
    refused = CliRunner().invoke(app, ["attack", files[0], f"a={files[1]}", f"a={files[2]}"])
    assert isinstance(refused.exception, InputError)
    assert "each has a name of its own, got a, a" in str(refused.exception)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Streams with strays and excursions, and their streets."""
    folder = tmp_path_factory.mktemp("faces")
    rng = np.random.default_rng(5)
    files = []
    for number, many in enumerate((60, 60, 40)):
        trips = ticking(many, number)
        x = trips.x.copy()
        x[rng.random(len(x)) < 0.03] = 99.0
        files.append(saved(replace(trips, x=x), folder / f"{number}.parquet"))
    write_roads(lattice_roads(5, 2.0), folder / "roads")
    return [*files, str(folder / "roads")]


@pytest.mark.slow
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    grid=st.integers(2, 7),
    bounds=st.sampled_from([None, (0.0, 0.0, 8.0, 8.0), (1.0, 0.5, 7.5, 8.0)]),
    outside=st.sampled_from([None, "cut", "drop", "clamp"]),
    seeds=st.booleans(),
    streets=st.booleans(),
    attacks=st.booleans(),
    samples=st.booleans(),
    tick=st.sampled_from([None, 10.0, 25.0]),
    repeat=st.integers(1, 2),
    seed=st.integers(0, 99),
)
def test_command_and_function_say_the_same(
    app: typer.Typer,
    recorded: list[str],
    grid: int,
    bounds: tuple[float, ...] | None,
    outside: str | None,
    **more: Any,
) -> None:
    real, *synthetic, roads = recorded
    names = ["ours", "ours"] if more["seeds"] else ["1", "2"]
    options = ["--grid", str(grid), "--repeat", str(more["repeat"]), "--seed", str(more["seed"])]
    options += ["--outside", outside] if outside else []
    options += ["--bounds", ",".join(map(str, bounds))] if bounds else []
    options += ["--roads", roads] if more["streets"] else []
    options += ["--tick", str(more["tick"]), "--from", "2"] if more["tick"] else []
    options += ["--attacks" if more["attacks"] else "--no-attacks"]
    options += ["--samples" if more["samples"] else "--no-samples"]
    files = [f"ours={path}" for path in synthetic] if more["seeds"] else synthetic
    result = CliRunner().invoke(
        app, ["evaluate", real, *files, *options, "--json", "-"], catch_exceptions=False
    )
    card = lt.evaluate(
        real,
        *synthetic,
        grid=grid,
        bounds=bounds,
        **({"outside": outside} if outside else {}),
        names=names,
        roads=roads if more["streets"] else None,
        attacks=more["attacks"],
        samples=more["samples"],
        tick=more["tick"],
        from_tick=2 if more["tick"] else 0,
        repeat=more["repeat"],
        seed=more["seed"],
    )
    assert json.loads(result.stdout) == json.loads(card.to_json())
    for said in card.remarks():
        assert f"note: {said}" in " ".join(result.stderr.split())
