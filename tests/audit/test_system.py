from __future__ import annotations

import os

import pytest

from ldptrace.audit.system import system_source


def test_the_system_gets_its_source_back() -> None:
    real = os.urandom
    with system_source(bytes):
        assert os.urandom(3) == b"\0\0\0"
    assert os.urandom is real
    with pytest.raises(ValueError, match="negative"), system_source(bytes):
        os.urandom(-1)
    assert os.urandom is real
