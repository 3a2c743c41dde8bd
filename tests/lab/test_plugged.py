"""Methods of other packages, and what identifies their code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from ldptrace import plugins
from ldptrace_lab import plugged

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
    plugged.fingerprint.cache_clear()
    yield tmp_path
    plugged.fingerprint.cache_clear()
    sys.modules.pop("walkers", None)


def test_the_laboratory_is_no_other_package(place: Path) -> None:
    assert plugged.others() == ("walker",)
    assert plugged.fingerprint("ngram") is None
    assert plugged.fingerprint("nobody") is None


def test_changed_code_is_another_method(place: Path) -> None:
    found = []
    for leaks in (None, "the curator sees everything"):
        (place / "walkers.py").write_text(CODE.format(leaks=leaks))
        plugged.fingerprint.cache_clear()
        found.append(plugged.fingerprint("walker"))
    assert found[0] != found[1]
    assert "walkers" not in sys.modules


def test_all_modules_of_a_package_count(place: Path) -> None:
    (place / "walkers").mkdir()
    (place / "walkers" / "__init__.py").write_text("")
    before = plugged.fingerprint("walker")
    (place / "walkers" / "steps.py").write_text("LONG = 1\n")
    plugged.fingerprint.cache_clear()
    assert plugged.fingerprint("walker") != before


def test_a_package_that_is_gone_has_no_files(place: Path) -> None:
    assert plugged.fingerprint("walker") is not None


@pytest.mark.parametrize("leaks", [None, "needs a trusted curator"])
def test_the_sentence_says_whom_to_trust(place: Path, leaks: str | None) -> None:
    (place / "walkers.py").write_text(CODE.format(leaks=leaks))
    said = plugged.sentence("walker")
    assert "walks about" in said
    assert ("trusted curator" in said) == (leaks is not None)
