"""The scalar rules of the lattice: which cell a point is in, which moves there are, how paths bend.

Plain functions of numbers, standard library only, written so that the device runs them as they are and
the simulator compiles them: both sides of the protocol follow one text. Cells are numbered
`i * n + j`, `i` along x and `j` along y.

The eight moves out of a cell are numbered as the reference implementation numbers them::

    0 1 2      north-west, north, north-east      j + 1
    3 . 4      west,              east
    5 6 7      south-west, south, south-east      j - 1
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

# The lattice reaches this far beyond the bounds, so that a point on the border is inside after rounding.
PAD = 1e-6

DIRECTION_DI = (-1, 0, 1, -1, 1, -1, 0, 1)
DIRECTION_DJ = (1, 1, 1, 0, 0, -1, -1, -1)
_STEPS = tuple(zip(DIRECTION_DI, DIRECTION_DJ, strict=True))
# Heading of each direction in eighths of a turn, counter-clockwise from east.
DIRECTION_HEADING = (3, 2, 1, 4, 0, 5, 6, 7)
TURNS = 5
# Moves out of a cell in a corner, at a side and inside, and bends in it: pairs of its neighbours, or one twice.
MOVES, BENDS = (3, 5, 8), (6, 15, 36)


def axis_origin_and_step(low: float, high: float, n: int) -> tuple[float, float]:
    """Return where the lattice starts on one axis, and how wide a cell is."""
    origin = low - PAD
    return origin, ((high + PAD) - origin) / n


def axis_cell(value: float, origin: float, step: float, n: int) -> int:
    """Return the index of the interval that contains `value`: the lower one on a border, the nearest one outside.

    >>> [axis_cell(v, 0.0, 1.0, 3) for v in (-5.0, 0.0, 1.0, 1.5, 9.0)]
    [0, 0, 0, 1, 2]
    """
    position = (value - origin) / step
    if not position > 0.0:
        return 0
    if position >= n:
        return n - 1
    index = int(position)
    if index > 0 and value <= origin + step * (index - 1) + step:
        index -= 1
    return index


def cell_name(cell: int, n: int) -> str:
    """Name a cell as on a chessboard: letters from west to east, numbers from south to north.

    >>> cell_name(0, 6), cell_name(7, 6), cell_name(26 * 30, 30)
    ('A1', 'B2', 'AA1')
    """
    column, row = divmod(cell, n)
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{letters}{row + 1}"


def direction(di: int, dj: int) -> int:
    """Return the number of the king move (di, dj).

    >>> [direction(di, dj) for di, dj in zip(DIRECTION_DI, DIRECTION_DJ)]
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    if dj == 1:
        return di + 1
    if dj == 0:
        return 3 if di < 0 else 4
    return di + 6


def towards(here: int, there: int) -> int:
    """Take one step of the greedy king path along one axis."""
    if there > here:
        return here + 1
    if there < here:
        return here - 1
    return here


def turn(before: int, after: int) -> int:
    """Return the angle between two moves in steps of 45 degrees, left and right alike: 0 (straight on) to 4.

    >>> turn(4, 4), turn(4, 2), turn(4, 7), turn(4, 3)
    (0, 1, 1, 4)
    """
    bend = (DIRECTION_HEADING[after] - DIRECTION_HEADING[before]) % 8
    return 8 - bend if bend > 4 else bend


def moves(n: int) -> Iterator[tuple[int, int, int]]:
    """Return all feasible moves (cell, direction, target cell) of the n x n lattice; their order numbers the items.

    >>> len(list(moves(6)))
    220
    """
    for cell in range(n * n):
        for number, (di, dj) in enumerate(_STEPS):
            i, j = cell // n + di, cell % n + dj
            if 0 <= i < n and 0 <= j < n:
                yield cell, number, i * n + j


def move_count(n: int) -> int:
    """Return the number of feasible moves of the n x n lattice."""
    return 8 * n * n - 12 * n + 4


def move_item(here: int, there: int, n: int) -> int:
    """Return the item number of the move between two adjacent cells: its place in `moves(n)`, without a table.

    >>> all(move_item(here, there, 6) == item for item, (here, _, there) in enumerate(moves(6)))
    True
    """
    return _before(here, n, MOVES) + _neighbours(here, n).index(there)


def _before(cell: int, n: int, items: tuple[int, int, int]) -> int:
    """Return the number of items in all cells before this one, if a cell in a corner, at a side or inside has this
    many."""
    corner, side, inner = items
    i, j = divmod(cell, n)
    rows = 2 * corner + (n - 2) * side + (i - 1) * (2 * side + (n - 2) * inner) if i else 0
    first, each = (corner, side) if i in (0, n - 1) else (side, inner)
    return rows + (first + (j - 1) * each if j else 0)


def move_of(item: int, n: int) -> tuple[int, int]:
    """Return the two cells of a move, by its item number.

    >>> all(move_of(item, 6) == (here, there) for item, (here, _, there) in enumerate(moves(6)))
    True
    """
    here = bisect_right(range(n * n), item, key=lambda cell: _before(cell, n, MOVES)) - 1
    return here, _neighbours(here, n)[item - _before(here, n, MOVES)]


def _neighbours(cell: int, n: int) -> list[int]:
    """Return the cells one move away, in the order of the directions."""
    i, j = divmod(cell, n)
    return [(i + di) * n + j + dj for di, dj in _STEPS if 0 <= i + di < n and 0 <= j + dj < n]


def link_count(n: int) -> int:
    """Return the number of pairs of adjacent cells of the n x n lattice: half the moves."""
    return move_count(n) // 2


def link_item(here: int, there: int, n: int) -> int:
    """Return the item number of a move without its direction.

    Links are the moves to a cell of larger number, in the order of `moves(n)`; a reverse move is the same link.

    >>> upward = [(here, there) for here, _, there in moves(6) if here < there]
    >>> all(link_item(b, a, 6) == link_item(a, b, 6) == item for item, (a, b) in enumerate(upward))
    True
    """
    low, high = sorted((here, there))
    return _first_link(low, n) + _larger_neighbours(low, n).index(high)


def _first_link(cell: int, n: int) -> int:
    """Return the number of links out of all cells before this one."""
    i, j = divmod(cell, n)
    if i == n - 1:
        return i * (4 * n - 3) + j
    return i * (4 * n - 3) + (4 * j - 1 if j else 0)


def link_of(item: int, n: int) -> tuple[int, int]:
    """Return the two cells of a link, the smaller number first, by its item number.

    >>> upward = [(here, there) for here, _, there in moves(6) if here < there]
    >>> all(link_of(item, 6) == cells for item, cells in enumerate(upward))
    True
    """
    low = bisect_right(range(n * n), item, key=lambda cell: _first_link(cell, n)) - 1
    return low, _larger_neighbours(low, n)[item - _first_link(low, n)]


def _larger_neighbours(cell: int, n: int) -> list[int]:
    return [other for other in _neighbours(cell, n) if other > cell]


def bend_count(n: int) -> int:
    """Return the number of bends of the n x n lattice: a cell, and two of its neighbours or twice the same one.

    >>> bend_count(6)
    840
    """
    return 36 * n * n - 84 * n + 48


def bend_item(before: int, here: int, after: int, n: int) -> int:
    """Return the item number of two consecutive moves without their direction. A path and its reverse have the same.

    Bends are ordered by their middle cell, then by the larger and then by the smaller place of the other two cells
    among the neighbours of the middle cell.

    >>> numbers = [bend_item(a, b, c, 6) for a, _, b in moves(6) for here, _, c in moves(6) if here == b]
    >>> len(numbers), sorted(set(numbers)) == list(range(840)), bend_item(0, 1, 2, 6) == bend_item(2, 1, 0, 6)
    (1460, True, True)
    """
    around = _neighbours(here, n)
    low, high = sorted((around.index(before), around.index(after)))
    return _before(here, n, BENDS) + high * (high + 1) // 2 + low


def bend_of(item: int, n: int) -> tuple[int, int, int]:
    """Return the three cells of a bend, the middle one in the middle, by its item number.

    >>> all(bend_item(*bend_of(item, 6), 6) == item for item in range(840))
    True
    """
    here = bisect_right(range(n * n), item, key=lambda cell: _before(cell, n, BENDS)) - 1
    around, low, high = _neighbours(here, n), item - _before(here, n, BENDS), 0
    while low > high:
        high += 1
        low -= high
    return around[low], here, around[high]


def district(cell: int, n: int, districts: int) -> int:
    """Return which of the districts x districts parts of the lattice holds a cell. Parts are of nearly the same size.

    >>> [district(cell, 3, 2) for cell in range(9)]
    [0, 0, 1, 0, 0, 1, 2, 2, 3]
    """
    return cell // n * districts // n * districts + cell % n * districts // n
