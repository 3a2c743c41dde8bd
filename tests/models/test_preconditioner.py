"""The inverse of nearly the equations of a step."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.models.preconditioner import Preconditioner
from ldptrace.models.prior import Prior, PriorComponent

POTENTIALS, POOLS = 6, 3


def parts(rng: np.random.Generator) -> tuple[Prior, np.ndarray, np.ndarray]:
    """A prior whose bases overlap, rows of pooled answers by potentials, and by the columns of the bases."""
    bases = [np.eye(POTENTIALS), rng.normal(size=(POTENTIALS, 2))]
    prior = Prior([PriorComponent(str(number), basis) for number, basis in enumerate(bases)])
    rows = rng.normal(size=(POOLS, POTENTIALS))
    return prior, rows, rows @ np.hstack(bases)


@pytest.mark.parametrize("damping", [0.0, 10.0])
def test_it_is_the_inverse_of_the_rows_and_a_diagonal(rng: np.random.Generator, damping: float) -> None:
    prior, rows, views = parts(rng)
    sizes, beside = rng.uniform(0.5, 2, views.shape[1]), rng.uniform(0, 5, views.shape[1])
    made = Preconditioner(prior, rows, views.astype(np.float32), (views**2).sum(axis=0) + beside)
    seen = views * sizes
    whole = np.diag(damping + np.sqrt(1 + sizes**2 * beside)) + seen.T @ seen
    values = rng.normal(size=views.shape[1])
    np.testing.assert_allclose(made.inverse(sizes, damping)(whole @ values), values, rtol=1e-4, atol=1e-4)


def test_other_sizes_are_other_equations(rng: np.random.Generator) -> None:
    prior, rows, views = parts(rng)
    made = Preconditioner(prior, rows, views.astype(np.float32), (views**2).sum(axis=0))
    values = rng.normal(size=views.shape[1])
    for size in (1.0, 3.0):
        sizes = np.full(views.shape[1], size)
        whole = np.eye(views.shape[1]) + size**2 * views.T @ views
        np.testing.assert_allclose(made.inverse(sizes, 0.0)(whole @ values), values, rtol=1e-3, atol=1e-3)


def test_before_any_answer_there_is_the_damping_alone(rng: np.random.Generator) -> None:
    prior, _, views = parts(rng)
    values = rng.normal(size=views.shape[1])
    found = Preconditioner.nothing(prior).inverse(np.ones(views.shape[1]), 3.0)(values)
    np.testing.assert_allclose(found, values / 4)


def test_answers_that_are_nearly_exact_are_in_double_precision(rng: np.random.Generator) -> None:
    prior, rows, _ = parts(rng)
    rows = (1e5 * rows).astype(np.float32).astype(np.float64)
    views = (rows @ prior.basis.toarray()).astype(np.float32)
    made = Preconditioner(prior, rows, views, (views.astype(np.float64) ** 2).sum(axis=0))
    values = rng.normal(size=views.shape[1])
    found = made.inverse(np.ones(views.shape[1]), 0.0)(values)
    # What no row sees stays, what one sees is next to nothing.
    np.testing.assert_allclose(rows @ (prior.basis @ found), 0, atol=1.0)
    assert values @ found > 0
