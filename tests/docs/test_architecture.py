"""The pages about the code against the code: rooms, files and modules that they name are there."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / "architecture.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
# A path begins at the top, in a package, in the room of the protocol, or among its vectors.
STARTS = (".", "src", "src/ldptrace", "src/ldptrace_lab", "src/ldptrace/protocol", "protocol/vectors/v1")
PLACES = [ROOT / start for start in STARTS]
# Made by the steps of the text, or by its commands.
MADE = {
    "src/ldptrace/protocol/questions/quarter.py",
    "demo/report.html",
    "dist/",
}


def named(page: Path) -> Iterator[str]:
    """What a page names in code, outside its blocks of code."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for code in re.findall(r"`([^`\n]+)`", text):
        yield from code.split()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    paths = {name for name in named(page) if re.fullmatch(r"[\w.-]+(/[\w.-]*)+|\w+\.(py|md|json|toml)", name)}
    paths = {name for name in paths if not name.startswith("ldptrace.") and name not in MADE}
    assert len(paths) > 5
    shared = {name.removesuffix("/") for name in paths}
    assert not {name for name in shared if not any(place.joinpath(name).exists() for place in PLACES)}


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.stem)
def test_modules_that_a_page_names_are_there(page: Path) -> None:
    for name in named(page):
        if re.fullmatch(r"ldptrace(_lab)?(\.\w+)+", name) and name.count(".") > 1:
            assert found(name), f"{name} in {page.name}"


def found(name: str) -> bool:
    """Whether this is a module, or a name in one."""
    try:
        if importlib.util.find_spec(name):
            return True
    except ModuleNotFoundError:
        pass
    module, _, last = name.rpartition(".")
    return hasattr(importlib.import_module(module), last)


def test_every_room_is_on_the_page() -> None:
    rooms = {path.name for path in (ROOT / "src" / "ldptrace").iterdir() if path.is_dir()} - {"__pycache__"}
    files = {path.name for path in (ROOT / "src" / "ldptrace").glob("*.py")} - {"__init__.py", "__main__.py"}
    lab = {path.name for path in (ROOT / "src" / "ldptrace_lab").iterdir() if path.is_dir()} - {"__pycache__"}
    shown = set(named(ROOT / "docs" / "architecture.md"))
    assert {f"{room}/" for room in rooms} | files <= shown
    assert lab <= {name.strip(",") for name in shown}
    picture = (ROOT / "docs" / "images" / "architecture.svg").read_text(encoding="utf-8")
    assert rooms == set(re.findall(r"\b(\w+)/", re.sub(r"<(?!/?text)[^>]*>|</?text[^>]*>", " ", picture))) - {
        "facts"
    }
