from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from ldptrace.models.presence import COMPONENT, LEAST, LargeTravelling, travelling, with_presence
from ldptrace.models.prior import Prior, PriorComponent
from ldptrace.models.solver import LargePredictor
from linear_kit import Line, prior
from path_kit import random_expectation

ASKED = {"length": 1, "start": 1, "visits": 3}


def test_derivatives_are_those_of_the_answers(rng: np.random.Generator) -> None:
    here = travelling(random_expectation(3, 6, rng), 0.3)
    rows, left = here.jacobian(ASKED)  # type: ignore[attr-defined]
    for number in (0, 5, len(here.potentials) - 1):
        step = np.zeros(len(here.potentials))
        step[number] = 1e-5
        ahead, behind = here.moved(step).answers(ASKED), here.moved(-step).answers(ASKED)
        for name in ASKED:
            slope = (ahead[name] - behind[name]) / 2e-5 * left[name]
            assert rows[name][:, number] == pytest.approx(slope, abs=1e-6)


def test_products_are_those_of_the_jacobian(rng: np.random.Generator) -> None:
    line = Line.drawn(rng)
    asked = {"a": 2, "b": 1}
    large = travelling(line, 0.4)
    assert isinstance(large, LargeTravelling)
    assert isinstance(large, LargePredictor)
    products = large.products(asked)
    matrix = {
        name: np.hstack([0.4 * line.slopes[name], 0.4 * line.answers(asked)[name][:, None]]) for name in asked
    }
    direction = rng.normal(size=4)
    values = {name: rng.normal(size=len(rows)) for name, rows in matrix.items()}
    for name, found in products.apply(direction).items():
        assert found == pytest.approx(matrix[name] @ direction)
    assert products.apply_transposed(values) == pytest.approx(
        np.sum([matrix[name].T @ value for name, value in values.items()], axis=0)
    )
    assert large.pools("a").tolist() == [0, 1, 2, 3]
    assert set(products.left) == {"a", "b"}


def test_no_share_begins_at_nothing(rng: np.random.Generator) -> None:
    assert travelling(Line.drawn(rng), -0.2).with_trip == pytest.approx(LEAST)


def test_the_prior_grows_by_one_potential_of_its_own() -> None:
    grown = with_presence(prior(), 4.0)
    assert grown.size == 4
    assert [part.name for part in grown.components] == ["all", COMPONENT]
    assert grown.root(np.array([1.0, 4.0])).spread(np.ones(4)).tolist() == [1, 1, 1, 4]
    sparse = with_presence(Prior([PriorComponent("all", csr_array(np.eye(3)))]))
    assert sparse.basis.toarray().tolist() == np.eye(4).tolist()
