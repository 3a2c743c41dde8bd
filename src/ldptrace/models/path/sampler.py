"""Draw paths exactly: the first move, then every move given what may still come, until a path ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints, Ints32
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.core.paths import CellPaths
from ldptrace.models.path.flow import Flow
from ldptrace.protocol.grid import Grid


@dataclass(frozen=True, eq=False)
class PathSampler:
    """One throw decides among the first states (Vose's alias method), one among what may follow each state.

    Outcome `c` of `first` is the path that stays in cell c; outcome `cells + s` is a path that begins with state s:
    group, direction and cell. A path ends after its k-th move with the chance that `ending[k]` times the weight of its
    last cell has in `backward[k]`, the sum over all endings.
    """

    grid: Grid
    shift: Ints
    first: Floats
    first_other: Ints32
    step: Floats
    scale: Floats
    ending: Floats
    end: Floats
    backward: Floats

    @staticmethod
    def prepare(flow: Flow) -> PathSampler:
        """Return tables for a model."""
        forward, backward = flow.by_district(flow.forward), flow.by_district(flow.backward(flow.length))
        begin = forward[1:2] * backward[1:2]
        outcomes = np.concatenate([flow.length[0] * flow.single, begin.ravel()])
        first, first_other = np.empty(len(outcomes)), np.empty(len(outcomes), dtype=np.int32)
        _alias(outcomes / outcomes.sum(), first, first_other)
        weights, ending = flow.weights, flow.length / flow.sums
        tables = weights.step, flow.scale, ending, weights.end, backward
        return PathSampler(flow.graph.grid, flow.shift, first, first_other, *tables)

    def draw(self, count: int, sources: Sequence[np.random.Generator]) -> CellPaths:
        """`count` independent paths, each chunk from its own source."""
        tables = (
            self.first,
            self.first_other,
            self.shift,
            self.step,
            self.scale,
            self.ending,
            self.end,
            self.backward,
        )

        def walk(number: int, start: int, stop: int) -> tuple[Ints32, Ints]:
            sizes = np.zeros(stop - start, dtype=np.int64)
            cells: Ints32 = np.empty(8 * (stop - start) + len(self.scale) + 1, dtype=np.int32)
            return _walk(sources[number], *tables, cells, sizes), sizes

        return CellPaths(*ragged.joined(map_chunks(walk, count)), self.grid)


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
def _walk(rng, first, first_other, shift, step, scale, ending, end, backward, cells, sizes):  # type: ignore[no-untyped-def]
    positions, _, _, size = backward.shape
    chance, at = np.empty(8), 0
    for walk in range(len(sizes)):
        if at + positions + 1 > len(cells):
            grown = np.empty(2 * len(cells), dtype=np.int32)
            for k in range(at):
                grown[k] = cells[k]
            cells = grown
        begun = at
        u = rng.random() * len(first)
        state = int(u)
        if u - state >= first[state]:
            state = first_other[state]
        if state < size:
            cells[at] = state
            at += 1
        else:
            group, rest = divmod(state - size, 8 * size)
            b, c = divmod(rest, size)
            cells[at], cells[at + 1] = c - shift[b], c
            at += 2
            k = 1
            while k < positions - 1:
                left = rng.random() * backward[k, group, b, c]
                left -= ending[k] * end[group, c]
                if left < 0:
                    break
                for d in range(8):
                    # A step off the map has no weight, and no cell either.
                    weight = step[d, b, c]
                    chance[d] = weight * backward[k + 1, group, d, c + shift[d]] if weight > 0 else 0.0
                left *= scale[k + 1]
                following = -1
                for d in range(8):
                    if chance[d] > 0:
                        following = d
                        left -= chance[d]
                        if left < 0:
                            break
                if following < 0:
                    break
                b = following
                c += shift[b]
                cells[at] = c
                at += 1
                k += 1
        sizes[walk] = at - begun
    return cells[:at]
