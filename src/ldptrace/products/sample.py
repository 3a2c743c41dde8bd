"""The trips from which results are counted, with their weights and standard errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.parallel import map_chunks
from ldptrace.core.times import OWN_CLOCKS, zone_words
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from ldptrace.io import read
from ldptrace.methods.release import Release
from ldptrace.models.base import MobilityModel
from ldptrace.models.observation import Share
from ldptrace.models.space_time import TimedModel
from ldptrace.products.statement.papers import Promise
from ldptrace.protocol.plan import Plan

# Trips that are drawn from a model to know its shares.
DRAWN = 200_000
# Standard errors on either side of a number in which the truth lies in 95 of 100 cases.
SURE = 1.96
# Replicates that are counted before their squares are added up: each takes as much memory as the numbers.
AT_ONCE = 4
# What a number counts, by the unit of the promise.
ONE_EACH = (
    "One trip of each person was drawn at random, however many trips they made. So somebody who travels often counts "
    "as much as somebody who travels seldom."
)
UNPROMISED = (
    "These trips state no promise about the people behind them. If they are real trips, this result must not be "
    "published."
)
EVERY = "Every trip counts once. So somebody who travels often counts more than somebody who travels seldom."


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers, with the ends of their 95 % intervals if they come from a model."""

    values: Floats
    low: Floats | None = None
    high: Floats | None = None

    @staticmethod
    def of(values: Floats, errors: Floats | None) -> Numbers:
        """Compute intervals from standard errors. A model fits logarithms, so a small number is rather several times
        larger than negative: the upper end assumes a log-normal distribution with this standard error, the lower end a
        normal one.

        >>> numbers = Numbers.of(np.array([1000.0, 10.0]), np.array([50.0, 5.0]))
        >>> numbers.low.round(1).tolist(), numbers.high.round(1).tolist()
        ([902.0, 0.2], [1102.9, 25.2])
        """
        if errors is None:
            return Numbers(values)
        relative = errors / np.maximum(values, 1e-300)
        above = values * np.expm1(SURE * np.sqrt(np.log1p(np.minimum(relative, 1e9) ** 2)))
        spread = SURE * errors
        return Numbers(values, np.maximum(values - spread, 0.0), values + np.maximum(above, spread))

    def map(self, change: Callable[[Floats], Floats]) -> Numbers:
        """Return the numbers and their intervals after the same change of each array, such as another shape."""
        low, high = (None if bound is None else change(bound) for bound in (self.low, self.high))
        return Numbers(change(self.values), low, high)

    @property
    def intervals(self) -> dict[str, Floats]:
        """The ends of the intervals, `low` and `high`; nothing if the numbers are not from a model."""
        return {} if self.low is None or self.high is None else {"low": self.low, "high": self.high}


@dataclass(frozen=True, eq=False)
class Sample:
    """Trips, each of which stands for `weight` trips of people. Trips of a model have `replicates`: row r has the
    relative weight of each trip for another random draw of the noise in the reports. `error` is the relative standard
    error of the number of all trips.
    """

    trips: Trajectories
    weight: float = 1.0
    replicates: NDArray[np.float32] | None = None
    error: float = 0.0

    @staticmethod
    def of_trips(trips: Trajectories, population: float | None = None) -> Sample:
        """Make a sample from a set of trips, with weight 1 or scaled to a population. The share of people with a trip
        is estimated from the reports, and each of them counts with one trip, so results count people.
        """
        usable = trips.take(trips.sizes > 0)
        if len(usable) == 0:
            raise InputError("there are no trips to count")
        if population is None:
            return Sample(usable)
        if not 0 < population < math.inf:
            raise InputError(f"the population must be a number above 0, got {population:g}")
        return Sample(usable, population * with_trip(trips.provenance) / len(usable))

    @staticmethod
    def of_model(model: MobilityModel, population: float | None = None, count: int | None = None) -> Sample:
        """Draw many trips of a model, always the same trips, and scale them to the population, or to the number of
        devices that answered.
        """
        trips, replicates = model.replicated(count or DRAWN, np.random.default_rng(0))
        share = model.without_trip
        made = Sample.of_trips(trips, model.devices or None if population is None else population)
        error = 0.0 if share is None or not share.clear else share.std_error / max(1 - share.value, 1e-9)
        return Sample(made.trips, made.weight, replicates, error)

    @property
    def promise(self) -> Mapping[str, Any] | None:
        """The privacy promise of the trips."""
        return self.trips.provenance

    @property
    def of_people(self) -> bool:
        """Whether each trip is that of another person, so that numbers count people."""
        return (self.promise or {}).get("unit") == "user"

    @property
    def without_trip(self) -> tuple[float, float] | None:
        """The estimated share of people without a trip, with its standard error, if the answers tell it."""
        share = Share.restored((self.promise or {}).get("without_trip"))
        return None if share is None else (share.value, share.std_error)

    @property
    def zone_words(self) -> str | None:
        """Whose hours the hours of the day are, in words, or None without times."""
        trips = self.trips
        if trips.t is None:
            return None
        return zone_words(trips.timezone, dates=trips.has_dates, promise=self.promise)

    @property
    def counted_words(self) -> str:
        """What a number counts, in words: the same for matrices, street counts and profiles."""
        return ONE_EACH if self.of_people else EVERY

    def count(self, place: Ints, size: int, trip: Ints | None = None) -> Numbers:
        """Count the trips at each of `size` places, with their weights. `trip` has the trip of each entry; without it,
        entry k belongs to trip k.
        """
        return Numbers.of(*self.counted(place, size, trip))

    def counted(self, place: Ints, size: int, trip: Ints | None = None) -> tuple[Floats, Floats | None]:
        """Do the same as `count`, and add intervals if the trips come from a model. The variance has four parts: the
        replicates, the finite number of drawn trips, the finite number of people, and the error of the number of all
        trips.
        """
        counts = np.bincount(place, minlength=size).astype(np.float64)
        if self.replicates is None:
            return self.weight * counts, None
        whose, squares = np.arange(len(place)) if trip is None else trip, np.zeros(size)
        for first in range(0, len(self.replicates), AT_ONCE):
            rows = self.replicates[first : first + AT_ONCE]

            def square(row: int, *_: int, rows: NDArray[np.float32] = rows) -> Floats:
                return (np.bincount(place, rows[row][whose], size) - counts) ** 2

            squares += sum(map_chunks(square, len(rows), 1))
        numbers = self.weight * counts
        drawn = squares / len(self.replicates) + np.maximum(counts, 1.0)
        variance = self.weight**2 * drawn + np.maximum(numbers, 1.0) + (self.error * numbers) ** 2
        return numbers, np.sqrt(variance)


def with_trip(provenance: Mapping[str, Any] | None) -> float:
    """Return the share of people with a trip, estimated from the reports, or 1 if it is not known.

    >>> with_trip({"without_trip": {"value": 0.25, "std_error": 0.01}}), with_trip(None)
    (0.75, 1.0)
    """
    share = Share.restored((provenance or {}).get("without_trip"))
    return 1.0 if share is None or not share.clear else 1.0 - min(share.value, 1.0)


# A model comes with what was promised about it, which may be less than its plan says.
Source = Trajectories | Release


def open_source(path: str | Path, *, crs: str | None = None, timezone: str | None = None) -> Source:
    """Read the model or the trips in a file, and set the coordinate system and the time zone if they are given."""
    file = Path(path)
    if _begins(file, b"PK") and file.suffix == ".npz":
        release = Release.load(file)
        drawing = release.drawing
        if isinstance(release.model, TimedModel) and drawing.date is None:
            _check_zone(file, drawing.timezone, timezone)
        drawing = replace(drawing, timezone=timezone or drawing.timezone)
        return replace(release, crs=crs or release.crs, drawing=drawing)
    trips = read(file, crs=crs).with_all_times()
    promise = trips.provenance
    own = zone_words(trips.timezone, dates=True, promise=promise) == OWN_CLOCKS
    if trips.t is not None and (own or not trips.has_dates):
        _check_zone(file, trips.timezone, timezone)
    if timezone is not None and promise is not None:
        promise = dict(promise) | {"timezone": timezone}
    return replace(trips, timezone=timezone or trips.timezone, provenance=promise)


def _check_zone(file: Path, stated: str | None, wanted: str | None) -> None:
    """Raise an error if hours of the day, of no certain date, are to be moved to another time zone."""
    if wanted not in (None, stated):
        where = "of no stated time zone" if stated is None else f"of {stated}"
        raise InputError(
            f"{file}: the times are hours of the day {where}, so --timezone {wanted} cannot move them; "
            "omit the option, or name the zone when the trips are made (ldptrace synthesize or sample --timezone)"
        )


def sample_of(source: Source, population: float | None = None, count: int | None = None) -> Sample:
    """Return the sample of a source. A model gives `count` trips, always the same trips."""
    if isinstance(source, Trajectories):
        return Sample.of_trips(source, population)
    model = source.model
    if isinstance(model, TimedModel):
        model = model.on(source.calendar)
    drawn = Sample.of_model(model, population, count)
    return replace(drawn, trips=replace(drawn.trips, **source.labels(None)))


def open_promise(path: str | Path) -> Promise:
    """Read the privacy promise of a synthetic set, a model or a plan in a file."""
    file = Path(path)
    if _begins(file, b"{"):
        try:
            return Promise.of_plan(Plan.from_json(file.read_bytes()))
        except FormatError:
            raise
        except InputError:
            pass  # another kind of JSON, such as GeoJSON of trips
    source = open_source(file)
    stated = source.provenance if isinstance(source, Trajectories) else source.promised
    if stated is None and isinstance(source, Release):
        raise InputError(f"{file}: the model holds no plan, so it states no promise")
    return Promise.of_provenance(stated, str(file))


def _begins(file: Path, mark: bytes) -> bool:
    """Whether a file begins with these bytes, after white space."""
    try:
        with file.open("rb") as opened:
            return opened.read(64).lstrip().startswith(mark)
    except OSError:
        return False
