"""Small road networks that the tests write for themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write_tables(tmp_path: Path) -> Callable[[str, str], Path]:
    """A function that writes the text of nodes.csv and edges.csv and gives their folder."""

    def write(nodes: str, edges: str) -> Path:
        folder = tmp_path / "net"
        folder.mkdir(exist_ok=True)
        (folder / "nodes.csv").write_text(nodes)
        (folder / "edges.csv").write_text(edges)
        return folder

    return write
