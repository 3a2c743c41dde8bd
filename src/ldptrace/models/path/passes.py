"""Passes over the paths of a grid: forward and backward recursions, and their derivatives along a direction.

States are (group, direction, cell): districts of the first cell, the last move of a beginning and the cell it arrived
at. On small grids a group is of several districts, whose maps lie side by side, so that loops are long enough. The
weight of a step, `step[d, b, c]`, is that of the move out of cell c in direction d after one in direction b, 0 where it
would leave the map; every step is a mixture of eight directions and a shift of the map, the same in every group: loops
over cells without a branch, and without arithmetic on whole arrays, whose errors numba compiles for seconds. Every
forward vector is divided by its sum, `scale`. Counted passes run in the precision of their tables: single numbers go
through `like`, because one of double precision would make loops over single precision twice as slow. A shift is a
slice, not a sum in the index, which could be negative for all that the compiler knows: loops then run over four to
sixteen cells at a time.
"""

from __future__ import annotations

import numpy as np

from ldptrace.core.arrays import Ints
from ldptrace.core.kernels import kernel
from ldptrace.protocol.lattice import DIRECTION_DI, DIRECTION_DJ


def shifts(n: int) -> Ints:
    """Return by how much each direction changes the number of the cell."""
    return np.array([di * n + dj for di, dj in zip(DIRECTION_DI, DIRECTION_DJ, strict=True)])


@kernel
def like(table, value):  # type: ignore[no-untyped-def]
    """Return the number in the precision of the table."""
    return table.dtype.type(value)


@kernel(fastmath=True)
def _mix(step, near, out):  # type: ignore[no-untyped-def]
    """Compute out[c] = sum over eight rows b of step[b, c] * near[b, c]."""
    s0, s1, s2, s3, s4, s5, s6, s7 = step[0], step[1], step[2], step[3], step[4], step[5], step[6], step[7]
    r0, r1, r2, r3, r4, r5, r6, r7 = near[0], near[1], near[2], near[3], near[4], near[5], near[6], near[7]
    for c in range(len(out)):
        out[c] = s0[c] * r0[c] + s1[c] * r1[c] + s2[c] * r2[c] + s3[c] * r3[c]
    for c in range(len(out)):
        out[c] += s4[c] * r4[c] + s5[c] * r5[c] + s6[c] * r6[c] + s7[c] * r7[c]


@kernel(fastmath=True)
def _arrive(row, by, factor, out):  # type: ignore[no-untyped-def]
    """Shift the map: out[c + by] = row[c] * factor, 0 elsewhere."""
    cells = len(row)
    low, high = max(0, -by), min(cells, cells - by)
    here, there = row[low:high], out[low + by : high + by]
    for c in range(low + by):
        out[c] = 0
    for c in range(len(here)):
        there[c] = here[c] * factor
    for c in range(high + by, cells):
        out[c] = 0


@kernel(fastmath=True)
def _fetch(ahead, shift, factor, near):  # type: ignore[no-untyped-def]
    """Look ahead over the moves: near[d, c] = ahead[d, c + shift] * factor, 0 where that is no cell."""
    for d in range(8):
        _arrive(ahead[d], -shift[d], factor, near[d])


@kernel(fastmath=True)
def _pulled(step, near, out):  # type: ignore[no-untyped-def]
    """Compute out[b] = sum over directions d of step[d, b] * near[d]."""
    r0, r1, r2, r3, r4, r5, r6, r7 = near[0], near[1], near[2], near[3], near[4], near[5], near[6], near[7]
    for b in range(8):
        row = out[b]
        s0, s1, s2, s3 = step[0, b], step[1, b], step[2, b], step[3, b]
        s4, s5, s6, s7 = step[4, b], step[5, b], step[6, b], step[7, b]
        for c in range(len(row)):
            row[c] = s0[c] * r0[c] + s1[c] * r1[c] + s2[c] * r2[c] + s3[c] * r3[c]
        for c in range(len(row)):
            row[c] += s4[c] * r4[c] + s5[c] * r5[c] + s6[c] * r6[c] + s7[c] * r7[c]


@kernel(fastmath=True)
def forward_pass(start, move, step, end, shift, forward, scale, sums):  # type: ignore[no-untyped-def]
    """Compute the sums over all beginnings with k moves (`forward`, scaled by `scale`); `sums[k]` gets the sum over all
    paths with k moves."""
    positions, groups, _, cells = forward.shape
    mixed = np.empty(cells)
    alone = 0.0
    for g in range(groups):
        for c in range(cells):
            alone += start[g, c] * end[g, c]
    sums[0] = alone
    for k in range(1, positions):
        total = 0.0
        for g in range(groups):
            for d in range(8):
                if k == 1:
                    first, weight = start[g], move[d]
                    for c in range(cells):
                        mixed[c] = first[c] * weight[c]
                else:
                    _mix(step[d], forward[k - 1, g], mixed)
                _arrive(mixed, shift[d], 1.0, forward[k, g, d])
                for value in forward[k, g, d]:
                    total += value
        scale[k] = total
        reached, share = 0.0, 1 / total
        for g in range(groups):
            for d in range(8):
                row, last = forward[k, g, d], end[g]
                for c in range(cells):
                    row[c] *= share
                    reached += row[c] * last[c]
        sums[k] = reached


@kernel(fastmath=True)
def backward_pass(step, end, shift, scale, weight, backward):  # type: ignore[no-untyped-def]
    """Compute the sums over all endings after the k-th move; paths with k moves in all have the weight `weight[k]`."""
    positions, groups, _, cells = backward.shape
    near = np.empty((8, cells))
    for k in range(positions - 1, 0, -1):
        for g in range(groups):
            here, last = backward[k, g], end[g]
            if k < positions - 1:
                _fetch(backward[k + 1, g], shift, 1 / scale[k + 1], near)
                _pulled(step, near, here)
            for b in range(8):
                row = here[b]
                if k == positions - 1:
                    for c in range(cells):
                        row[c] = weight[k] * last[c]
                else:
                    for c in range(cells):
                        row[c] += weight[k] * last[c]


@kernel(fastmath=True)
def expected_pass(step, end, shift, scale, weight, forward, backward, first, moves, ends, bends):  # type: ignore[no-untyped-def]
    """Add up the expected first moves and later moves by the cell they arrive at, last cells by group, and bends (of
    all maps side by side together) if their array is not empty."""
    positions, groups, _, cells = forward.shape
    near = np.empty((8, cells), forward.dtype)
    together = np.zeros((len(bends), 8, cells), forward.dtype)
    for g in range(groups):
        last, out = end[g], ends[g]
        for k in range(1, positions):
            for d in range(8):
                a, b = forward[k, g, d], backward[k, g, d]
                moved = first[d] if k == 1 else moves[d]
                w = weight[k]
                for c in range(cells):
                    moved[c] += a[c] * b[c]
                    out[c] += w * a[c] * last[c]
            if len(bends) and k < positions - 1:
                _fetch(backward[k + 1, g], shift, 1 / scale[k + 1], near)
                _outer(forward[k, g], near, together)
    _add_folded(step, together, bends)


@kernel(fastmath=True)
def counted_forward_pass(  # type: ignore[no-untyped-def]
    step, end, shift, forward, scale, sums, last, begun, arrived, bent, at_end, counted, by_cell, mean
):
    """Compute `forward`, every beginning counted as often as the direction says (`counted`), its sums over last moves
    (`by_cell`; those of `forward` are `last`), and the mean over whole paths with k moves.

    `begun[d, c]` counts a first move that arrives at c, its first cell included, `arrived[d, c]` any later one, and
    `at_end` last cells; `bent` is the weight of a step times what its bend counts, empty where bends count nothing.
    Without room for `counted`, beginnings count nothing.
    """
    positions, groups, _, cells = forward.shape
    mixed, more = np.empty(cells, forward.dtype), np.empty(cells, forward.dtype)
    mean[1:] = 0
    for g in range(groups):
        for k in range(1, positions):
            factor, total = like(forward, 1 / scale[k]), by_cell[k, g]
            for c in range(cells):
                total[c] = 0
            for d in range(8 if len(counted) else 0):
                out, a = counted[k, g, d], forward[k, g, d]
                if k == 1:
                    count = begun[d]
                    for c in range(cells):
                        out[c] = a[c] * count[c]
                        total[c] += out[c]
                    continue
                _mix(step[d], counted[k - 1, g], mixed)
                if len(bent):
                    _mix(bent[d], forward[k - 1, g], more)
                    for c in range(cells):
                        mixed[c] += more[c]
                _arrive(mixed, shift[d], factor, out)
                count = arrived[d]
                for c in range(cells):
                    out[c] += a[c] * count[c]
                    total[c] += out[c]
            weight, at_last, whole = end[g], at_end[g], like(forward, 0)
            for c in range(cells):
                whole += (total[c] + last[k, g, c] * at_last[c]) * weight[c]
            mean[k] += whole / sums[k]


@kernel(fastmath=True)
def counted_backward_pass(  # type: ignore[no-untyped-def]
    step, end, shift, forward, scale, last, backward, weight, arrived, bent, at_end, counted, by_cell, centre,
    first, moves, ends, bends,
):  # fmt: skip
    """Add up the covariances of first moves, later moves, last cells and bends with directions, one for each way of
    weighting paths.

    `backward[i]` has the endings of each way, paths with k moves in all have the weight `weight[i, k]`, and directions
    and their beginnings are as in the forward pass. Whole paths are counted as often as the direction says, less
    `centre[i, k]`. What bends themselves count is left out; bends are added up where their array is not empty.
    """
    positions, groups, _, cells = forward.shape
    here, ahead = np.empty((8, cells), forward.dtype), np.empty((8, cells), forward.dtype)
    near, plain, more = np.empty_like(here), np.empty_like(here), np.empty_like(here)
    lasting, together = np.empty(cells, forward.dtype), np.zeros((len(bends), 8, cells), forward.dtype)
    ways, bending, begun = len(backward), len(bends) > 0, len(counted) > 0
    for g in range(groups):
        final, out = end[g], ends[g]
        here[:] = 0
        for k in range(positions - 1, 0, -1):
            if k < positions - 1:
                factor = like(forward, 1 / scale[k + 1])
                ahead[:] = 0
                _add(here, ahead)
                for i in range(ways):
                    _add_products(arrived[i], backward[i, k + 1, g], ahead)
                _fetch(ahead, shift, factor, near)
                _pulled(step, near, here)
                if bending and not begun:
                    _outer(forward[k, g], near, together)
                for i in range(ways):
                    if len(bent) or (bending and begun):
                        _fetch(backward[i, k + 1, g], shift, factor, plain)
                    if bending and begun and i == 0:
                        _two_outer(forward[k, g], near, counted[i, k, g], plain, together)
                    elif bending and begun:
                        _outer(counted[i, k, g], plain, together)
                    if len(bent):
                        _pulled(bent[i], plain, more)
                        _add(more, here)
            lasting[:] = 0
            for i in range(ways):
                w, less = like(forward, weight[i, k]), like(forward, centre[i, k])
                at_last, some, whole = at_end[i, g], by_cell[i, k, g], last[k, g]
                for c in range(cells):
                    each = w * final[c] * (at_last[c] - less)
                    lasting[c] += each
                    out[c] += w * final[c] * some[c] + each * whole[c]
            moved = first if k == 1 else moves
            for d in range(8):
                gamma = here[d]
                for c in range(cells):
                    gamma[c] += lasting[c]
            _add_products(forward[k, g], here, moved)
            for i in range(len(counted)):
                _add_products(counted[i, k, g], backward[i, k, g], moved)
    _add_folded(step, together, bends)


@kernel(fastmath=True)
def _add(one, out):  # type: ignore[no-untyped-def]
    """Add one[d] to out[d]."""
    for d in range(8):
        a, total = one[d], out[d]
        for c in range(len(total)):
            total[c] += a[c]


@kernel(fastmath=True)
def _add_products(one, other, out):  # type: ignore[no-untyped-def]
    """Add one[d] * other[d] to out[d]."""
    for d in range(8):
        a, b, total = one[d], other[d], out[d]
        for c in range(len(total)):
            total[c] += a[c] * b[c]


@kernel(fastmath=True)
def _add_folded(step, together, bends):  # type: ignore[no-untyped-def]
    """Add to bends those of maps side by side, times the weights of their steps."""
    for d in range(len(bends)):
        for b in range(8):
            weights, total, out = step[d, b], together[d, b], bends[d, b]
            for first in range(0, len(total), len(out)):
                for c in range(len(out)):
                    out[c] += weights[first + c] * total[first + c]


@kernel(fastmath=True)
def _outer(near, far, out):  # type: ignore[no-untyped-def]
    """Add near[b] * far[d] to out[d, b]."""
    for d in range(8):
        ahead = far[d]
        for b in range(8):
            behind, total = near[b], out[d, b]
            for c in range(len(ahead)):
                total[c] += behind[c] * ahead[c]


@kernel(fastmath=True)
def _two_outer(near, far, others, beyond, out):  # type: ignore[no-untyped-def]
    """Add near[b] * far[d] + others[b] * beyond[d] to out[d, b]."""
    for d in range(8):
        ahead, ahead_too = far[d], beyond[d]
        for b in range(8):
            behind, behind_too, total = near[b], others[b], out[d, b]
            for c in range(len(ahead)):
                total[c] += behind[c] * ahead[c] + behind_too[c] * ahead_too[c]


@kernel(fastmath=True)
def way_back_pass(step, shift, scale, forward, backward, once, twice):  # type: ignore[no-untyped-def]
    """Sum how often the step back follows each state at once (`once`), and the same step again after it (`twice`)."""
    positions, groups, _, cells = forward.shape
    for k in range(1, positions - 1):
        for g in range(groups):
            for d in range(8):
                # Directions are numbered so that the opposite ones add up to 7.
                back = 7 - d
                by = shift[back]
                low, high = max(0, -by), min(cells, cells - by)
                for c in range(low, high):
                    there = c + by
                    value = forward[k, g, d, c] * step[back, d, c] / scale[k + 1]
                    once[d, c] += value * backward[k + 1, g, back, there]
                    if k < positions - 2:
                        again = value * step[d, back, there] / scale[k + 2]
                        twice[d, c] += again * backward[k + 2, g, d, c]


@kernel(fastmath=True)
def last_cells(start, move, step, end, shift, scale, weight, ends):  # type: ignore[no-untyped-def]
    """Add up the last cells of paths whose first cells have the weights `start`, which may be any real numbers."""
    cells = len(start)
    here, there, mixed = np.empty((8, cells)), np.empty((8, cells)), np.empty(cells)
    for k in range(1, len(scale)):
        for d in range(8):
            if k == 1:
                for c in range(cells):
                    mixed[c] = start[c] * move[d, c]
            else:
                _mix(step[d], here, mixed)
            _arrive(mixed, shift[d], 1 / scale[k], there[d])
        here, there = there, here
        for d in range(8):
            row = here[d]
            for c in range(cells):
                ends[c] += weight[k] * row[c] * end[c]
