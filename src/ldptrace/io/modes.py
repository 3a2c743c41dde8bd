"""How people travelled: the transport modes of GeoLife's `labels.txt`, brought to its trajectories.

A user's labels are stretches of time with a mode: start, end and mode, divided by tabs, in GMT like the logs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats, Ints
from ldptrace.errors import FormatError
from ldptrace.io.account import naming
from ldptrace.io.text import read_bytes

LABELS = "labels.txt"
# Between the modes of a trajectory that has several.
THEN = "+"


@dataclass(frozen=True, eq=False)
class Labels:
    """Stretches of time of one user, in seconds since 1970, by their starts; `mode` numbers the `names`."""

    start: Floats
    end: Floats
    mode: Ints
    names: tuple[str, ...]

    @staticmethod
    def read(path: Path) -> Labels:
        """The labels in a file."""
        rows: list[tuple[float, float, str]] = []
        with naming(path):
            for number, line in enumerate(read_bytes(path).decode("utf-8", "replace").splitlines(), start=1):
                if number == 1 or not line.strip():
                    continue
                try:
                    start, end, mode = line.split("\t")
                    rows.append((_seconds(start), _seconds(end), mode.strip()))
                except ValueError:
                    raise FormatError(
                        f"line {number}: expected start, end and mode divided by tabs, got {line[:60]!r}"
                    ) from None
        rows.sort()
        names = tuple(sorted({mode for _, _, mode in rows}))
        starts, ends = (np.array([row[k] for row in rows], dtype=np.float64) for k in (0, 1))
        return Labels(starts, ends, np.array([names.index(row[2]) for row in rows], dtype=np.int64), names)

    def at(self, t: Floats) -> Ints:
        """Number of the mode at every time; -1 where no label says it."""
        if len(self.start) == 0:
            return np.full(len(t), -1, dtype=np.int64)
        last = np.searchsorted(self.start, t, side="right") - 1
        within = (last >= 0) & (t <= self.end[last])
        return np.where(within, self.mode[last], -1)

    def along(self, t: Floats) -> str | None:
        """The modes of a trajectory with these times, in their order; None where no label says any.

        >>> labels = Labels(np.array([0.0, 60.0]), np.array([50.0, 90.0]), np.array([1, 0]), ("bus", "walk"))
        >>> labels.along(np.array([10.0, 40.0, 55.0, 70.0])), labels.along(np.array([100.0]))
        ('walk+bus', None)
        """
        modes: NDArray[np.int64] = self.at(t)
        modes = modes[modes >= 0]
        if len(modes) == 0:
            return None
        changes = np.concatenate(([True], modes[1:] != modes[:-1]))
        return THEN.join(self.names[mode] for mode in modes[changes].tolist())


def geolife_modes(paths: Sequence[Path], offsets: Ints, t: Floats) -> list[str | None] | None:
    """The modes of each log of GeoLife; None where no user has labels."""
    known = {folder: Labels.read(folder / LABELS) for folder in _users(paths) if (folder / LABELS).is_file()}
    if not known:
        return None
    found: list[str | None] = []
    for place, path in enumerate(paths):
        labels = known.get(path.parent.parent)
        times = t[offsets[place] : offsets[place + 1]]
        found.append(None if labels is None else labels.along(times))
    return found


def _users(paths: Sequence[Path]) -> set[Path]:
    """Folders of users: those that hold the folder `Trajectory` of their logs."""
    return {path.parent.parent for path in paths if path.parent.name == "Trajectory"}


def _seconds(text: str) -> float:
    """Seconds since 1970 of a date such as 2007/06/26 11:32:29.

    >>> _seconds("1970/01/01 00:01:05")
    65.0
    """
    date = np.datetime64(text.strip().replace("/", "-").replace(" ", "T"), "s")
    if np.isnat(date):
        raise ValueError(f"no date: {text!r}")
    return float(date.astype(np.int64))
