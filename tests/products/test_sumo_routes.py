"""Routes keep to the connections of their network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.products.sumo_routes import Connections, routes_on

LENGTH = {"a": 1.0, "b": 1.0, "c": 1.0, "far": 9.0}


def test_ways_lead_around_forbidden_turns() -> None:
    ways = Connections({"a": {"far", "c"}, "far": {"b"}, "c": {"b"}, "b": set()}, LENGTH)
    assert ways.allowed(["a", "c"]) == ["a", "c"]
    assert ways.allowed(["a", "b"]) == ["a", "c", "b"]
    assert ways.allowed(["a", "b", "a"]) == ["a", "c", "b"]
    assert ways.allowed([]) == []


def test_a_way_back_needs_another_edge() -> None:
    assert Connections({"a": {"b"}, "b": {"a"}, "c": set(), "far": set()}, LENGTH).allowed(["a", "a"]) == [
        "a",
        "b",
        "a",
    ]


def test_another_kind_of_network_is_refused() -> None:
    trips = Trajectories(np.zeros(2), np.zeros(2), [0, 2])
    with pytest.raises(InputError, match=r"edges of a SUMO network \(.net.xml\), got roads.gpkg"):
        routes_on(Path("roads.gpkg"), trips)


def test_lanes_that_are_closed_to_cars_lead_nowhere(tmp_path: Path) -> None:
    """As `netconvert` writes streets that meet a cycleway, and a lane for buses."""
    network = tmp_path / "town.net.xml"
    lane = '<lane id="{0}_{1}" index="{1}" {2} length="5.00"/>'
    edges = {
        "street": lane.format("street", 0, 'allow="bus"') + lane.format("street", 1, 'disallow="tram"'),
        "next": lane.format("next", 0, ""),
        "cycleway": lane.format("cycleway", 0, 'allow="bicycle"'),
    }
    joined = [
        '<connection from="street" to="next" fromLane="1" toLane="0"/>',
        '<connection from="next" to="street" fromLane="0" toLane="0"/>',
        '<connection from="street" to="cycleway" fromLane="1" toLane="0"/>',
        '<connection from="next" to="street" fromLane="0" toLane="1" allow="bus"/>',
    ]
    written = "".join(f'<edge id="{name}">{lanes}</edge>' for name, lanes in edges.items())
    network.write_text(f'<net><edge id=":0" function="internal"/>{written}{"".join(joined)}</net>')
    found = Connections.read(network)
    assert found.after == {"street": {"next"}, "next": set()}
    assert found.length == {"street": 5.0, "next": 5.0}
