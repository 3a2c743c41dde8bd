from __future__ import annotations

from typing import Any

import pytest

from ldptrace.core.running import Running, Stages
from ldptrace.errors import InputError


def test_memory_is_a_number_of_bytes() -> None:
    assert Running().memory == Running(memory=1 << 29).memory == 1 << 29
    assert (Running().spark, Running("spark").spark) == (False, True)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"memory": "much"}, "such as 512M or 2G, got 'much'"),
        ({"memory": 0}, "memory must be a number of bytes"),
        ({"engine": "flink"}, "engine must be local or spark, got 'flink'"),
    ],
)
def test_what_cannot_be(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Running(**wrong)


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
