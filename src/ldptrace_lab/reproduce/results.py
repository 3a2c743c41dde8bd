"""Results: measured cells, kept on disk so that a run that was stopped goes on where it stopped, and rows of means."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace import __version__
from ldptrace.errors import InputError
from ldptrace_lab.plugged import fingerprint

PUBLISHED, MEASURED = "published", "measured"
FORMAT = "ldptrace-cell"
VERSION = 1


@dataclass(frozen=True)
class Cell:
    """One measurement: which data, which method with which settings, what is measured, which repeat.

    `data` identifies the data themselves (`DataSet.key`), `measure` is one of `metrics`, `queries`, `attacks`,
    `seconds`.
    """

    data: str
    method: str
    epsilon: float
    grid: int
    measure: str
    repeat: int
    seed: int
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    # Take this many of the trajectories, all if None.
    users: int | None = None

    @property
    def key(self) -> str:
        """Hash of all of it: two cells with the same key are the same measurement.

        >>> Cell("x", "paper", 1.0, 6, "metrics", 0, 1).key == Cell("x", "paper", 1.0, 6, "metrics", 0, 1).key
        True
        """
        made_by: dict[str, Any] = {"version": VERSION, "ldptrace": __version__}
        if (code := fingerprint(self.method)) is not None:
            made_by["code"] = code
        text = json.dumps(asdict(self) | made_by, sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


class Store:
    """Values of cells in a file of JSON lines; each line is written whole before the next cell begins."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._values: dict[str, dict[str, float]] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._remember(line)

    def _remember(self, line: str) -> None:
        try:
            record = json.loads(line)
        except ValueError:
            return  # the end of a run that was stopped while it wrote
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise InputError(f"{self.path} is not a file of results; choose another folder")
        if record.get("version") == VERSION:
            self._values[record["key"]] = {
                name: math.nan if value is None else value for name, value in record["values"].items()
            }

    def __contains__(self, cell: Cell) -> bool:
        return cell.key in self._values

    def __getitem__(self, cell: Cell) -> dict[str, float]:
        return self._values[cell.key]

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells that are not measured yet, each once."""
        return list({cell.key: cell for cell in cells if cell not in self}.values())

    def add(self, cell: Cell, values: dict[str, float]) -> None:
        """Keep the values of a cell, on disk too."""
        record = {
            "format": FORMAT,
            "version": VERSION,
            "key": cell.key,
            "cell": asdict(cell),
            "values": {name: None if math.isnan(value) else value for name, value in values.items()},
        }
        with self.path.open("a", encoding="utf-8") as file:
            # A line cut off by an interruption must not swallow this one.
            prefix = "\n" if file.tell() and not _ends_line(self.path) else ""
            file.write(prefix + json.dumps(record, sort_keys=True, allow_nan=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._values[cell.key] = values


def _ends_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


@dataclass(frozen=True)
class Row:
    """`std` is the standard deviation over the repeats; a published value has none."""

    source: str
    data: str
    method: str
    x: float
    metric: str
    mean: float
    std: float | None = None
    repeats: int | None = None

    @staticmethod
    def printed(data: str, method: str, x: float, metric: str, value: float) -> Row:
        """Return a value that the paper prints."""
        return Row(PUBLISHED, data, method, x, metric, value)

    @staticmethod
    def measured(data: str, method: str, x: float, metric: str, values: Sequence[float]) -> Row:
        """Return the mean and spread of the repeats; a NaN among them gives NaN, because the metric is undefined.

        >>> Row.measured("a", "b", 1.0, "c", [1.0, 3.0]).std
        1.4142135623730951
        """
        std = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return Row(MEASURED, data, method, x, metric, float(np.mean(values)), std, len(values))


def to_csv(rows: Sequence[Row], axis: str) -> str:
    """Return a table for spreadsheets; the column of the axis has its name."""
    text = io.StringIO()
    names = [field.name for field in fields(Row)]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([(axis or "x") if name == "x" else name for name in names])
    for row in rows:
        writer.writerow(["" if value is None else value for value in asdict(row).values()])
    return text.getvalue()


def to_plain(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return a value for JSON: what is not a number is null."""
    return [
        {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in asdict(row).items()
        }
        for row in rows
    ]


def from_plain(records: Sequence[dict[str, Any]]) -> list[Row]:
    """Return the rows that `to_plain` wrote.

    >>> from_plain(to_plain([Row.printed("a", "b", 1.0, "c", 2.0)]))[0].mean
    2.0
    """
    return [Row(**record | {"mean": _number(record["mean"])}) for record in records]


def _number(value: float | None) -> float:
    return math.nan if value is None else value
