"""Devices without a trip: one more parameter of every model.

A device without a trip answers null to every question, so each expected answer is t times what the trips alone give,
t the share of devices with a trip. Its logarithm is a potential like every other (`Travelling`): its column of the
Jacobian is the expected answers themselves, and it is fitted together with all others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.prior import Prior, PriorComponent
from ldptrace.models.solver import JacobianProducts, LargePredictor, Model, SmallPredictor

# Standard deviation of log t around its first guess: weak, a factor of twenty either way.
SPREAD = 3.0
# The smallest share with a trip that a fit begins from.
LEAST = 0.02
COMPONENT = "devices with a trip"


@dataclass(frozen=True, eq=False)
class Travelling(Generic[Model]):
    """A model of trips, asked of devices of which the share exp(`guess` + x) has one; x is the last potential."""

    trips: Model
    guess: float
    log_share: float = 0.0

    @property
    def with_trip(self) -> float:
        """t, the share of devices with a trip."""
        return math.exp(self.guess + self.log_share)

    @property
    def potentials(self) -> Floats:
        return np.append(self.trips.potentials, self.log_share)

    def moved(self, step: Floats) -> Any:
        """The model with other potentials."""
        return replace(self, trips=self.trips.moved(step[:-1]), log_share=self.log_share + float(step[-1]))

    def answers(self, capacities: Mapping[str, int]) -> dict[str, Floats]:
        """Expected items per device."""
        return {name: self.with_trip * found for name, found in self.trips.answers(capacities).items()}


class SmallTravelling(Travelling[Any]):
    """With the Jacobian as a matrix."""

    def jacobian(self, capacities: Mapping[str, int]) -> tuple[dict[str, Floats], dict[str, Floats]]:
        trips: SmallPredictor = self.trips
        rows, left = trips.jacobian(capacities)
        answers = self.answers(capacities)
        columns = {name: (answers[name] * left[name])[:, None] for name in capacities}
        return {name: np.hstack([self.with_trip * rows[name], columns[name]]) for name in capacities}, left


class LargeTravelling(Travelling[Any]):
    """With products with the Jacobian."""

    def products(self, capacities: Mapping[str, int]) -> TravellingProducts:
        trips: LargePredictor = self.trips
        products = trips.products(capacities)
        own = {name: found * products.left[name] for name, found in trips.answers(capacities).items()}
        return TravellingProducts(products, self.with_trip, own)

    def pools(self, name: str) -> Ints:
        trips: LargePredictor = self.trips
        return trips.pools(name)


@dataclass(frozen=True, eq=False)
class TravellingProducts:
    """Products with the Jacobian of `LargeTravelling`: those of the trips, and a column of their expected answers."""

    trips: JacobianProducts
    with_trip: float
    own: dict[str, Floats]

    @property
    def left(self) -> dict[str, Floats]:
        return self.trips.left

    def apply(self, direction: Floats) -> dict[str, Floats]:
        found = self.trips.apply(direction[:-1])
        return {
            name: self.with_trip * (answer + direction[-1] * self.own[name]) for name, answer in found.items()
        }

    def apply_transposed(self, values: Mapping[str, Floats]) -> Floats:
        own = sum(float(value @ self.own[name]) for name, value in values.items())
        return self.with_trip * np.append(self.trips.apply_transposed(values), own)


def travelling(trips: Model, with_trip: float) -> Travelling[Model]:
    """A model of trips and a first guess of the share of devices with one."""
    kind = LargeTravelling if isinstance(trips, LargePredictor) else SmallTravelling
    return kind(trips, math.log(max(with_trip, LEAST)))


def with_presence(prior: Prior, variance: float = SPREAD**2) -> Prior:
    """The prior with one more potential: the logarithm of the share with a trip."""
    last = np.zeros((prior.size + 1, 1))
    last[-1] = 1
    grown = [replace(part, basis=_grown(part.basis)) for part in prior.components]
    return Prior([*grown, PriorComponent(COMPONENT, last, variance, fixed=True)])


def _grown(basis: Any) -> Any:
    """A basis with one more row of zeros, sparse if it was."""
    if isinstance(basis, np.ndarray):
        return np.pad(basis, ((0, 1), (0, 0)))
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack([basis, csr_array((1, basis.shape[1]))]))
