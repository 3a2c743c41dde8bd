from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ldptrace.audit.poisoning import reach
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer

E = ratio_at_most(Fraction(1))


@pytest.mark.parametrize(
    "channel", [OUE(36, 1, E), GRR(36, 1, E), PrivSet(36, 1, E, 10), PrivSet(36, 4, E, 2)], ids=repr
)
def test_a_forged_report_moves_an_estimate_by_its_reach(channel: Randomizer) -> None:
    """The estimate with one more report that names an item, and with one more that does not."""
    counts, n = np.array([400.0]), 1000
    before = channel.debias(counts, n)[0]
    lie = reach(channel)
    assert channel.debias(counts + 1, n + 1)[0] - before == pytest.approx(lie.up)
    assert before - channel.debias(counts, n + 1)[0] == pytest.approx(lie.down)


def test_how_many_items_a_report_can_name() -> None:
    assert reach(OUE(36, 1, E)).items == 36
    assert reach(GRR(36, 1, E)).items == 1
    assert reach(PrivSet(36, 4, E, 7)).items == 7
