"""Make sets comparable before they are compared: one area, one coordinate system, nothing lost unnoticed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from ldptrace.core.adding import added
from ldptrace.core.crs import is_geographic
from ldptrace.core.outside import Crossings, Outside, unwrap, within
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Bounds, Grid


@dataclass(frozen=True)
class Census:
    """How many trajectories and points there are, where, and what became of those outside an area; blocks add up."""

    trajectories: int = 0
    points: int = 0
    # Without points.
    empty: int = 0
    crossings: Crossings = field(default_factory=Crossings)
    # Trajectories and points within the area: those that are evaluated.
    kept: int = 0
    kept_points: int = 0
    # Those of blocks that have times.
    timed: int = 0
    finite: bool = True
    box: Bounds = (math.inf, math.inf, -math.inf, -math.inf)

    @staticmethod
    def of(block: Trajectories, area: Grid | None, crs: str | None, outside: Outside) -> Census:
        """Of one block; nothing leaves where there is no area yet."""
        timed = len(block) if block.t is not None else 0
        if block.points == 0:
            return Census(len(block), empty=len(block), timed=timed)
        block = replace(block, crs=crs, ids=None, extra=None, user=None)
        inside, crossings = block, Crossings()
        if area is not None:
            block = unwrap(block, area.bounds)
            inside, crossings = within(block, area.bounds, outside)
        box = block.bounds()
        return Census(
            len(block),
            block.points,
            int(np.count_nonzero(block.sizes == 0)),
            crossings,
            int(np.count_nonzero(inside.sizes)),
            inside.points,
            timed,
            bool(np.isfinite(box).all()),
            box,
        )

    def __add__(self, other: Census) -> Census:
        (a, b, c, d), (e, f, g, h) = self.box, other.box
        box = (min(a, e), min(b, f), max(c, g), max(d, h))
        return added(self, other, finite=self.finite and other.finite, box=box)

    @property
    def has_times(self) -> bool:
        """Whether all trajectories have times."""
        return self.timed == self.trajectories

    def notes(self, area: Grid, name: str) -> list[str]:
        """What is omitted or changed; an error where nothing is left."""
        many = self.trajectories - self.empty
        if many == 0:
            raise InputError(f"{name} has no trajectories, so there is nothing to evaluate")
        if not self.finite:
            raise InputError(f"{name} has coordinates that are not finite numbers")
        if self.kept == 0 or self.crossings.points == self.points:
            box, span = (", ".join(f"{value:g}" for value in each) for each in (area.bounds, self.box))
            raise InputError(
                f"none of the {many:,} trajectories of {name} stays in the bounds ({box}): they span ({span})"
            )
        notes = []
        if self.empty:
            notes.append(
                f"{name}: {self.empty:,} of {self.trajectories:,} trajectories have no points and are omitted"
            )
        if self.crossings.trips:
            notes.append(f"{name}: {self.crossings.sentence} (of {many:,} trajectories)")
        return notes


def choose_area(real: Census | None, grid: int | Grid, bounds: Bounds | None) -> tuple[Grid, str]:
    """The grid to evaluate on, and where its bounds come from: the real set's, if nobody gives any."""
    if isinstance(grid, Grid):
        if bounds is not None and tuple(bounds) != grid.bounds:
            raise InputError(f"the grid has the bounds {grid.bounds}, but bounds={bounds} were given as well")
        return grid, "given"
    if bounds is not None:
        return Grid(bounds, grid), "given"
    if real is None or real.points == 0:
        raise InputError("the real set has no points, so there is nothing to compare with")
    if not real.finite:
        raise InputError("the real set has coordinates that are not finite numbers")
    x0, y0, x1, y1 = real.box
    # A set on a line or in one point still needs an area.
    half = max(x1 - x0, y1 - y0, 1e-3) / 2
    if x1 <= x0:
        x0, x1 = x0 - half, x0 + half
    if y1 <= y0:
        y0, y1 = y0 - half, y0 + half
    return Grid((x0, y0, x1, y1), grid), "the real set"


def stay_inside(trajectories: Trajectories, area: Grid, outside: Outside | None) -> Trajectories:
    """A block within the area, by the policy for what leaves it, without trajectories that have no points.

    Where nothing says what to do with them, they stay as they are.
    """
    if outside is not None:
        trajectories = replace(within(trajectories, area.bounds, outside)[0], extra=None, trips=None)
    return trajectories.take(trajectories.sizes > 0) if np.any(trajectories.sizes == 0) else trajectories


def align(real: str | None, synthetic: str | None, name: str) -> list[str]:
    """What to say of the coordinate systems of two sets; one without a label is taken to share the other's."""
    if synthetic == real or (is_geographic(synthetic) and is_geographic(real)):
        return []
    if synthetic is not None and real is not None:
        raise InputError(
            f"the sets have different coordinate systems: the real set {real}, {name} {synthetic}; "
            "convert one of them first"
        )
    unnamed = name if synthetic is None else "the real set"
    return [f"{unnamed} names no coordinate system and was taken as {real or synthetic}"]
