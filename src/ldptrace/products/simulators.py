"""Trips as traffic simulators read them: SUMO's trips and routes, MATSim's plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats
from ldptrace.core.crs import LocalPlane
from ldptrace.core.times import DAY, to_local
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io.atomic import atomic_path
from ldptrace.io.provenance import write_beside

SIMULATORS = ("sumo-trips", "sumo-routes", "matsim")
SUMO = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation='
MATSIM_DTD = "http://www.matsim.org/files/dtd/population_v6.dtd"


@dataclass(frozen=True, eq=False)
class Travellers:
    """Trips in the order of their departures: when each leaves, and from where to where.

    `leaves` is in seconds after the first midnight.
    """

    leaves: Floats
    start: tuple[Floats, Floats]
    end: tuple[Floats, Floats]
    order: NDArray[np.int64]

    @staticmethod
    def of(trips: Trajectories) -> Travellers:
        """The trips of a set with times; those without points are omitted."""
        used = np.flatnonzero(trips.sizes > 0)
        if trips.t is None:
            raise InputError("the trips have no times; a simulator needs to know when each of them leaves")
        if len(used) == 0:
            raise InputError("there are no trips to simulate")
        first, last = trips.offsets[:-1][used], trips.offsets[1:][used] - 1
        clock = to_local(trips.t[first], trips.timezone)
        clock = clock - DAY * np.floor(clock.min() / DAY)
        order = np.argsort(clock, kind="stable")
        first, last = first[order], last[order]
        start, end = ((trips.x[place], trips.y[place]) for place in (first, last))
        return Travellers(clock[order], start, end, used[order])


def write_for(trips: Trajectories, path: str | Path, simulator: str, roads: str | Path | None = None) -> str:
    """Write trips for a simulator; a sentence about what was written.

    `roads` is the SUMO network on which they drive: `sumo-routes` needs it, `sumo-trips` may go without.
    """
    if simulator not in SIMULATORS:
        raise InputError(f"simulators' files are {', '.join(SIMULATORS)}, got {simulator!r}")
    travellers, target = Travellers.of(trips), Path(path)
    writers: dict[str, Callable[[], tuple[Callable[[TextIO], None], str]]] = {
        "sumo-trips": lambda: _sumo_trips(trips, travellers, roads),
        "sumo-routes": lambda: _sumo_routes(trips, travellers, roads),
        "matsim": lambda: _matsim(travellers, trips),
    }
    write, said = writers[simulator]()
    with atomic_path(target) as temporary, open(temporary, "w", encoding="utf-8") as file:
        write(file)
    write_beside(target, trips.provenance)
    return said


def _sumo_trips(
    trips: Trajectories, travellers: Travellers, roads: str | Path | None
) -> tuple[Callable[[TextIO], None], str]:
    """Where each trip begins and ends: on edges of a SUMO network, or coordinates, whose nearest edges SUMO takes."""
    if roads is not None:
        routes, said = _on_edges(trips, travellers, Path(roads))
        ends = {
            number: f"from={quoteattr(route[0])} to={quoteattr(route[-1])}"
            for number, route in routes.items()
        }
    else:
        names = ("fromLonLat", "toLonLat") if trips.is_geographic else ("fromXY", "toXY")
        form = '{}="{:.7f},{:.7f}"' if trips.is_geographic else '{}="{:.2f},{:.2f}"'
        ends = {
            number: f"{form.format(names[0], *start)} {form.format(names[1], *end)}"
            for number, (_, _, start, end) in enumerate(_rows(travellers))
        }
        said = "by their coordinates"
    elements = {number: f"<trip {{}} {words}/>" for number, words in ends.items()}
    return _sumo(travellers, elements), f"{len(ends):,} trips for SUMO {said}"


def _sumo_routes(
    trips: Trajectories, travellers: Travellers, roads: str | Path | None
) -> tuple[Callable[[TextIO], None], str]:
    """Each trip along the edges of a SUMO network."""
    if roads is None:
        raise InputError("sumo-routes needs the SUMO network whose edges it names: --roads city.net.xml")
    routes, said = _on_edges(trips, travellers, Path(roads))
    elements = {
        number: f"<vehicle {{}}><route edges={quoteattr(' '.join(route))}/></vehicle>"
        for number, route in routes.items()
    }
    return _sumo(travellers, elements), f"{len(routes):,} routes for SUMO {said}"


def _on_edges(trips: Trajectories, travellers: Travellers, roads: Path) -> tuple[dict[int, list[str]], str]:
    """The edges of each trip that passes some, by its place in the order of departures, and words about them."""
    # Streets load for those who name them.
    from ldptrace.products.sumo_routes import routes_on

    found = routes_on(roads, trips.take(travellers.order))
    kept = {number: route for number, route in enumerate(found.routes) if route}
    said = f"on the edges of {roads}"
    omitted = len(found.routes) - len(kept)
    if omitted:
        said += f", without {omitted:,} trips that pass none of them,"
    if found.cut:
        said += f" ({found.cut:,} of them end early, at a turn that has no way around)"
    return kept, said


def _sumo(travellers: Travellers, elements: Mapping[int, str]) -> Callable[[TextIO], None]:
    """Writes elements with a place for `id` and `depart`, each under its place in the order of departures."""

    def write(file: TextIO) -> None:
        file.write(
            f'<?xml version="1.0" encoding="UTF-8"?>\n<routes {SUMO}"http://sumo.dlr.de/xsd/routes_file.xsd">\n'
        )
        for number, element in elements.items():
            own = f'id="{travellers.order[number]}" depart="{travellers.leaves[number]:.2f}"'
            file.write(f"    {element.replace('{}', own, 1)}\n")
        file.write("</routes>\n")

    return write


def _matsim(travellers: Travellers, trips: Trajectories) -> tuple[Callable[[TextIO], None], str]:
    """Plans of people with one leg; MATSim counts in metres."""
    start, end = travellers.start, travellers.end
    said = "x and y are taken as metres" if trips.crs is None else f"coordinates are {trips.crs}"
    if trips.is_geographic:
        start, end, zone = _projected(start, end)
        said = f"coordinates are {zone}"
    rows = list(_rows(Travellers(travellers.leaves, start, end, travellers.order)))

    def write(file: TextIO) -> None:
        file.write(
            f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE population SYSTEM "{MATSIM_DTD}">\n'
            f"<population>\n"
        )
        for leaves, number, (x0, y0), (x1, y1) in rows:
            file.write(
                f'  <person id="{number}">\n    <plan selected="yes">\n'
                f'      <activity type="origin" x="{x0:.2f}" y="{y0:.2f}" end_time="{_clock(leaves)}"/>\n'
                f'      <leg mode="car"/>\n      <activity type="destination" x="{x1:.2f}" y="{y1:.2f}"/>\n'
                f"    </plan>\n  </person>\n"
            )
        file.write("</population>\n")

    return write, f"{len(rows):,} plans for MATSim ({said})"


def _projected(
    start: tuple[Floats, Floats], end: tuple[Floats, Floats]
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats], str]:
    """Degrees as metres of the UTM zone of their middle, and its name."""
    from ldptrace.core.crs import WGS84, transform

    middle = LocalPlane.around(np.concatenate((start[0], end[0])), np.concatenate((start[1], end[1])))
    zone = f"EPSG:{(32600 if middle.lat >= 0 else 32700) + int((middle.lon + 180) // 6) % 60 + 1}"
    return transform(*start, WGS84, zone), transform(*end, WGS84, zone), zone


def _rows(
    travellers: Travellers,
) -> Iterator[tuple[float, int, tuple[float, float], tuple[float, float]]]:
    columns = (*travellers.start, *travellers.end)
    x0, y0, x1, y1 = (column.tolist() for column in columns)
    rows = zip(travellers.leaves.tolist(), travellers.order.tolist(), x0, y0, x1, y1, strict=True)
    return ((leaves, number, (a, b), (c, d)) for leaves, number, a, b, c, d in rows)


def _clock(seconds: float) -> str:
    """Hours, minutes and seconds since the first midnight.

    >>> _clock(90061.4)
    '25:01:01'
    """
    whole = int(seconds)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
