from __future__ import annotations

import os

import pytest

from audit_kit import SINGLE
from ldptrace.audit.system import OwnWitness, system_source
from ldptrace.protocol.reports import Report


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
    witness = OwnWitness(SINGLE)
    for group in range(len(SINGLE.rounds[0].asks)):
        found = witness.messages(0, group, [[(0.5, 0.5), (1.5, 2.5)]] * trips, 5)
        assert {Report.decode(message).group for message in found.sent} == {group}
