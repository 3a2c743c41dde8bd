"""Make sets comparable before they are compared: one area, one coordinate system, nothing lost unnoticed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ldptrace.core.plane import is_geographic
from ldptrace.core.tables import inside
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io.clean import unwrap
from ldptrace.protocol.grid import Bounds, Grid

Outside = Literal["drop", "clamp"]


@dataclass(frozen=True)
class Census:
    """How many trajectories and points there are, where, and how many of them leave an area; blocks add up."""

    trajectories: int = 0
    points: int = 0
    # Without points, and with points outside the area; such points.
    empty: int = 0
    leaving: int = 0
    away: int = 0
    # Those that stay when others are left out, and their points.
    staying: int = 0
    staying_points: int = 0
    # Those of blocks that have times.
    timed: int = 0
    finite: bool = True
    box: Bounds = (math.inf, math.inf, -math.inf, -math.inf)

    @staticmethod
    def of(block: Trajectories, area: Grid | None, crs: str | None) -> Census:
        """Of one block; nothing leaves where there is no area yet."""
        if block.points == 0:
            return Census(len(block), empty=len(block), timed=len(block) if block.t is not None else 0)
        block = replace(block, crs=crs)
        block = block if area is None else unwrap(block, area.bounds)
        box = block.bounds()
        usable = block.sizes > 0
        many = int(np.count_nonzero(usable))
        leaving = gone = away = 0
        if area is not None and not inside(area, np.array(box[::2]), np.array(box[1::2])).all():
            outside = ~inside(area, block.x, block.y)
            passed = np.add.reduceat(outside, block.offsets[:-1][usable], dtype=np.int64) > 0
            leaving, away = int(np.count_nonzero(passed)), int(np.count_nonzero(outside))
            gone = int(block.sizes[usable][passed].sum())
        return Census(
            len(block),
            block.points,
            len(block) - many,
            leaving,
            away,
            many - leaving,
            block.points - gone,
            len(block) if block.t is not None else 0,
            bool(np.isfinite(box).all()),
            box,
        )

    def __add__(self, other: Census) -> Census:
        (a, b, c, d), (e, f, g, h) = self.box, other.box
        return Census(
            self.trajectories + other.trajectories,
            self.points + other.points,
            self.empty + other.empty,
            self.leaving + other.leaving,
            self.away + other.away,
            self.staying + other.staying,
            self.staying_points + other.staying_points,
            self.timed + other.timed,
            self.finite and other.finite,
            (min(a, e), min(b, f), max(c, g), max(d, h)),
        )

    @property
    def has_times(self) -> bool:
        """Whether all trajectories have times."""
        return self.timed == self.trajectories

    def kept(self, outside: Outside) -> tuple[int, int]:
        """Trajectories that are evaluated, and their points."""
        if outside == "drop":
            return self.staying, self.staying_points
        return self.trajectories - self.empty, self.points

    def notes(self, area: Grid, outside: Outside, name: str) -> list[str]:
        """What is left out or changed; an error where nothing is left."""
        if outside not in ("drop", "clamp"):
            raise InputError(f"outside is 'drop' or 'clamp', got {outside!r}")
        notes = []
        many = self.trajectories - self.empty
        if self.empty:
            notes.append(
                f"{name}: {self.empty:,} of {self.trajectories:,} trajectories have no points and were left out"
            )
        if many == 0:
            raise InputError(f"{name} has no trajectories, so there is nothing to evaluate")
        if not self.finite:
            raise InputError(f"{name} has coordinates that are not finite numbers")
        if self.away == self.points or (outside == "drop" and self.staying == 0):
            box, span = (", ".join(f"{value:g}" for value in each) for each in (area.bounds, self.box))
            raise InputError(
                f"none of the {many:,} trajectories of {name} stays in the bounds ({box}): they span ({span})"
            )
        if self.leaving and outside == "drop":
            notes.append(
                f"{name}: {self.leaving:,} of {many:,} trajectories leave the bounds and were left out"
            )
        elif self.leaving:
            notes.append(
                f"{name}: points of {self.leaving:,} of {many:,} trajectories were clamped to the bounds"
            )
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
    """A block without empty trajectories and those that leave the area, or with their points clamped.

    Where nothing says what to do with them, they stay as they are.
    """
    if np.any(trajectories.sizes == 0):
        trajectories = trajectories.take(trajectories.sizes > 0)
    if outside is None or len(trajectories) == 0:
        return trajectories
    trajectories = unwrap(trajectories, area.bounds)
    away = ~inside(area, trajectories.x, trajectories.y)
    if not away.any():
        return trajectories
    if outside == "drop":
        return trajectories.take(np.add.reduceat(away, trajectories.offsets[:-1], dtype=np.int64) == 0)
    x0, y0, x1, y1 = area.bounds
    return replace(trajectories, x=trajectories.x.clip(x0, x1), y=trajectories.y.clip(y0, y1))


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
