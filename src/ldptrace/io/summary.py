"""A summary of a set of trajectories."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Flags, Floats, Ints
from ldptrace.core.crs import fit_degrees, step_lengths
from ldptrace.core.times import DAY, iso
from ldptrace.core.trajectories import Trajectories
from ldptrace.core.words import count

# A step longer than this share of the map's diagonal is called a jump.
JUMP_SHARE = 0.25
BINS = 12


@dataclass(frozen=True)
class Spread:
    """The smallest value, quartiles, mean and largest value of a set of numbers."""

    min: float
    q25: float
    median: float
    mean: float
    q75: float
    max: float

    @staticmethod
    def of(values: Floats | Ints) -> Spread | None:
        """Compute the spread of values, or None if there are no values.

        >>> Spread.of(np.array([1.0, 2.0, 6.0])).mean
        3.0
        """
        if len(values) == 0:
            return None
        low, q25, median, q75, high = (float(q) for q in np.quantile(values, (0, 0.25, 0.5, 0.75, 1)))
        return Spread(low, q25, median, float(values.mean()), q75, high)


@dataclass(frozen=True)
class Summary:
    """Counts, extent, sampling and lengths of a set. Distances are in metres if coordinates are degrees."""

    trajectories: int
    points: int
    crs: str | None
    distance_unit: str
    bounds: tuple[float, float, float, float] | None
    points_per_trajectory: Spread | None
    distance: Spread | None
    longest_step: float
    jumps: int
    interval_seconds: Spread | None
    duration_seconds: Spread | None
    first_time: str | None
    last_time: str | None
    user: str | None
    users: int
    # What the times say that cannot be, in words.
    impossible: tuple[str, ...]
    histogram_edges: tuple[int, ...]
    histogram_counts: tuple[int, ...]
    # The zone of the hours; None where none is stated.
    timezone: str | None = None

    @property
    def fits_degrees(self) -> bool:
        """Whether the coordinates could be longitude and latitude."""
        return self.bounds is not None and fit_degrees(self.bounds)

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return asdict(self)


def summarise(trajectories: Trajectories) -> Summary:
    """Make the summary of a set of trajectories.

    >>> seen = summarise(Trajectories.from_lists([[(0, 0), (3, 4)], [(1, 1)]]))
    >>> seen.points, seen.distance.max, seen.bounds
    (3, 5.0, (0.0, 0.0, 3.0, 4.0))
    """
    trajectories = trajectories.with_all_times()
    inner = ragged.inner_steps(trajectories.offsets)
    if trajectories.is_geographic and np.any(np.abs(np.diff(trajectories.x)[inner]) > 180):
        # They cross the antimeridian: the map goes on beyond 180 degrees.
        trajectories = replace(trajectories, x=np.mod(trajectories.x, 360))
    steps = step_lengths(trajectories.x, trajectories.y, trajectories.crs)
    distance = np.bincount(
        ragged.owners(trajectories.offsets)[:-1][inner], steps[inner], minlength=len(trajectories)
    )
    diagonal = 0.0
    bounds = trajectories.bounds() if trajectories.points else None
    if bounds is not None:
        x0, y0, x1, y1 = bounds
        diagonal = float(step_lengths(np.array([x0, x1]), np.array([y0, y1]), trajectories.crs)[0])
    intervals = durations = None
    first_time = last_time = None
    if trajectories.t is not None and trajectories.points:
        t = trajectories.t
        filled = trajectories.sizes > 0
        intervals = Spread.of(np.diff(t)[inner])
        durations = Spread.of(t[trajectories.offsets[1:][filled] - 1] - t[trajectories.offsets[:-1][filled]])
        if trajectories.has_dates:
            first_time, last_time = (
                iso(float(second), trajectories.timezone) for second in (t.min(), t.max())
            )
    edges, counts = _histogram(trajectories.sizes)
    return Summary(
        trajectories=len(trajectories),
        points=trajectories.points,
        crs=trajectories.crs,
        distance_unit="m" if trajectories.is_geographic else "units",
        bounds=bounds,
        points_per_trajectory=Spread.of(trajectories.sizes),
        distance=Spread.of(distance),
        longest_step=float(steps[inner].max(initial=0.0)),
        jumps=int(np.count_nonzero(steps[inner] > JUMP_SHARE * diagonal)),
        interval_seconds=intervals,
        duration_seconds=durations,
        first_time=first_time,
        last_time=last_time,
        user=trajectories.user,
        users=len(np.unique(trajectories.users)),
        impossible=tuple(_impossible(trajectories, inner, steps)),
        histogram_edges=tuple(edges.tolist()),
        histogram_counts=tuple(counts.tolist()),
        timezone=trajectories.timezone,
    )


def _impossible(trajectories: Trajectories, inner: Flags, steps: Floats) -> list[str]:
    """Count what cannot be: steps back in time, steps without time, impossible dates. The account of a reader counts
    steps that are too fast."""
    t = trajectories.t
    if t is None or not len(t):
        return []
    seconds, far = np.diff(t)[inner], steps[inner]
    back, still, long = (int(np.sum(odd)) for odd in (seconds < 0, (seconds == 0) & (far > 0), seconds > DAY))
    sentences = {
        f"time goes back in {count(back, 'step')}": back,
        f"time stands still in {count(still, 'step')} to another place": still,
        f"{count(long, 'interval')} longer than a day: perhaps several trips in one (--split-gap)": long,
    }
    impossible = [sentence for sentence, number in sentences.items() if number]
    if trajectories.has_dates and (iso(float(t.min())) is None or iso(float(t.max())) is None):
        impossible.append(f"times from {t.min():g} to {t.max():g} s are no dates")
    return impossible


def _histogram(sizes: Ints) -> tuple[Ints, Ints]:
    """Return the edges and counts of a histogram of whole numbers. Bins are equal up to the 99th percentile; the last
    bin has all larger values."""
    if len(sizes) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    low, high = int(sizes.min()), int(np.quantile(sizes, 0.99, method="higher"))
    width = max(1, -(-(high - low + 1) // BINS))
    bins = -(-(high - low + 1) // width)
    counts = np.bincount(np.minimum((sizes - low) // width, bins - 1), minlength=bins)
    edges = low + width * np.arange(bins + 1)
    edges[-1] = max(edges[-1], sizes.max() + 1)
    return edges, counts
