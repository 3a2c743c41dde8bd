"""Count vehicles on streets and turns at junctions, by time, with the ids, names and classes of the road network."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Flags, Floats, Ints
from ldptrace.core.atomic import atomic_path, together
from ldptrace.core.extras import needed
from ldptrace.core.layers import check_geopackage, geometries_of
from ldptrace.core.times import to_local
from ldptrace.errors import InputError
from ldptrace.io.provenance import write_beside
from ldptrace.products.departures import By, checked_times, slots_at
from ldptrace.products.files import checked_target, write_table
from ldptrace.products.sample import Numbers, Sample
from ldptrace.roads.matching import StreetIndex
from ldptrace.roads.network import RoadNetwork

WRITTEN = "flows are", (".gpkg", ".geojson", ".parquet")
# Trips on the streets for less of their way than this were made on another map.
FOLLOWED = 0.5
# No answer says which of several streets of a cell a trip takes. A street is known up to this part of its number, as a
# standard error: chosen on generated cities 1 to 4 (benchmarks/intervals.py).
UNTOLD = 0.4
WHOLE_DAY = ("vehicles",)


@dataclass(frozen=True, eq=False)
class Streets:
    """The streets of a network, one for each direction. The pieces of an edge that was cut are one street.

    `number[e]` is the street of the edge `e` of the network; street `s` has the id `ids[s]`, and `backward[s]` is true
    if it leads against the direction of its line in the file. `edges` and `offsets` hold the edges of each street.
    """

    roads: RoadNetwork
    ids: NDArray[np.str_]
    backward: Flags
    number: Ints
    edges: Ints
    offsets: Ints

    @staticmethod
    def of(roads: RoadNetwork) -> Streets:
        """Find the streets of a network. If its edges have no ids, they are numbered from 0."""
        edge_id = np.arange(roads.edges).astype(np.str_) if roads.edge_id is None else roads.edge_id
        backward = np.zeros(roads.edges, dtype=np.bool_) if roads.backward is None else roads.backward
        names, code = np.unique(edge_id, return_inverse=True)
        _, first, number = np.unique(2 * code + backward, return_index=True, return_inverse=True)
        order = np.argsort(number, kind="stable")
        offsets = np.searchsorted(number[order], np.arange(len(first) + 1))
        return Streets(roads, names[code[first]], backward[first], number.astype(np.int64), order, offsets)

    def __len__(self) -> int:
        return len(self.ids)

    def described(self, picked: Ints) -> dict[str, pa.Array]:
        """Return the columns that describe some streets: id, name, class, length and direction. Of a street of several
        pieces, name and class are those of the first piece."""
        roads = self.roads
        first = self.edges[self.offsets[:-1]][picked]
        length = np.add.reduceat(roads.length[self.edges], self.offsets[:-1])[picked]
        kinds = np.array([*roads.classes, None], dtype=object)[roads.road_class[first]]
        known = [""] * len(picked) if roads.street is None else roads.street[first].tolist()
        return {
            "edge_id": pa.array(self.ids[picked].tolist()),
            "name": pa.array([name or None for name in known], type=pa.string()),
            "class": pa.array(kinds, type=pa.string()),
            "length": pa.array(length),
            "direction": pa.array(np.where(self.backward[picked], "backward", "forward").tolist()),
        }

    def lines(self) -> Any:
        """Return the line of each street, or several lines if its pieces do not follow each other."""
        shapely = needed("shapely", "planning")
        x, y, offsets = self.roads.lines(self.edges)
        owner = ragged.owners(self.offsets)
        return shapely.line_merge(shapely.multilinestrings(geometries_of(x, y, offsets), indices=owner))


@dataclass(frozen=True, eq=False)
class Flows:
    """Vehicles on each street in each slot, and on each turn from a street to the next.

    `vehicles` (slot, street) are the numbers of trips that enter a street or begin on it, `total` (street) those of all
    slots. Turn `k` leads at the node `node[k]` from the street `turn_from[k]` to the street `turn_to[k]`;
    `turns[slot, k]` counts them. `followed` is the share of the length of trips that lies on streets.
    """

    streets: Streets
    slots: tuple[str, ...]
    vehicles: Numbers
    total: Numbers
    turn_from: Ints
    turn_to: Ints
    node: Ints
    turns: Floats
    followed: float
    promise: Mapping[str, Any] | None = None

    @staticmethod
    def count(sample: Sample, roads: RoadNetwork, by: By | None = None) -> Flows:
        """Match trips to streets, and count the vehicles on each street and each turn."""
        trips = sample.trips
        if by is not None:
            checked_times(trips, by)
        roads.check_against(roads.bounds(), trips.crs)
        streets, index = Streets.of(roads), StreetIndex.of(roads)
        matched = index.follow(trips)
        followed = matched.on / matched.way if matched.way else 0.0
        if followed < FOLLOWED:
            raise InputError(
                f"{roads.name}: only {followed:.0%} of the length of the trips lies on its streets; flows need trips "
                f"with at least {FOLLOWED:.0%} of their length on streets"
            )
        # Pieces of one street in a row are one pass.
        piece = streets.number[index.edges(matched)]
        begins = np.append(True, np.diff(matched.trip) != 0)
        passes = np.flatnonzero(begins | np.append(True, np.diff(piece) != 0))
        trip, street = matched.trip[passes], piece[passes]
        slots: tuple[str, ...] = WHOLE_DAY
        slot = np.zeros(len(passes), dtype=np.int64)
        if by is not None:
            slots, slot = slots_at(to_local(matched.entered[passes], trips.timezone), by)

        def on_streets(place: Ints, many: int) -> Numbers:
            values, errors = sample.counted(place * len(streets) + street, many * len(streets), trip)
            errors = None if errors is None else np.hypot(errors, UNTOLD * values)
            return Numbers.of(values, errors).map(lambda each: each.reshape(many, len(streets)))

        vehicles = on_streets(slot, len(slots))
        total = (vehicles if by is None else on_streets(np.zeros_like(slot), 1)).map(np.ravel)
        node = matched.joined[passes]
        turned = np.flatnonzero(node >= 0)
        pairs, first, turn = np.unique(
            street[turned - 1] * len(streets) + street[turned], return_index=True, return_inverse=True
        )
        turns = sample.count(slot[turned] * len(pairs) + turn, len(slots) * len(pairs), trip[turned])
        return Flows(
            streets,
            slots,
            vehicles,
            total,
            pairs // len(streets),
            pairs % len(streets),
            node[turned][first],
            turns.values.reshape(len(slots), len(pairs)),
            followed,
            sample.promise,
        )

    def streets_table(self) -> pa.Table:
        """Return a table with one row for each street with vehicles: what describes it, all vehicles, and a column for
        each period; each number with its interval."""
        numbers = {WHOLE_DAY[0]: self.total}
        for place, slot in enumerate(self.slots):
            numbers[slot] = self.vehicles.map(lambda each, place=place: each[place])  # type: ignore[misc]
        columns: dict[str, Any] = dict(self.streets.described(self.used))
        for name, column in numbers.items():
            ends = {f"{name}_{end}": bound for end, bound in column.intervals.items()}
            columns |= {title: values[self.used] for title, values in ({name: column.values} | ends).items()}
        return pa.table(columns)

    @property
    def used(self) -> Ints:
        """The streets that have vehicles."""
        return np.flatnonzero(self.vehicles.values.any(axis=0))

    def turns_table(self) -> pa.Table:
        """Return a table with one row for each turn: its two streets with their directions, and its position."""
        streets = self.streets
        columns: dict[str, Any] = {}
        for name, of in (("from", self.turn_from), ("to", self.turn_to)):
            columns[f"{name}_edge_id"] = pa.array(streets.ids[of].tolist())
            columns[f"{name}_direction"] = pa.array(
                np.where(streets.backward[of], "backward", "forward").tolist()
            )
        columns["x"] = pa.array(streets.roads.x[self.node])
        columns["y"] = pa.array(streets.roads.y[self.node])
        columns[WHOLE_DAY[0]] = pa.array(self.turns.sum(axis=0))
        return pa.table(columns | {slot: pa.array(self.turns[k]) for k, slot in enumerate(self.slots)})

    def write(self, path: str | Path) -> list[Path]:
        """Write a GeoPackage with the layers `streets` and `turns`, or two files of GeoJSON or Parquet.

        The second file of `flows.geojson` is `flows.turns.geojson`.
        """
        target = checked_target(path, *WRITTEN)
        lines, tables = self.streets.lines()[self.used], (self.streets_table(), self.turns_table())
        if target.suffix == ".parquet":
            written = [target, _beside(target)]
            shapes = pa.array(needed("shapely", "planning").to_wkb(lines), type=pa.binary())
            tables = tables[0].append_column("geometry", shapes), tables[1]
            with together():
                for table, file in zip(tables, written, strict=True):
                    write_table(table, file, self.promise)
            return written
        geopandas, crs = needed("geopandas", "planning"), self.streets.roads.crs
        streets, turns = (table.to_pandas() for table in tables)
        points = geopandas.points_from_xy(turns.pop("x"), turns.pop("y"))
        layers = {
            "streets": geopandas.GeoDataFrame(streets, geometry=lines, crs=crs),
            "turns": geopandas.GeoDataFrame(turns, geometry=points, crs=crs),
        }
        written = [target] if target.suffix == ".gpkg" else [target, _beside(target)]
        with together(), warnings.catch_warnings():
            # Some networks have no coordinate system, so their flows have none.
            warnings.filterwarnings("ignore", "'crs' was not provided")
            if len(written) == 1:
                with atomic_path(target) as temporary:
                    for name, frame in layers.items():
                        frame.to_file(
                            temporary, driver="GPKG", layer=name, mode="w" if name == "streets" else "a"
                        )
                    check_geopackage(temporary, {name: len(frame) for name, frame in layers.items()})
            else:
                for file, (name, frame) in zip(written, layers.items(), strict=True):
                    # In memory, because the library does not report that the last part did not fit on the disk.
                    text = BytesIO()
                    frame.to_file(text, driver="GeoJSON", layer=name)
                    data = text.getvalue()
                    if crs is None:
                        # Without this member, numbers in GeoJSON are longitudes and latitudes.
                        data = data.replace(b'"features":', b'"crs": null,\n"features":', 1)
                    with atomic_path(file) as temporary:
                        temporary.write_bytes(data)
            for file in written:
                write_beside(file, self.promise)
        return written


def _beside(target: Path) -> Path:
    return target.with_suffix(f".turns{target.suffix}")
