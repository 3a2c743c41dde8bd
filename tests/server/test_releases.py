"""What is published: by two rounds, on streets, and nothing below the smallest number of reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ldptrace.io import read
from ldptrace.models import load_model
from ldptrace.protocol.plan import Plan
from ldptrace.server import campaigns, releases, views
from ldptrace.server.problems import Refused
from ldptrace.server.storage import Database
from server_kit import GRID, SINGLE, answered, opened, published


@pytest.mark.slow
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
