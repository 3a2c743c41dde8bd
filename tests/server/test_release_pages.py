"""The page of a release, the list of releases and the README."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.standing import Standing
from ldptrace.server.release_pages import batch_lines, list_page, readme, release_page, window_lines
from ldptrace.server.rounds import CountedRound
from release_kit import CAMPAIGN, card

DAY = 86_400
FILES = {"README.md": ("", ""), "model.npz": ("2.0 kB", "ab12"), "synthetic.csv": ("3 bytes", "cd34")}


def test_the_readme_says_who_what_and_how_well() -> None:
    text = readme(CAMPAIGN, card(), FILES)
    assert text.startswith("# Trips <in> town\n")
    assert "run by The town, open until 2027-03-02 00:00 UTC, questions to trips@town.example." in text
    assert "5,000 devices answered" in text
    assert "\n\n20 % of the devices had no trip.\n\n" in text
    assert "| [`model.npz`](model.npz) | the mobility model" in text
    assert "| 2.0 kB | `ab12` |" in text
    assert "| visits | 1,234 | 1.04 | 3.01 |" in text
    assert all(line in text for line in card()["promise"]["explanation"])
    assert "Warnings" not in text
    assert "road network" not in text


def test_what_was_noticed_and_the_map_alone_stand_in_it() -> None:
    alone = [{"question": "visits", "chi2": 50.0}]
    noticed = card(map_alone=alone, warnings=["a warning"], findings=["a finding"], streets=["nodes.csv"])
    text = readme(CAMPAIGN, noticed, FILES)
    assert "| visits | 1,234 | 1.04 | 50.00 | 3.01 |" in text
    assert "- a warning" in text
    assert "- a finding" in text
    assert "public road network (nodes.csv)" in text
    assert "not compared" in readme(CAMPAIGN, card(fit=[]), FILES)


def test_a_window_says_when_it_was_what_is_remembered_and_what_changed() -> None:
    window = {
        "window": 3,
        "from": 21 * DAY,
        "to": 28 * DAY,
        "before": 0,
        "half_life": "forever",
        "effective": 5_000,
        "changes": [],
    }
    assert window_lines(card()) == []
    assert window_lines(card(window=window)) == ["Answers that were due from 1970-01-22 to 1970-01-29."]
    lines = window_lines(
        card(window=window | {"before": 1, "to": 21 * DAY + 3600, "changes": ["More cell B2."]})
    )
    assert lines == [
        "Answers that were due from 1970-01-22 00:00 UTC to 1970-01-22 01:00 UTC.",
        "The model also remembers 1 window before: all count the same, which is worth 5,000 reports.",
        "Change: More cell B2.",
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


TRIPS = Trajectories(np.array([0.0, 3.0, 6.0, 6.0]), np.array([0.0, 3.0, 6.0, 0.0]), np.array([0, 3, 4]))
STREETS = json.dumps({"lines": [[[0, 0, 4096, 4096]], [], [[0, 0, 4096, 0]]], "names": []}).encode()

BATCHES = {
    "least": 300,
    "honest": 0.9,
    "delta": 1e-8,
    "together": 4.0,
    "of": [{"window": None, "reports": 400, "counted": 390, "omitted": 10, "epsilon": 1.5}],
}


def test_the_page_holds_what_the_readme_says_and_a_map() -> None:
    page = release_page(
        CAMPAIGN,
        card(findings=["<odd>"], batches=BATCHES),
        {"model.npz": ("1.2 MB", "ab12"), "SHA256SUMS": ("", "")},
        TRIPS,
        STREETS,
    )
    assert "<h1>Trips &lt;in&gt; town</h1>" in page
    assert "<in>" not in page
    assert "<p>20 % of the devices had no trip.</p>" in page
    assert "<li>&lt;odd&gt;</li>" in page
    assert (
        "<p>Achieved: the shuffler handed over a batch of 400 reports (the plan asks for at least 300)"
        in page
    )
    assert 'd="M0 800L400 400L800 0"' in page
    assert page.count('class="street"') == 3
    assert page.count('class="trip"') == 2
    assert "<td class=n>1.04</td>" in page
    assert '<a href="model.npz"><code>model.npz</code></a>' in page
    assert "1.2 MB" in page
    assert "ab12" in page
    assert '<a href="SHA256SUMS"><code>' in page
    assert "http" not in page.replace("http-equiv", "")


def test_a_map_in_degrees_has_a_scale() -> None:
    assert 'class="ruler"' not in release_page(CAMPAIGN, card(), {}, TRIPS, b"")
    around = Plan.single_report(Grid((13.3, 52.4, 13.6, 52.6), 2), 1, crs="EPSG:4326")
    page = release_page(replace(CAMPAIGN, plan=around), card(), {}, TRIPS, b"")
    assert re.search(r'class="ruler".*>5 km</text>', page)


def test_without_streets_and_without_a_comparison() -> None:
    page = release_page(CAMPAIGN, card(fit=[]), {}, TRIPS, b"")
    assert 'class="street"' not in page
    assert "not compared" in page
    assert "What was noticed" not in page


def test_the_newest_window_comes_first_and_texts_are_escaped() -> None:
    campaign = replace(CAMPAIGN, name="weekly")
    weekly, hourly = (
        CAMPAIGN.plan.changed(standing=Standing.of(every, epsilon=1, start=0)) for every in (7 * DAY, 3600)
    )
    second, first = (
        CountedRound(1, weekly, "closed", 1234, window=1),
        CountedRound(0, hourly, "closed", 10, window=0),
    )
    page = list_page(campaign, [second, first])
    assert "<h1>Trips &lt;in&gt; town</h1>" in page
    assert "Run by The town. Questions: trips@town.example" in page
    assert '<a href="/c/weekly/release/2">1970-01-08 to 1970-01-15</a></td><td class=n>1,234</td>' in page
    assert "1970-01-01 00:00 UTC to 1970-01-01 01:00 UTC" in page
    assert "No window" not in page
    assert "No window has been published yet" in list_page(campaign, [])
