"""Draw paths exactly: length and first move in one throw, then every move given what is still to come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints32
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.core.paths import CellPaths, grid_moves
from ldptrace.models.path.messages import Messages
from ldptrace.protocol.grid import Grid


@dataclass(frozen=True, eq=False)
class PathSampler:
    """Alias tables: one throw decides among any number of outcomes (Vose's method).

    Outcome `c` of `first` is the path that stays in cell c; outcome `cells + (l - 1) * moves + e` is a path of l
    moves that begins with move e. `next[j, e]` decides among the moves that may follow e when j are to come.
    """

    grid: Grid
    following: Ints32
    first: Floats
    first_other: Ints32
    next: Floats
    next_other: NDArray[np.int8]

    @staticmethod
    def prepare(messages: Messages, length: Floats) -> PathSampler:
        """Tables for paths whose number of cells has the distribution `length`."""
        graph = messages.graph
        begin = length[1:, None] * messages.first_moves
        outcomes = np.concatenate([length[0] * messages.single, begin.ravel()])
        first, first_other = np.empty(len(outcomes)), np.empty(len(outcomes), dtype=np.int32)
        _alias(outcomes / outcomes.sum(), first, first_other)
        after = np.where(graph.following >= 0, messages.backward[:, np.maximum(graph.following, 0)], 0.0)
        weights = messages.weights.step * after[:-1]
        thresholds = np.empty(weights.shape)
        others = np.empty(weights.shape, dtype=np.int8)
        _alias_rows(weights.reshape(-1, 8), thresholds.reshape(-1, 8), others.reshape(-1, 8))
        return PathSampler(
            graph.grid, graph.following.astype(np.int32), first, first_other, thresholds, others
        )

    def draw(self, count: int, sources: Sequence[np.random.Generator]) -> CellPaths:
        """`count` independent paths, each chunk from its own source."""
        cells, moves = self.grid.cells, len(self.following)
        begun = np.empty(count, dtype=np.int32)

        def begin(number: int, start: int, stop: int) -> None:
            _begin(self.first, self.first_other, begun[start:stop], sources[number])

        map_chunks(begin, count)
        offsets = ragged.offsets_of(np.where(begun < cells, 1, (begun - cells) // moves + 2))
        visited = np.empty(offsets[-1], dtype=np.int32)
        source, _, target = (np.ascontiguousarray(column) for column in grid_moves(self.grid.n).T)

        def walk(number: int, start: int, stop: int) -> None:
            tables = (self.following, self.next, self.next_other, source, target, cells)
            _walk(begun[start:stop], offsets[start:stop], *tables, visited, sources[number])

        map_chunks(walk, count)
        return CellPaths(visited, offsets, self.grid)


@kernel
def _alias(probabilities, threshold, other):  # type: ignore[no-untyped-def]
    n = len(probabilities)
    small, large = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    few = many = likeliest = 0
    for k in range(n):
        if probabilities[k] > probabilities[likeliest]:
            likeliest = k
        threshold[k] = probabilities[k] * n
        other[k] = k
        if threshold[k] < 1.0:
            small[few] = k
            few += 1
        else:
            large[many] = k
            many += 1
    while few > 0 and many > 0:
        few -= 1
        poor, rich = small[few], large[many - 1]
        other[poor] = rich
        threshold[rich] -= 1.0 - threshold[poor]
        if threshold[rich] < 1.0:
            many -= 1
            small[few] = rich
            few += 1
    # What is left is 1 up to rounding, except that an impossible outcome must stay impossible.
    for k in range(few):
        if probabilities[small[k]] > 0.0:
            threshold[small[k]] = 1.0
        else:
            other[small[k]] = likeliest


@kernel
def _alias_rows(weights, threshold, other):  # type: ignore[no-untyped-def]
    share = np.empty(weights.shape[1])
    for row in range(len(weights)):
        total = 0.0
        for weight in weights[row]:
            total += weight
        if total > 0.0:
            for k in range(len(share)):
                share[k] = weights[row, k] / total
            _alias(share, threshold[row], other[row])
        else:  # nothing can follow: no path comes here
            threshold[row] = 1.0
            other[row] = 0


@kernel
def _begin(first, first_other, begun, rng):  # type: ignore[no-untyped-def]
    for walk in range(len(begun)):
        u = rng.random() * len(first)
        k = int(u)
        begun[walk] = k if u - k < first[k] else first_other[k]


@kernel
def _walk(begun, offsets, following, next_, next_other, source, target, cells, visited, rng):  # type: ignore[no-untyped-def]
    moves = len(following)
    for walk in range(len(begun)):
        at = offsets[walk]
        if begun[walk] < cells:
            visited[at] = begun[walk]
            continue
        to_come, e = divmod(begun[walk] - cells, moves)
        visited[at] = source[e]
        visited[at + 1] = target[e]
        at += 2
        while to_come > 0:
            to_come -= 1
            u = rng.random() * 8
            k = int(u)
            if u - k >= next_[to_come, e, k]:
                k = next_other[to_come, e, k]
            e = following[e, k]
            visited[at] = target[e]
            at += 1
