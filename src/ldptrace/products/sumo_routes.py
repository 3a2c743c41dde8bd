"""Trips as lists of edges of a SUMO network that its connections allow one after the other."""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from ldptrace.roads import read_roads
from ldptrace.roads.matching import StreetIndex
from ldptrace.roads.readers.sumo import VEHICLES, elements

# Edges that a way around a forbidden turn may have, before the trip ends there instead.
LONGEST = 12


@dataclass(frozen=True)
class Connections:
    """Which edges may follow each other, and how long each edge is."""

    after: dict[str, set[str]]
    length: dict[str, float]
    # Ways around that were looked for before.
    known: dict[tuple[str, str], list[str] | None] = field(default_factory=dict)

    @staticmethod
    def read(path: Path) -> Connections:
        """The connections of a network between edges that carry traffic."""
        after: dict[str, set[str]] = defaultdict(set)
        length: dict[str, float] = {}
        for element in elements(path, {"edge", "connection"}):
            if element.tag == "edge":
                lane = element.find("lane")
                if element.get("function", "normal") == "normal" and lane is not None:
                    length[element.get("id", "")] = float(lane.get("length", "1"))
            else:
                after[element.get("from", "")].add(element.get("to", ""))
        return Connections({edge: after[edge] & length.keys() for edge in length}, length)

    def allowed(self, passed: list[str]) -> list[str]:
        """The edges of a trip, with ways around turns that the network forbids; up to the first that has none."""
        route = passed[:1]
        for edge in passed[1:]:
            between = self._between(route[-1], edge)
            if between is None:
                break
            route += between
        return route

    def _between(self, start: str, end: str) -> list[str] | None:
        """The edges after `start` up to `end`, on the shortest way of few edges."""
        if end in self.after[start]:
            return [end]
        if (start, end) not in self.known:
            self.known[start, end] = self._searched(start, end)
        return self.known[start, end]

    def _searched(self, start: str, end: str) -> list[str] | None:
        heap: list[tuple[float, list[str]]] = [(0.0, [start])]
        seen: set[str] = set()
        while heap:
            far, way = heapq.heappop(heap)
            if way[-1] == end and len(way) > 1:
                return way[1:]
            if way[-1] in seen or len(way) > LONGEST:
                continue
            seen.add(way[-1])
            for edge in sorted(self.after[way[-1]]):
                heapq.heappush(heap, (far + self.length[edge], [*way, edge]))
        return None


def routes_on(network: Path, trips: Trajectories) -> list[list[str]]:
    """For each trip the edges of the network that it passes; none where it passes no edge."""
    if not network.name.endswith((".net.xml", ".net.xml.gz")):
        raise InputError(f"sumo-routes names edges of a SUMO network (.net.xml), got {network}")
    roads = read_roads(network)
    if trips.crs is not None:
        roads.check_against(roads.bounds(), trips.crs)
    try:
        connections = Connections.read(network)
    except FormatError as error:
        raise FormatError(f"{network}: {error}") from None
    index, names = StreetIndex.of(roads), roads.edge_id
    assert names is not None
    passed: list[list[str]] = [[] for _ in range(len(trips))]
    for found in index.follow(trips):
        edges = names[index.edges(found)]
        for trip, edge in zip(found.trip.tolist(), edges.tolist(), strict=True):
            if passed[trip][-1:] != [edge]:
                passed[trip].append(edge)
    routes = [connections.allowed(edges) for edges in passed]
    if not any(routes):
        raise InputError(
            f"{network}: no trip passes any of its edges for a {VEHICLES['car']}; its roads lie in "
            f"{','.join(f'{value:.6g}' for value in roads.bounds())}, the trips in "
            f"{','.join(f'{value:.6g}' for value in np.round(trips.bounds(), 6))}"
        )
    return routes
