"""The profile of trips whose profile is known, and the page for the public: plain sentences, no request to anywhere,
and honest about its promise."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import shapely

from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import TripsPerPerson
from ldptrace.products.profile import Profile, profile_page
from ldptrace.products.profile.page import privacy, sentences
from ldptrace.products.sample import EVERY, ONE_EACH, Sample
from ldptrace.products.zones import H3, Polygons
from road_kit import lattice_roads

STATED = {"epsilon": "1", "unit": "user", "users": 1000, "without_trip": {"value": 0.25, "std_error": 0.01}}


ROADS = lattice_roads(5, 1000.0)
HALVES = Polygons(
    "halves", ("west", "east"), [shapely.box(-1, -1, 2000, 5000), shapely.box(2000, -1, 4001, 5000)]
)


def trips(dated: bool = False) -> Trajectories:
    """Three trips of 4 km east and one of 1 km back, at 8 and at 17 o'clock, at 1 km in 2 minutes."""
    x = np.array([0.0, 4000.0] * 3 + [4000.0, 3000.0])
    leave = np.repeat([8.0, 8.0, 8.5, 17.0], 2) * 3600 + (20_000 * 86_400 if dated else 0)
    t = leave + np.array([0, 480] * 3 + [0, 120])
    return Trajectories(x, np.zeros(8), [0, 2, 4, 6, 8], t=t, provenance={"epsilon": "1"})


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
    assert "the second bar stands for 0.5 to 1 km." in page


def test_the_short_sentences() -> None:
    found = sentences(profile())
    assert found[0] == "This page describes about 2 trips, one for each person who travelled."
    assert found[1] == (
        "Of 1,000 devices that answered, about 75 in 100 had made a trip (the range is 73 to 77)."
    )
    assert "The busiest hour is from 8 to 9 o'clock: 100 of 100 trips begin then." in found
    assert found[-1] == "The most common trip stays within field A1 of the map below: 50.0 of 100 trips."
    assert "The usual speed is 25 km/h from door to door." in found


def test_trips_per_person_are_told_where_people_were_asked() -> None:
    asked = replace(profile(), each=TripsPerPerson(1.5, 0.1, 0.25))
    assert "People made 1.5 trips each on average (the range is 1.3 to 1.7)." in sentences(asked)
    assert asked.document()["trips_per_person"]["value"] == 1.5
    assert profile().document()["trips_per_person"] is None


def test_hexagons_are_numbered_and_the_pointer_shows_their_ids() -> None:
    lon, lat = np.array([13.40, 13.40, 13.40, 13.41]), np.array([52.50, 52.60, 52.50, 52.50])
    trips = Trajectories(lon, lat, [0, 2, 4], crs="EPSG:4326", provenance=STATED)
    found = Profile.of(Sample(trips), H3(7))
    page = profile_page(found)
    assert "The most common trip goes from hexagon 1 to hexagon 2" in sentences(found)[-1]
    assert "<tr><td>1</td><td>2</td>" in page
    assert "numbered from the one in which most trips begin" in page
    assert page.count("871f1d48bffffff") == 1
    assert "871f1d48bffffff" in {pair["from"] for pair in found.document()["pairs"]}


def test_a_share_that_noise_explains_is_not_told() -> None:
    unclear = sentences(profile(without_trip={"value": 0.01, "std_error": 0.01}))
    assert not any("devices that answered" in sentence for sentence in unclear)


def test_caveats_of_the_trips_and_what_counts_are_on_the_page() -> None:
    alone = "The answers do not show that the reports add anything to the map."
    assert alone in profile_page(profile(notes=[alone]))
    for unit, words in (("user", ONE_EACH), ("trip", EVERY), ("trajectory", EVERY)):
        assert words in profile_page(profile(unit=unit))


def test_weaker_promises_are_on_the_page() -> None:
    told = privacy(profile())
    assert told[0].startswith("No trip on this page was made by anybody. Every device changed its answer")
    assert "at most 2.7 times higher or lower" in told[1]
    assert "If all trips of one person had been" in told[1]
    assert privacy(profile(leaks="bounds"))[-1].endswith("bounds.")
    assert privacy(profile(experiment="it was seeded"))[-1] == "It was seeded."
    assert "If one trip had been" in privacy(profile(unit="trip"))[1]
    silent = replace(profile(), sample=Sample(replace(profile().sample.trips, provenance=None)))
    assert "If they are real trips, this result must not be published." in privacy(silent)[0]


def test_the_page_says_whether_people_or_trips_are_counted() -> None:
    each, every = "One trip of each person was drawn at random", "Every trip counts once."
    for unit, said, other in (("user", each, every), ("trip", every, each)):
        page = profile_page(profile(unit=unit))
        assert said in page
        assert other not in page


def test_the_page_names_the_publisher_who_holds_trips() -> None:
    assert "Each trip that the publisher holds" in privacy(profile(simulated=True))[0]
    central = privacy(profile(leaks="central, not local differential privacy"))
    assert "The publisher, who holds the trips of people, added random noise" in central[0]
    assert "what was counted would be" in central[1]


@pytest.mark.slow
def test_the_page_fits_a_phone(browser: object) -> None:
    tab = browser.new_page(viewport={"width": 390, "height": 800})  # type: ignore[attr-defined]
    tab.set_content(profile_page(profile()))
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.close()


def test_the_page_says_who_mixed_the_answers() -> None:
    told = {"delta": "0.00000001", "local_epsilon": "4.2", "batch": 8000, "trust": "shuffler"}
    said = privacy(profile(**told))[2]
    assert "the answers of at least 8,000 people were mixed" in said
    assert "the number would be 67." in said


def test_a_profile_counts_hours_lengths_pairs_and_streets() -> None:
    found = Profile.of(Sample(trips(), 10.0), HALVES, ROADS)
    document = json.loads(json.dumps(found.document()))
    assert document["trips"] == 40
    assert [entry["trips"] for entry in document["hours"]][8:18:9] == [30, 10]
    assert document["weekdays"] is None
    assert {entry["name"]: entry["trips"] for entry in document["lengths"] if entry["trips"]} == {
        "0.5 to 1 km": 10,
        "3 to 5 km": 30,
    }
    assert document["pairs"][0] == {"from": "west", "to": "east", "trips": 30}
    assert document["places"] == [
        {"zone": "west", "begin": 30, "end": 0},
        {"zone": "east", "begin": 10, "end": 40},
    ]
    assert document["streets"][0]["trips"] == 30
    assert document["quartiles"]["speed"] == pytest.approx([30, 30, 30])
    assert document["privacy"] == {"epsilon": "1"}


def test_dates_give_days_of_the_week() -> None:
    one_day = trips(dated=True)
    assert "weekdays" not in Profile.of(Sample(one_day)).classes
    assert one_day.t is not None
    found = Profile.of(Sample(Trajectories.concat([one_day, replace(one_day, t=one_day.t + 86_400)])))
    # Day 20,000 after the first of January 1970 is a Friday.
    assert found.classes["weekdays"][1].values.tolist() == [0, 0, 0, 0, 4, 4, 0]


def test_classes_end_at_the_longest_trips() -> None:
    found = Profile.of(Sample(trips()))
    assert found.classes["lengths"][0][-2:] == ["3 to 5 km", "over 5 km"]
    assert found.classes["minutes"][0][-1] == "over 10 min"


def test_without_times_there_are_no_hours() -> None:
    found = Profile.of(Sample(replace(trips(), t=None)))
    assert list(found.classes) == ["lengths"]
    assert found.streets() == []
    assert set(found.quartiles) == {"length"}


def test_degrees_are_measured_in_kilometres() -> None:
    north = Trajectories([13.0, 13.0], [52.0, 52.1], [0, 2], crs="EPSG:4326")
    assert Profile.of(Sample(north)).quartiles["length"][1] == pytest.approx(11.12, abs=0.01)


def test_ranges_are_in_the_document() -> None:
    sample = Sample(trips(), replicates=np.array([[0.5, 1, 1, 1], [1.5, 1, 1, 1]], dtype=np.float32))
    entry = Profile.of(sample).document()["hours"][8]
    assert entry["low"] < entry["trips"] < entry["high"]
