"""Points of interest, and visits to them, for the method `ngram-full`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray
from pyarrow import csv

from ldptrace.core import ragged
from ldptrace.core.arrays import Flags, Floats, Ints, Ints32, make_columns
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError

DAY = 86_400.0
HOUR = 3600.0


@dataclass(frozen=True, eq=False)
class Pois:
    """A public table of places.

    `category` holds numbers into `categories`. A category is a path in a tree, from coarse to fine, separated by
    slashes: "study/lecture hall". Opening hours are hours of the day; a value of `closes` above 24 means the next
    morning, and 0 to 24 means always open. `popularity` is a weight. `crs` as in `Trajectories`.

    >>> cafe = Pois.build(np.zeros(1), np.zeros(1), ["food/cafe"], {"food/cafe": (8.0, 26.0)}, ["Corner"])
    >>> cafe.is_open(0, np.array([1.5, 3.0, 9.0]) * HOUR).tolist()
    [True, False, True]
    """

    x: Floats
    y: Floats
    category: Ints32
    categories: tuple[str, ...]
    opens: Floats
    closes: Floats
    names: tuple[str, ...]
    popularity: Floats
    crs: str | None = None

    def __post_init__(self) -> None:
        make_columns(self, np.float64, "x", "y", "opens", "closes", "popularity")
        make_columns(self, np.int32, "category")
        for name in ("y", "category", "opens", "closes", "names", "popularity"):
            if len(getattr(self, name)) != len(self.x):
                raise InputError(
                    f"column {name} has {len(getattr(self, name))} rows for {len(self.x)} places"
                )
        if len(self.x) and not 0 <= self.category.min() <= self.category.max() < len(self.categories):
            raise InputError(f"categories must be numbers from 0 to {len(self.categories) - 1}")
        if np.any(
            (self.opens < 0)
            | (self.opens >= 24)
            | (self.closes <= self.opens)
            | (self.closes > self.opens + 24)
        ):
            raise InputError("a place must open at an hour from 0 to 24 and close later, at most a day later")

    def __len__(self) -> int:
        return len(self.x)

    def is_open(self, poi: int | NDArray[np.integer[Any]], t: ArrayLike) -> Flags:
        """Return whether each place is open at `t` seconds after midnight."""
        opens, closes, hour = self.opens[poi], self.closes[poi], np.mod(t, DAY) / HOUR
        return np.asarray(((opens <= hour) & (hour < closes)) | (hour + 24 < closes))

    @staticmethod
    def build(
        x: Floats,
        y: Floats,
        category: list[str],
        hours: Mapping[str, tuple[float, float]],
        names: list[str],
        popularity: Floats | None = None,
        crs: str | None = None,
    ) -> Pois:
        """Make the table from the names of the categories. A category without `hours` is always open."""
        categories, code = np.unique(category, return_inverse=True)
        span = np.array([hours.get(name, (0.0, 24.0)) for name in categories]).reshape(-1, 2)
        return Pois(
            x,
            y,
            code.astype(np.int32),
            tuple(categories.tolist()),
            span[code, 0],
            span[code, 1],
            tuple(names),
            np.ones(len(x)) if popularity is None else popularity,
            crs,
        )

    def to_csv(self, path: str | Path) -> None:
        """Write a table with one row per place; the row number is the number that visits refer to."""
        columns = {
            "poi": np.arange(len(self), dtype=np.int32),
            "name": pa.array(self.names, pa.string()),
            "category": pa.array([self.categories[code] for code in self.category], pa.string()),
            **{name: getattr(self, name) for name in ("x", "y", "opens", "closes", "popularity")},
            "crs": pa.array([self.crs] * len(self), pa.string()),
        }
        csv.write_csv(pa.table(columns), path)

    @staticmethod
    def from_csv(path: str | Path) -> Pois:
        """Read a table that `to_csv` wrote."""
        text, numbers = ("name", "category", "crs"), ("x", "y", "opens", "closes", "popularity")
        kinds = dict.fromkeys(text, pa.string()) | dict.fromkeys(numbers, pa.float64())
        options = csv.ConvertOptions(
            column_types=kinds, strings_can_be_null=True, quoted_strings_can_be_null=False
        )
        try:
            table = csv.read_csv(path, convert_options=options)
        except pa.ArrowInvalid as error:
            raise FormatError(f"{path} is not a table of places: {str(error).splitlines()[0]}") from None
        missing = {*text[:2], *numbers} - set(table.column_names)
        if missing:
            raise FormatError(
                f"{path} has no column {', '.join(sorted(missing))}; it has {', '.join(table.column_names)}"
            )
        names, categories = ([word or "" for word in table[name].to_pylist()] for name in text[:2])
        x, y, opens, closes, popularity = (table[name].to_numpy() for name in numbers)
        crs = table["crs"][0].as_py() if "crs" in table.column_names and table.num_rows else None
        always = Pois.build(x, y, categories, {}, names, popularity, crs or None)
        return replace(always, opens=opens, closes=closes)


@dataclass(frozen=True, eq=False)
class Visits:
    """Which places each trajectory visited, and when: `poi[k]` at `t[k]` seconds, with offsets per trajectory. Times
    increase within a trajectory. In `Trajectories`, visits are the list columns `poi` and `poi_t`.

    >>> visits = Visits(np.array([3, 1]), np.array([60.0, 900.0]), np.array([0, 2]))
    >>> Visits.from_arrow(visits.to_arrow()).poi.tolist()
    [3, 1]
    """

    poi: Ints32
    t: Floats
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def to_arrow(self) -> pa.Table:
        """Return the list columns `poi` and `poi_t`, one row per trajectory."""
        offsets = pa.array(self.offsets.astype(np.int32))
        poi = pa.ListArray.from_arrays(offsets, pa.array(self.poi.astype(np.int32)))
        return pa.table({"poi": poi, "poi_t": pa.ListArray.from_arrays(offsets, pa.array(self.t))})

    @staticmethod
    def from_arrow(table: pa.Table) -> Visits:
        """Make visits from the list columns `poi` and `poi_t`."""
        for name in ("poi", "poi_t"):
            if name not in table.column_names or not pa.types.is_list(table.schema.field(name).type):
                raise InputError(
                    f"visits need the list columns poi and poi_t; the columns are {table.column_names}"
                )
        poi, t = table["poi"].combine_chunks(), table["poi_t"].combine_chunks()
        sizes = poi.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        if not np.array_equal(sizes, t.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)):
            raise InputError("the columns poi and poi_t hold lists of different lengths")
        offsets = ragged.offsets_of(sizes)
        return Visits(
            poi.flatten().to_numpy().astype(np.int32), t.flatten().to_numpy().astype(np.float64), offsets
        )

    @staticmethod
    def of(trajectories: Trajectories) -> Visits:
        """Return the visits that are stored with trajectories, for example by `generate campus`."""
        if trajectories.extra is None:
            raise InputError("these trajectories have no visits to places (list columns poi and poi_t)")
        return Visits.from_arrow(trajectories.extra)
