from __future__ import annotations

from ldptrace.server.readme import Stored, batch_lines, readme, window_lines
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


def test_batches_of_a_shuffled_plan_say_what_both_promises_came_to() -> None:
    last = {"window": 3, "reports": 12_001, "counted": 11_990, "omitted": 11, "epsilon": 0.7123}
    told = {"least": 10_000, "honest": 0.9, "delta": 1e-8, "together": 4.0, "of": [last]}
    assert batch_lines(card()) == batch_lines(card(batches=None)) == []
    [line] = batch_lines(card(batches=told))
    assert line == (
        "Achieved: the shuffler handed over a batch of 12,001 reports (the plan asks for at least 10,000), of which "
        "11,990 were counted. An answer in it costs epsilon 0.7123 with delta 1e-08, as long as 90 % of the counted "
        "reports come from honest devices; if shuffler and curator work together, epsilon 4."
    )
    before = [last | {"counted": 10_500, "epsilon": 0.75}, last | {"counted": 13_000, "epsilon": 0.69}]
    assert batch_lines(card(batches=told | {"of": [*before, last]})) == [
        line,
        "The 2 batches before had at least 10,500 counted reports: epsilon 0.75 or less for an answer.",
    ]
    one = batch_lines(card(batches=told | {"of": [before[0], last]}))
    assert one[1] == "The batch before had 10,500 counted reports: epsilon 0.75 or less for an answer."
    assert line in readme(CAMPAIGN, card(batches=told), FILES)
