from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from ldptrace.errors import FormatError
from ldptrace.roads import RoadNetwork, read_roads
from ldptrace.roads.stored import store_roads, stored_roads


def same(one: RoadNetwork, other: RoadNetwork) -> bool:
    pairs = [(getattr(one, column.name), getattr(other, column.name)) for column in fields(RoadNetwork)]
    return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)


def test_a_network_is_loaded_as_it_was_stored(tmp_path: Path) -> None:
    lines = [[[13.4, 52.5], [13.41, 52.51], [13.42, 52.5]], [[13.42, 52.5], [13.43, 52.5]], [[0, 0], [1, 1]]]
    features = ",".join(
        f'{{"type": "Feature", "properties": {{"highway": "primary", "edge_id": "e{number}"}}, '
        f'"geometry": {{"type": "LineString", "coordinates": {line}}}}}'
        for number, line in enumerate(lines)
    )
    path = tmp_path / "town.geojson"
    path.write_text(f'{{"type": "FeatureCollection", "features": [{features}]}}')
    roads = read_roads(path)
    assert roads.account.dropped
    assert roads.edge_id is not None
    assert roads.shape_x is not None
    store_roads(roads, tmp_path / "roads.npz")
    assert same(stored_roads(tmp_path / "roads.npz"), roads)


def test_straight_roads_without_speeds_are_stored_too(tmp_path: Path) -> None:
    roads = RoadNetwork.of([0, 100, 100], [0, 0, 50], source=[0, 1, 1], target=[1, 0, 2])
    store_roads(roads, tmp_path / "roads.npz")
    assert same(stored_roads(tmp_path / "roads.npz"), roads)


@pytest.mark.parametrize("broken", ["text", "nothing", "columns", "pickle"])
def test_other_files_are_refused(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "roads.npz"
    if broken == "text":
        path.write_text("nonsense")
    elif broken == "nothing":
        path.write_bytes(b"")
    elif broken == "columns":
        np.savez(path, x=np.zeros(3))
    else:
        np.savez(path, header=np.array([{"format": "ldptrace-roads"}], dtype=object))
    with pytest.raises(FormatError, match="not a stored road network"):
        stored_roads(path)
