"""The house itself: every module has its test, none imports in a circle, none is too long to read."""

from __future__ import annotations

import re
from pathlib import Path

import grimp

import ldptrace
import ldptrace_lab

SOURCE, TESTS = Path(ldptrace.__file__).parent, Path(__file__).parent
# Where the tests of a package are.
HOUSES = {SOURCE: TESTS, Path(ldptrace_lab.__file__).parent: TESTS / "lab"}
LONGEST = 500


def modules(source: Path) -> list[Path]:
    """All modules that are more than the list of a room's names."""
    found = (path.relative_to(source) for path in source.rglob("*.py"))
    return sorted(path for path in found if path.name != "__init__.py")


def test_every_module_has_a_test_in_the_same_room() -> None:
    missing = [
        f"{source.name}/{module.as_posix()}"
        for source, tests in HOUSES.items()
        for module in modules(source)
        if not (tests / module.parent / f"test_{module.name}").is_file()
    ]
    assert missing == []


def circles(imports: dict[str, set[str]]) -> list[set[str]]:
    """Modules that can reach each other, where there are several (strongly connected components, by Tarjan)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found: list[set[str]] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        path.append(module)
        for other in sorted(imports[module]):
            if other not in number:
                visit(other)
                lowest[module] = min(lowest[module], lowest[other])
            elif other in path:
                lowest[module] = min(lowest[module], number[other])
        if lowest[module] == number[module]:
            start = path.index(module)
            circle, path[start:] = set(path[start:]), []
            if len(circle) > 1:
                found.append(circle)

    for module in sorted(imports):
        if module not in number:
            visit(module)
    return found


def test_a_circle_is_seen() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}}
    assert circles(imports) == [{"b", "c"}]


def test_no_module_imports_in_a_circle() -> None:
    graph = grimp.build_graph(*(source.name for source in HOUSES), cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > sum(len(modules(source)) for source in HOUSES)
    assert circles(imports) == []


def test_no_module_is_too_long_to_read() -> None:
    lines = {
        f"{source.name}/{module.as_posix()}": len((source / module).read_text().splitlines())
        for source in HOUSES
        for module in modules(source)
    }
    assert {module: count for module, count in lines.items() if count > LONGEST} == {}


def test_the_architecture_page_names_every_room_and_nothing_else() -> None:
    text = (TESTS.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:\w+/)+(?:\w+\.py)?|\w+\.py)`", text))
    assert [name for name in sorted(named) if not (SOURCE / name).exists()] == []
    rooms = {
        path.name + "/" * path.is_dir() for path in SOURCE.iterdir() if not path.name.startswith(("_", "py."))
    }
    assert rooms - named == set()
