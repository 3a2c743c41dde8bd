from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from ldptrace.methods.public import Public
from ldptrace.streams.promise import notes_of, promise_of
from ldptrace.streams.settings import PERIOD, SHOWN, Settings
from stream_kit import lines


@pytest.mark.parametrize(
    ("settings", "owned", "unit", "leak"),
    [
        (Settings(30.0, start=0, end=9e3), False, "trip", None),
        (Settings(30.0, start="00:00", end="02:30"), True, "user", None),
        (Settings(30.0, presence="shown", start=0, end=9e3), True, "trip", SHOWN),
        (Settings(30.0, end="02:30"), True, "user", PERIOD),
    ],
)
def test_the_promise_says_whose_it_is_and_what_weakens_it(
    settings: Settings, owned: bool, unit: str, leak: str | None, rng: np.random.Generator
) -> None:
    trips = lines(40, rng)
    if owned:
        trips = replace(trips, extra=pa.table({"who": np.arange(40) % 10}), user="who")
    notes = notes_of(settings, trips, 600.0, 3_601.0, Public())
    assert any("The unit is the trip" in note for note in notes) == (unit == "trip")
    assert any("once in 10 minutes" in note for note in notes) == (settings.presence == "hidden")
    # A window that has begun counts: 3,601 s have seven of ten minutes.
    assert any("at most 7 here" in note for note in notes) == (settings.presence == "hidden")
    about = promise_of(1.0, settings, trips, None, notes, 10)
    assert about["leaks"] == leak
    assert about["users"] == 10


def test_another_method_says_what_it_takes_as_public(rng: np.random.Generator) -> None:
    settings = Settings(30.0, method="retrasyn", seed=1)
    about = promise_of(1.0, settings, lines(10, rng), None, ["note"], 10)
    assert settings.other is not None
    assert about["leaks"] == settings.other.public
    assert about["unit"] == "trip"
    assert about["experiment"] is not None
