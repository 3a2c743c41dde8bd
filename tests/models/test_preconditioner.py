"""The inverse of nearly the equations of a step."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.models import preconditioner
from ldptrace.models.preconditioner import Preconditioner

COLUMNS, POOLS = 8, 3


@pytest.fixture
def every_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preconditioner, "SLIGHT", 0.0)


@pytest.mark.usefixtures("every_column")
@pytest.mark.parametrize("damping", [0.0, 10.0])
def test_it_is_the_inverse_of_the_rows_and_a_diagonal(rng: np.random.Generator, damping: float) -> None:
    views = rng.normal(size=(POOLS, COLUMNS))
    sizes, beside = rng.uniform(0.5, 2, COLUMNS), rng.uniform(0, 5, COLUMNS)
    made = Preconditioner(views.astype(np.float32), (views**2).sum(axis=0) + beside)
    seen = views * sizes
    whole = np.diag(damping + np.sqrt(1 + sizes**2 * beside)) + seen.T @ seen
    values = rng.normal(size=COLUMNS)
    np.testing.assert_allclose(made.inverse(sizes, damping)(whole @ values), values, rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("every_column")
def test_other_sizes_are_other_equations(rng: np.random.Generator) -> None:
    views = rng.normal(size=(POOLS, COLUMNS))
    made = Preconditioner(views.astype(np.float32), (views**2).sum(axis=0))
    values = rng.normal(size=COLUMNS)
    for size in (1.0, 3.0):
        whole = np.eye(COLUMNS) + size**2 * views.T @ views
        found = made.inverse(np.full(COLUMNS, size), 0.0)(whole @ values)
        np.testing.assert_allclose(found, values, rtol=1e-3, atol=1e-3)


def test_columns_that_the_pools_hardly_see_are_in_the_diagonal_alone(rng: np.random.Generator) -> None:
    views = rng.normal(size=(POOLS, COLUMNS))
    views[:, 2:] *= 0.1
    made = Preconditioner(views.astype(np.float32), (views**2).sum(axis=0))
    seen = 2 * views * (4 * (views**2).sum(axis=0) > 1)
    assert 0 < seen.any(axis=0).sum() < COLUMNS
    whole, values = np.eye(COLUMNS) + seen.T @ seen, rng.normal(size=COLUMNS)
    found = made.inverse(np.full(COLUMNS, 2.0), 0.0)(whole @ values)
    np.testing.assert_allclose(found, values, rtol=1e-3, atol=1e-3)


def test_before_any_answer_there_is_the_damping_alone(rng: np.random.Generator) -> None:
    values = rng.normal(size=COLUMNS)
    nothing = Preconditioner(np.zeros((0, COLUMNS), np.float32), np.zeros(COLUMNS))
    np.testing.assert_allclose(nothing.inverse(np.ones(COLUMNS), 3.0)(values), values / 4)


def test_answers_that_are_nearly_exact_are_in_double_precision(rng: np.random.Generator) -> None:
    views = (1e5 * rng.normal(size=(POOLS, COLUMNS))).astype(np.float32)
    made = Preconditioner(views, (views.astype(np.float64) ** 2).sum(axis=0))
    values = rng.normal(size=COLUMNS)
    found = made.inverse(np.ones(COLUMNS), 0.0)(values)
    # What no row sees stays, what one sees is next to nothing.
    np.testing.assert_allclose(views.astype(np.float64) @ found, 0, atol=1.0)
    assert values @ found > 0
