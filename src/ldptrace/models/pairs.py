"""Potentials of pairs of districts: which districts trips join more often than their ends and lengths alone explain.

A model with these potentials uses the question `pairs`. Every pair of districts (start, end) has a potential. The
prior is a sum of components of learned variance: pairs of neighbouring districts are alike, the way back is like the
way there, and each pair has a part of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ldptrace.models.linear import smooth
from ldptrace.models.observation import Observation
from ldptrace.models.prior import PriorComponent
from ldptrace.protocol.questions import Pairs

# Districts are alike over this part of the side of the map, or over one district where those are larger
# (docs/lab/streets.md).
REACH = 1 / 6
# Smooth patterns of pairs are kept up to this share of the largest one, and at most this many.
SPECTRUM, MOST = 1e-2, 300
# Pairs differ the more from what ends and distances explain, the farther apart they are: in proportion to the distance.
# Both ends of trips within a district are this part of its side apart.
SAME = 0.5
# Variance of each component before any answer, and how far it may be off: the standard deviation of its logarithm.
FIRST, FAR = 0.01, 4.0


def districts_in(observations: Iterable[Observation]) -> int:
    """Return how many districts per side the question `pairs` has, or 0 if nobody was asked it."""
    sizes = [len(seen.frequencies) for seen in observations if seen.name == Pairs.name]
    return round(sizes[0] ** 0.25) if sizes else 0


def pair_components(districts: int) -> tuple[PriorComponent, ...]:
    """Return the components of the prior for the pairs of `districts` x `districts` districts.

    >>> [(part.name, part.basis.shape) for part in pair_components(2)]
    [('pairs, smooth', (16, 15)), ('pairs, both ways', (16, 10)), ('pairs', (16, 16))]
    """
    places = districts**2
    begin, end = np.divmod(np.arange(places**2), places)
    both = np.minimum(begin, end) * places + np.maximum(begin, end)
    each, number = np.unique(both, return_inverse=True)
    i, j = (np.abs(place[begin] - place[end]) for place in np.divmod(np.arange(places), districts))
    apart = np.maximum(np.hypot(i, j), SAME)
    apart /= np.sqrt((apart**2).mean())
    return (
        PriorComponent("pairs, smooth", _smooth(districts), FIRST, FAR),
        PriorComponent("pairs, both ways", _scaled(apart, number, len(each)), FIRST, FAR),
        PriorComponent("pairs", _scaled(apart, np.arange(places**2), places**2), FIRST, FAR),
    )


def _smooth(districts: int) -> Any:
    """Return patterns that change little from a pair of districts to the pairs beside it, the largest ones first."""
    i, j = np.divmod(np.arange(districts**2), districts)
    near = smooth(i, j, max(REACH * districts, 1.0))
    patterns = np.kron(near, near)
    sizes = (patterns**2).sum(axis=0)
    large = np.argsort(-sizes, kind="stable")[:MOST]
    return csr_array(patterns[:, large[sizes[large] > SPECTRUM * sizes.max()]])


def _scaled(sizes: Any, group: Any, groups: int) -> Any:
    return csr_array((sizes, (np.arange(len(group)), group)), shape=(len(group), groups))
