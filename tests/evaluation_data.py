"""Small sets for the tests of the evaluation, the same on every machine."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.evaluator import evaluate
from ldptrace.evaluation.queries import SquareQueries
from ldptrace.evaluation.scorecard import Scorecard
from ldptrace.evaluation.summary import Summary
from ldptrace.roads.network import RoadNetwork

# A chessboard of streets: junctions on a side, metres between them, and its bounds.
SIDE, BLOCK = 11, 200.0
CITY = (0.0, 0.0, 2000.0, 2000.0)


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


def densified(trajectories: Trajectories, more: int) -> Trajectories:
    """The same lines with `more` points for every one: equally spaced between it and the next, in place and time."""
    pieces: list[list[np.ndarray]] = [[], [], []]
    sizes = []
    for first, last in zip(trajectories.offsets[:-1], trajectories.offsets[1:], strict=True):
        at = np.arange((last - first - 1) * more + 1) / more
        sizes.append(len(at))
        for piece, column in zip(pieces, (trajectories.x, trajectories.y, trajectories.t), strict=True):
            if column is not None:
                piece.append(np.interp(at, np.arange(last - first), column[first:last]))
    x, y, t = (np.concatenate(piece) if piece else None for piece in pieces)
    assert x is not None
    assert y is not None
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    return replace(trajectories, x=x, y=y, t=t, offsets=offsets)


def chessboard() -> RoadNetwork:
    """Streets every 200 m, both ways."""
    x, y = (axis.ravel() * BLOCK for axis in np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij"))
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    a = np.concatenate((number[:-1].ravel(), number[:, :-1].ravel()))
    b = np.concatenate((number[1:].ravel(), number[:, 1:].ravel()))
    return RoadNetwork.of(x, y, np.concatenate((a, b)), np.concatenate((b, a)))


def legs(count: int, seed: int, *, east_first: float = 0.5, off: float = 0.0) -> Trajectories:
    """Two legs each, one to the east and one to the north, along streets, `off` them to the side."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(count):
        (x0, x1), (y0, y1) = (np.sort(rng.choice(SIDE, 2, replace=False)) * BLOCK for _ in range(2))
        corner = (x1, y0) if rng.random() < east_first else (x0, y1)
        lines.append([(x + off, y + off) for x, y in ((x0, y0), corner, (x1, y1))])
    return Trajectories.from_lists(lines)


def timed(trajectories: Trajectories, seed: int, peak: float = 8.0) -> Trajectories:
    """Trips that leave around an hour and take a few minutes per step."""
    rng = np.random.default_rng(seed)
    leave = np.repeat((rng.normal(peak, 2.0, len(trajectories)) % 24) * 3600, trajectories.sizes)
    pace = np.repeat(rng.uniform(60, 900, len(trajectories)), trajectories.sizes)
    step = np.arange(trajectories.points) - np.repeat(trajectories.offsets[:-1], trajectories.sizes)
    return replace(trajectories, t=leave + step * pace)


@cache
def good_and_bad() -> Scorecard:
    """Two sets beside a real one, one like it and one not; measured once for all tests."""
    good, bad = drifting_walks(300, 2), drifting_walks(300, 3, pull=0.8)
    return evaluate(
        drifting_walks(300, 1),
        good,
        bad,
        bounds=(0.0, 0.0, 10.0, 10.0),
        seed=4,
        names=["good", "bad"],
        privacy=[{"epsilon": "1", "method": "made up"}, None],
    )


def values_of(card: Scorecard, which: int = 0) -> dict[str, dict[str, Any]]:
    """The entries of all metrics of a set, with corrected variants."""
    found = card.sets[which]
    return found["metrics"] | found["corrected"]


def points_in(queries: SquareQueries, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How many points lie in each closed square, one square after the other."""
    return np.array(
        [
            np.count_nonzero((x >= left) & (x <= right) & (y >= bottom) & (y <= top))
            for left, right, bottom, top in zip(
                queries.left, queries.right, queries.bottom, queries.top, strict=True
            )
        ]
    )


def column(summary: Summary, name: str) -> np.ndarray:
    """The lengths or diameters of all trajectories of a set."""
    return np.concatenate(summary.add_up(lambda part, _: [getattr(part, name)]))
