"""What a deliberate fault is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """In `file`, `old` becomes `new`; `tests` must fail then (without any, the JavaScript client's own suite)."""

    name: str
    file: str
    old: str
    new: str
    tests: str = ""
