"""The gravity law: people come more often from near than from far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldptrace.errors import InputError
from ldptrace.generators.roads import Floats

LEAST, MOST = 1.0, 1e5  # seconds of patience
BUSIEST = 160  # places that stand for all when a mean is sought


@dataclass(frozen=True, eq=False)
class Gravity:
    """How often people come to a place from each node: less often from far away.

    `seconds[p, v]` is the time from node `v` to place `p`, `share` the part of all trips that a place has and
    `fame` how far it is known, about 1.
    """

    homes: Floats
    seconds: NDArray[np.float32]
    share: Floats
    fame: Floats

    def weights(self, patience: float, places: NDArray[np.integer]) -> NDArray[np.float32]:
        """Trips get rarer by a factor e every `patience` seconds; very short ones are walked, not driven."""
        ratio = self.seconds[places] / np.float32(patience)
        # Relative to the nearest other node, so that small patience does not turn every weight into zero.
        far = ratio / self.fame[places, None].astype(np.float32)
        nearest = np.where(far > 0, far, np.inf).min(axis=1, keepdims=True)
        near = np.exp(-np.maximum(far - nearest, 0)) * -np.expm1(-ratio / np.float32(0.15))
        weights: NDArray[np.float32] = self.homes.astype(np.float32) * near
        return weights

    def origins(self, patience: float) -> NDArray[np.float32]:
        """Running sums over the nodes of the chance that a trip to a place comes from there."""
        sums = np.empty(self.seconds.shape, dtype=np.float32)
        for place in range(len(sums)):
            running = np.cumsum(self.weights(patience, np.array([place]))[0], dtype=np.float64)
            sums[place] = running / max(running[-1], 1e-300)
        return sums

    def mean_seconds(self, patience: float) -> float:
        """Mean travel time of trips to the busiest places on empty roads."""
        busiest = np.argsort(-self.share)[:BUSIEST]
        weight = self.weights(patience, busiest).astype(np.float64)
        weight *= (self.share[busiest] / np.maximum(weight.sum(axis=1), 1e-300))[:, None]
        return float(np.sum(weight * self.seconds[busiest]) / weight.sum())

    def patience(self, target: float, delay: float) -> float:
        """The patience with which trips take `target` seconds, `delay` times as long as on empty roads."""
        shortest, longest = delay * self.mean_seconds(LEAST), delay * self.mean_seconds(MOST)
        if not shortest <= target <= longest:
            raise InputError(
                f"trips on this map can take {shortest / 60:.2g} to {longest / 60:.3g} minutes on average, "
                f"not {target / 60:.3g}"
            )
        return self.clamped_patience(target / delay)

    def clamped_patience(self, target: float) -> float:
        """As `patience`, as close as possible."""
        low, high = LEAST, MOST
        for _ in range(14):
            middle = float(np.sqrt(low * high))
            low, high = (middle, high) if self.mean_seconds(middle) < target else (low, middle)
        return low
