"""A measured set: everything that the metrics need, in tables of fixed size, with a random sample of trajectories for
attacks, streets and pictures; and what a reader should know of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.placement import steps_to
from ldptrace.core.times import UNNAMED
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.divergence import class_counts, class_edges, log_classes
from ldptrace.evaluation.patterns import TOP
from ldptrace.evaluation.summary import Summary
from ldptrace.evaluation.traces import DAY, Habits, Traces
from ldptrace.roads.matching import StreetIndex

# Trips of a set that are matched, fewer of those that are long: looks for a street, one for every tolerance of way.
MATCHED, LOOKS = 5_000, 3_000_000
# Real lines that follow the streets for less of their way do not tell which turns were taken.
FOLLOWED = 0.7


@dataclass(frozen=True, eq=False)
class StreetUse:
    """How a set uses streets: the share of the length of its lines that lies on streets (of its points, if all lengths
    are 0), and the share of its points. `lengths` are the trips by length along the streets, in the fine logarithmic
    classes of `Traces`. `turns` are pairs (street, next street), one number each, at the junctions `nodes`; `passed`
    says how often.

    >>> from ldptrace.roads.network import RoadNetwork
    >>> cross = StreetIndex.of(RoadNetwork.of([0, 100, 100, 200], [0, 0, 100, 0], [0, 1, 1], [1, 2, 3]))
    >>> use = StreetUse.of(cross, Trajectories.from_lists([[(0.0, 1.0), (100.0, 1.0), (100.0, 100.0)]]))
    >>> round(use.on_streets, 3), len(use.turns)
    (1.0, 1)
    """

    on_streets: float
    fixes_on_streets: float
    lengths: Floats
    turns: Ints
    nodes: Ints
    passed: Floats

    @staticmethod
    def of(streets: StreetIndex, trajectories: Trajectories) -> StreetUse:
        """Match every trajectory to the streets."""
        followed = streets.follow(trajectories)
        turned = np.flatnonzero(followed.joined >= 0)
        turned = turned[streets.junction[followed.joined[turned]]]
        pairs = followed.street[turned - 1] * len(streets.length) + followed.street[turned]
        turns, first, passed = np.unique(pairs, return_index=True, return_counts=True)
        fixes = followed.fixes_on / followed.fixes if followed.fixes else math.nan
        return StreetUse(
            followed.on / followed.way if followed.way > 0 else fixes,
            fixes,
            class_counts(followed.lengths[trajectories.sizes > 0]).astype(np.float64),
            turns,
            followed.joined[turned][first],
            passed.astype(np.float64),
        )

    @property
    def tells_turns(self) -> bool:
        """Whether lines follow the streets closely enough to recognise turns."""
        return self.on_streets >= FOLLOWED


def affordable(streets: StreetIndex, mean: float, many: int) -> int:
    """Return how many of `many` trips with the mean length `mean` are matched."""
    return int(min(MATCHED, many, max(100.0, LOOKS * streets.tolerance / max(mean, streets.tolerance))))


@dataclass(frozen=True, eq=False)
class Measured:
    """A measured set: its summary, its traces, its use of streets if there is a map, and the habits of its users if it
    is in memory and names them. `trajectories` are all of the set, or a random sample of a large one.
    """

    trajectories: Trajectories
    summary: Summary
    traces: Traces
    use: StreetUse | None = None
    habits: Habits | None = None

    def resized(self, size: int) -> Measured:
        """Return the same set as if it had another number of trajectories.

        Counts of sets of different sizes cannot be compared. Traces are used only as shares, so they are not changed.
        """
        return replace(self, summary=self.summary.resized(size))


def chosen(trajectories: Trajectories, most: int, rng: np.random.Generator) -> Trajectories:
    """Return at most `most` of the trajectories, drawn at random."""
    if len(trajectories) <= most:
        return trajectories
    return trajectories.take(np.sort(rng.choice(len(trajectories), most, replace=False)))


def timed_walks(walks: Trajectories, real: Traces, rng: np.random.Generator) -> Trajectories:
    """Give random walks uniform departure times, and durations that are uniform on a logarithmic scale over the real
    range."""
    if not real.has_times:
        return walks
    edges = class_edges(log_classes(real.durations))
    many = len(walks)
    leave = rng.random(many) * DAY
    spent = np.exp(rng.uniform(np.log(edges[0]), np.log(edges[-1]), many))
    share = ragged.places(walks.offsets) / np.repeat(np.maximum(walks.sizes - 1, 1), walks.sizes)
    return replace(walks, t=np.repeat(leave, walks.sizes) + share * np.repeat(spent, walks.sizes))


def set_remarks(real: Measured, synthetic: Measured) -> list[str]:
    """Return remarks on the values of this set for the reader."""
    remarks = []
    size, other = len(real.summary), len(synthetic.summary)
    if abs(size - other) > 0.01 * size:
        remarks.append(
            f"the real set has {size:,} trajectories, this one {other:,}; query error and "
            "pattern error compare counts, as in the reference: use their scaled variants, which rank the sets"
        )
    patterns = len(synthetic.summary.patterns)
    if patterns < TOP <= len(real.summary.patterns):
        remarks.append(f"this set has only {patterns} different patterns of 2 to 8 cells")
    if real.traces.has_times and not synthetic.traces.has_times:
        remarks.append("this set has no times, so it is not compared by when trips happen")
    elif real.traces.has_clock and not synthetic.traces.has_clock:
        remarks.append("all trips of this set begin at the same time, so departures are not compared")
    return remarks


def real_remarks(real: Measured) -> list[str]:
    """Return remarks on the real set for the reader."""
    remarks = []
    summary = real.summary
    if len(summary.patterns) == 0:
        remarks.append("no real trajectory leaves its cell, so there are no patterns to compare")
    elif len(summary.patterns) < TOP:
        remarks.append(
            f"the real set has only {len(summary.patterns)} different patterns of 2 to 8 cells; pattern F1 and "
            "pattern error are divided by 100 nevertheless, as in the reference: use the variants"
        )
    _, *histograms = summary.beside(summary)
    for name, counts in zip(("travel distances", "diameters"), histograms, strict=True):
        if counts[0].sum() == 0:
            remarks.append(
                f"the real {name} have too narrow a range for the reference's buckets, which begin at 0; "
                "buckets over the real range were used"
            )
    trips, scale = real.trajectories, summary.scale
    steps = steps_to(trips, scale)[1:]
    moving = steps[ragged.inner_steps(trips.offsets) & (steps > 0)]
    apart = float(np.median(moving)) if len(moving) else 0.0
    fine = min(step * metres for step, metres in zip(summary.grid.step, scale, strict=True))
    if apart > fine * summary.grid.n / 96:
        remarks.append(
            f"the real points are {apart:,.4g} {'m' if trips.is_geographic else 'units'} apart, so "
            "lines between them cut corners: use the densities of points, not those of lines"
        )
    if real.use is not None and not real.use.tells_turns:
        remarks.append(
            f"only {100 * real.use.on_streets:.0f} % of the real lines lie on streets (points far apart, or a map of "
            "another place or mode of travel), so turns and lengths on streets are not compared"
        )
    if trips.has_dates and trips.timezone is None:
        remarks.append(f"hours of the day are those of UTC, because {UNNAMED}")
    return remarks


def clock_of(trajectories: Trajectories) -> str:
    """Return whose hours the hours of the day are, for the title of an axis."""
    if trajectories.timezone is not None:
        return trajectories.timezone
    return "UTC, assumed" if trajectories.has_dates else "local"


def sampled(title: str, item: Measured, *, attacks: bool, streets: bool) -> list[str]:
    """Return a note on what was computed from a sample, because the set is too large."""
    looked, size = len(item.trajectories), len(item.summary)
    if looked == size:
        return []
    what = ["the attacks"] * attacks + ["the metrics of streets"] * streets + ["the drawing of lines"]
    return [
        f"{title}: {looked:,} of its {size:,} trajectories, drawn at random, stand for all in {' and '.join(what)}"
    ]
