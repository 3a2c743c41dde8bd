"""The length of a trajectory as part of the secret: randomized response, then stretching to the answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.options import option, settle

Sizes = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Hiding:
    """Whether the length is part of the secret, and what that costs."""

    hide_length: bool = option(False, help="Whether lengths are randomised, too.")
    length_share: float = option(0.1, help="Share of epsilon for the length.", above=0, below=1)

    def __post_init__(self) -> None:
        settle(self)


def randomized_sizes(sizes: Sizes, longest: int, epsilon: float, rng: np.random.Generator) -> Sizes:
    """Draw sizes from 1 to `longest` by randomized response; a smaller or larger true size counts as the nearest of
    them.

    >>> randomized_sizes(np.array([0, 3, 9]), 5, 1e9, np.random.default_rng(1)).tolist()
    [1, 3, 5]
    """
    chance = 1.0 / (1.0 + (longest - 1) * np.exp(-epsilon))
    true = np.clip(sizes, 1, longest)
    other = rng.integers(1, max(longest, 2), size=len(sizes))
    return np.where(rng.random(len(sizes)) < chance, true, other + (other >= true))


def stretched(offsets: Sizes, sizes: Sizes) -> tuple[Sizes, Sizes]:
    """Return which values to take so that the parts of a ragged array get new sizes, and the new offsets.

    Each new position takes the old one at the same share of the way, so some repeat or are left out. A part
    that was empty takes the position just behind all values: put there what it should count as.

    >>> positions, offsets = stretched(np.array([0, 3, 3]), np.array([5, 1]))
    >>> positions.tolist(), offsets.tolist()
    ([0, 0, 1, 2, 2, 3], [0, 5, 6])
    """
    old = np.diff(offsets)
    resized = ragged.offsets_of(sizes)
    within = ragged.places(resized)
    share = np.repeat(np.maximum(old - 1, 0) / np.maximum(sizes - 1, 1), sizes)
    positions = np.repeat(offsets[:-1], sizes) + np.rint(within * share).astype(np.int64)
    return np.where(np.repeat(old == 0, sizes), offsets[-1], positions), resized
