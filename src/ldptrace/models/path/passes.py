"""Passes over the paths of a grid: forward and backward recursions, and their derivatives along a direction.

States are (cell arrived at, direction of the last move, group): a group is the district of the first cell. Loops run
over the groups, which share all weights but those of ends: each weight is read once for all of them, and neighbouring
numbers are in neighbouring places. `step[c, d, b]` is the weight of the move out of cell c in direction d after one in
direction b, 0 where it would leave the map; `behind[c, d]` is the cell from which direction d leads to c, and
`ahead[c, d]` the one to which it leads, -1 off the map. Every forward vector is divided by its sum, `scale`. Counted
passes run in the precision of their tables: single numbers go through `like`, because one of double precision would
make loops over single precision twice as slow.
"""

from __future__ import annotations

import numpy as np

from ldptrace.core.kernels import kernel


@kernel
def like(table, value):  # type: ignore[no-untyped-def]
    """Return the number in the precision of the table."""
    return table.dtype.type(value)


@kernel(fastmath=True)
def _push(step, factor, table, behind, out):  # type: ignore[no-untyped-def]
    """Go on by one move: out[c, d] = factor * sum over b of step[s, d, b] * table[s, b], s the cell behind."""
    for c in range(len(out)):
        for d in range(8):
            row, s = out[c, d], behind[c, d]
            if s < 0:
                row[:] = 0
                continue
            weights, rows = step[s, d], table[s]
            w0, w1, w2, w3 = (
                factor * weights[0],
                factor * weights[1],
                factor * weights[2],
                factor * weights[3],
            )
            w4, w5, w6, w7 = (
                factor * weights[4],
                factor * weights[5],
                factor * weights[6],
                factor * weights[7],
            )
            r0, r1, r2, r3, r4, r5, r6, r7 = (
                rows[0],
                rows[1],
                rows[2],
                rows[3],
                rows[4],
                rows[5],
                rows[6],
                rows[7],
            )
            for g in range(len(row)):
                near = w0 * r0[g] + w1 * r1[g] + w2 * r2[g] + w3 * r3[g]
                row[g] = near + w4 * r4[g] + w5 * r5[g] + w6 * r6[g] + w7 * r7[g]


@kernel(fastmath=True)
def _pull(step, factor, table, ahead, out):  # type: ignore[no-untyped-def]
    """Look back by one move: add factor * sum over d of step[c, d, b] * table[a[d], d] to out[c, b], a the cells
    ahead."""
    for c in range(len(out)):
        # Off the map weights are zero: any row will do.
        a0, a1, a2, a3 = max(ahead[c, 0], 0), max(ahead[c, 1], 0), max(ahead[c, 2], 0), max(ahead[c, 3], 0)
        a4, a5, a6, a7 = max(ahead[c, 4], 0), max(ahead[c, 5], 0), max(ahead[c, 6], 0), max(ahead[c, 7], 0)
        r0, r1, r2, r3 = table[a0, 0], table[a1, 1], table[a2, 2], table[a3, 3]
        r4, r5, r6, r7 = table[a4, 4], table[a5, 5], table[a6, 6], table[a7, 7]
        for b in range(8):
            row, weights = out[c, b], step[c, :, b]
            w0, w1, w2, w3 = (
                factor * weights[0],
                factor * weights[1],
                factor * weights[2],
                factor * weights[3],
            )
            w4, w5, w6, w7 = (
                factor * weights[4],
                factor * weights[5],
                factor * weights[6],
                factor * weights[7],
            )
            for g in range(len(row)):
                near = w0 * r0[g] + w1 * r1[g] + w2 * r2[g] + w3 * r3[g]
                row[g] += near + w4 * r4[g] + w5 * r5[g] + w6 * r6[g] + w7 * r7[g]


@kernel(fastmath=True)
def _join(rows, factor, table, ahead, out):  # type: ignore[no-untyped-def]
    """Add to out[c, d, b] the factor times the sum over groups of rows[c, b] * table[a, d], a the cell ahead."""
    for c in range(len(rows)):
        near = rows[c]
        r0, r1, r2, r3, r4, r5, r6, r7 = (
            near[0],
            near[1],
            near[2],
            near[3],
            near[4],
            near[5],
            near[6],
            near[7],
        )
        for d in range(8):
            if ahead[c, d] < 0:
                continue
            far, total = table[ahead[c, d], d], out[c, d]
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = like(rows, 0)
            for g in range(len(far)):
                value = far[g]
                s0 += r0[g] * value
                s1 += r1[g] * value
                s2 += r2[g] * value
                s3 += r3[g] * value
                s4 += r4[g] * value
                s5 += r5[g] * value
                s6 += r6[g] * value
                s7 += r7[g] * value
            total[0] += factor * s0
            total[1] += factor * s1
            total[2] += factor * s2
            total[3] += factor * s3
            total[4] += factor * s4
            total[5] += factor * s5
            total[6] += factor * s6
            total[7] += factor * s7


@kernel(fastmath=True)
def _multiply(one, other, out):  # type: ignore[no-untyped-def]
    """Add to out[c, d] the sum over groups of one[c, d] * other[c, d]."""
    for c in range(len(out)):
        for d in range(8):
            a, b, total = one[c, d], other[c, d], like(one, 0)
            for g in range(len(a)):
                total += a[g] * b[g]
            out[c, d] += total


@kernel(fastmath=True)
def _begin(start, move, behind, out):  # type: ignore[no-untyped-def]
    """Make the first move: out[c, d] = start[s] * move[s, d], s the cell behind."""
    for c in range(len(out)):
        for d in range(8):
            if behind[c, d] >= 0:
                row, first, weight = out[c, d], start[behind[c, d]], move[behind[c, d], d]
                for g in range(len(row)):
                    row[g] = first[g] * weight


@kernel(fastmath=True)
def _ended(table, end, out):  # type: ignore[no-untyped-def]
    """Add to out[c] the sum over directions of table[c, d] * end[c]. Return the sum of it all."""
    whole = 0.0
    for c in range(len(table)):
        last, total = end[c], out[c]
        for d in range(8):
            row = table[c, d]
            for g in range(len(row)):
                each = row[g] * last[g]
                total[g] += each
                whole += each
    return whole


@kernel(fastmath=True)
def forward_pass(start, move, step, end, behind, forward, scale, sums):  # type: ignore[no-untyped-def]
    """Compute the sums over all beginnings with k moves (`forward`, zeros before, scaled by `scale`); `sums[k]` gets
    the sum over all paths with k moves."""
    ends = np.zeros_like(end)
    sums[0] = (start * end).sum()
    for k in range(1, len(forward)):
        here = forward[k]
        if k == 1:
            _begin(start, move, behind, here)
        else:
            _push(step, 1.0, forward[k - 1], behind, here)
        scale[k] = here.sum()
        here /= scale[k]
        sums[k] = _ended(here, end, ends)


@kernel(fastmath=True)
def backward_pass(step, end, ahead, scale, weight, backward):  # type: ignore[no-untyped-def]
    """Compute the sums over all endings after the k-th move; paths with k moves in all have the weight `weight[k]`."""
    positions, cells, _, groups = backward.shape
    for k in range(positions - 1, 0, -1):
        for c in range(cells):
            for b in range(8):
                for g in range(groups):
                    backward[k, c, b, g] = weight[k] * end[c, g]
        if k < positions - 1:
            _pull(step, 1 / scale[k + 1], backward[k + 1], ahead, backward[k])


@kernel(fastmath=True)
def expected_pass(end, ahead, scale, weight, forward, backward, first, moves, ends, bends):  # type: ignore[no-untyped-def]
    """Add up the expected first moves and later moves by the cell they arrive at, last cells by group, and, if their
    array is not empty, bends over the weights of their steps."""
    positions = len(forward)
    for k in range(1, positions):
        _multiply(forward[k], backward[k], first if k == 1 else moves)
        _ended(forward[k], weight[k] * end, ends)
        if len(bends) and k < positions - 1:
            _join(forward[k], 1 / scale[k + 1], backward[k + 1], ahead, bends)


@kernel(fastmath=True)
def _counted(here, counts, out, total):  # type: ignore[no-untyped-def]
    """Add to out[c, d] what a move to a state counts, times the state; total[c] gets the sum over directions."""
    for c in range(len(out)):
        some = total[c]
        some[:] = 0
        for d in range(8):
            row, states, count = out[c, d], here[c, d], counts[c, d]
            for g in range(len(row)):
                row[g] += states[g] * count
                some[g] += row[g]


@kernel(fastmath=True)
def counted_forward_pass(  # type: ignore[no-untyped-def]
    step, end, behind, forward, scale, sums, last, begun, arrived, bent, at_end, counted, by_cell, mean
):
    """Compute `forward`, every beginning counted as often as the direction says (`counted`), its sums over last moves
    (`by_cell`; those of `forward` are `last`), and the mean over whole paths with k moves.

    `begun[c, d]` counts a first move that arrives at c, its first cell included, `arrived[c, d]` any later one, and
    `at_end` last cells; `bent` is the weight of a step times what its bend counts, empty where bends count nothing.
    Without room for `counted`, beginnings count nothing.
    """
    positions, cells, _, groups = forward.shape
    more = np.zeros((cells * min(len(bent), 1), 8, groups), forward.dtype)
    by_cell[:] = 0
    for k in range(1, positions):
        factor = like(forward, 1 / scale[k])
        if len(counted):
            if k == 1:
                counted[k] = 0
            else:
                _push(step, factor, counted[k - 1], behind, counted[k])
                if len(bent):
                    _push(bent, factor, forward[k - 1], behind, more)
                    counted[k] += more
            _counted(forward[k], begun if k == 1 else arrived, counted[k], by_cell[k])
        whole = like(forward, 0)
        for c in range(cells):
            for g in range(groups):
                whole += (by_cell[k, c, g] + last[k, c, g] * at_end[c, g]) * end[c, g]
        mean[k] = whole / sums[k]


@kernel(fastmath=True)
def _last(final, whole, some, at_end, weight, less, lasting, out):  # type: ignore[no-untyped-def]
    """Count the ends of paths: those that a direction counts, `some`, and all of them times what their ends count."""
    for c in range(len(final)):
        for g in range(final.shape[1]):
            each = weight * final[c, g] * (at_end[c, g] - less)
            lasting[c, g] += each
            out[c, g] += weight * final[c, g] * some[c, g] + each * whole[c, g]


@kernel(fastmath=True)
def _arrive(counts, table, out):  # type: ignore[no-untyped-def]
    """Add to out[c, d] what a move to a state counts, times the endings after it."""
    for c in range(len(out)):
        for d in range(8):
            row, states, count = out[c, d], table[c, d], counts[c, d]
            for g in range(len(row)):
                row[g] += count * states[g]


@kernel(fastmath=True)
def counted_backward_pass(  # type: ignore[no-untyped-def]
    step, end, ahead, forward, scale, last, backward, weight, arrived, bent, at_end, counted, by_cell, centre,
    first, moves, ends, bends,
):  # fmt: skip
    """Add up the covariances of first moves, later moves, last cells and bends (over the weights of their steps) with
    directions, one for each way of weighting paths.

    `backward[i]` has the endings of each way, paths with k moves in all have the weight `weight[i, k]`, and directions
    and their beginnings are as in the forward pass. Whole paths are counted as often as the direction says, less
    `centre[i, k]`. What bends themselves count is left out; bends are added up where their array is not empty.
    """
    positions, ways = len(forward), len(backward)
    here, beyond = np.zeros_like(forward[0]), np.zeros_like(forward[0])
    lasting = np.zeros_like(end)
    for k in range(positions - 1, 0, -1):
        here, beyond = beyond, here
        lasting[:] = 0
        for i in range(ways):
            w, less = like(forward, weight[i, k]), like(forward, centre[i, k])
            _last(end, last[k], by_cell[i, k], at_end[i], w, less, lasting, ends)
        for c in range(len(end)):
            for d in range(8):
                here[c, d] = lasting[c]
        if k < positions - 1:
            factor = like(forward, 1 / scale[k + 1])
            for i in range(ways):
                _arrive(arrived[i], backward[i, k + 1], beyond)
            _pull(step, factor, beyond, ahead, here)
            for i in range(len(bent)):
                _pull(bent[i], factor, backward[i, k + 1], ahead, here)
            if len(bends):
                _join(forward[k], factor, beyond, ahead, bends)
                for i in range(len(counted)):
                    _join(counted[i, k], factor, backward[i, k + 1], ahead, bends)
        moved = first if k == 1 else moves
        _multiply(forward[k], here, moved)
        for i in range(len(counted)):
            _multiply(counted[i, k], backward[i, k], moved)


@kernel(fastmath=True)
def way_back_pass(step, ahead, scale, forward, backward, once, twice):  # type: ignore[no-untyped-def]
    """Sum how often the step back follows each state at once (`once`), and the same step again after it (`twice`)."""
    positions, cells, _, groups = forward.shape
    for k in range(1, positions - 1):
        for c in range(cells):
            for d in range(8):
                # Directions are numbered so that the opposite ones add up to 7.
                back = 7 - d
                there = ahead[c, back]
                if there < 0:
                    continue
                share, found = step[c, back, d] / scale[k + 1], 0.0
                for g in range(groups):
                    found += forward[k, c, d, g] * backward[k + 1, there, back, g]
                once[c, d] += share * found
                if k < positions - 2:
                    share, found = share * step[there, d, back] / scale[k + 2], 0.0
                    for g in range(groups):
                        found += forward[k, c, d, g] * backward[k + 2, c, d, g]
                    twice[c, d] += share * found


@kernel(fastmath=True)
def last_cells(start, move, step, end, behind, scale, weight, ends):  # type: ignore[no-untyped-def]
    """Add up the last cells of paths whose first cells have the weights `start`, which may be any real numbers."""
    here, there = np.zeros((len(start), 8, start.shape[1])), np.zeros((len(start), 8, start.shape[1]))
    for k in range(1, len(scale)):
        if k == 1:
            _begin(start, move / scale[k], behind, there)
        else:
            _push(step, 1 / scale[k], here, behind, there)
        _ended(there, weight[k] * end, ends)
        here, there = there, here
