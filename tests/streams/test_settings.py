from __future__ import annotations

import pytest

from ldptrace.errors import InputError
from ldptrace.plugins import STREAMS, find, load
from ldptrace.streams.settings import Settings, remembered


def test_settings_are_checked_before_anything_is_read() -> None:
    with pytest.raises(InputError, match="tick must be"):
        Settings(0.0)
    with pytest.raises(InputError, match="presence must be hidden or shown"):
        Settings(1.0, presence="seen")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="every does not apply"):
        Settings(1.0, every=10.0, presence="shown")
    with pytest.raises(InputError, match="method single-report has no option 'window'"):
        Settings(1.0, options={"window": 3})
    with pytest.raises(InputError, match="method lpd has no option 'speed'"):
        Settings(1.0, method="lpd", options={"speed": 3})
    with pytest.raises(InputError, match="method lpd has no use for presence"):
        Settings(1.0, method="lpd", presence="shown")
    with pytest.raises(InputError, match="methods lpa, lpd, retrasyn, single-report"):
        Settings(1.0, method="magic")


def test_a_step_has_fifty_ticks_unless_given() -> None:
    assert Settings(2.0).seconds == 100.0
    assert Settings(2.0, 30.0).seconds == 30.0


def test_another_method_is_found_by_its_name() -> None:
    assert Settings(2.0).other is None
    assert Settings(2.0, method="lpa").other is load(find(STREAMS, "lpa"))


@pytest.mark.parametrize("given", [True, float("nan"), float("inf"), [60]])
def test_a_duration_is_a_number_or_a_text(given: object) -> None:
    with pytest.raises(InputError, match="a duration is a number of seconds"):
        Settings(1.0, every=given)  # type: ignore[arg-type]


def test_words_of_remembering() -> None:
    assert remembered("forever") == "forever"
    assert remembered("7d") == 7 * 86_400
    with pytest.raises(InputError, match="auto, forever or a half-life"):
        remembered("long")
