"""The text format of AdaTrace and of the published code of LDPTrace: each trajectory has a line `#0:` and a line
`>0:x,y;x,y;...;`."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from ldptrace.core.reading import Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import NothingUsable
from ldptrace.io.account import Parsed, each
from ldptrace.io.text import joined_lists, line_blocks, pairs, paste, strings, text_writer

NUMBER = rb"\s*[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|(?i:nan|inf|infinity))\s*"
POINT = NUMBER + b"," + NUMBER
LINE = re.compile(rb"#.*|>[^:]*:\s*(?:(?:" + POINT + b";)*(?:" + POINT + rb")?)\s*|\s*")
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
            for number, line in enumerate(lines, start=lines_before + 1):
                if not LINE.fullmatch(line):
                    shown = line[:40].decode(errors="replace")
                    raise NothingUsable(f"line {number}: {EXPECTED}, got {shown!r}")
            raise NothingUsable(f"{EXPECTED} on every line")
        x.append(block_x)
        y.append(block_y)
        sizes += counts
        names += heads
        lines_before += len(lines)
    # Ids are all whole numbers, or there are none.
    whole = len(names) == len(sizes) and all(name.lstrip(b"-").isdigit() and len(name) < 19 for name in names)
    ids = np.array(names, dtype=np.bytes_).astype(np.int64) if whole else None
    return Parsed(
        Trajectories(np.concatenate(x), np.concatenate(y), np.cumsum([0, *sizes]), ids=ids), len(sizes)
    )


read = each(read_file)


def _lines(trajectories: Trajectories) -> pa.LargeStringArray:
    """Return the lines of trajectories: ids and points. The format has no place for times or further columns."""
    points = paste(strings(trajectories.x), ",", strings(trajectories.y), ";")
    bodies = joined_lists(trajectories.offsets, points, "")
    return paste("#", strings(trajectories.numbers), ":\n>0:", bodies, "\n")


writer = partial(text_writer, texts=_lines)
