from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from ldptrace.errors import InputError
from ldptrace_lab.reproduce.results import Cell, Row, Store, from_plain, to_plain

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


def test_results_outlive_the_process(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    Store(path).add(CELL, {"a": 1.5, "undefined": math.nan})
    again = Store(path)
    assert again[CELL]["a"] == 1.5
    assert math.isnan(again[CELL]["undefined"])
    assert again.missing([CELL, replace(CELL, repeat=1), replace(CELL, repeat=1)]) == [
        replace(CELL, repeat=1)
    ]


def test_line_that_was_cut_off_is_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    store = Store(path)
    store.add(CELL, {"a": 1.0})
    store.add(replace(CELL, repeat=1), {"a": 2.0})
    path.write_text(path.read_text()[:-20])
    again = Store(path)
    assert CELL in again
    assert replace(CELL, repeat=1) not in again
    again.add(replace(CELL, repeat=2), {"a": 3.0})
    assert Store(path)[replace(CELL, repeat=2)] == {"a": 3.0}


def test_other_files_are_not_taken_for_results(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    path.write_text('{"some": "thing"}\n')
    with pytest.raises(InputError, match="not a file of results"):
        Store(path)


def test_rows_can_be_read_back() -> None:
    rows = [
        Row.measured("a", "paper", 1.0, "x", [1.0, 3.0]),
        Row.printed("a", "LDPTrace", 1.0, "x", 2.0),
        Row.measured("a", "paper", 2.0, "x", [math.nan]),
    ]
    again = from_plain(json.loads(json.dumps(to_plain(rows))))
    assert again[:2] == rows[:2]
    assert math.isnan(again[2].mean)
