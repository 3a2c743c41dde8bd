"""Pictures of a profile."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
import shapely

from ldptrace.core.trajectories import Trajectories
from ldptrace.products.flows import Flows
from ldptrace.products.profile.figures import _ticks, bars, street_map, zone_map
from ldptrace.products.sample import Numbers, Sample
from ldptrace.products.zones import Polygons, Squares
from road_kit import lattice_roads

NAMES = ("up to 1 km", "1 to 2 km", "over 2 km")


def parsed(picture: object) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(str(picture)))


def test_bars_have_whiskers_where_there_are_ranges() -> None:
    values = np.array([10.0, 20.0, 70.0])
    plain = parsed(bars(NAMES, Numbers(values), "lengths", share=100))
    assert [part.get("class") for part in plain].count("bar") == 3
    assert not any(part.get("class") == "range" for part in plain)
    heights = [float(part.get("height", 0)) for part in plain if part.get("class") == "bar"]
    assert heights[2] == pytest.approx(7 * heights[0], rel=0.01)
    ranged = parsed(bars(NAMES, Numbers(values, 0.5 * values, 2 * values), "lengths", share=100))
    assert [part.get("class") for part in ranged].count("range") == 3
    assert [part.text for part in plain if part.get("text-anchor") == "middle"] == ["1", "2", "> 2"]


@pytest.mark.parametrize("most", [0.003, 0.9, 1.0, 7.0, 11.0, 33.0, 100.0])
def test_axes_have_a_few_round_numbers_up_to_the_largest_value(most: float) -> None:
    ticks = _ticks(most)
    assert 2 <= len(ticks) <= 6
    assert ticks[-2] < most <= ticks[-1] * (1 + 1e-9)


def test_maps_of_known_units_have_a_scale() -> None:
    same = {name: name for name in ("A1", "A2", "B1", "B2")}
    for bounds, length in (((0, 0, 20_000, 20_000), "5 km"), ((13.0, 52.0, 13.4, 52.2), "5 km")):
        picture = str(zone_map(Squares(bounds, 2), same, {}, "squares", scale=True))
        assert 'class="ruler"' in picture
        assert f">{length}</text>" in picture
    assert "ruler" not in str(zone_map(Squares((0, 0, 1, 1), 2), same, {}, "squares"))
    roads = lattice_roads(4)
    flows = Flows.count(Sample(Trajectories.from_lists([[(0.0, 0.0), (200.0, 0.0)]])), roads)
    assert ">100 m</text>" in str(street_map(flows, [], "streets", scale=True))


def test_zones_are_darker_where_more_trips_begin() -> None:
    shapes = [shapely.box(0, 0, 1, 1), shapely.union(shapely.box(1, 0, 2, 1), shapely.box(3, 0, 4, 1))]
    names, begin = {"a": "a", "<b>": "<b>"}, {"a": 1.0, "<b>": 4.0}
    picture = parsed(zone_map(Polygons("z", ("a", "<b>"), shapes), names, begin, "zones"))
    shades = [part.get("style") for part in picture if part.get("class") == "zone"]
    assert shades == ["fill-opacity:0.280", "fill-opacity:0.880", "fill-opacity:0.880"]
    same = {name: name for name in ("A1", "A2", "B1", "B2")}
    squares = parsed(zone_map(Squares((0, 0, 1, 1), 2), same, dict.fromkeys(same, 0.0), "squares"))
    assert ["".join(part.itertext()) for part in squares if part.tag == "text"] == ["A1", "A2", "B1", "B2"]
    # A long name stands in lines of at most 16 letters.
    long = {name: name if name == "a" else "Foz do Douro e Nevogilde" for name in ("a", "<b>")}
    named = parsed(zone_map(Polygons("z", ("a", "<b>"), shapes), long, begin, "zones"))
    lines = [[line.text for line in part] for part in named if part.tag == "text"]
    assert lines == [["a"], *[["Foz do Douro e", "Nevogilde"]] * 2]


def test_streets_are_wider_where_more_vehicles_pass() -> None:
    roads = lattice_roads(4)
    trips = Trajectories.from_lists([[(0.0, 0.0), (200.0, 0.0)]] * 3 + [[(0.0, 0.0), (0.0, 200.0)]])
    picture = parsed(street_map(Flows.count(Sample(trips), roads), [(50.0, 0.0)], "streets"))
    assert [part.text for part in picture if part.get("class") == "spot-name"] == ["1"]
    lines = [part for part in picture if part.get("class") == "street"]
    widths = sorted({float(part.get("style", "").removeprefix("stroke-width:")) for part in lines})
    assert len(widths) == 2
    assert widths[1] == pytest.approx(6.3)
