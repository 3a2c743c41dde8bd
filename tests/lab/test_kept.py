from __future__ import annotations

import math
from pathlib import Path

import pytest

from ldptrace.errors import FormatError
from ldptrace_lab import kept
from ldptrace_lab.kept import Kept, key_of


def test_values_outlive_the_process_and_undefined_ones_stay_undefined(tmp_path: Path) -> None:
    Kept(tmp_path / "runs").keep("key", {"seed": 1}, {"trip_error": math.nan, "length_error": 0.5})
    found = Kept(tmp_path / "runs").find("key")
    assert found is not None
    assert math.isnan(found["trip_error"])
    assert found["length_error"] == 0.5
    assert Kept(tmp_path / "runs").find("another") is None


@pytest.mark.parametrize("text", ["{", "{}", "[1]", '{"format": "other", "version": 1, "values": {}}'])
def test_what_is_no_measurement_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "key.json").write_text(text)
    with pytest.raises(FormatError, match="is not a kept measurement"):
        Kept(tmp_path).find("key")


def test_a_key_has_the_settings_and_the_code_of_the_method(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = key_of({"seed": 1}, "paper")
    assert ours == key_of({"seed": 1}, "ngram")
    assert ours != key_of({"seed": 2}, "paper")
    monkeypatch.setattr(kept, "fingerprint", lambda name: f"code of {name}")
    theirs = key_of({"seed": 1}, "walker")
    assert theirs != ours
    monkeypatch.setattr(kept, "fingerprint", lambda name: f"later code of {name}")
    assert key_of({"seed": 1}, "walker") != theirs
