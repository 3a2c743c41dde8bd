from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from ldptrace_lab.reproduce.results import Cell, Row, from_plain, to_plain

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


def test_rows_can_be_read_back() -> None:
    rows = [
        Row.measured("a", "paper", 1.0, "x", [1.0, 3.0]),
        Row.printed("a", "LDPTrace", 1.0, "x", 2.0),
        Row.measured("a", "paper", 2.0, "x", [math.nan]),
    ]
    again = from_plain(json.loads(json.dumps(to_plain(rows))))
    assert again[:2] == rows[:2]
    assert math.isnan(again[2].mean)
