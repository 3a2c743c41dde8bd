"""Rows of results: one mean with its spread, of one method on one data set, at one place of the axis."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

PUBLISHED, MEASURED = "published", "measured"


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
        """A value that the paper prints."""
        return Row(PUBLISHED, data, method, x, metric, value)

    @staticmethod
    def measured(data: str, method: str, x: float, metric: str, values: Sequence[float]) -> Row:
        """Mean and spread of the repeats; NaN among them is kept, it means that something is undefined.

        >>> Row.measured("a", "b", 1.0, "c", [1.0, 3.0]).std
        1.4142135623730951
        """
        std = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return Row(MEASURED, data, method, x, metric, float(np.mean(values)), std, len(values))


def to_csv(rows: Sequence[Row], axis: str) -> str:
    """A table for spreadsheets; the column of the axis has its name."""
    text = io.StringIO()
    names = [field.name for field in fields(Row)]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([(axis or "x") if name == "x" else name for name in names])
    for row in rows:
        writer.writerow(["" if value is None else value for value in asdict(row).values()])
    return text.getvalue()


def to_plain(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For JSON: what is not a number is null."""
    return [
        {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in asdict(row).items()
        }
        for row in rows
    ]
