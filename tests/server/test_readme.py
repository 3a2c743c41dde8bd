from __future__ import annotations

from ldptrace.server.readme import Stored, readme, window_lines
from release_kit import CAMPAIGN, card

FILES = {"README.md": None, "model.npz": Stored(2_000, "ab12"), "synthetic.csv": Stored(3, "cd34")}


def test_the_readme_says_who_what_and_how_well() -> None:
    text = readme(CAMPAIGN, card(), FILES)
    assert text.startswith("# Trips <in> town\n")
    assert "run by The town, open until 2027-03-02 00:00 UTC, questions to trips@town.example." in text
    assert "5,000 devices answered" in text
    assert "\n\n20 % of the devices had no trip.\n\n" in text
    assert "| [`model.npz`](model.npz) | the mobility model" in text
    assert "| 2.0 kB | `ab12` |" in text
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


def test_a_window_says_when_it_was_what_is_remembered_and_what_changed() -> None:
    day = 86_400
    window = {
        "window": 3,
        "from": 21 * day,
        "to": 28 * day,
        "before": 0,
        "half_life": "forever",
        "effective": 5_000,
        "changes": [],
    }
    assert window_lines(card()) == []
    assert window_lines(card(window=window)) == ["Answers that were due from 1970-01-22 to 1970-01-29."]
    lines = window_lines(
        card(window=window | {"before": 1, "to": 21 * day + 3600, "changes": ["More cell 1,1."]})
    )
    assert lines == [
        "Answers that were due from 1970-01-22 00:00 UTC to 1970-01-22 01:00 UTC.",
        "The model also remembers 1 window before: all count the same, which is worth 5,000 reports.",
        "Change: More cell 1,1.",
    ]
    text = readme(CAMPAIGN, card(window=window | {"before": 2, "half_life": "14d"}), FILES)
    assert (
        "remembers 2 windows before: the weight of a report halves in 14d, which is worth 5,000 reports."
        in text
    )
