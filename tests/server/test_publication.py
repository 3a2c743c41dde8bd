"""What is published on streets, and that a network which cannot be read makes no campaign."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ldptrace.cli import application
from ldptrace.device import Reporter
from ldptrace.errors import LdptraceError
from ldptrace.io import read
from ldptrace.models import load_model
from ldptrace.models.routes.model import RouteModel
from ldptrace.products.sample import ONE_EACH
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.shuffling import stated_epsilon
from ldptrace.server import campaigns, registry, views
from ldptrace.server.counting import Label, count_batch
from ldptrace.server.storage import open_database
from server_kit import answered, published, streets
from shuffler_kit import HOUR, NOW, opened_shuffled, shuffled


@pytest.mark.slow
def test_trips_on_streets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A library that is drawn and fitted in a second.
    monkeypatch.setattr("ldptrace.models.routes.search.FEWEST", 5_000)
    data = tmp_path / "data"
    facts = ["--users", "400", "--epsilon", "8", "--grid", "6", "--bounds", "0,0,6,6", "--min-reports", "300"]
    command = ["campaign", "create", "town", *facts, "--data", str(data), "--roads"]
    done = CliRunner().invoke(application("campaign"), [*command, str(streets(tmp_path / "streets"))])
    assert done.exit_code == 0, done.output
    database = open_database(data)
    campaigns.open_round(database, "town", actor="test")
    answered(database, "town", 400)
    out = published(database, "town", 60, tmp_path / "out")
    model = load_model(out / "model.npz")
    assert isinstance(model, RouteModel)
    assert not any(path.name.endswith("nodes.csv") for path in out.iterdir())
    trips = read(out / "synthetic.parquet")
    assert len(trips) == 60
    # On a street one of the coordinates is that of a line of crossings; a share of the trips is off the streets.
    off = np.minimum(np.abs(trips.x - np.round(trips.x)), np.abs(trips.y - np.round(trips.y)))
    on_streets = np.maximum.reduceat(off, trips.offsets[:-1]) < 1e-6
    # Reports draw from the system's randomness: where most trips are on streets, none of 60 is once in 2^60 runs.
    assert on_streets.any() or model.off_streets > 0.5
    card = json.loads((out / "fit.json").read_text())
    assert card["streets"] == ["edges.csv", "nodes.csv"]
    assert "of the devices had no trip" in card["people"][0]
    # Everybody makes the same trip, which no map knows: what it gives alone stands beside what was learned.
    learned, public = ({match["question"]: match for match in card[name]} for name in ("fit", "map_alone"))
    assert learned.keys() == public.keys()
    # The map says .3 of a cell that all of at least 100 people cross, at an epsilon of 8; it is never near 1.
    assert public["visits"]["chi2"] > 10
    assert learned["visits"]["noise"] == pytest.approx(3.01, abs=0.01)
    assert card["notes"][0].startswith("The map alone, without any report, misses the answers")
    assert card["notes"][0] in card["explanation"]
    # Each device is a person, so trips, profile and matrix count people.
    assert trips.provenance is not None
    assert (trips.provenance["unit"], trips.provenance["users"]) == ("user", 400)
    assert ONE_EACH in (out / "profile.html").read_text()
    # The profile shows the streets, or the card says why it cannot.
    profile = json.loads((out / "profile.json").read_text())
    unlike = [note for note in card["notes"] if note.startswith("The profile is without streets")]
    assert bool(profile["streets"]) != bool(unlike)
    assert trips.provenance["notes"] == [note for note in card["notes"] if note not in unlike]
    assert str(tmp_path) not in json.dumps(card)
    assert "/tmp" not in json.dumps(card)
    database.close_all()


@pytest.mark.slow
def test_a_shuffled_campaign_states_its_batch_and_both_promises_as_achieved(tmp_path: Path) -> None:
    database = open_database(tmp_path / "data")
    direct = Plan.single_report(Grid((0.0, 0.0, 6.0, 6.0), 4), 1)
    made = direct.changed(shuffled=shuffled(batch=60, honest=Fraction(9, 10)))
    plan = opened_shuffled(database, made, min_reports=60)
    reporter = Reporter(plan, "none")
    trip = [(0.0, 0.0), (0.0, 3.0), (3.0, 3.0), (6.0, 3.0)]
    sealed = [reporter.report(trip) for _ in range(120)]
    # Copies of reports are omitted, and hide nobody.
    body = b"".join([*sealed, *sealed[:30]])
    count_batch(database, Label("trips", plan.id, None), body, NOW + HOUR)
    out = published(database, "trips", 60, tmp_path / "out")
    told = json.loads((out / "fit.json").read_text())["batches"]
    achieved = stated_epsilon(108, 1, 1e-8)
    batch = {"window": None, "reports": 150, "counted": 120, "omitted": 30, "epsilon": achieved}
    assert told == {"least": 60, "honest": 0.9, "delta": 1e-8, "together": 1.0, "of": [batch]}
    for file in ("README.md", "index.html"):
        text = (out / file).read_text()
        assert "a batch of 150 reports (the plan asks for at least 60), of which 120 were counted" in text
        assert f"costs epsilon {achieved:g} with delta 1e-08" in text
    with database.reading() as session:
        [seen] = views.overview(session, registry.find(session, "trips"))["batches"]
    assert (seen["epsilon"], seen["honest"]) == (achieved, 108)
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
            application("campaign"), ["campaign", "create", "town", *facts, "--roads", str(roads)]
        )
        assert isinstance(done.exception, LdptraceError | OSError)
    listed = CliRunner().invoke(
        application("campaign"), ["campaign", "list", "--json", "--data", str(tmp_path / "d")]
    )
    assert json.loads(listed.stdout) == []
