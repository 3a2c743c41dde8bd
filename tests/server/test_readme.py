from __future__ import annotations

from ldptrace.server.readme import readme
from release_kit import CAMPAIGN, card

FILES = ["README.md", "model.npz", "synthetic.csv"]


def test_the_readme_says_who_what_and_how_well() -> None:
    text = readme(CAMPAIGN, card(), FILES)
    assert text.startswith("# Trips <in> town\n")
    assert "run by The town, open until 2027-03-02 00:00 UTC, questions to trips@town.example." in text
    assert "5,000 devices answered" in text
    assert "| `model.npz` | the mobility model" in text
    assert "| visits | 1,234 | 1.04 |" in text
    assert all(line in text for line in card()["promise"]["explanation"])
    assert "Warnings" not in text
    assert "road network" not in text


def test_what_was_noticed_and_the_map_alone_stand_in_it() -> None:
    alone = [{"question": "visits", "chi2": 50.0}]
    noticed = card(map_alone=alone, warnings=["a warning"], findings=["a finding"], streets=["nodes.csv"])
    text = readme(CAMPAIGN, noticed, FILES)
    assert "| visits | 1,234 | 1.04 | 50.00 |" in text
    assert "- a warning" in text
    assert "- a finding" in text
    assert "public road network (nodes.csv)" in text
    assert "not compared" in readme(CAMPAIGN, card(fit=[]), FILES)
