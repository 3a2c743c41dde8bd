from __future__ import annotations

import numpy as np
import pytest

from ldptrace.curator import Estimates, Tally
from ldptrace.errors import FormatError, InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan


def test_a_tally_survives_its_file(grid: Grid) -> None:
    tally = Tally.zero(Plan.single_report(grid, 1.0))
    assert Tally.from_json(tally.to_json()) == tally


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"format":"ldptrace-tally","version":2}', '{"format":"x"}', "\xff"]
)
def test_what_is_not_a_tally_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        Tally.from_json(text)


def test_different_plans_do_not_mix(grid: Grid) -> None:
    one, other = Plan.single_report(grid, 1.0), Plan.single_report(grid, 2.0)
    with pytest.raises(InputError, match="different plans"):
        Tally.zero(one) + Tally.zero(other)
    with pytest.raises(InputError, match="belongs to plan"):
        Estimates.from_tally(one, Tally.zero(other))


def test_a_round_that_does_not_exist(grid: Grid) -> None:
    with pytest.raises(InputError, match="no round 2"):
        Tally.zero(Plan.single_report(grid, 1.0), 1)


def test_nobody_asked_means_nothing_known(grid: Grid) -> None:
    plan = Plan.single_report(grid, 1.0)
    estimates = Estimates.from_tally(plan, Tally.zero(plan))
    assert np.all(np.isinf(estimates["start"].std_errors))
    assert np.all(estimates["start"].frequencies == 0)
