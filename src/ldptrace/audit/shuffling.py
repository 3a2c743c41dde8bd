"""What a trusted shuffler would add: a central guarantee from local ones. A different trust model."""

from __future__ import annotations

import math


def amplified(epsilon: float, n: int, delta: float) -> float | None:
    """Central epsilon, with this delta, of n shuffled reports that are each epsilon-LDP.

    The bound of "hiding among the clones" (Feldman, McMillan, Talwar 2021, theorem 3.1). It needs one report
    per user and somebody who really mixes the reports before the curator sees them; where groups can be told
    apart, n is the size of the smallest group. None where the bound does not hold or does not help.

    >>> round(amplified(1.0, 100_000, 1e-6), 3)
    0.073
    """
    if not (epsilon > 0 and n > 0 and 0 < delta < 1):
        raise ValueError(f"needs epsilon > 0, n > 0 and 0 < delta < 1, got {epsilon}, {n}, {delta}")
    if epsilon > math.log(n / (16 * math.log(2 / delta))):
        return None
    ratio = math.exp(epsilon)
    spread = 8 * math.sqrt(ratio * math.log(4 / delta) / n) + 8 * ratio / n
    central = math.log1p((ratio - 1) / (ratio + 1) * spread)
    return central if central < epsilon else None
