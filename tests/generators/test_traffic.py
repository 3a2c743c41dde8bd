from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import InputError
from ldptrace.generators.legs import Recorder
from ldptrace.generators.traffic import Gravity, Traffic, attraction, natural_hubs, whole
from ldptrace.roads.network import RoadNetwork
from road_kit import lattice_roads
from statistics_kit import assert_frequencies


def gravity(homes: list[float] | None = None) -> Gravity:
    """One place at node 0 of a line of five nodes, a minute from each to the next."""
    seconds = 60.0 * np.arange(5, dtype=np.float32)[None, :]
    return Gravity(np.ones(5) if homes is None else np.array(homes), seconds, np.ones(1), np.ones(1))


def test_nobody_drives_to_where_he_is() -> None:
    weights = gravity().weights(120.0, np.array([0]))[0]
    assert weights[0] == 0
    assert np.all(weights[1:] > 0)


def test_trips_get_rarer_by_a_factor_e_every_patience() -> None:
    weights = gravity().weights(60.0, np.array([0]))[0].astype(float)
    # Far enough to be driven, not walked, each minute costs a factor e.
    assert weights[4] / weights[3] == pytest.approx(np.exp(-1), rel=1e-2)


def test_where_nobody_lives_nobody_comes_from() -> None:
    sums = gravity([1, 0, 1, 0, 0]).origins(600.0)[0]
    assert sums.tolist() == pytest.approx([0, 0, 1, 1, 1])


@given(st.floats(60.0, 140.0))
def test_patience_meets_the_mean(target: float) -> None:
    law = gravity()
    assert law.mean_seconds(law.clamped_patience(target)) == pytest.approx(target, rel=0.02)


def test_impossible_means_are_told() -> None:
    law = gravity()
    assert law.mean_seconds(1.0) < law.mean_seconds(100.0) < law.mean_seconds(1e5)
    # The most patient come in proportion to the distance: 60 (1 + 4 + 9 + 16) / 10 seconds on average.
    with pytest.raises(InputError, match="trips on this map can take 1 to 3 minutes on average, not 60"):
        law.patience(3600.0, 1.0)


def test_visits_gather_around_hubs_and_homes_do_not() -> None:
    roads = lattice_roads(9, 100.0)
    visits, homes = attraction(roads, *(np.array([value]) for value in (400.0, 400.0, 1.0, 50.0)))
    assert visits.sum() == pytest.approx(1)
    assert visits.argmax() == 4 * 9 + 4
    assert visits[0] == pytest.approx(0.1 / 81, rel=1e-3)
    assert len(np.unique(homes)) == 1


def test_a_motorway_is_entered_at_its_ends_only() -> None:
    # A street between nodes 0 and 1, and a motorway from 1 by 2 to 3, where the map ends.
    roads = RoadNetwork.of(
        *([0, 100, 200, 300], [0, 0, 0, 0], [0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]),
        road_class=[1, 1, 0, 0, 0, 0],
        classes=("motorway", "residential"),
    )
    visits, homes = attraction(roads, *(np.array([value]) for value in (0.0, 0.0, 1.0, 100.0)))
    assert visits[2] == homes[2] == 0
    assert visits[3] == pytest.approx(0.05)


def test_the_first_hub_is_where_junctions_are_dense() -> None:
    rng = np.random.default_rng(1)
    dense, sparse = rng.normal(500, 10, (2, 60)), rng.uniform(0, 1000, (2, 40))
    x, y = np.concatenate((dense, sparse), axis=1)
    roads = RoadNetwork.of(x, y, np.arange(100), np.roll(np.arange(100), -1))
    hub_x, hub_y, pull, reach = natural_hubs(roads, rng, hubs=5)
    assert np.hypot(hub_x[0] - 500, hub_y[0] - 500) < 50
    assert len(pull) == len(reach) == 5
    assert pull.argmax() == 0


def prepared(**more: object) -> Traffic:
    roads = lattice_roads(4, 300.0)
    roads = replace(roads, seconds=roads.length / 10.0)
    everywhere = np.ones(roads.nodes), np.ones(roads.nodes)
    settings = {"minutes": None, **more}
    return Traffic.prepare(
        settings.get("roads", roads),  # type: ignore[arg-type]
        everywhere,
        Recorder(10.0, 0.0),
        settings["minutes"],  # type: ignore[arg-type]
        roads.bounds(),
        np.random.default_rng(1),
    )


def test_places_are_visited_by_their_share() -> None:
    traffic = prepared()
    legs = traffic._legs(20_000, np.random.default_rng(2))
    assert_frequencies(
        np.bincount(legs.root, minlength=len(traffic.places)), np.diff(traffic.busy, prepend=0)
    )
    assert np.all(legs.node != traffic.places[legs.root])


def test_settings_that_cannot_be_are_told() -> None:
    with pytest.raises(InputError, match="need the speeds of the roads"):
        prepared(roads=lattice_roads(4, 300.0))
    for minutes in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="positive number of minutes"):
            prepared(minutes=minutes)
    for count in (-1, 1.5, True, "3"):
        with pytest.raises(InputError, match="whole number from 0 to 1,000,000,000"):
            whole(count)  # type: ignore[arg-type]
