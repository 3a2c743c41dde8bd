"""Make sets comparable before they are compared: one area, one coordinate system, nothing lost unnoticed."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from ldptrace.core.tables import inside
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io.clean import unwrap
from ldptrace.protocol.grid import Bounds, Grid

Outside = Literal["drop", "clamp"]


def choose_area(real: Trajectories, grid: int | Grid, bounds: Bounds | None) -> tuple[Grid, str]:
    """The grid to evaluate on, and where its bounds come from."""
    if isinstance(grid, Grid):
        if bounds is not None and tuple(bounds) != grid.bounds:
            raise InputError(f"the grid has the bounds {grid.bounds}, but bounds={bounds} were given as well")
        return grid, "given"
    if bounds is not None:
        return Grid(bounds, grid), "given"
    if real.points == 0:
        raise InputError("the real set has no points, so there is nothing to compare with")
    x0, y0, x1, y1 = real.bounds()
    # A set on a line or in one point still needs an area.
    half = max(x1 - x0, y1 - y0, 1e-3) / 2
    if x1 <= x0:
        x0, x1 = x0 - half, x0 + half
    if y1 <= y0:
        y0, y1 = y0 - half, y0 + half
    return Grid((x0, y0, x1, y1), grid), "the real set"


def confine(
    trajectories: Trajectories, area: Grid, outside: Outside, name: str
) -> tuple[Trajectories, list[str]]:
    """The set without trajectories that leave the bounds, or with their points clamped; and what was done."""
    if outside not in ("drop", "clamp"):
        raise InputError(f"outside is 'drop' or 'clamp', got {outside!r}")
    trajectories = unwrap(trajectories, area.bounds)
    notes = []
    usable = trajectories.sizes > 0
    empty = int(np.count_nonzero(~usable))
    if empty:
        notes.append(
            f"{name}: {empty:,} of {len(trajectories):,} trajectories have no points and were left out"
        )
        trajectories = trajectories.take(usable)
    if len(trajectories) == 0:
        raise InputError(f"{name} has no trajectories, so there is nothing to evaluate")
    if not np.isfinite([trajectories.x.sum(), trajectories.y.sum()]).all():
        raise InputError(f"{name} has coordinates that are not finite numbers")
    away = ~inside(area, trajectories.x, trajectories.y)
    if not away.any():
        return trajectories, notes
    leaving = np.add.reduceat(away, trajectories.offsets[:-1], dtype=np.int64) > 0
    count, all_ = int(np.count_nonzero(leaving)), len(trajectories)
    box = ", ".join(f"{value:g}" for value in area.bounds)
    if away.all() or (outside == "drop" and leaving.all()):
        span = ", ".join(f"{value:g}" for value in trajectories.bounds())
        raise InputError(
            f"none of the {all_:,} trajectories of {name} stays in the bounds ({box}): they span ({span})"
        )
    if outside == "drop":
        notes.append(f"{name}: {count:,} of {all_:,} trajectories leave the bounds and were left out")
        return trajectories.take(~leaving), notes
    x0, y0, x1, y1 = area.bounds
    notes.append(f"{name}: points of {count:,} of {all_:,} trajectories were clamped to the bounds")
    clamped = replace(trajectories, x=trajectories.x.clip(x0, x1), y=trajectories.y.clip(y0, y1))
    return clamped, notes


def align(real: Trajectories, synthetic: Trajectories, name: str) -> tuple[Trajectories, list[str]]:
    """The synthetic set under the real set's coordinate system; without a label it is taken to share it."""
    same = synthetic.crs == real.crs or (synthetic.is_geographic and real.is_geographic)
    if not same and synthetic.crs is not None and real.crs is not None:
        raise InputError(
            f"the sets have different coordinate systems: the real set {real.crs}, {name} {synthetic.crs}; "
            "convert one of them first"
        )
    notes = []
    if not same:
        unnamed = name if synthetic.crs is None else "the real set"
        notes.append(f"{unnamed} names no coordinate system and was taken as {real.crs or synthetic.crs}")
    return replace(synthetic, crs=real.crs), notes
