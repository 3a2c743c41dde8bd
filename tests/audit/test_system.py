from __future__ import annotations

import os

import pytest

from audit_kit import SINGLE
from ldptrace.audit.system import OwnWitness, system_source
from ldptrace.protocol.reports import Report
from ldptrace.protocol.standing import Standing


def test_the_system_gets_its_source_back() -> None:
    real = os.urandom
    with system_source(bytes):
        assert os.urandom(3) == b"\0\0\0"
    assert os.urandom is real
    with pytest.raises(ValueError, match="negative"), system_source(bytes):
        os.urandom(-1)
    assert os.urandom is real


@pytest.mark.parametrize("trips", [0, 1, 6])
def test_devices_draw_the_group_that_is_looked_at(trips: int) -> None:
    """Whatever the number of trips, of which one is drawn before."""
    weekly = SINGLE.changed(standing=Standing.of(7 * 86_400, epsilon=SINGLE.epsilon))
    for plan in (SINGLE, weekly):
        witness = OwnWitness(plan)
        for group in range(len(plan.rounds[0].asks)):
            found = [
                Report.decode(m)
                for m in witness.messages(0, group, [[(0.5, 0.5), (1.5, 2.5)]] * trips, 5).sent
            ]
            assert {report.group for report in found} == {group}
            assert (min(report.window for report in found) > 0) == (plan is weekly)
