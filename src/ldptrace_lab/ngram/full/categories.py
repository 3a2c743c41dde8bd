"""The tree of categories: paths from coarse to fine, parted by slashes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Node = tuple[str, ...]


def node(category: str) -> Node:
    """Return the place of a category in the tree; the root is the empty path.

    >>> node("study/lecture hall")
    ('study', 'lecture hall')
    """
    return tuple(part for part in category.split("/") if part)


def common_ancestor(nodes: Iterable[Node]) -> Node:
    """Return the deepest node above all of them.

    >>> common_ancestor([("food", "cafe"), ("food", "bar")])
    ('food',)
    """
    every = list(nodes)
    shared: list[str] = []
    for parts in zip(*every, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return tuple(shared)


def tree_distances(nodes: Sequence[Node]) -> NDArray[np.float64]:
    """Return edges between any two nodes.

    >>> tree_distances([("food", "cafe"), ("food",), ("study", "library")])[0].tolist()
    [0.0, 1.0, 4.0]
    """
    different = sorted(set(nodes))
    number = {name: k for k, name in enumerate(different)}
    between = np.array(
        [[len(a) + len(b) - 2 * len(common_ancestor((a, b))) for b in different] for a in different],
        dtype=np.float64,
    )
    at = np.array([number[name] for name in nodes], dtype=np.int64)
    return np.asarray(between[np.ix_(at, at)])
