"""What is published: by two rounds, on streets, and nothing below the smallest number of reports."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ldptrace.cli import application
from ldptrace.device import Reporter
from ldptrace.errors import LdptraceError
from ldptrace.io import read
from ldptrace.models import load_model
from ldptrace.protocol.plan import Plan
from ldptrace.server import campaigns, releases, views
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.problems import Refused
from ldptrace.server.storage import Database, open_database
from server_kit import GRID, SINGLE, opened


def answered(database: Database, name: str, reports: int) -> None:
    """So many devices, all with the same trip, answer the open round, which is then closed."""
    with database.reading() as session:
        plan = campaigns.find(session, name).plan
    reporter = Reporter(plan)
    trip = [(0.0, 0.0), (0.0, 3.0), (3.0, 3.0), (6.0, 3.0)]
    bodies = [Submission(reporter.report(trip)) for _ in range(reports)]
    Counter(database).count(name, bodies)
    campaigns.close_round(database, name, actor="test")


def published(database: Database, name: str, count: int, folder: Path) -> Path:
    """The folder with the files of the release."""
    stages: list[tuple[str, int]] = []
    attempt = releases.Attempt(database, name, releases.begin(database, name, actor="test"))
    attempt.make(count, lambda stage, done: stages.append((stage, done)))
    assert [done for _, done in stages] == sorted(done for _, done in stages)
    folder.mkdir()
    with database.reading() as session:
        assert campaigns.find(session, name).state == "published"
        for file in views.files_of(session, name):
            parts = releases.parts_of(session, name, file["name"])
            data = b"".join(releases.part(session, name, file["name"], number) for number in parts)
            assert len(data) == file["bytes"]
            (folder / file["name"]).write_bytes(data)
    return folder


def test_two_rounds(database: Database, tmp_path: Path) -> None:
    opened(database, "trips", Plan.paper(GRID, 4), min_reports=100)
    answered(database, "trips", 120)
    with pytest.raises(Refused, match="all rounds are closed"):
        releases.begin(database, "trips", actor="test")
    campaigns.open_round(database, "trips", actor="test")
    answered(database, "trips", 110)
    out = published(database, "trips", 50, tmp_path / "out")
    names = {path.name for path in out.iterdir()}
    assert {"plan-1.json", "plan-2.json", "tally-1.json", "tally-2.json"} <= names
    second = Plan.from_json((out / "plan-2.json").read_bytes())
    assert second.extends == Plan.from_json((out / "plan-1.json").read_bytes()).id
    assert load_model(out / "model.npz").kind == "markov"
    assert len(read(out / "synthetic.parquet")) == 50
    card = json.loads((out / "scorecard.json").read_text())
    assert (card["reports"], card["promise"]["epsilon"]) == (110, "4")


def test_nothing_is_published_below_the_smallest_number(database: Database) -> None:
    opened(database, "trips", SINGLE, min_reports=100)
    answered(database, "trips", 99)
    with pytest.raises(Refused, match="99 reports"):
        releases.begin(database, "trips", actor="test")
    with database.reading() as session:
        assert views.files_of(session, "trips") == []


def streets(folder: Path) -> Path:
    """A town of 7 x 7 crossings, 1 apart."""
    folder.mkdir()
    at = [(x, y) for x in range(7) for y in range(7)]
    nodes = ["id,x,y", *(f"{7 * x + y},{x},{y}" for x, y in at)]
    pairs = [
        (7 * x + y, 7 * (x + dx) + y + dy)
        for x, y in at
        for dx, dy in ((0, 1), (1, 0))
        if x + dx < 7 and y + dy < 7
    ]
    (folder / "nodes.csv").write_text("\n".join(nodes) + "\n")
    (folder / "edges.csv").write_text("\n".join(["from,to", *(f"{a},{b}" for a, b in pairs)]) + "\n")
    return folder


def test_trips_on_streets(tmp_path: Path) -> None:
    data = tmp_path / "data"
    facts = ["--users", "400", "--epsilon", "8", "--grid", "6", "--bounds", "0,0,6,6", "--min-reports", "300"]
    command = ["campaign", "create", "town", *facts, "--data", str(data), "--roads"]
    done = CliRunner().invoke(application(), [*command, str(streets(tmp_path / "streets"))])
    assert done.exit_code == 0, done.output
    database = open_database(data)
    campaigns.open_round(database, "town", actor="test")
    answered(database, "town", 400)
    out = published(database, "town", 60, tmp_path / "out")
    assert load_model(out / "model.npz").kind == "route"
    assert not any(path.name.endswith("nodes.csv") for path in out.iterdir())
    trips = read(out / "synthetic.parquet")
    assert len(trips) == 60
    # On a street one of the coordinates is that of a line of crossings; some trips are off the streets.
    off = np.minimum(np.abs(trips.x - np.round(trips.x)), np.abs(trips.y - np.round(trips.y)))
    on_streets = np.maximum.reduceat(off, trips.offsets[:-1]) < 1e-6
    assert on_streets.sum() >= 5
    card = json.loads((out / "scorecard.json").read_text())
    assert card["streets"] == ["edges.csv", "nodes.csv"]
    assert str(tmp_path) not in json.dumps(card)
    assert "/tmp" not in json.dumps(card)
    database.close_all()


def test_a_network_that_cannot_be_read_makes_no_campaign(tmp_path: Path) -> None:
    facts = [
        "--users",
        "400",
        "--epsilon",
        "2",
        "--grid",
        "6",
        "--bounds",
        "0,0,6,6",
        "--data",
        str(tmp_path / "d"),
    ]
    for roads in (tmp_path / "nowhere", tmp_path):
        done = CliRunner().invoke(
            application(), ["campaign", "create", "town", *facts, "--roads", str(roads)]
        )
        assert isinstance(done.exception, LdptraceError | OSError)
    listed = CliRunner().invoke(application(), ["campaign", "list", "--json", "--data", str(tmp_path / "d")])
    assert json.loads(listed.stdout) == []
