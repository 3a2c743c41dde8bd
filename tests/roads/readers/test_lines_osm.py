from __future__ import annotations

from pathlib import Path

import numpy as np

from ldptrace.roads import read_roads
from ldptrace.roads.readers.lines import read_osm
from road_kit import feature, write_pbf


def test_ways_that_leave_the_extract_are_cut_off_there(tmp_path: Path) -> None:
    streets = [
        feature([(0, 0), (0.001, 0), (0.002, 0), (0.003, 0)], highway="residential"),
        feature([(0.001, 0), (0, 0.001), (0, 0)], highway="residential"),
    ]
    roads = read_roads(write_pbf(tmp_path / "cut.osm.pbf", streets, missing=frozenset({3})))
    assert (roads.nodes, roads.edges) == (2, 4)
    assert any("reach beyond the extract in 1 places" in note for note in roads.account.notes)


def test_ways_are_cut_at_the_nodes_that_they_share(tmp_path: Path) -> None:
    cross = [
        feature([(0, 0), (0.001, 0), (0.002, 0)], highway="primary", maxspeed="50"),
        feature([(0.001, 0.001), (0.001, 0), (0.001, -0.001)], highway="footway"),
        feature([(0, 0.5), (0.1, 0.5)], building="yes"),
    ]
    on_foot = read_osm(write_pbf(tmp_path / "a.osm.pbf", cross), "foot")
    assert len(on_foot.start) == 4
    assert sorted(on_foot.kinds) == ["footway", "primary"]
    # A car may not use the footway, and so there is no junction.
    by_car = read_osm(tmp_path / "a.osm.pbf", "car")
    assert (len(by_car.start), by_car.dropped["not for cars"]) == (1, 1)
    np.testing.assert_array_equal(by_car.limit, [50.0])
    assert by_car.crs == "EPSG:4326"
