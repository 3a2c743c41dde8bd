"""How trips use the streets of a network: their position, length and turns. The direction of streets is ignored."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.divergence import class_counts, table_divergence
from ldptrace.roads.matching import StreetIndex

# Trips of a set that are matched, fewer of those that are long: looks for a street, one for every tolerance of way.
MATCHED, LOOKS = 5_000, 3_000_000
JUNCTIONS = 100
# Real lines that follow the streets for less of their way do not tell which turns were taken.
FOLLOWED = 0.7


@dataclass(frozen=True, eq=False)
class StreetUse:
    """How a set uses streets. `way` is the length of all lines in the unit of the
    network, and `on` the part of it on streets; `fixes` and `fixes_on` are the same numbers for points. `lengths` are
    the trips by length along the streets, in the fine logarithmic classes of `Traces`. `turns` are pairs (street, next
    street), one number each, at the junctions `nodes`; `passed` says how often.
    """

    way: float
    on: float
    fixes: float
    fixes_on: float
    lengths: Floats
    turns: Ints
    nodes: Ints
    passed: Floats

    @property
    def on_streets(self) -> float:
        """The share of the length on streets, or the share of points if all lengths are 0."""
        if self.way > 0:
            return self.on / self.way
        return self.fixes_on / self.fixes if self.fixes else math.nan

    @property
    def tells_turns(self) -> bool:
        """Whether lines follow the streets closely enough to recognise turns."""
        return self.on_streets >= FOLLOWED

    @property
    def fixes_on_streets(self) -> float:
        return self.fixes_on / self.fixes if self.fixes else math.nan


class StreetMap(StreetIndex):
    """The streets of a network, and how sets use them.

    >>> from ldptrace.roads.network import RoadNetwork
    >>> cross = RoadNetwork.of([0, 100, 100, 200], [0, 0, 100, 0], [0, 1, 1], [1, 2, 3])
    >>> use = StreetMap.of(cross).match(Trajectories.from_lists([[(0.0, 1.0), (100.0, 1.0), (100.0, 100.0)]]))
    >>> round(use.on_streets, 3), len(use.turns)
    (1.0, 1)
    """

    def affordable(self, mean: float, many: int) -> int:
        """Return how many of `many` trips with the mean length `mean` are matched."""
        return int(min(MATCHED, many, max(100.0, LOOKS * self.tolerance / max(mean, self.tolerance))))

    def match(self, trajectories: Trajectories) -> StreetUse:
        """Match every trajectory to the streets."""
        found, empty = self.follow(trajectories), trajectories.sizes == 0
        turned = np.flatnonzero(found.joined >= 0)
        turned = turned[self.junction[found.joined[turned]]]
        pairs = found.street[turned - 1] * len(self.length) + found.street[turned]
        turns, first, passed = np.unique(pairs, return_index=True, return_counts=True)
        lengths = class_counts(found.lengths[~empty]).astype(np.float64)
        nodes = found.joined[turned][first]
        return StreetUse(
            *(found.way, found.on, found.fixes, found.fixes_on),
            lengths,
            turns,
            nodes,
            passed.astype(np.float64),
        )


def turn_divergence(real: StreetUse, synthetic: StreetUse) -> float:
    """Return the divergence of the turns at the hundred busiest junctions of real trips, or NaN without turns."""
    nodes, place = np.unique(real.nodes, return_inverse=True)
    if len(nodes) == 0:
        return math.nan
    busy = nodes[np.argsort(-np.bincount(place, weights=real.passed), kind="stable")[:JUNCTIONS]]
    real_turns, synthetic_turns = (
        (use.turns[kept], use.passed[kept])
        for use, kept in ((use, np.isin(use.nodes, busy)) for use in (real, synthetic))
    )
    return table_divergence(real_turns, synthetic_turns)


def junction_divergence(real: StreetUse, synthetic: StreetUse) -> float:
    """Return the divergence of the passes of all junctions, or NaN if real trips pass none."""
    if len(real.nodes) == 0:
        return math.nan
    return table_divergence((real.nodes, real.passed), (synthetic.nodes, synthetic.passed))


def spacing(trajectories: Trajectories, scale: tuple[float, float]) -> float:
    """Return the median distance between consecutive different points."""
    steps = np.hypot(np.diff(trajectories.x) * scale[0], np.diff(trajectories.y) * scale[1])
    moving = steps[ragged.inner_steps(trajectories.offsets) & (steps > 0)]
    return float(np.median(moving)) if len(moving) else 0.0
