"""Matrices of trips from zone to zone, for each hour, part of the day or day."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core.arrays import Floats
from ldptrace.core.atomic import atomic_path, together
from ldptrace.core.extras import needed
from ldptrace.errors import InputError
from ldptrace.io.provenance import KEY, to_text
from ldptrace.products.departures import By, slots_of
from ldptrace.products.files import checked_target, write_table
from ldptrace.products.sample import Numbers, Sample
from ldptrace.products.zones import NOWHERE, Zones

WRITTEN = "a matrix is", (".omx", ".parquet", ".csv")
# Answers are added up cell by cell: none says which origins belong to which destinations. A pair of zones is known to
# this part, as a standard error, of what it would be if the two were independent: chosen on generated cities 1 to 4
# (benchmarks/intervals.py).
UNTOLD = 0.2
# The largest number that a lookup of an OMX file can hold.
_LARGEST = 2**32 - 1
# Numbers of a matrix, those of all slots together, at most: 1,000 zones by hour.
MOST = 25_000_000


@dataclass(frozen=True, eq=False)
class Matrix:
    """Numbers of trips from zone to zone in each slot: `trips[slot, origin, destination]`. `outside` is the number of
    trips that begin or end in no zone and are not counted.
    """

    zones: tuple[str, ...]
    slots: tuple[str, ...]
    numbers: Numbers
    outside: float = 0.0
    promise: Mapping[str, Any] | None = None

    @staticmethod
    def count(sample: Sample, zones: Zones, by: By | None = None) -> Matrix:
        """Count the trips from zone to zone in each period."""
        trips = sample.trips
        slots, slot = slots_of(trips, by)
        first, last = trips.offsets[:-1], trips.offsets[1:] - 1
        x, y = (np.concatenate((axis[first], axis[last])) for axis in (trips.x, trips.y))
        names, place = zones.locate(x, y, trips.crs)
        origin, destination = np.split(place, 2)
        inside = np.flatnonzero((origin != NOWHERE) & (destination != NOWHERE))
        shape = (len(slots), len(names), len(names))
        size = math.prod(shape)
        if size > MOST:
            raise InputError(
                f"{zones.name}: {len(names):,} zones make a matrix of {size:,} numbers, and it holds at most "
                f"{MOST:,}; take larger zones, or fewer slots of time"
            )
        place = np.ravel_multi_index((slot[inside], origin[inside], destination[inside]), shape)
        values, errors = sample.counted(place, size, inside)
        values = values.reshape(shape)
        if errors is not None:
            errors = np.hypot(errors.reshape(shape), UNTOLD * independent(values))
        numbers = Numbers.of(values, errors)
        used = np.flatnonzero(numbers.values.sum(axis=(1, 2)))
        outside = sample.weight * (len(trips) - len(inside))
        times = tuple(slots[k] for k in used)
        return Matrix(names, times, numbers.map(lambda each: each[used]), outside, sample.promise)

    @property
    def trips(self) -> Floats:
        """The numbers without their intervals."""
        return self.numbers.values

    @property
    def total(self) -> float:
        """All trips between zones."""
        return float(self.trips.sum())

    def to_arrow(self) -> pa.Table:
        """Return a table with one row for each pair of zones and period with trips: slot, origin, destination, trips,
        low, high."""
        some = self.numbers.intervals.get("high", self.trips) > 0
        slot, origin, destination = np.nonzero(some)
        zones = pa.array(self.zones)
        columns = {
            "slot": pa.array(self.slots).take(pa.array(slot)),
            "origin": zones.take(pa.array(origin)),
            "destination": zones.take(pa.array(destination)),
        }
        numbers = {"trips": self.trips, **self.numbers.intervals}
        return pa.table(columns | {name: pa.array(each[some]) for name, each in numbers.items()})

    def write(self, path: str | Path) -> list[Path]:
        """Write an OMX, Parquet or CSV file, by the extension, and return the paths of the files. An OMX file holds one
        matrix for each period; intervals are in two more files, `NAME.low.omx` and `NAME.high.omx`.
        """
        target = checked_target(path, *WRITTEN)
        if target.suffix == ".omx":
            written = [target]
            with together():
                self._write_omx(target, self.trips)
                for name, bound in self.numbers.intervals.items():
                    written.append(target.with_suffix(f".{name}.omx"))
                    self._write_omx(written[-1], bound)
            return written
        write_table(self.to_arrow(), target, self.promise)
        return [target]

    def _write_omx(self, path: Path, values: Floats) -> None:
        openmatrix = needed("openmatrix", "planning")
        # In memory, because the library does not report that the file did not fit on the disk.
        memory = {"driver": "H5FD_CORE", "driver_core_backing_store": 0}
        with openmatrix.open_file(path.name, "w", **memory) as file:
            for slot, matrix in zip(self.slots, values, strict=True):
                file.create_matrix(slot, obj=np.ascontiguousarray(matrix))
            numbers = [int(zone) if zone.isdigit() else _LARGEST + 1 for zone in self.zones]
            if max(numbers) > _LARGEST:
                # Lookups of OMX are numbers; names of zones go beside them, in the same order.
                numbers = list(range(1, len(self.zones) + 1))
            file.create_mapping("zone", numbers)
            file.create_array(file.root, "zone_names", obj=[zone.encode() for zone in self.zones])
            if self.promise is not None:
                file.root._v_attrs[KEY.upper()] = to_text(self.promise)
            image = file.get_file_image()
        with atomic_path(path) as temporary:
            temporary.write_bytes(image)


def independent(trips: Floats) -> Floats:
    """Return the numbers for the case that origins and destinations are independent in each period."""
    leave, arrive = trips.sum(axis=2, keepdims=True), trips.sum(axis=1, keepdims=True)
    return np.asarray(leave * arrive / np.maximum(trips.sum(axis=(1, 2), keepdims=True), 1e-300))
