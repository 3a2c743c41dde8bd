from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from ldptrace import plugins
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


CODE = """
from ldptrace.methods import Method

WALKER = Method("walker", "walks about", lambda job: None, leaks={leaks!r})
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a module `walkers` gives the method `walker`, beside the laboratory's own."""
    points = EntryPoints(
        [
            EntryPoint("walker", "walkers:WALKER", plugins.METHODS),
            EntryPoint("ngram", "ldptrace_lab.ngram.recipes:NGRAM", plugins.METHODS),
        ]
    )
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points.select(group=group))
    monkeypatch.syspath_prepend(str(tmp_path))
    kept.fingerprint.cache_clear()
    yield tmp_path
    kept.fingerprint.cache_clear()
    sys.modules.pop("walkers", None)


def test_the_laboratory_is_no_other_package(place: Path) -> None:
    assert kept.others() == ("walker",)
    assert kept.fingerprint("ngram") is None
    assert kept.fingerprint("nobody") is None


def test_changed_code_is_another_method(place: Path) -> None:
    found = []
    for leaks in (None, "the curator sees everything"):
        (place / "walkers.py").write_text(CODE.format(leaks=leaks))
        kept.fingerprint.cache_clear()
        found.append(kept.fingerprint("walker"))
    assert found[0] != found[1]
    assert "walkers" not in sys.modules


def test_all_modules_of_a_package_count(place: Path) -> None:
    (place / "walkers").mkdir()
    (place / "walkers" / "__init__.py").write_text("")
    before = kept.fingerprint("walker")
    (place / "walkers" / "steps.py").write_text("LONG = 1\n")
    kept.fingerprint.cache_clear()
    assert kept.fingerprint("walker") != before


def test_a_package_that_is_gone_has_no_files(place: Path) -> None:
    assert kept.fingerprint("walker") is not None


@pytest.mark.parametrize("leaks", [None, "needs a trusted curator"])
def test_the_sentence_says_whom_to_trust(place: Path, leaks: str | None) -> None:
    (place / "walkers.py").write_text(CODE.format(leaks=leaks))
    said = kept.sentence_about("walker")
    assert "walks about" in said
    assert ("trusted curator" in said) == (leaks is not None)
