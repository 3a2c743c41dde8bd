"""What is published on streets, and that a network which cannot be read makes no campaign."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ldptrace.cli import application
from ldptrace.errors import LdptraceError
from ldptrace.io import read
from ldptrace.models import load_model
from ldptrace.server import campaigns
from ldptrace.server.storage import open_database
from server_kit import answered, published


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


@pytest.mark.slow
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
