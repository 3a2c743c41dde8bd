from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import ldptrace
from ldptrace.core import arrays

# The map's rooms number nodes and edges in 32 bits, and say so with names of their own.
OWN = ("roads", "models/routes", "generators", "server/streets.py")


def test_no_other_room_defines_them_again() -> None:
    source = Path(ldptrace.__file__).parent
    again = re.compile(r"^(Floats|Ints|Flags) = ", re.MULTILINE)
    found = [
        path.relative_to(source).as_posix() for path in source.rglob("*.py") if again.search(path.read_text())
    ]
    assert [name for name in found if not name.startswith(OWN)] == ["core/arrays.py"]


def test_whole_numbers_have_64_bits() -> None:
    def dtype(kind: object) -> object:
        return kind.__args__[1].__args__[0]  # type: ignore[attr-defined]

    assert [dtype(kind) for kind in (arrays.Floats, arrays.Ints, arrays.Flags)] == [
        np.float64,
        np.int64,
        np.bool_,
    ]
