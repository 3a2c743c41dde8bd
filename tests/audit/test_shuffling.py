from __future__ import annotations

import pytest

from ldptrace.audit import amplified


@pytest.mark.parametrize(
    ("epsilon", "n", "central"),
    [
        (1, 100_000, 0.073),
        (3, 100_000, 0.34),
        (5, 100_000, 0.79),
        (1, 500_000, 0.033),
        (5, 500_000, 0.43),
        (6, 500_000, 0.64),
        (4, 1_000_000, 0.20),
    ],
)
def test_amplification_by_shuffling(epsilon: float, n: int, central: float) -> None:
    found = amplified(epsilon, n, 1e-6)
    assert found is not None
    assert found == pytest.approx(central, rel=0.03)


def test_amplification_says_when_it_does_not_hold() -> None:
    assert amplified(8, 1000, 1e-6) is None
    assert amplified(1, 100, 1e-6) is None
    with pytest.raises(ValueError, match="delta"):
        amplified(1, 1000, 0)
