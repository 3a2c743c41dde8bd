"""The text format of AdaTrace and of the published code of LDPTrace: each trajectory has a line `#0:` and a line
`>0:x,y;x,y;...;`."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa

from ldptrace.core.arrays import Ints
from ldptrace.core.reading import Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import NothingUsable
from ldptrace.io.account import Parsed, each
from ldptrace.io.text import Layout, joined_lists, line_blocks, pairs, paste, strings

LINE = re.compile(rb"#.*|>[^:]*:\s*(?:[^,;]+,[^,;]+;)*(?:[^,;]+,[^,;]+)?\s*|\s*")
EXPECTED = "expected '#<number>:' or '>0:x,y;x,y;...'"


def read_file(path: Path, _: Reading) -> Parsed:
    """Read the trajectories of a .dat file. The numbers after # are their ids."""
    x, y = [np.empty(0)], [np.empty(0)]
    sizes, names, lines_before = [], [], 0
    for block in line_blocks(path):
        lines = block.splitlines()
        bodies = [line.partition(b":")[2].strip(b"; ") for line in lines if line.startswith(b">")]
        heads = [line[1:].strip(b": ") for line in lines if line.startswith(b"#")]
        counts = [body.count(b";") + 1 if body else 0 for body in bodies]
        try:
            block_x, block_y = pairs(b"\n".join(bodies).replace(b";", b"\n"))
        except pa.ArrowInvalid:
            block_x = block_y = np.empty(0)
        blank = sum(not line or line.isspace() for line in lines)
        if len(bodies) + len(heads) + blank != len(lines) or len(block_x) != sum(counts):
            raise NothingUsable(_first_broken(lines, lines_before))
        x.append(block_x)
        y.append(block_y)
        sizes += counts
        names += heads
        lines_before += len(lines)
    return Parsed(
        Trajectories(
            np.concatenate(x), np.concatenate(y), np.cumsum([0, *sizes]), ids=_numbers(names, len(sizes))
        ),
        len(sizes),
    )


read = each(read_file)


def _lines(trajectories: Trajectories) -> pa.LargeStringArray:
    """Return the lines of trajectories: ids and points. The format has no place for times or further columns."""
    points = paste(strings(trajectories.x), ",", strings(trajectories.y), ";")
    bodies = joined_lists(trajectories.offsets, points, "")
    return paste("#", strings(trajectories.numbers), ":\n>0:", bodies, "\n")


writer = Layout(_lines).writer


def _numbers(names: list[bytes], trajectories: int) -> Ints | None:
    """Return the ids, or None if some trajectory has no id that is a whole number."""
    if len(names) != trajectories or not all(
        name.lstrip(b"-").isdigit() and len(name) < 19 for name in names
    ):
        return None
    return np.array(names, dtype=np.bytes_).astype(np.int64)


def _first_broken(lines: list[bytes], lines_before: int) -> str:
    for number, line in enumerate(lines, start=lines_before + 1):
        if not LINE.fullmatch(line) or not _has_numbers(line):
            return f"line {number}: {EXPECTED}, got {line[:40].decode(errors='replace')!r}"
    return f"{EXPECTED} on every line"


def _has_numbers(line: bytes) -> bool:
    if not line.startswith(b">"):
        return True
    try:
        [float(number) for number in re.split(b"[,;]", line.partition(b":")[2].strip().strip(b";")) if number]
    except ValueError:
        return False
    return True
