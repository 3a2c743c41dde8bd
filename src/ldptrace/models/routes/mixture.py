"""The part of the trips that no street explains: footpaths, ferries, streets that the map does not have.

Both models predict the same answers. The share of the path model in their mixture is the one with the smallest
expected squared error of the answers (Mallows' criterion): misfits grow smaller with a richer model by chance
alone, by twice its number of parameters, and that much is taken off. Streets are believed unless the answers speak
clearly against them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# By how much the criterion must fall: twice the logarithm of the odds against streets alone.
CLEAR = 10.0
# A smaller part is not worth a second kind of trip.
SMALLEST = 0.01


def share_off_streets(streets: Floats, street_freedom: float, paths: Floats, path_freedom: float) -> float:
    """Best share of the path model, given misfits in standard errors and numbers of parameters of both.

    >>> rng = np.random.default_rng(0)
    >>> noise = rng.standard_normal(500)
    >>> share_off_streets(noise, 20, noise + 0.1, 100), share_off_streets(noise + 3, 20, noise, 100)
    (0.0, 0.97)
    """
    apart = streets - paths
    square = float(apart @ apart)
    if square == 0:
        return 0.0
    share = min(max((float(streets @ apart) - (path_freedom - street_freedom)) / square, 0.0), 1.0)
    gain = 2 * share * (float(streets @ apart) - (path_freedom - street_freedom)) - share**2 * square
    return round(share, 2) if gain > CLEAR and share >= SMALLEST else 0.0
