"""Ragged columns: one array holds the values of many lists, and list `k` has the values `offsets[k]:offsets[k + 1]`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldptrace.core.arrays import Ints, Ints32

Mask = NDArray[np.bool_]


def offsets_of(sizes: ArrayLike) -> Ints:
    """Return the offsets of lists with these sizes.

    >>> offsets_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    counts = np.asarray(sizes)
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, dtype=np.int64, out=offsets[1:])
    return offsets


def joined(parts: Sequence[tuple[Ints32, Ints]]) -> tuple[Ints32, Ints]:
    """Join lists that were made in parts. Each part has values and the sizes of its lists.

    >>> [part.tolist() for part in joined([(np.int32([7, 8]), np.array([2, 0])), (np.int32([9]), np.array([1]))])]
    [[7, 8, 9], [0, 2, 2, 3]]
    """
    values = np.concatenate([np.empty(0, dtype=np.int32), *(part for part, _ in parts)])
    return values, offsets_of(np.concatenate([np.empty(0, dtype=np.int64), *(sizes for _, sizes in parts)]))


def owners(offsets: Ints) -> Ints:
    """Return the number of the list that each value belongs to.

    >>> owners(np.array([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def pieces(owners: Ints) -> Ints | None:
    """Return the number of the owner of each piece, or None if nothing is in pieces.

    >>> pieces(np.array([0, 1])), pieces(np.array([0, 1, 1])).tolist()
    (None, [0, 1, 1])
    """
    return owners if (owners[1:] == owners[:-1]).any() else None


def joined_pieces(sizes: Sequence[int], owners: Sequence[Ints | None]) -> Ints | None:
    """Return consecutive numbers for the owners of several sets of pieces, or None if nothing is in pieces."""
    if all(own is None for own in owners):
        return None
    numbers, after = [], 0
    for size, own in zip(sizes, owners, strict=True):
        own = np.arange(size) if own is None else own - own.min(initial=0)
        numbers.append(own + after)
        after += int(own.max(initial=-1)) + 1
    return np.concatenate(numbers)


def places(offsets: Ints) -> Ints:
    """Return the position of each value in its list, from 0.

    >>> places(np.array([0, 2, 2, 5])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))


def taken(offsets: Ints, picked: Ints) -> tuple[Ints, Ints]:
    """Return the offsets of the picked lists, and the indices of their values.

    >>> [part.tolist() for part in taken(np.array([0, 2, 2, 5]), np.array([2, 0]))]
    [[0, 3, 5], [2, 3, 4, 0, 1]]
    """
    return ranges(offsets[:-1][picked], np.diff(offsets)[picked])


def ranges(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Return the offsets of runs of values, and the indices of their values: `sizes[k]` values from `starts[k]` on.

    >>> [part.tolist() for part in ranges(np.array([7, 2]), np.array([2, 3]))]
    [[0, 2, 5], [7, 8, 2, 3, 4]]
    """
    offsets = offsets_of(sizes)
    return offsets, np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1])


def kept(offsets: Ints, mask: Mask) -> Ints:
    """Return the offsets of the lists if only these values are kept.

    >>> kept(np.array([0, 2, 2, 5]), np.array([True, False, True, True, False])).tolist()
    [0, 1, 1, 3]
    """
    return offsets_of(mask)[offsets]


def holders(offsets: Ints, mask: Mask) -> Mask:
    """Return which lists have at least one of these values.

    >>> holders(np.array([0, 2, 2, 5]), np.array([False, False, False, True, True])).tolist()
    [False, False, True]
    """
    holding = np.zeros(len(offsets) - 1, dtype=np.bool_)
    holding[np.searchsorted(offsets, np.flatnonzero(mask), side="right") - 1] = True
    return holding


def first_values(offsets: Ints) -> Mask:
    """Return which values are the first of their list.

    >>> first_values(np.array([0, 2, 2, 5])).tolist()
    [True, False, True, False, False]
    """
    first = np.zeros(offsets[-1], dtype=np.bool_)
    first[offsets[:-1][np.diff(offsets) > 0]] = True
    return first


def inner_steps(offsets: Ints) -> Mask:
    """Return which steps from one value to the next stay within a list.

    >>> inner_steps(np.array([0, 2, 2, 5])).tolist()
    [True, False, True, True]
    """
    return ~first_values(offsets)[1:]
