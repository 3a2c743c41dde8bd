from __future__ import annotations

import json
import math
from dataclasses import asdict, replace

import pytest

from ldptrace.evaluation.texts import plain
from ldptrace_lab.reproduce.results import Cell, Row

CELL = Cell("set", "paper", 1.0, 6, "metrics", 0, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"data": "x"},
        {"method": "x"},
        {"epsilon": 2.0},
        {"grid": 7},
        {"measure": "x"},
        {"repeat": 1},
        {"seed": 2},
        {"options": {"quantile": 0.5}},
        {"users": 9},
    ],
)
def test_every_setting_is_in_the_key(change: dict[str, object]) -> None:
    assert replace(CELL, **change).key != CELL.key  # type: ignore[arg-type]


def test_plain_rows_have_null_for_what_is_undefined() -> None:
    rows = [Row.printed("a", "LDPTrace", 1.0, "x", 2.0), Row.measured("a", "paper", 2.0, "x", [math.nan])]
    known, undefined = json.loads(json.dumps(plain([asdict(row) for row in rows]), allow_nan=False))
    assert Row(**known) == rows[0]
    assert undefined["mean"] is None
