"""Figures of one set: small tables from which maps, flows and histograms are drawn.

Large grids are drawn in coarser blocks, so that the tables stay small.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.divergence import RARE, class_edges, grouped, log_classes
from ldptrace.evaluation.line_metrics import per_hour
from ldptrace.evaluation.measured import Measured
from ldptrace.evaluation.summary import Summary
from ldptrace.protocol import lattice
from ldptrace.protocol.grid import Grid
from ldptrace.roads.network import RoadNetwork

MAP_BLOCKS, FLOW_BLOCKS, TRIP_BLOCKS = 32, 10, 6
SAMPLES, SAMPLE_POINTS = 300, 400
# Bends that are smaller than this part of the map are not drawn.
BEND = 1 / 800
DRAWN_PATTERNS = 12
STREETS = 8000


def portrait(name: str, measured: Measured, real: Measured, picked: Ints | None) -> dict[str, Any]:
    """Return one set in small tables, as plain data, with the scales of the real set and with the trajectories at
    `picked` as samples. Shares are of the set's own total.

    `density` is per block of the map, `flows` are moves (from block, to block, share) between blocks, `trips`
    the shares of (first block, last block). Histograms have one bucket below and one above their edges.
    `hours` are departures per hour of the day; it, `durations` and `speeds` are empty without times. `samples` are
    a few hundred trajectories in units of the map's width and height.
    """
    summary, traces = measured.summary, measured.traces
    grid, (_, lengths, diameters) = summary.grid, summary.beside(real.summary)
    timed = traces.has_times and real.traces.has_times
    durations, speeds = (
        _shares(grouped(own, log_classes(known))) if timed else np.empty(0)
        for own, known in ((traces.durations, real.traces.durations), (traces.speeds, real.traces.speeds))
    )
    clock = traces.has_clock and real.traces.has_clock
    tables = {
        "name": name,
        "trajectories": len(summary),
        "points": summary.tables.points,
        "mean_length": summary.tables.lengths.mean,
        "mean_diameter": summary.tables.diameters.mean,
        "mean_cells": float(summary.tables.density.sum() / max(summary.tables.sizes.sum(), 1)),
        "density": _shares(np.bincount(blocks(grid, MAP_BLOCKS), summary.tables.density).astype(np.float64)),
        "flows": _flows(summary, blocks(grid, FLOW_BLOCKS)),
        "trips": _trips(summary, blocks(grid, TRIP_BLOCKS)),
        "lengths": _shares(lengths[2]),
        "diameters": _shares(diameters[2]),
        "cells": _sizes(summary, cell_edges(real.summary)),
        "hours": _shares(per_hour(traces)) if clock else np.empty(0),
        "durations": durations,
        "speeds": speeds,
        "samples": [] if picked is None else [_line(measured.trajectories, grid, int(k)) for k in picked],
    }
    return {column: _plain(table) for column, table in tables.items()}


def histogram_edges(real: Measured) -> dict[str, list[float]]:
    """Return the borders of the buckets of each histogram; none of durations and speeds without times."""
    tables, traces = real.summary.tables, real.traces
    edges = {
        "lengths": tables.lengths.drawn,
        "diameters": tables.diameters.drawn,
        "cells": cell_edges(real.summary),
        "durations": class_edges(log_classes(traces.durations)) if traces.has_times else np.empty(0),
        "speeds": class_edges(log_classes(traces.speeds)) if traces.has_times else np.empty(0),
    }
    return {name: borders.tolist() for name, borders in edges.items()}


def blocks(grid: Grid, most: int) -> Ints:
    """Return the block of every cell if the grid is drawn with at most `most` blocks per side. Blocks are numbered like
    cells.

    >>> blocks(Grid((0, 0, 1, 1), 4), 2).reshape(4, 4)[:, 0].tolist()
    [0, 0, 2, 2]
    """
    side = min(grid.n, most)
    along = np.arange(grid.n) * side // grid.n
    return (along[:, None] * side + along[None, :]).ravel()


def cell_edges(real: Summary) -> Floats:
    """Return the edges of buckets for the number of cells of a path, up to the largest real number that is not a rare
    exception."""
    reached = real.tables.sizes.cumsum()
    most = int(np.searchsorted(reached, (1 - RARE) * reached[-1]))
    return np.arange(1.0, max(most, 4) + 2.0)


def pattern_table(real: Summary, synthetic: list[Summary]) -> list[dict[str, Any]]:
    """Return the most frequent real patterns of three cells or more, with their frequency in every set. Patterns of two
    cells are moves, which the flows show.
    """
    patterns = real.patterns
    longer = np.flatnonzero(patterns.cells[:, 2] >= 0)[:DRAWN_PATTERNS]
    frequencies = [summary.beside(real)[0] / len(summary) for summary in synthetic]
    return [
        {
            "cells": [int(cell) for cell in patterns.cells[row] if cell >= 0],
            "real": float(patterns.counts[row] / len(real)),
            "synthetic": [float(frequency[row]) for frequency in frequencies],
        }
        for row in longer
    ]


def _shares(counts: Floats) -> Floats:
    total = counts.sum()
    return counts / total if total else counts


def _flows(summary: Summary, block: Ints) -> list[tuple[int, int, float]]:
    """Return the moves between blocks, as shares of all such moves. Moves within a block do not count."""
    size = int(block.max()) + 1
    used = np.flatnonzero(summary.tables.moves)
    # A move is numbered by its cell and one of eight directions.
    cell, direction = np.divmod(used, 8)
    steps = np.array(lattice.DIRECTION_DI) * summary.grid.n + np.array(lattice.DIRECTION_DJ)
    start, end = block[cell], block[cell + steps[direction]]
    counts = np.bincount(start * size + end, weights=summary.tables.moves[used], minlength=size * size)
    counts[:: size + 1] = 0
    total = max(int(counts.sum()), 1)
    return [
        (int(code // size), int(code % size), float(counts[code] / total)) for code in np.flatnonzero(counts)
    ]


def _trips(summary: Summary, block: Ints) -> Floats:
    """Return the shares of trips by their first block (rows) and last block (columns)."""
    size = int(block.max()) + 1
    codes, counts = summary.tables.trips
    start, end = block[codes // summary.grid.cells], block[codes % summary.grid.cells]
    joint = np.bincount(start * size + end, weights=counts, minlength=size * size)
    return _shares(joint.astype(np.float64)).reshape(size, size)


def _sizes(summary: Summary, buckets: Floats) -> Floats:
    where = np.searchsorted(buckets, np.arange(len(summary.tables.sizes)), side="right")
    counts = np.bincount(where, weights=summary.tables.sizes, minlength=len(buckets) + 1)
    return _shares(counts.astype(np.float64))


def _line(trajectories: Trajectories, grid: Grid, number: int) -> list[tuple[float, float]]:
    first, last = trajectories.offsets[number], trajectories.offsets[number + 1]
    kept = np.unique(np.linspace(first, last - 1, min(last - first, SAMPLE_POINTS)).astype(np.int64))
    (ox, oy), (sx, sy) = grid.origin, grid.step
    x = (trajectories.x[kept] - ox) / (sx * grid.n)
    y = (trajectories.y[kept] - oy) / (sy * grid.n)
    line = np.column_stack((x, y))
    if len(line) > 1:
        line = shapely.get_coordinates(
            shapely.simplify(shapely.linestrings(line), BEND, preserve_topology=False)
        )
    return list(map(tuple, line.tolist()))


def street_lines(roads: RoadNetwork, grid: Grid) -> list[list[int]]:
    """Return the streets for drawing, as straight pieces (x0, y0, x1, y1) in thousandths of the width and height of the
    map. If there are too many, the longest are kept; very short pieces are omitted.
    """
    x, y, offsets = roads.lines(np.arange(roads.edges))
    (ox, oy), (sx, sy) = grid.origin, grid.step
    across = np.rint((x - ox) / (sx * grid.n) * 1000).astype(np.int64)
    up = np.rint((y - oy) / (sy * grid.n) * 1000).astype(np.int64)
    here = np.flatnonzero(ragged.inner_steps(offsets))
    pieces = np.column_stack((across[here], up[here], across[here + 1], up[here + 1]))
    # Either direction is the same line: the end with the lower x, then the lower y, is first.
    first, last = pieces[:, :2], pieces[:, 2:]
    backwards = (first * (1001, 1)).sum(axis=1) > (last * (1001, 1)).sum(axis=1)
    pieces[backwards] = pieces[backwards][:, [2, 3, 0, 1]]
    pieces = np.unique(pieces[(pieces >= 0).all(axis=1) & (pieces <= 1000).all(axis=1)], axis=0)
    length = np.hypot(pieces[:, 2] - pieces[:, 0], pieces[:, 3] - pieces[:, 1])
    longest = np.argsort(-length, kind="stable")[:STREETS]
    return pieces[longest[length[longest] > 0]].tolist()


def _plain(value: Any) -> Any:
    """Return arrays and lists as lists with few digits: seven for flows and shares, four for positions."""
    if isinstance(value, np.ndarray):
        return value.round(7).tolist()
    if isinstance(value, tuple):
        return [round(number, 7 if len(value) == 3 else 4) for number in value]
    return [_plain(item) for item in value] if isinstance(value, list) else value
