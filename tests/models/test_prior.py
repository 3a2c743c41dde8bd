from __future__ import annotations

import numpy as np
from scipy import sparse

from ldptrace.models.prior import Columns, Prior, PriorComponent

SIZES = (270, 3, 380, 2)
VARIANCES = np.array([0.3, 2.0, 0.5])


def basis_of(component: PriorComponent) -> np.ndarray:
    return component.basis.toarray() if sparse.issparse(component.basis) else np.asarray(component.basis)


def prior(rng: np.random.Generator) -> Prior:
    """Every potential for itself, and two components, one of them sparse, that move four blocks of them."""
    many = sum(SIZES)
    parts = [rng.normal(size=(size, 2)) for size in SIZES]
    # Shuffled, so that no block is a range of potentials.
    smooth = np.asarray(sparse.block_diag(parts).toarray())[rng.permutation(many)]
    sparse_too = smooth.copy()
    sparse_too[:, ::2] = 0
    return Prior(
        [
            PriorComponent("own", sparse.csr_array(np.eye(many))),
            PriorComponent("smooth", smooth),
            PriorComponent("sparse", sparse.csr_array(sparse_too)),
        ]
    )


def covariance(belief: Prior) -> np.ndarray:
    squares = [basis_of(part) @ basis_of(part).T for part in belief.components]
    return np.asarray(np.tensordot(VARIANCES, np.array(squares), 1))


def test_what_is_never_moved_together_is_in_different_blocks(rng: np.random.Generator) -> None:
    belief = prior(rng)
    # The two small ones are one.
    assert sorted(len(block) for block in belief.blocks) == [5, 270, 380]
    assert sorted(np.concatenate(belief.blocks).tolist()) == list(range(sum(SIZES)))
    expected = covariance(belief)
    for block in belief.blocks:
        others = np.setdiff1d(np.arange(sum(SIZES)), block)
        assert not expected[np.ix_(block, others)].any()


def test_the_root_squared_is_the_sum_of_the_components(rng: np.random.Generator) -> None:
    belief = prior(rng)
    root, expected = belief.root(VARIANCES), covariance(belief)
    lower = root.seen_by(np.eye(belief.size))
    np.testing.assert_allclose(lower @ lower.T, expected, atol=1e-10)
    potentials = rng.normal(size=belief.size)
    np.testing.assert_allclose(root.spread(potentials), expected @ potentials, atol=1e-10)
    np.testing.assert_allclose(expected @ root.pull(potentials), potentials, atol=1e-8)
    np.testing.assert_allclose(expected @ root.precision(), np.eye(belief.size), atol=1e-8)


def test_a_basis_without_its_zeros_is_seen_alike(rng: np.random.Generator) -> None:
    basis = np.array([[0.0, 2.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 1.0, 0.0]])
    jacobian = rng.normal(size=(5, 3))
    for kind in (np.asarray, sparse.csr_array):
        columns = Columns.of(kind(basis))
        assert (sorted(columns.alone.tolist()), columns.rows.tolist()) == ([0, 2], [0, 2])
        view = columns.seen_by(jacobian)
        np.testing.assert_allclose(view @ view.T, jacobian @ basis @ basis.T @ jacobian.T)


def test_single_potentials_stand_out_by_students_law(rng: np.random.Generator) -> None:
    """Of three degrees of freedom, given one normal: 4 over chi-squared of 4; the mean of its inverse is one."""
    heavy = PriorComponent("heavy", np.eye(4000), freedom=3.0)
    belief = Prior([heavy, PriorComponent("normal", np.eye(4000))])
    widths = belief.widths(rng)
    assert abs((1 / widths[0]).mean() - 1) < 0.06
    assert widths[0].max() > 10
    assert np.all(widths[1] == 1)
    one = Prior([PriorComponent("one", np.eye(2))])
    root = one.root(np.array([2.0]), np.array([[1.0, 3.0]]))
    np.testing.assert_allclose(root.precision(), np.diag([1 / 2, 1 / 6]))
