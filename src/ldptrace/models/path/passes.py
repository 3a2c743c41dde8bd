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
    """Add up the expected first moves, moves by the cell they arrive at, last cells by group, and bends if their array
    is not empty."""
    positions, groups, _, cells = forward.shape
    near = np.empty((8, cells), forward.dtype)
    for k in range(1, positions):
        for g in range(groups):
            last, out = end[g], ends[g]
            for d in range(8):
                a, b, moved = forward[k, g, d], backward[k, g, d], moves[d]
                w = like(end, weight[k])
                for c in range(cells):
                    moved[c] += a[c] * b[c]
                    out[c] += w * a[c] * last[c]
                if k == 1:
                    begun = first[d]
                    for c in range(cells):
                        begun[c] += a[c] * b[c]
            if len(bends) and k < positions - 1:
                _fetch(backward[k + 1, g], shift, like(end, 1 / scale[k + 1]), near)
                for d in range(8):
                    ahead = near[d]
                    for b in range(8):
                        weights, before, bent = step[d, b], forward[k, g, b], bends[d, b]
                        for c in range(cells):
                            bent[c] += before[c] * weights[c] * ahead[c]


@kernel(fastmath=True)
def counted_forward_pass(  # type: ignore[no-untyped-def]
    step, end, shift, forward, scale, sums, at_first, counted_step, at_single, at_end, counted, mean
):
    """Do the same as `forward_pass`, every beginning counted as often as the direction says; `mean[k]` is that of whole
    paths.

    `at_first[d, c]` counts a first move that arrives at c, its first cell included, `counted_step` is the weight of a
    step times its count, `at_single` that of paths of one cell times theirs.
    """
    positions, groups, _, cells = forward.shape
    mixed, more = np.empty(cells, forward.dtype), np.empty(cells, forward.dtype)
    mean[0] = at_single / sums[0]
    for k in range(1, positions):
        total = 0.0
        factor = like(end, 1 / scale[k])
        for g in range(groups):
            last, at_last = end[g], at_end[g]
            for d in range(8):
                out, a = counted[k, g, d], forward[k, g, d]
                if k == 1:
                    begun = at_first[d]
                    for c in range(cells):
                        out[c] = a[c] * begun[c]
                else:
                    _mix(step[d], counted[k - 1, g], mixed)
                    _mix(counted_step[d], forward[k - 1, g], more)
                    for c in range(cells):
                        mixed[c] += more[c]
                    _arrive(mixed, shift[d], factor, out)
                part = like(end, 0)
                for c in range(cells):
                    part += (out[c] + a[c] * at_last[c]) * last[c]
                total += part
        mean[k] = total / sums[k]


@kernel(fastmath=True)
def counted_backward_pass(  # type: ignore[no-untyped-def]
    step, end, shift, forward, scale, weight, backward, counted, centre, counted_step, at_end,
    first, moves, ends, bends,
):  # fmt: skip
    """Add up the weighted covariances of the features with the direction, at fixed numbers of moves.

    Endings are counted as often as the direction says, less `centre`. Results are as those of `expected_pass`.
    """
    positions, groups, _, cells = forward.shape
    plain, near = np.empty((8, cells), forward.dtype), np.empty((8, cells), forward.dtype)
    more = np.empty((8, cells), forward.dtype)
    behind, last = np.zeros((groups, 8, cells), forward.dtype), np.empty(cells, forward.dtype)
    for k in range(positions - 1, 0, -1):
        w, mean = like(end, weight[k]), like(end, centre[k])
        for g in range(groups):
            here = behind[g]
            if k < positions - 1:
                factor = like(end, 1 / scale[k + 1])
                _fetch(backward[k + 1, g], shift, factor, plain)
                _fetch(here, shift, factor, near)
                if len(bends):
                    for d in range(8):
                        beta, gamma = plain[d], near[d]
                        for b in range(8):
                            s, t, bent = step[d, b], counted_step[d, b], bends[d, b]
                            a, e = forward[k, g, b], counted[k, g, b]
                            for c in range(cells):
                                bent[c] += (e[c] * s[c] + a[c] * t[c]) * beta[c] + a[c] * s[c] * gamma[c]
                _pulled(step, near, here)
                _pulled(counted_step, plain, more)
                for b in range(8):
                    row, other = here[b], more[b]
                    for c in range(cells):
                        row[c] += other[c]
            final, at_last, out = end[g], at_end[g], ends[g]
            for c in range(cells):
                last[c] = w * final[c] * (at_last[c] - mean)
            for d in range(8):
                gamma, e, a, beta, moved = (
                    here[d],
                    counted[k, g, d],
                    forward[k, g, d],
                    backward[k, g, d],
                    moves[d],
                )
                for c in range(cells):
                    gamma[c] += last[c]
                for c in range(cells):
                    moved[c] += e[c] * beta[c] + a[c] * gamma[c]
                for c in range(cells):
                    out[c] += w * final[c] * e[c] + a[c] * last[c]
                if k == 1:
                    begun = first[d]
                    for c in range(cells):
                        begun[c] += e[c] * beta[c] + a[c] * gamma[c]


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
