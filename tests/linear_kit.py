"""A model whose answers are linear in its potentials: fits of it have a closed form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ldptrace.models.observation import Observation
from ldptrace.models.prior import Prior, PriorComponent

Floats = NDArray[np.float64]
SIZES = {"a": 4, "b": 2}


@dataclass(frozen=True, eq=False)
class Line:
    """Two questions with four and two items, three potentials."""

    potentials: Floats
    slopes: dict[str, Floats]

    @staticmethod
    def drawn(rng: np.random.Generator) -> Line:
        return Line(
            rng.normal(size=3) * 0.3, {name: rng.normal(size=(size, 3)) for name, size in SIZES.items()}
        )

    def moved(self, step: Floats) -> Line:
        return replace(self, potentials=self.potentials + step)

    def answers(self, capacities: Mapping[str, int]) -> dict[str, Floats]:
        return {name: 1 + self.slopes[name] @ self.potentials for name in capacities}

    def jacobian(self, capacities: Mapping[str, int]) -> tuple[dict[str, Floats], dict[str, Floats]]:
        return {name: self.slopes[name] for name in capacities}, self.left

    @property
    def left(self) -> dict[str, Floats]:
        return {name: np.ones(size) for name, size in SIZES.items()}

    def products(self, capacities: Mapping[str, int]) -> Line:
        return self

    def apply(self, direction: Floats) -> dict[str, Floats]:
        return {name: self.slopes[name] @ direction for name in SIZES}

    def apply_transposed(self, values: Mapping[str, Floats]) -> Floats:
        return np.sum([value @ self.slopes[name] for name, value in values.items()], axis=0)

    def pools(self, name: str) -> NDArray[np.int64]:
        return np.arange(SIZES[name])


def prior() -> Prior:
    """All three potentials of one size."""
    return Prior([PriorComponent("all", np.eye(3))])


def observations(truth: Line, rng: np.random.Generator, noise: float = 0.02) -> list[Observation]:
    """Noisy answers; the first question has a total besides."""
    seen = []
    for (name, size), total in zip(SIZES.items(), (True, False), strict=True):
        exact = truth.answers({name: 1})[name]
        values = exact + rng.normal(0, noise, size)
        both = (float(exact.sum()), 0.01) if total else None
        seen.append(Observation(name, 2 if total else 1, 1000, values, np.full(size, 4e-4), both))
    return seen


def most_probable(truth: Line, seen: list[Observation], variance: float) -> Floats:
    """The potentials that maximise the posterior, in closed form."""
    rows, gaps, errors = [], [], []
    for each in seen:
        slopes = truth.slopes[each.name]
        rows.append(slopes)
        gaps.append(each.frequencies - 1)
        errors.append(np.sqrt(each.variances))
        if each.total is not None:
            rows.append(slopes.sum(axis=0, keepdims=True))
            gaps.append(np.array([each.total[0] - len(slopes)]))
            errors.append(np.sqrt([each.total[1]]))
    scale = np.concatenate(errors)
    matrix, target = np.concatenate(rows) / scale[:, None], np.concatenate(gaps) / scale
    return np.linalg.solve(np.eye(3) / variance + matrix.T @ matrix, matrix.T @ target)
