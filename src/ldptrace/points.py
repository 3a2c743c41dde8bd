"""Cell paths back to points. Post-processing of synthetic paths: it reads no private data."""

from __future__ import annotations

import numpy as np

from ldptrace.paths import CellPaths
from ldptrace.trajectories import Trajectories


def place(paths: CellPaths, rng: np.random.Generator) -> Trajectories:
    """One uniformly random point per cell; a path of a single cell gets two, as in the published code."""
    repeats = np.where(paths.sizes == 1, 2, paths.sizes)
    source = np.repeat(paths.offsets[:-1], repeats)
    offsets = np.concatenate(([0], np.cumsum(repeats)))
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], repeats)
    cells = paths.cells[source + np.where(np.repeat(paths.sizes == 1, repeats), 0, within)]
    (ox, oy), (sx, sy) = paths.grid.origin, paths.grid.step
    x0, y0, x1, y1 = paths.grid.bounds
    x = ox + (cells // paths.grid.n + rng.random(len(cells))) * sx
    y = oy + (cells % paths.grid.n + rng.random(len(cells))) * sy
    return Trajectories(np.clip(x, x0, x1), np.clip(y, y0, y1), offsets)
