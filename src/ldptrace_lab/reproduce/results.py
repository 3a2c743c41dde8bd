"""Results: what is measured in one cell, and rows of means."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from ldptrace_lab.kept import key_of

PUBLISHED, MEASURED = "published", "measured"


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
        """Two cells with the same key are the same measurement."""
        return key_of(asdict(self), self.method)


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
