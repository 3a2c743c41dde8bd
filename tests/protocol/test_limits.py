from __future__ import annotations

from fractions import Fraction

import pytest

from ldptrace.errors import InputError
from ldptrace.protocol import limits
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import PrivSet
from ldptrace.protocol.reports import report_bytes


def test_the_largest_plan_that_anybody_makes_is_within_them() -> None:
    plan = Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0), limits.MAX_N), limits.MAX_EPSILON)
    assert len(plan.to_json()) <= limits.MAX_DOCUMENT
    assert report_bytes(plan.rounds[0]) <= limits.MAX_PAYLOAD
    for ask in plan.rounds[0].asks:
        assert ask.question.domain <= limits.MAX_DOMAIN
        assert ask.question.capacity <= limits.MAX_CAPACITY
        if isinstance(ask.randomizer, PrivSet):
            assert ask.randomizer.size <= limits.MAX_SUBSET


def test_the_largest_budget_has_a_ratio_that_can_be_written() -> None:
    ratio = ratio_at_most(Fraction(limits.MAX_EPSILON))
    assert ratio.numerator <= limits.MAX_RATIO_NUMERATOR
    assert ratio.denominator <= 1 << limits.RATIO_BITS


def test_one_cell_more_is_refused() -> None:
    with pytest.raises(InputError, match=str(limits.MAX_N)):
        Grid((0.0, 0.0, 1.0, 1.0), limits.MAX_N + 1)
