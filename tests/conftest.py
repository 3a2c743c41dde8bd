from __future__ import annotations

import gc
import os
import random
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

# Tests run side by side: threads of a matrix product that wait for each other would keep all the others waiting.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import Phase, settings

from ldptrace.core.paths import CellPaths, grid_moves
from ldptrace.protocol.grid import Grid
from programs_kit import chromium, closing_lines

# Not tests: a program that tries them on faulty copies (`make mutants`).
collect_ignore = ["mutants"]

# Compiled kernels make the first example slow; a deadline would only measure the compiler.
settings.register_profile("ldptrace", deadline=None, derandomize=True)
# To know that something is wrong, no smallest example is needed.
settings.register_profile("mutants", deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate))
# To know soon: the first examples find most of what the others would (`make unit`).
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=10)
settings.load_profile("ldptrace")

# A cluster that loses a worker takes longer than all others.
LONGEST = "test_spark.py"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores: many tests wait for a server, a browser or a cluster, and another uses the core."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files with slow tests come first, so that no core waits for the last of them; a list is in the tree's order.

    Each process begins with its own part of the list, so the files are dealt out to as many parts.
    """
    if not config.option.collectonly:
        late = {item.path: True for item in items} | {item.path: False for item in items if slow(item)}
        files = sorted(late, key=lambda path: (path.name != LONGEST, late[path]))
        parts = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        place = {path: (number % parts, number) for number, path in enumerate(files)}
        items.sort(key=lambda item: place[item.path])


def pytest_collection_finish() -> None:
    """What was imported and collected stays: the collector of garbage need not look at it again and again."""
    gc.collect()
    gc.freeze()


@contextmanager
def certain(name: str) -> Iterator[None]:
    """The operating system's randomness as a stream that belongs to a name.

    Devices draw from the system and nowhere else, which tests/device/test_source.py and the audit watch. A test that
    was green once in this way is green always, and a red one is red again when somebody looks. Processes that fork
    off draw from the system.
    """
    real, stream, owner = os.urandom, random.Random(name), os.getpid()

    def take(count: int) -> bytes:
        return stream.randbytes(count) if count >= 0 and os.getpid() == owner else real(count)

    os.urandom = random._urandom = take  # type: ignore[attr-defined]
    try:
        yield
    finally:
        os.urandom = random._urandom = real  # type: ignore[attr-defined]


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    with certain(f"{request.node.nodeid}::{fixturedef.argname}"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    with certain(item.nodeid):
        return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in closing_lines(terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(line, yellow=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def slow(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is not None


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20260101)


@pytest.fixture
def grid() -> Grid:
    return Grid((0.0, 0.0, 4.0, 4.0), 4)


def random_paths(count: int, grid: Grid, rng: np.random.Generator, longest: int = 9) -> CellPaths:
    """King walks with a preference for one corner, of random length; some are empty."""
    paths: list[list[int]] = []
    moves = grid_moves(grid.n)
    options = [moves[moves[:, 0] == cell, 2] for cell in range(grid.cells)]
    for _ in range(count):
        size = int(rng.integers(0, longest + 1))
        cell = int(rng.integers(0, grid.cells)) if rng.random() < 0.6 else 0
        path = [cell][:size]
        while len(path) < size:
            next_ = options[path[-1]]
            path.append(int(next_[min(rng.integers(0, len(next_)), rng.integers(0, len(next_)))]))
        paths.append(path)
    return CellPaths.from_lists(paths, grid)


@pytest.fixture
def paths(grid: Grid, rng: np.random.Generator) -> CellPaths:
    return random_paths(400, grid, rng)
