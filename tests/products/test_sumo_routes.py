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
