from __future__ import annotations

import json

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.server.readme import Stored
from ldptrace.server.release_page import release_page
from release_kit import CAMPAIGN, card

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
        {"model.npz": Stored(1_234_567, "ab12"), "SHA256SUMS": None},
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


def test_without_streets_and_without_a_comparison() -> None:
    page = release_page(CAMPAIGN, card(fit=[]), {}, TRIPS, b"")
    assert 'class="street"' not in page
    assert "not compared" in page
    assert "What was noticed" not in page
