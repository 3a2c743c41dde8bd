"""The text of AdaTrace and of LDPTrace's published code: a line `#0:` and a line `>0:x,y;x,y;...;` each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from ldptrace.errors import FormatError
from ldptrace.io.report import Parsed, each
from ldptrace.io.text import joined, joined_lists, pairs, paste, read_bytes, strings, write_chunks
from ldptrace.trajectories import Ints, Trajectories

HEAD = re.compile(rb"^#[^\n]*\n?|^>[^:\n]*:[ ]*", re.MULTILINE)
NAME = re.compile(rb"^#\s*(-?\d{1,18})\s*:", re.MULTILINE)
LINE = re.compile(rb"#[^:]*:?\s*|>[^:]*:\s*(?:[^,;]+,[^,;]+;)*(?:[^,;]+,[^,;]+)?\s*|\s*")
EXPECTED = "expected '#<number>:' or '>0:x,y;x,y;...'"


def read_file(path: Path) -> Parsed:
    """Trajectories of a .dat file; the numbers after # are their ids."""
    data = read_bytes(path).replace(b"\r\n", b"\n").rstrip() + b"\n"
    bodies = (b"\n" + data).count(b"\n>")
    if bodies == 0:
        raise FormatError(f"line 1: {EXPECTED}, got {_shown(data)}")
    # One trajectory per line is left, without `#0:` and `>0:`.
    dense = re.sub(rb"\n\s*\n", b"\n", data) if b"\n\n" in data else data
    text = HEAD.sub(b"", dense).replace(b";\n", b"\n")
    sizes = _sizes(text)
    try:
        x, y = pairs(text.replace(b";", b"\n"))
    except pa.ArrowInvalid:
        x = y = np.empty(0)
    if len(sizes) != bodies or len(x) != sizes.sum():
        raise FormatError(_first_broken(data))
    names = NAME.findall(data)
    ids = np.array(names, dtype=np.bytes_).astype(np.int64) if len(names) == bodies else None
    return Parsed(Trajectories(x, y, np.concatenate(([0], np.cumsum(sizes))), ids=ids), bodies)


read = each(read_file)


def write(trajectories: Trajectories, path: Path, _: Mapping[str, str]) -> None:
    """Points and ids; the format has no place for times or further columns."""
    ids = np.arange(len(trajectories)) if trajectories.ids is None else trajectories.ids
    points = paste(strings(trajectories.x), ",", strings(trajectories.y), ";")
    bodies = joined_lists(trajectories.offsets, points, "")
    write_chunks(path, [joined(paste("#", strings(ids), ":\n>0:", bodies, "\n"))])


def _sizes(text: bytes) -> Ints:
    """Number of points of each line `x,y;x,y`."""
    characters = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    breaks = np.searchsorted(np.flatnonzero(characters == ord(";")), ends)
    lengths = np.diff(ends, prepend=-1) - 1
    return np.diff(breaks, prepend=0) + (lengths > 0)


def _first_broken(data: bytes) -> str:
    for number, line in enumerate(data.splitlines(), start=1):
        if not LINE.fullmatch(line) or not _has_numbers(line):
            return f"line {number}: {EXPECTED}, got {_shown(line)}"
    return f"{EXPECTED} on every line"


def _has_numbers(line: bytes) -> bool:
    if not line.startswith(b">"):
        return True
    try:
        [float(number) for number in re.split(b"[,;]", line.partition(b":")[2].strip().strip(b";")) if number]
    except ValueError:
        return False
    return True


def _shown(line: bytes) -> str:
    return repr(line[:40].decode(errors="replace"))
