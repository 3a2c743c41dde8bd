"""Passes over the paths of a large grid: forward and backward recursions, and their derivatives along a direction.

States are (direction, cell): the last move of a beginning and the cell it arrived at. The weight of a step is that of
its move times that of its turn, so a step is a mixture of eight directions, the same in every cell, and a shift of the
map: loops over cells without a branch, and without arithmetic on whole arrays, whose errors numba compiles for seconds.
`move[d, c]` is the weight of the move in direction d out of cell c, 0 where it would leave the map. Every forward
vector is divided by its sum, `scale`. Counted passes run in the precision of their tables: single numbers go through
`like`, because one of double precision would make loops over single precision twice as slow. A shift is a slice, not a
sum in the index, which could be negative for all that the compiler knows: loops then run over four to sixteen cells at
a time.
"""

from __future__ import annotations

import numpy as np

from ldptrace.core.arrays import Ints
from ldptrace.core.kernels import kernel
from ldptrace.protocol.lattice import DIRECTION_DI, DIRECTION_DJ, DIRECTION_HEADING, TURNS

# The direction straight on, the two at 45, 90 and 135 degrees, and the one back, for each direction.
_AT = {heading: number for number, heading in enumerate(DIRECTION_HEADING)}
NEIGHBOURS: Ints = np.array(
    [[_AT[(heading + bend) % 8] for bend in (0, 1, -1, 2, -2, 3, -3, 4)] for heading in DIRECTION_HEADING]
)
assert TURNS == 5
_TILE = 384


def shifts(n: int) -> Ints:
    """By how much each direction changes the number of the cell."""
    return np.array([di * n + dj for di, dj in zip(DIRECTION_DI, DIRECTION_DJ, strict=True)])


@kernel
def like(table, value):  # type: ignore[no-untyped-def]
    """The number in the precision of the table."""
    return table.dtype.type(value)


@kernel(fastmath=True)
def _mix(bend, near, out):  # type: ignore[no-untyped-def]
    """out[d] = sum over directions of the weight of the turn between them and d."""
    b0, b1, b2, b3, b4 = bend[0], bend[1], bend[2], bend[3], bend[4]
    cells = near.shape[1]
    # All eight directions of this number of cells are near in memory.
    for first in range(0, cells, _TILE):
        part = slice(first, min(first + _TILE, cells))
        for d in range(8):
            straight, back = near[NEIGHBOURS[d, 0], part], near[NEIGHBOURS[d, 7], part]
            p1, q1 = near[NEIGHBOURS[d, 1], part], near[NEIGHBOURS[d, 2], part]
            p2, q2 = near[NEIGHBOURS[d, 3], part], near[NEIGHBOURS[d, 4], part]
            p3, q3 = near[NEIGHBOURS[d, 5], part], near[NEIGHBOURS[d, 6], part]
            row = out[d, part]
            for c in range(len(row)):
                row[c] = (
                    b0 * straight[c]
                    + b1 * (p1[c] + q1[c])
                    + b2 * (p2[c] + q2[c])
                    + b3 * (p3[c] + q3[c])
                    + b4 * back[c]
                )


@kernel(fastmath=True)
def _mix_more(bend, at_turn, near, room, out):  # type: ignore[no-untyped-def]
    """out[d] += the same, every turn counted as often as `at_turn` says; `room` is for the while."""
    counted = np.empty_like(bend)
    for t in range(5):
        counted[t] = bend[t] * at_turn[t]
    _mix(counted, near, room)
    for d in range(8):
        row, more = out[d], room[d]
        for c in range(len(row)):
            row[c] += more[c]


@kernel(fastmath=True)
def _everywhere(row, out):  # type: ignore[no-untyped-def]
    """out[d, c] = row[c]."""
    for d in range(8):
        there = out[d]
        for c in range(len(row)):
            there[c] = row[c]


@kernel
def _turning(at_turn):  # type: ignore[no-untyped-def]
    """Whether any turn counts."""
    most = 0.0
    for t in range(5):
        most = max(most, abs(at_turn[t]))
    return most > 0.0


@kernel
def _clear_rim(row, low, high):  # type: ignore[no-untyped-def]
    """Zeros before `low` and from `high` on, where no move of that direction leads."""
    before, after = row[:low], row[high:]
    for c in range(len(before)):
        before[c] = 0.0
    for c in range(len(after)):
        after[c] = 0.0


@kernel(fastmath=True)
def _arrive(move, shift, mixed, factor, out):  # type: ignore[no-untyped-def]
    """Make the moves: out[d, c + shift] = mixed[d, c] * move[d, c] * factor."""
    cells = move.shape[1]
    for d in range(8):
        by = shift[d]
        low, high = max(0, -by), min(cells, cells - by)
        row, weight, there = mixed[d, low:high], move[d, low:high], out[d, low + by : high + by]
        _clear_rim(out[d], low + by, high + by)
        for c in range(len(row)):
            there[c] = row[c] * weight[c] * factor


@kernel(fastmath=True)
def _fetch(move, shift, ahead, factor, out):  # type: ignore[no-untyped-def]
    """Look ahead over the moves: out[d, c] = ahead[d, c + shift] * move[d, c] * factor."""
    cells = move.shape[1]
    for d in range(8):
        by = shift[d]
        low, high = max(0, -by), min(cells, cells - by)
        row, weight, there = out[d, low:high], move[d, low:high], ahead[d, low + by : high + by]
        _clear_rim(out[d], low, high)
        for c in range(len(row)):
            row[c] = there[c] * weight[c] * factor


@kernel(fastmath=True)
def forward_pass(start, move, bend, end, shift, forward, scale, sums):  # type: ignore[no-untyped-def]
    """Sums over all beginnings with k moves; `sums[k]` over all paths with k moves, given the scales."""
    positions, _, cells = forward.shape
    mixed = np.empty((8, cells))
    alone = 0.0
    for c in range(cells):
        alone += start[c] * end[c]
    sums[0] = alone
    for k in range(1, positions):
        if k == 1:
            _everywhere(start, mixed)
        else:
            _mix(bend, forward[k - 1], mixed)
        _arrive(move, shift, mixed, 1.0, forward[k])
        total = 0.0
        for d in range(8):
            for value in forward[k, d]:
                total += value
        scale[k] = total
        reached, share = 0.0, 1 / total
        for d in range(8):
            row = forward[k, d]
            for c in range(cells):
                row[c] *= share
                reached += row[c] * end[c]
        sums[k] = reached


@kernel(fastmath=True)
def backward_pass(move, bend, end, shift, scale, weight, backward):  # type: ignore[no-untyped-def]
    """Sums over all endings after the k-th move; a path that ends with k moves counts with `weight[k]`."""
    positions, _, cells = backward.shape
    near = np.empty((8, cells))
    for k in range(positions - 1, 0, -1):
        ahead = 0.0
        if k < positions - 1:
            _fetch(move, shift, backward[k + 1], 1 / scale[k + 1], near)
            _mix(bend, near, backward[k])
            ahead = 1.0
        for d in range(8):
            row = backward[k, d]
            for c in range(cells):
                row[c] = ahead * row[c] + weight[k] * end[c]


@kernel(fastmath=True)
def expected_pass(forward, backward, weight, end, moves, ends):  # type: ignore[no-untyped-def]
    """Expected uses of each state and of each last cell."""
    positions, _, cells = forward.shape
    for k in range(1, positions):
        for d in range(8):
            a, b, out = forward[k, d], backward[k, d], moves[d]
            for c in range(cells):
                out[c] += a[c] * b[c]
                ends[c] += weight[k] * a[c] * end[c]


@kernel(fastmath=True)
def counted_forward_pass(  # type: ignore[no-untyped-def]
    start, move, bend, end, shift, forward, scale, sums, at_start, at_move, at_turn, at_end, counted, mean
):
    """As `forward_pass`, every beginning counted as often as the direction says; `mean[k]` is that of whole paths."""
    positions, _, cells = forward.shape
    mixed, turned = np.empty((8, cells), forward.dtype), np.empty((8, cells), forward.dtype)
    turns = _turning(at_turn)
    first, alone = np.empty_like(start), 0.0
    for c in range(cells):
        first[c] = start[c] * at_start[c]
        alone += start[c] * end[c] * (at_start[c] + at_end[c])
    mean[0] = alone / sums[0]
    for k in range(1, positions):
        if k == 1:
            _everywhere(first, mixed)
        else:
            _mix(bend, counted[k - 1], mixed)
            if turns:
                _mix_more(bend, at_turn, forward[k - 1], turned, mixed)
        _arrive(move, shift, mixed, like(move, 1 / scale[k]), counted[k])
        total = 0.0
        for d in range(8):
            by = shift[d]
            low, high = max(0, -by), min(cells, cells - by)
            there, reached = counted[k, d, low + by : high + by], forward[k, d, low + by : high + by]
            g = at_move[d, low:high]
            for c in range(len(g)):
                there[c] += reached[c] * g[c]
            out, a = counted[k, d], forward[k, d]
            part = like(end, 0)
            for c in range(cells):
                part += (out[c] + a[c] * at_end[c]) * end[c]
            total += part
        mean[k] = total / sums[k]


@kernel(fastmath=True)
def counted_backward_pass(  # type: ignore[no-untyped-def]
    move, bend, end, shift, forward, scale, weight, backward, counted, centre,
    at_move, at_turn, at_end, behind, moves, starts, ends,
):  # fmt: skip
    """How features go together with the direction: covariances at fixed numbers of moves, weighted.

    `behind` is as `backward`, every ending counted as often as the direction says, less `centre`; with two rows it
    keeps the last two positions only.
    """
    positions, _, cells = forward.shape
    rows = len(behind)
    near, plain = np.empty((8, cells), forward.dtype), np.empty((8, cells), forward.dtype)
    turned, last = np.empty((8, cells), forward.dtype), np.empty_like(end)
    turns = _turning(at_turn)
    for k in range(positions - 1, 0, -1):
        here, ahead = behind[k % rows], behind[(k + 1) % rows]
        if k == positions - 1:
            for d in range(8):
                for c in range(cells):
                    here[d, c] = 0.0
        else:
            for d in range(8):
                by = shift[d]
                low, high = max(0, -by), min(cells, cells - by)
                row, weights, g = near[d, low:high], move[d, low:high], at_move[d, low:high]
                gamma, beta = ahead[d, low + by : high + by], backward[k + 1, d, low + by : high + by]
                factor = like(move, 1 / scale[k + 1])
                _clear_rim(near[d], low, high)
                for c in range(len(row)):
                    row[c] = (gamma[c] + g[c] * beta[c]) * weights[c] * factor
            _mix(bend, near, here)
            if turns:
                _fetch(move, shift, backward[k + 1], like(move, 1 / scale[k + 1]), plain)
                _mix_more(bend, at_turn, plain, turned, here)
        w, mean = like(end, weight[k]), like(end, centre[k])
        for c in range(cells):
            last[c] = w * end[c] * (at_end[c] - mean)
        for d in range(8):
            gamma, g, a, beta, out = here[d], counted[k, d], forward[k, d], backward[k, d], moves[d]
            for c in range(cells):
                gamma[c] += last[c]
            for c in range(cells):
                out[c] += g[c] * beta[c] + a[c] * gamma[c]
            for c in range(cells):
                ends[c] += w * end[c] * g[c] + a[c] * last[c]
    for d in range(8):
        by = shift[d]
        low, high = max(0, -by), min(cells, cells - by)
        there = slice(low + by, high + by)
        g, beta = counted[1, d, there], backward[1, d, there]
        a, gamma, out = forward[1, d, there], behind[1 % rows, d, there], starts[low:high]
        for c in range(len(out)):
            out[c] += g[c] * beta[c] + a[c] * gamma[c]


@kernel(fastmath=True)
def turn_sums(move, bend, shift, scale, before, after):  # type: ignore[no-untyped-def]
    """For each class of turns: `before` the turn times its weight times `after` it, over all positions."""
    positions, _, cells = before.shape
    sums = np.zeros(5)
    near = np.empty((8, cells), after.dtype)
    for k in range(1, positions - 1):
        _fetch(move, shift, after[k + 1], like(move, 1 / scale[k + 1]), near)
        for d in range(8):
            ahead = near[d]
            for place in range(8):
                row = before[k, NEIGHBOURS[d, place]]
                total = 0.0
                for c in range(cells):
                    total += row[c] * ahead[c]
                sums[(place + 1) // 2] += total * bend[(place + 1) // 2]
    return sums


@kernel(fastmath=True)
def way_back_pass(move, bend, shift, scale, forward, backward, once, twice):  # type: ignore[no-untyped-def]
    """Each state and the step back right after it (`once`), and the step itself once more after that (`twice`)."""
    positions, _, cells = forward.shape
    for k in range(1, positions - 1):
        for d in range(8):
            # Directions are numbered so that the opposite ones add up to 7; the bend of turning round is the last.
            back = 7 - d
            by = shift[back]
            low, high = max(0, -by), min(cells, cells - by)
            for c in range(low, high):
                there = c + by
                step = forward[k, d, c] * bend[4] * move[back, c] / scale[k + 1]
                once[d, c] += step * backward[k + 1, back, there]
                if k < positions - 2:
                    again = step * bend[4] * move[d, there] / scale[k + 2]
                    twice[d, c] += again * backward[k + 2, d, c]


@kernel(fastmath=True)
def last_cells(start, move, bend, end, shift, scale, weight, ends):  # type: ignore[no-untyped-def]
    """Where paths end that begin as `start` says: any real numbers, their sum over all cells weighted."""
    cells = len(start)
    here, mixed = np.empty((8, cells)), np.empty((8, cells))
    for k in range(1, len(scale)):
        if k == 1:
            _everywhere(start, mixed)
        else:
            _mix(bend, here, mixed)
        _arrive(move, shift, mixed, 1 / scale[k], here)
        for d in range(8):
            row = here[d]
            for c in range(cells):
                ends[c] += weight[k] * row[c] * end[c]
