"""Small sets for the tests of the evaluation, the same on every machine."""

from __future__ import annotations

import numpy as np

from ldptrace.core.trajectories import Trajectories


def drifting_walks(
    count: int, seed: int, *, pull: float = 0.2, longest: int = 12, size: float = 10.0
) -> Trajectories:
    """Walks in a square that drift towards a corner, 1 to `longest` points each, from uniform numbers alone."""
    rng = np.random.default_rng(seed)
    trajectories = []
    for _ in range(count):
        x, y = size * rng.random() ** 1.5, size * rng.random()
        line = [(x, y)]
        for _ in range(int(rng.random() * longest)):
            x = min(max(x + 2.5 * (rng.random() - 0.5 - pull / 2), 0.0), size)
            y = min(max(y + 2.5 * (rng.random() - 0.5 + pull), 0.0), size)
            line.append((x, y))
        trajectories.append(line)
    return Trajectories.from_lists(trajectories)
