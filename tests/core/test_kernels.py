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

# A program with one kernel that calls another, draws and allocates; numba loads with the first call.
PROGRAM = """
import sys
import numpy as np
from ldptrace.core import kernels
from ldptrace.core.kernels import kernel

kernels.QUIET = 0.0

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
    assert "numba" not in sys.modules
    print(inner(1.0))
    print(outer(np.arange(4.0), np.random.default_rng(1), 4))
    print(sum(outer.stats.cache_hits.values()))
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
def test_a_loop_is_compiled_once_on_a_machine_and_plain_python_prints_that(tmp_path: Path) -> None:
    first, second = run(tmp_path), run(tmp_path)
    expected = np.random.default_rng(1).random(4).sum() + 12
    assert float(first[1]) == float(second[1]) == pytest.approx(expected)
    assert first[2:] == ["0", SAID]
    assert second[2:] == ["1"]


def test_compiling_is_announced_once_it_takes_a_while(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(kernels.time, "perf_counter", lambda: now[0])
    announcer = kernels._announce.__wrapped__()
    with caplog.at_level(logging.INFO, "ldptrace"):
        for seconds in (0.1, 0.5, 1.0, 1.0):
            announcer.on_start(None)
            announcer.on_start(None)  # a kernel inside a kernel
            now[0] += seconds
            announcer.on_end(None)
            announcer.on_end(None)
    assert [record.getMessage() for record in caplog.records] == [SAID]
