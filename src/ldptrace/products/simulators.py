"""Write trips for traffic simulators: trips and routes of SUMO, plans of MATSim."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.atomic import atomic_path, together
from ldptrace.core.crs import WGS84, LocalPlane, is_geographic, transform
from ldptrace.core.times import DAY, to_local
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from ldptrace.io.provenance import write_beside
from ldptrace.roads import read_roads
from ldptrace.roads.matching import StreetIndex
from ldptrace.roads.readers.xml_graphs import VEHICLES, elements, open_to

SIMULATORS = ("sumo-trips", "sumo-routes", "matsim")
SUMO = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation='
MATSIM_DTD = "http://www.matsim.org/files/dtd/population_v6.dtd"


# Departures in seconds after the first midnight, numbers of trips, and their origins and destinations (x, y).
Travellers = tuple[Floats, Ints, Floats, Floats]


def travellers_of(trips: Trajectories) -> Travellers:
    """Order trips with times by their departures. Trips without points are omitted."""
    used, trips = np.flatnonzero(trips.sizes > 0), trips.with_all_times()
    if trips.t is None:
        raise InputError("the trips have no times; a simulator needs to know when each of them leaves")
    if len(used) == 0:
        raise InputError("there are no trips to simulate")
    clock = to_local(trips.t[trips.offsets[used]], trips.timezone)
    clock = clock - DAY * np.floor(clock.min() / DAY)
    order = np.argsort(clock, kind="stable")
    used, places = used[order], np.column_stack((trips.x, trips.y))
    return clock[order], used, places[trips.offsets[used]], places[trips.offsets[used + 1] - 1]


def write_for(trips: Trajectories, path: str | Path, simulator: str, roads: str | Path | None = None) -> str:
    """Write trips for a simulator, and return a sentence about the result. `roads` is the SUMO network, which the
    format `sumo-routes` needs and the format `sumo-trips` can use.
    """
    if simulator not in SIMULATORS:
        raise InputError(f"simulators' files are {', '.join(SIMULATORS)}, got {simulator!r}")
    if simulator == "matsim" and roads is not None:
        raise InputError(
            "matsim takes coordinates and no roads: omit --roads, or write sumo-trips or sumo-routes"
        )
    travellers, target = travellers_of(trips), Path(path)
    if simulator == "matsim":
        lines, said = _matsim(travellers, trips.crs)
    else:
        lines, said = _sumo(trips, travellers, simulator == "sumo-routes", roads)
    with together():
        with atomic_path(target) as temporary, open(temporary, "w", encoding="utf-8") as file:
            file.writelines(lines)
        write_beside(target, trips.provenance)
    return said


def _sumo(
    trips: Trajectories, travellers: Travellers, whole: bool, roads: str | Path | None
) -> tuple[Iterator[str], str]:
    """Return the lines of a file with the origin and destination, or the `whole` route, of each trip, and a sentence
    about them. Places are edges of a SUMO network, or coordinates, for which SUMO finds the nearest edges."""
    leaves, order, origins, destinations = travellers
    if roads is not None:
        ways, cut = routes_on(Path(roads), trips.take(order))
        said, omitted = f"on the edges of {roads}", sum(not way for way in ways)
        if omitted:
            said += f", without {omitted:,} trips that pass none of them,"
        if cut:
            said += f" ({cut:,} of them end early, at a turn that has no way around)"
        if whole:
            places = [f"<route edges={quoteattr(' '.join(way))}/>" if way else "" for way in ways]
        else:
            places = [f"from={quoteattr(way[0])} to={quoteattr(way[-1])}" if way else "" for way in ways]
    elif whole:
        raise InputError("sumo-routes needs the SUMO network whose edges it names: --roads city.net.xml")
    else:
        kind, digits = ("LonLat", 7) if trips.is_geographic else ("XY", 2)
        places = [
            f'from{kind}="{x0:.{digits}f},{y0:.{digits}f}" to{kind}="{x1:.{digits}f},{y1:.{digits}f}"'
            for (x0, y0), (x1, y1) in zip(origins.tolist(), destinations.tolist(), strict=True)
        ]
        said = "by their coordinates"

    def lines() -> Iterator[str]:
        yield '<?xml version="1.0" encoding="UTF-8"?>\n'
        yield f'<routes {SUMO}"http://sumo.dlr.de/xsd/routes_file.xsd">\n'
        for number, leave, place in zip(order.tolist(), leaves.tolist(), places, strict=True):
            own = f'id="{number}" depart="{leave:.2f}"'
            if place:
                yield f"    <vehicle {own}>{place}</vehicle>\n" if whole else f"    <trip {own} {place}/>\n"
        yield "</routes>\n"

    many = sum(map(bool, places))
    return lines(), f"{many:,} {'routes' if whole else 'trips'} for SUMO {said}"


def _matsim(travellers: Travellers, crs: str | None) -> tuple[Iterator[str], str]:
    """Return the lines of a file with plans of people with one leg, in metres, and a sentence about the result.
    Degrees become metres of the UTM zone of their middle."""
    leaves, order, *ends = travellers
    x, y = np.concatenate(ends).T
    said = "x and y are taken as metres" if crs is None else f"coordinates are {crs}"
    if is_geographic(crs):
        middle = LocalPlane.around(x, y)
        zone = f"EPSG:{(32600 if middle.lat >= 0 else 32700) + int((middle.lon + 180) // 6) % 60 + 1}"
        x, y = transform(x, y, WGS84, zone)
        said = f"coordinates are {zone}"
    rows = np.column_stack((leaves, *np.split(x, 2), *np.split(y, 2))).tolist()

    def lines() -> Iterator[str]:
        yield f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE population SYSTEM "{MATSIM_DTD}">\n<population>\n'
        for number, (leave, x0, x1, y0, y1) in zip(order.tolist(), rows, strict=True):
            yield (
                f'  <person id="{number}">\n    <plan selected="yes">\n'
                f'      <activity type="origin" x="{x0:.2f}" y="{y0:.2f}" end_time="{_clock(leave)}"/>\n'
                f'      <leg mode="car"/>\n      <activity type="destination" x="{x1:.2f}" y="{y1:.2f}"/>\n'
                f"    </plan>\n  </person>\n"
            )
        yield "</population>\n"

    return lines(), f"{len(order):,} plans for MATSim ({said})"


def _clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds since the first midnight.

    >>> _clock(90061.4)
    '25:01:01'
    """
    whole = int(seconds)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


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
        """Read the connections between lanes that are open to cars."""
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
        """Return the edges of a trip, with detours around forbidden turns, up to the first turn without a detour."""
        route = passed[:1]
        for edge in passed[1:]:
            between = self._between(route[-1], edge)
            if between is None:
                break
            route += between
        return route

    def _between(self, start: str, end: str) -> list[str] | None:
        """Return the edges after `start` up to `end`, on the shortest route with few edges."""
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


def routes_on(network: Path, trips: Trajectories) -> tuple[list[list[str]], int]:
    """Return the edges of each trip on a network, connected by allowed turns, and the number of routes that end early,
    at a turn without a detour."""
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
    matched = index.follow(trips)
    for trip, edge in zip(matched.trip.tolist(), names[index.edges(matched)].tolist(), strict=True):
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
    return routes, cut
