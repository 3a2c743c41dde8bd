"""Trips as lists of edges of a SUMO network that its connections allow one after the other."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from ldptrace.roads import read_roads
from ldptrace.roads.matching import StreetIndex
from ldptrace.roads.readers.sumo import VEHICLES, elements, open_to

# Edges that a way around a forbidden turn may have, before the trip ends there instead.
LONGEST = 12
CAR = VEHICLES["car"]


@dataclass(frozen=True)
class Connections:
    """Which edges may follow each other, and how long each edge is."""

    after: dict[str, set[str]]
    length: dict[str, float]
    # Ways around that were looked for before.
    known: dict[tuple[str, str], list[str] | None] = field(default_factory=dict)

    @staticmethod
    def read(path: Path) -> Connections:
        """The connections of a network from lane to lane, where both are open to cars."""
        after: dict[str, set[str]] = {}
        length: dict[str, float] = {}
        lanes: set[tuple[str, str]] = set()
        for element in elements(path, {"edge", "connection"}):
            name = element.get("id", "")
            if element.tag == "connection":
                start, end = (
                    (element.get(side, ""), element.get(f"{side}Lane", "0")) for side in ("from", "to")
                )
                if {start, end} <= lanes and open_to(element.attrib, CAR):
                    after[start[0]].add(end[0])
            elif element.get("function", "normal") == "normal":
                own = [lane.attrib for lane in element.findall("lane") if open_to(lane.attrib, CAR)]
                if own:
                    after[name], length[name] = set(), float(own[0].get("length", "1"))
                    lanes.update((name, lane.get("index", "0")) for lane in own)
        return Connections(after, length)

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
        """The edges after `start` up to `end`, on the shortest route of few edges."""
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


@dataclass(frozen=True)
class EdgeRoutes:
    """For each trip the edges that it passes, one allowed after the other; none where it passes no edge.

    `cut` of them end before their trip does, at a turn that has no way around.
    """

    routes: list[list[str]]
    cut: int


def routes_on(network: Path, trips: Trajectories) -> EdgeRoutes:
    """The routes of trips on the edges of a network."""
    if not network.name.endswith((".net.xml", ".net.xml.gz")):
        raise InputError(f"routes for SUMO name edges of a SUMO network (.net.xml), got {network}")
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
            f"{network}: no trip passes any of its edges for a {CAR}; its roads lie in "
            f"{','.join(f'{value:.6g}' for value in roads.bounds())}, the trips in "
            f"{','.join(f'{value:.6g}' for value in np.round(trips.bounds(), 6))}"
        )
    cut = sum(route[-1:] != edges[-1:] for route, edges in zip(routes, passed, strict=True))
    return EdgeRoutes(routes, cut)
