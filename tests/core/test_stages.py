from __future__ import annotations

import pytest

from ldptrace.core.stages import Stages


def test_stages_are_timed() -> None:
    stages = Stages()
    for name in ("read", "fit", "read"):
        with stages(name):
            pass
    assert list(stages.seconds) == ["read", "fit"]
    assert all(seconds >= 0 for seconds in stages.seconds.values())


def test_a_stage_that_fails_is_timed_too() -> None:
    stages = Stages()
    with pytest.raises(ZeroDivisionError), stages("fit"):
        _ = 1 / 0
    assert "fit" in stages.seconds
