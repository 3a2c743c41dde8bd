"""What a release states: one version number everywhere. `make release` builds the files and uses them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from ldptrace import __version__

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("release", ROOT / "deploy" / "release.py")
assert spec is not None
assert spec.loader is not None
release = importlib.util.module_from_spec(spec)
spec.loader.exec_module(release)


def test_one_version_number() -> None:
    assert release.clients.version() == __version__
    assert release.disagreements(__version__) == []


def test_another_number_is_told_with_its_file() -> None:
    wrong = release.disagreements("9.9.9")
    assert [line.split()[0] for line in wrong] == list(release.STATED)


@pytest.mark.parametrize("project", ["pyproject.toml", "lab/pyproject.toml", "clients/python/pyproject.toml"])
def test_no_project_has_a_number_of_its_own(project: str) -> None:
    text = (ROOT / project).read_text(encoding="utf-8")
    assert 'dynamic = ["version"]' in text
    assert "\nversion =" not in text
