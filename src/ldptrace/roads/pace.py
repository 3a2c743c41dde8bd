"""Travel time along streets whose speeds are not known: more time near junctions, where people slow down or wait.

This decides on which part of a route a trip spends its time, not how long the trip takes.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ldptrace.core.arrays import Floats
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routing import side_of

# A metre at a junction takes as long as this many more metres elsewhere; the delay falls off over this many metres, and
# on a small map over this share of its side (docs/lab/streets.md, "Districts, streets and junctions").
DELAY, REACH, REACH_SHARE = 1.0, 30.0, 0.0025
# Places on an edge whose delays are averaged, as shares of its length.
_PLACES = (0.1, 0.3, 0.5, 0.7, 0.9)


def felt_lengths(roads: RoadNetwork) -> Floats:
    """Return lengths of all edges that are longer near junctions; the time on an edge is proportional to them.

    >>> cross = RoadNetwork.of([0, 60, -60, 0], [0, 0, 0, 60], source=[0, 0, 0], target=[1, 2, 3])
    >>> (felt_lengths(cross) > cross.length).tolist()
    [True, True, True]
    """
    if not roads.junctions.any():
        return roads.length.copy()
    across, up = roads.scale
    x, y = roads.x * across, roads.y * up
    junctions = cKDTree(np.c_[x[roads.junctions], y[roads.junctions]])
    reach, slow = min(REACH, REACH_SHARE * side_of(roads)), np.zeros(roads.edges)
    for share in _PLACES:
        at = ((1 - share) * ends[roads.source] + share * ends[roads.target] for ends in (x, y))
        slow += np.exp(-junctions.query(np.column_stack(tuple(at)))[0] / reach)
    felt: Floats = roads.length * (1 + DELAY * slow / len(_PLACES))
    return felt
