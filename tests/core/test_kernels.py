"""Compiled loops: loaded late, cached, announced."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ldptrace.core import kernels
from ldptrace.core.kernels import SAID, Kernel, kernel

# A program with one kernel that calls another, draws and allocates; what was compiled before is loaded ahead of its
# first call, while another thread calls it, and what numba does in it may fail.
PROGRAM = """
import logging, sys, threading
import numpy as np
from ldptrace.core import kernels
from ldptrace.core.kernels import kernel

@kernel
def inner(x):
    return 2.0 * x

@kernel
def outer(values, rng, size):
    room = np.empty(size)
    for k in range(size):
        room[k] = inner(values[k]) + rng.random()
    return room.sum()

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    assert "numba" not in sys.modules
    kernels.load()
    ahead = [threading.Thread(target=kernels.load_compiled, args=(outer,)) for _ in range(3)]
    ahead[0].start()
    ahead[0].join()
    print(len(outer._cache._ahead))
    for thread in ahead[1:]:
        thread.start()
    print(outer(np.arange(4.0), np.random.default_rng(1), 4))
    for thread in ahead[1:]:
        thread.join()
    print(len(outer._cache._ahead), sum(outer.stats.cache_hits.values()))
    print("numba.np.arrayobj" in sys.modules)
    try:
        outer(np.arange(4.0), np.random.default_rng(1), -1)
    except ValueError as error:
        print(error)
"""


@kernel
def doubled(x):  # type: ignore[no-untyped-def]
    return x + x


@kernel(fastmath=True)
def fourfold(x):  # type: ignore[no-untyped-def]
    return doubled(doubled(x))


def test_kernels_call_each_other_and_give_way_to_what_was_compiled() -> None:
    assert isinstance(fourfold, Kernel)
    assert fourfold.__name__ == "fourfold"
    assert fourfold(1.5) == 6.0
    assert not isinstance(globals()["fourfold"], Kernel)
    assert not isinstance(globals()["doubled"], Kernel)


def run(folder: Path) -> list[str]:
    (folder / "program.py").write_text(PROGRAM)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, str(folder / "program.py")],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    return [*done.stdout.splitlines(), *done.stderr.splitlines()]


@pytest.mark.slow
def test_what_was_compiled_once_is_loaded_ahead_and_without_the_compiler(tmp_path: Path) -> None:
    first, second = run(tmp_path), run(tmp_path)
    expected = np.random.default_rng(1).random(4).sum() + 12
    assert float(first[1]) == float(second[1]) == pytest.approx(expected)
    assert first[0] == "0"
    assert first[2:5] == ["0 0", "True", "negative dimensions not allowed"]
    assert second[0] == "1"
    assert second[2:] == ["0 1", "False", "negative dimensions not allowed"]


def test_compiling_is_announced_once_it_takes_a_while(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(kernels.time, "perf_counter", lambda: now[0])
    announcer = kernels._announcer()
    with caplog.at_level(logging.INFO, "ldptrace"):
        for seconds in (0.1, 0.5, 1.0, 1.0):
            announcer.on_start(None)
            announcer.on_start(None)  # a kernel inside a kernel
            now[0] += seconds
            announcer.on_end(None)
            announcer.on_end(None)
    assert [record.getMessage() for record in caplog.records] == [SAID]


def test_what_numba_has_no_use_for_stays_away_and_is_there_afterwards(tmp_path: Path) -> None:
    text = """
import sys
from ldptrace.core import kernels
kernels.load()
print(*sorted({"numba", "yaml", "coverage", "importlib.metadata"} & {*sys.modules}))
from numba.core import entrypoints
import importlib.metadata
print(entrypoints.importlib_metadata.version("numba") == importlib.metadata.version("numba"))
"""
    done = subprocess.run(
        [sys.executable, "-c", text], check=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.splitlines() == ["numba", "True"]


def test_a_module_for_later_is_the_module_as_soon_as_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    later = kernels._Later("wave")
    monkeypatch.setitem(sys.modules, "wave", later)
    assert later.Error is sys.modules["wave"].Error
    assert sys.modules["wave"] is not later
