"""Trajectories that a leak would show on: as different from each other as the grid allows."""

from __future__ import annotations

import time

from ldptrace.device import Point
from ldptrace.protocol.grid import Grid

Points = list[Point]

# Fixes of trips like real ones, seconds between them, and trips of one person.
FIXES, INTERVAL, TRIPS = 1000, 5.0, 6


def extreme_trajectories(grid: Grid) -> dict[str, Points]:
    """Nothing, one cell, thousands of cells, all corners, lines of every length, to and fro, far outside, all times.

    >>> list(extreme_trajectories(Grid((0, 0, 2, 2), 2)))[-3:]
    ['out of the middle, fast', 'broken times', 'times that run backwards']
    """
    n, last = grid.n, grid.n - 1
    x0, y0, x1, y1 = grid.bounds

    def centre(i: int, j: int) -> Point:
        a, b, c, d = grid.cell_bounds(i * n + j)
        return (a + c) / 2, (b + d) / 2

    snake = [centre(i, j if i % 2 == 0 else last - j) for i in range(n) for j in range(n)]
    corners = [centre(0, 0), centre(0, last), centre(last, last), centre(last, 0)]
    far = 1e6 * (abs(x0) + abs(y0) + abs(x1) + abs(y1) + 1)
    lines: dict[str, Points] = {}
    for moves in range(1, n):
        lines[f"{moves} moves forth"] = [centre(0, n // 2), centre(moves, n // 2)]
        lines[f"{moves} moves back"] = [centre(last, last), centre(last - moves, last)]
    return {
        "no points": [],
        "one point in the first cell": [centre(0, 0)],
        "one point in the last cell": [centre(last, last)],
        "many points in one cell": [centre(0, last)] * 3000,
        "the first move": [centre(0, 0), centre(0, 1)],
        "the last move": [centre(last, last), centre(last, last - 1)],
        "to and fro": [centre(last, last), centre(last - 1, last)] * 5,
        "to and fro, a hundred times": [centre(last, last), centre(last - 1, last)] * 100,
        "thousands of cells": (snake + snake[::-1]) * max(1, 4000 // (2 * n * n)),
        "all corners, again and again": corners * 50,
        "far outside": [(-far, far), (far, -far), (float("inf"), 0.0), (0.0, float("nan"))],
        **lines,
        **{f"leaves at {hour} o'clock": [(*centre(0, 0), hour * 3600.0)] for hour in (0, 8, 17, 23)},
        "into the middle, slowly": [(*centre(0, 0), 28_800.0), (*centre(n // 2, n // 2), 9e5)],
        "out of the middle, fast": [(*centre(n // 2, n // 2), 64_800.0), (*centre(0, 0), 64_800.5)],
        "broken times": [(*centre(0, 0), float("nan")), (*centre(last, 0), float("inf"))],
        "times that run backwards": [(*centre(0, 0), 50.0), (*centre(last, 0), -1e300)],
    }


def lifelike(points: Points, moment: float | None = None) -> list[Points]:
    """The trips of somebody who went that way: hundreds of fixes, dates of today, several times the same trip.

    All trips of one person are alike, so that no answer depends on which of them is drawn. Nobody's trips are none.

    >>> trips = lifelike([(0.5, 0.5), (1.5, 0.5)], moment=1.7e9)
    >>> len(trips), len(trips[0]), trips[0][0], trips[0][-1]
    (6, 1000, (0.5, 0.5, 1700000000.0), (1.5, 0.5, 1700004995.0))
    """
    if not points:
        return []
    begin = time.time() // 3600 * 3600 - 7200 if moment is None else moment
    times = -(-FIXES // len(points))
    track = [point for point in points for _ in range(times)]
    return [[(point[0], point[1], begin + INTERVAL * k) for k, point in enumerate(track)]] * TRIPS
