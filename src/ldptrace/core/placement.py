"""Turn synthetic cell paths into points. No private data are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.area import Land
from ldptrace.core.arrays import Floats, Ints, Ints32
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import chunks, map_chunks
from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.core.words import count
from ldptrace.errors import InputError

Style = Literal["uniform", "neighbours"]
STYLES: tuple[Style, ...] = ("uniform", "neighbours")
# Points of the trips that are drawn at once: eight gigabytes.
MOST_POINTS = 500_000_000

# How far an end of a path goes towards its neighbour: who leaves a cell was more often near its border.
_LEANING = 0.05
# Width of the strip along a cell's border that points are kept in which would rather be on the other side.
_INSET = 0.05


def style_of(given: Mapping[str, Any], usual: Style) -> Style:
    """Return the `placement` of options or of a file's header, or `usual` if they have none."""
    style = given.get("placement", usual)
    if style not in STYLES:
        raise InputError(f"points are placed {' or '.join(STYLES)}, not {style!r}")
    return style


def place(
    paths: CellPaths,
    rng: np.random.Generator | Sequence[np.random.Generator],
    style: Style = "uniform",
    land: Land | None = None,
) -> Trajectories:
    """Place one point per cell, or two points for a path of a single cell, as in the published code. `uniform` draws
    every point uniformly from its cell: paths zigzag, and are 50 % longer than real ones. `neighbours` then moves every
    inner point to the middle of its two neighbours, as near as its cell allows, and the ends a little towards theirs.
    With `land`, every point is in the public area. Instead of one source of random numbers, a list of sources may be
    given, one for each chunk of paths.
    """
    style_of({"placement": style}, style)
    sources = rng.spawn(len(chunks(len(paths)))) if isinstance(rng, np.random.Generator) else rng
    cells, offsets = cells_of_points(paths)
    i, j = np.divmod(cells, paths.grid.n)
    (ox, oy), (sx, sy) = paths.grid.origin, paths.grid.step
    x, y = np.empty(len(cells)), np.empty(len(cells))

    def fill(number: int, start: int, stop: int) -> None:
        part = slice(offsets[start], offsets[stop])
        if land is None:
            points = sources[number].random((2, part.stop - part.start))
            x[part], y[part] = i[part] + points[0], j[part] + points[1]
        else:
            x[part], y[part] = land.draw(cells[part], sources[number])
        if style == "neighbours":
            moved_x = _between(x[part], i[part], offsets[start : stop + 1])
            moved_y = _between(y[part], j[part], offsets[start : stop + 1])
            good = slice(None) if land is None else land.contains(moved_x, moved_y)
            x[part][good], y[part][good] = moved_x[good], moved_y[good]

    map_chunks(fill, len(paths))
    x0, y0, x1, y1 = paths.grid.bounds
    return Trajectories(np.clip(ox + x * sx, x0, x1), np.clip(oy + y * sy, y0, y1), offsets)


def respace(
    trajectories: Trajectories,
    spacing: float,
    land: Land | None = None,
    scale: tuple[float, float] = (1.0, 1.0),
) -> Trajectories:
    """Return points at equal distances along each trajectory, at most `spacing` apart. The first and the last point
    stay. `scale` converts units of x and of y to units of `spacing`. With `land`, points that would be outside of the
    area are moved to its border.

    >>> line = Trajectories.from_lists([[(0, 0), (3, 0), (3, 3)]])
    >>> respace(line, 2.0).x.tolist()
    [0.0, 2.0, 3.0, 3.0]
    """
    x, y, offsets, sizes = trajectories.x, trajectories.y, trajectories.offsets, trajectories.sizes
    along = running(steps_to(trajectories, scale), offsets)
    many = sizes > 1
    sizes = sizes.copy()
    span = along[offsets[1:][many] - 1] - along[offsets[:-1][many]]
    steps = np.maximum(np.ceil(span / spacing), 1)
    if steps.sum() > MOST_POINTS:
        raise InputError(
            f"a spacing of {spacing:g} makes {steps.sum():,.0f} points of {count(len(trajectories), 'trip')}, and "
            f"at most {MOST_POINTS:,} are possible at once: give a larger one"
        )
    sizes[many] = steps.astype(np.int64) + 1
    new = ragged.offsets_of(sizes)
    points = np.empty((2, new[-1]))
    map_chunks(lambda _, a, b: _walk(x, y, along, offsets, new, a, b, points), len(trajectories))
    x, y = (points[0], points[1]) if land is None else land.ashore(points[0], points[1])
    return replace(trajectories, x=x, y=y, offsets=new, t=None)


def steps_to(trajectories: Trajectories, scale: tuple[float, float] = (1.0, 1.0)) -> Floats:
    """Return the distance of each point from the point before, which means nothing at the first point of a trajectory.
    `scale` converts units of x and of y.

    >>> steps_to(Trajectories.from_lists([[(0, 0), (3, 2)]]), (1.0, 2.0)).tolist()
    [0.0, 5.0]
    """
    x, y = np.diff(trajectories.x, prepend=0.0), np.diff(trajectories.y, prepend=0.0)
    return np.hypot(x * scale[0], y * scale[1])


@kernel
def running(steps, offsets):  # type: ignore[no-untyped-def]
    """Return the sum of the steps from the first point of a trajectory to each of its points. The result for a
    trajectory does not depend on other trajectories.

    >>> running(np.array([9.0, 1.0, 2.0, 9.0, 3.0]), np.array([0, 3, 5])).tolist()
    [0.0, 1.0, 3.0, 0.0, 3.0]
    """
    sums = np.zeros(len(steps))
    for k in range(len(offsets) - 1):
        for p in range(offsets[k] + 1, offsets[k + 1]):
            sums[p] = sums[p - 1] + steps[p]
    return sums


def cells_of_points(paths: CellPaths) -> tuple[Ints32, Ints]:
    """Return the cell of every point, and the offsets of trajectories: a point per cell, or two for a single cell."""
    sizes = np.where(paths.sizes == 1, 2, paths.sizes)
    offsets = ragged.offsets_of(sizes)
    within = ragged.places(offsets)
    within[np.repeat(paths.sizes == 1, sizes)] = 0
    return paths.cells[np.repeat(paths.offsets[:-1], sizes) + within], offsets


@kernel
def _between(values, cells, offsets):  # type: ignore[no-untyped-def]
    """Move one coordinate of every point, in cells, to the middle of its neighbours, but not out of its own cell."""
    moved = np.empty(len(values))
    for p in range(len(values)):
        moved[p] = values[p]
    base = offsets[0]
    for k in range(len(offsets) - 1):
        first, last = offsets[k] - base, offsets[k + 1] - base - 1
        for p in range(first, last + 1):
            if p in (first, last):
                if first == last or (last - first == 1 and cells[first] == cells[last]):
                    continue
                neighbour = values[p + 1] if p == first else values[p - 1]
                wanted = values[p] + _LEANING * (neighbour - values[p])
            else:
                wanted = (values[p - 1] + values[p + 1]) / 2
            # A point that its cell holds back stays a random bit inside it: never on the border, nor all in line.
            inside = values[p] - cells[p]
            low, high = cells[p] + _INSET * (0.02 + inside), cells[p] + 1 - _INSET * (1.02 - inside)
            moved[p] = min(max(wanted, low), high)
    return moved


@kernel
def _walk(x, y, along, offsets, new, start, stop, points):  # type: ignore[no-untyped-def]
    for k in range(start, stop):
        size = new[k + 1] - new[k]
        if size == 0:
            continue
        first, last = offsets[k], offsets[k + 1] - 1
        span = along[last] - along[first]
        at = first
        points[0, new[k + 1] - 1], points[1, new[k + 1] - 1] = x[last], y[last]
        for p in range(size - 1):
            goal = along[first] + span * p / (size - 1)
            while at < last - 1 and along[at + 1] <= goal:
                at += 1
            step = along[at + 1] - along[at]
            share = (goal - along[at]) / step if step > 0.0 else 0.0
            points[0, new[k] + p] = x[at] + share * (x[at + 1] - x[at])
            points[1, new[k] + p] = y[at] + share * (y[at + 1] - y[at])
