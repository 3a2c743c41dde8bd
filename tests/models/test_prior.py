from __future__ import annotations

import numpy as np
from scipy import sparse

from ldptrace.models.prior import Prior, PriorComponent


def prior(rng: np.random.Generator) -> Prior:
    smooth = rng.normal(size=(5, 2))
    return Prior([PriorComponent("own", sparse.csr_array(np.eye(5))), PriorComponent("smooth", smooth)])


def test_the_covariance_adds_the_components(rng: np.random.Generator) -> None:
    belief = prior(rng)
    variances = np.array([0.3, 2.0])
    own, smooth = (c.basis.toarray() if sparse.issparse(c.basis) else c.basis for c in belief.components)
    expected = 0.3 * own @ own.T + 2.0 * smooth @ smooth.T
    np.testing.assert_allclose(belief.covariance(variances), expected)
    np.testing.assert_allclose(belief.precision(variances) @ expected, np.eye(5), atol=1e-10)
