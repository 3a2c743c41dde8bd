"""The vectors of sealed reports are what the code makes, and every one of them opens or does not, as it says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ldptrace.curator.opening import CuratorKey, Opener
from ldptrace.device.sealing import Sealer
from ldptrace.errors import PlanError
from ldptrace.protocol.seals import (
    ORDER,
    PRIME,
    Schedule,
    bound_info,
    checked_point,
    label_bytes,
    sealed_bytes,
)

PROTOCOL = Path(__file__).parents[2] / "protocol"
VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (PROTOCOL / "vectors" / "v2" / "seals.json").read_text()
)


def names(vectors: list[dict[str, Any]]) -> list[str]:
    return [vector["name"] for vector in vectors]


@pytest.mark.slow
def test_the_generator_still_writes_this_file(tmp_path: Path) -> None:
    made = tmp_path / "seals.json"
    subprocess.run([sys.executable, PROTOCOL / "vectors" / "seals.py", made], check=True, timeout=120)
    assert made.read_text() == (PROTOCOL / "vectors" / "v2" / "seals.json").read_text()


@pytest.mark.parametrize("vector", VECTORS["seals"], ids=names(VECTORS["seals"]))
def test_seals(vector: dict[str, Any]) -> None:
    bound = {name: bytes.fromhex(vector[name]) for name in ("public", "info", "label", "text", "sealed")}
    key = CuratorKey.from_text(vector["secret"])
    assert key.public == bound["public"]
    opened = Opener(key, bound["info"]).open(bound["sealed"], bound["label"])
    if vector["opened"] is None:
        assert opened is None
        return
    assert opened == bound["text"]
    made = Sealer(key.public, bound["info"]).seal_with(int(vector["fresh"], 16), opened, bound["label"])
    assert made == bound["sealed"]
    assert len(made) == sealed_bytes(len(opened))
    assert made[:65].hex() == vector["fresh_public"]
    if "plan" in vector:
        assert (bound_info(vector["plan"]), label_bytes(vector["window"])) == (bound["info"], bound["label"])


@pytest.mark.parametrize("vector", VECTORS["public_keys"], ids=names(VECTORS["public_keys"]))
def test_public_keys(vector: dict[str, Any]) -> None:
    point = bytes.fromhex(vector["public"])
    if vector["valid"]:
        assert checked_point(point) == point
    else:
        with pytest.raises(PlanError, match="uncompressed point"):
            Schedule(point, b"")


def test_the_curve_is_p_256() -> None:
    """The generator has the stated order: its last multiple but one is the mirror image of itself."""
    first, last = (CuratorKey.from_text(f"{number:x}").public for number in (1, ORDER - 1))
    assert first[1:33] == last[1:33]
    assert int.from_bytes(first[33:], "big") + int.from_bytes(last[33:], "big") == PRIME
