from __future__ import annotations

from collections.abc import Sequence

import pytest

from audit_kit import with_channel
from ldptrace.audit.exact import marginal_findings
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import PrivSet
from ldptrace.protocol.randomness import Source


class OneItemKept(PrivSet):
    """Only one item in the middle of a large domain is wrong: it is named whenever the user has it."""

    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        named = super().perturb(items, source)
        if 17 in items and 17 not in named:
            named = tuple(sorted((*named[1:], 17)))
        return named


@pytest.mark.slow
def test_one_wrong_item_among_many_is_found() -> None:
    plan = Plan.single_report(Grid((0.0, 0.0, 6.0, 6.0), 6), 1.0)
    wrong = marginal_findings(with_channel(OneItemKept, plan), 800)
    assert {finding.item for finding in wrong if not finding.stands} == {17}
    assert all(finding.stands for finding in marginal_findings(plan, 800))
