from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

import ldptrace as lt
from evaluation_data import drifting_walks
from ldptrace.cli.crowds import Engine, bytes_of, open_sets
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.local import Files
from ldptrace.errors import InputError
from ldptrace.io.reading import Reading


@pytest.fixture
def source(tmp_path: Path) -> Path:
    lt.write(drifting_walks(50, 1), tmp_path / "walks.parquet")
    return tmp_path / "walks.parquet"


def test_what_fits_is_read_and_what_does_not_is_opened(source: Path) -> None:
    with ExitStack() as resources:
        kinds = [
            open_sets(Engine.local, source, [source], Reading(), resources, memory=memory)
            for memory in (1 << 30, 1000)
        ]
        assert [type(item) for item in (*kinds[0], *kinds[1])] == [Trajectories, Trajectories, Files, Files]


def test_memory_is_a_number() -> None:
    with pytest.raises(InputError, match="such as 512M"):
        bytes_of("--memory", "much")
