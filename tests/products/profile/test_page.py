"""The page for the public: plain sentences, no request to anywhere, and honest about its promise."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.products.profile import Profile, profile_page
from ldptrace.products.profile.page import privacy, sentences
from ldptrace.products.sample import Sample

STATED = {"epsilon": "1", "unit": "user", "users": 1000, "without_trip": {"value": 0.25, "std_error": 0.01}}


def profile(**stated: object) -> Profile:
    x = np.array([0.0, 4000.0, 0.0, 900.0])
    t = np.array([0.0, 480.0, 30.0, 200.0]) + 8 * 3600
    trips = Trajectories(x, np.zeros(4), [0, 2, 4], t=t, provenance=STATED | stated)
    return Profile.of(Sample(trips, replicates=np.ones((2, 2), dtype=np.float32)))


def test_the_page_is_complete_in_itself() -> None:
    page = profile_page(profile(), "Trips <in> Trent")
    assert "<h1>Trips &lt;in&gt; Trent</h1>" in page
    assert not re.search(r"(src|href)=", page)
    assert page.count("<svg") == 4
    assert "95 of 100 cases" in page


def test_the_short_sentences() -> None:
    found = sentences(profile())
    assert found[0] == (
        "Of 1,000 devices that answered, about 75 in 100 had made a trip (the range is 73 to 77)."
    )
    assert "Most trips begin between 8 and 9 o'clock: 100 of 100 trips." in found
    assert "The usual speed is 25 km/h from door to door." in found


def test_weaker_promises_are_on_the_page() -> None:
    assert "at most 2.7 times as likely" in privacy(profile())[1]
    assert "The promise is weaker than that: bounds." in privacy(profile(leaks="bounds"))
    assert privacy(profile(experiment="seeded"))[-1].endswith("seeded.")
    assert "Whatever one trip looked like" in privacy(profile(unit="trip"))[1]
    silent = replace(profile(), sample=Sample(replace(profile().sample.trips, provenance=None)))
    assert privacy(silent) == ["These trips state no promise about the people behind them."]


@pytest.mark.slow
def test_the_page_fits_a_phone(browser: object) -> None:
    tab = browser.new_page(viewport={"width": 390, "height": 800})  # type: ignore[attr-defined]
    tab.set_content(profile_page(profile()))
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.close()
