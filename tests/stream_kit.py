"""Small streams: trips over a square of side 6 on a clock."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.trajectories import Trajectories

BOUNDS = (0.0, 0.0, 6000.0, 6000.0)


def lines(
    count: int, rng: np.random.Generator, *, span: float = 3600.0, west: NDArray[np.bool_] | None = None
) -> Trajectories:
    """Trips along straight lines at 10 m/s, a point every 30 s, departures spread over `span` seconds.

    Those of `west` begin in the western third, the others in the eastern one; None: anywhere.
    """
    begin = rng.uniform(0, 6000, (count, 2))
    if west is not None:
        begin[:, 0] = begin[:, 0] / 3 + np.where(west, 0.0, 4000.0)
    end = np.clip(begin + rng.normal(0, 1500, (count, 2)), 0, 6000)
    leave = np.sort(rng.uniform(0, span, count))
    taken = np.maximum(np.hypot(*(end - begin).T) / 10, 60.0)
    sizes = np.ceil(taken / 30).astype(np.int64) + 1
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
    seconds = np.minimum(within * 30.0, np.repeat(taken, sizes))
    share = (seconds / np.repeat(taken, sizes))[:, None]
    points = np.repeat(begin, sizes, axis=0) * (1 - share) + np.repeat(end, sizes, axis=0) * share
    return Trajectories(points[:, 0], points[:, 1], offsets, t=np.repeat(leave, sizes) + seconds)
