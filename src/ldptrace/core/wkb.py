"""Geometries in well-known binary: the points of lines and of points, without any other library."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

POINT, LINE, MULTI_POINT, MULTI_LINE = 1, 2, 4, 5
# Bytes of the byte order and the kind, and of a count.
_HEAD, _COUNT = 5, 4


@dataclass(frozen=True, eq=False)
class Shape:
    """One geometry: its kind, and the points of each of its parts; a further column `m` where it is `measured`.

    A kind that is neither lines nor points has no parts.
    """

    kind: int
    parts: tuple[Floats, ...]
    measured: bool = False


NOTHING = Shape(0, ())


def shape_of(blob: bytes | None) -> Shape:
    """A geometry of a file; without heights.

    >>> import struct
    >>> shape_of(struct.pack("<BIIdddd", 1, 2, 2, 0.0, 1.0, 2.0, 3.0)).parts[0].tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    return _read(memoryview(blob), 0)[0] if blob else NOTHING


def _read(blob: memoryview, at: int) -> tuple[Shape, int]:
    order = "<" if blob[at] == 1 else ">"
    code = int(np.frombuffer(blob, f"{order}u4", 1, at + 1)[0])
    # ISO encodes heights and measures as thousands, others as high bits.
    thousands = (code & 0xFFFF) // 1000
    height, measured = bool(code >> 31) or thousands in (1, 3), bool(code >> 30 & 1) or thousands in (2, 3)
    kind = (code & 0xFFFF) % 1000
    at += _HEAD + (_COUNT if code & 0x2000_0000 else 0)
    if kind == POINT:
        points, at = _points(blob, at, order, 1, (height, measured))
        # A point that is empty has no place.
        return Shape(kind, () if np.isnan(points[0, :2]).all() else (points,), measured), at
    if kind not in (LINE, MULTI_POINT, MULTI_LINE):
        return Shape(kind, ()), len(blob)
    count = int(np.frombuffer(blob, f"{order}u4", 1, at)[0])
    at += _COUNT
    if kind == LINE:
        points, at = _points(blob, at, order, count, (height, measured))
        return Shape(kind, (points,), measured), at
    parts: list[Floats] = []
    for _ in range(count):
        part, at = _read(blob, at)
        parts += part.parts
    return Shape(kind, tuple(parts), measured), at


def _points(
    blob: memoryview, at: int, order: str, count: int, further: tuple[bool, bool]
) -> tuple[Floats, int]:
    height, measured = further
    wide = 2 + height + measured
    values = np.frombuffer(blob, f"{order}f8", wide * count, at).reshape(count, wide)
    kept = [0, 1, *([wide - 1] if measured else [])]
    return values[:, kept].astype(np.float64), at + 8 * wide * count
