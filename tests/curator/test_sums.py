from __future__ import annotations

import numpy as np
import pytest

from ldptrace.curator.sums import Sums
from ldptrace.curator.tally import Tally
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan

PLAN = Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0), 2), 1.0)


def test_one_tally_counts_fully() -> None:
    tally = Tally("p", 0, (np.array([1, 2]), np.array([3, 4])), (3, 7), (3, 7))
    sums = Sums.of(tally)
    assert sums.of_ask(1)[0].tolist() == [3.0, 4.0]
    assert sums.of_ask(1)[1:] == (7.0, 7.0, 7.0)
    assert sums.effective == 10.0


def test_users_that_count_less_say_less() -> None:
    step = Sums((np.array([4.0, 6.0]),), (10.0,), (10.0,), (10.0,))
    both = step.aged(0.1) + step
    assert both.of_ask(0)[2] == pytest.approx(11.0)
    assert both.effective == pytest.approx(121 / 10.1)
    assert step.aged(0.1).effective == pytest.approx(10.0)


def test_nothing_is_worth_nobody() -> None:
    assert Sums.of(Tally.zero(PLAN)).effective == 0.0
