"""Read and write text files, and parse pairs of numbers without a Python object per point."""

from __future__ import annotations

import codecs
import gzip
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.times import FIRST_SECOND, LAST_SECOND
from ldptrace.core.trajectories import Trajectories
from ldptrace.core.values import pc
from ldptrace.errors import InputError

BLOCK_BYTES = 1 << 25
HEAD_BYTES = 1 << 16
WESTERN = "cp1252"


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, unpacked if it is gzipped."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def read_head(path: Path) -> bytes:
    """Return the beginning of a file, unpacked if it is gzipped."""
    with pa.input_stream(path, compression="detect") as stream:
        return bytes(stream.read(HEAD_BYTES))


def encoding_of(head: bytes) -> str:
    """Guess the encoding of a text from its beginning.

    >>> encoding_of("id;x".encode("utf-16")), encoding_of(b"id;x"), encoding_of("Längengrad".encode("latin-1"))
    ('utf-16', 'utf-8', 'cp1252')
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if len(head) > 3 and head[1:4:2] == b"\0\0":
        return "utf-16-le"
    try:
        # The last character may be cut in two.
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return WESTERN
    return "utf-8"


def line_blocks(path: Path, encoding: str = "utf-8") -> Iterator[bytes]:
    """Yield the content of a file, unpacked if it is gzipped, in large blocks of complete lines. Texts of two bytes for
    each character become UTF-8."""
    rest = b""
    with pa.input_stream(path, compression="detect") as packed:
        wide = encoding.startswith("utf-16")
        stream = pa.transcoding_input_stream(packed, encoding, "utf-8") if wide else packed
        while block := stream.read(BLOCK_BYTES):
            end = block.rfind(b"\n") + 1
            if end:
                yield rest + block[:end]
                rest = b""
            rest += block[end:]
    if rest:
        yield rest


def output(path: Path) -> BinaryIO:
    """Open a file for writing, gzipped if its name ends in .gz."""
    # Arrow's own gzip took six times as long on 32 MB of CSV, for a file one hundredth smaller.
    return cast(BinaryIO, gzip.open(path, "wb", compresslevel=5)) if path.suffix == ".gz" else path.open("wb")


# Writes one more set to a file.
Write = Callable[[Trajectories], None]


@contextmanager
def text_writer(
    path: Path,
    texts: Callable[[Trajectories], pa.LargeStringArray],
    head: Callable[[Trajectories], str] = lambda _: "",
    between: str = "",
    foot: str = "",
) -> Iterator[Write]:
    """Open a new text file for sets that are written one after the other: the text of each trajectory, and the texts
    before, between and after trajectories. The head of the file comes from the first set."""
    begun = filled = False
    with output(path) as stream:

        def write(trajectories: Trajectories) -> None:
            nonlocal begun, filled
            content = joined(paste(between, texts(trajectories)))
            if not begun:
                stream.write(head(trajectories).encode())
                begun = True
            # Nothing stands between the head and the first trajectory.
            stream.write(content if filled else content[len(between.encode()) :])
            filled = filled or len(trajectories) > 0

        yield write
        stream.write(foot.encode())


def natural(path: Path) -> list[tuple[int, int | str]]:
    """Return a sort key by which 2.txt comes before 10.txt."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d+)", str(path))]


def pairs(text: bytes) -> tuple[Floats, Floats]:
    """Return the numbers of lines `x,y`. Empty lines are skipped.

    >>> pairs(b"1,2\\n\\n3.5,nan\\n")
    (array([1. , 3.5]), array([ 2., nan]))
    """
    if not text or text.isspace():
        return np.empty(0), np.empty(0)
    table = pacsv.read_csv(
        pa.py_buffer(text),
        read_options=pacsv.ReadOptions(column_names=["x", "y"], block_size=1 << 22),
        convert_options=pacsv.ConvertOptions(column_types={"x": pa.float64(), "y": pa.float64()}),
    )
    return table["x"].to_numpy(), table["y"].to_numpy()


def strings(values: Floats | Ints) -> pa.LargeStringArray:
    """Return the shortest texts that give the same numbers when they are read."""
    return pa.array(values).cast(pa.large_string())


def dates(t: Floats, format: str) -> pa.LargeStringArray:
    """Return seconds since 1970 as ISO dates in UTC, without the letter Z."""
    if len(t) and not (t.min() >= FIRST_SECOND and t.max() <= LAST_SECOND):
        raise InputError(
            f"{format} holds dates, and times from {t.min():g} to {t.max():g} are not seconds of the epoch"
        )
    micro = np.round(t * 1e6).astype(np.int64)
    whole = not np.any(micro % 1_000_000)
    times = (
        pa.array(micro // 1_000_000).cast(pa.timestamp("s"))
        if whole
        else pa.array(micro).cast(pa.timestamp("us"))
    )
    return pc.strftime(times, format="%Y-%m-%dT%H:%M:%S").cast(pa.large_string())


def paste(*pieces: str | pa.LargeStringArray) -> pa.LargeStringArray:
    """Concatenate columns of texts row by row. A single text is repeated in every row."""
    scalars = [pa.scalar(piece, pa.large_string()) if isinstance(piece, str) else piece for piece in pieces]
    return pc.binary_join_element_wise(*scalars, pa.scalar("", pa.large_string()))


def joined_lists(offsets: Ints, texts: pa.LargeStringArray, separator: str) -> pa.LargeStringArray:
    """Concatenate the texts of each list, which the offsets define."""
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), texts)
    return pc.binary_join(lists, pa.scalar(separator, pa.large_string()))


def joined(texts: pa.StringArray | pa.LargeStringArray) -> memoryview:
    """Concatenate all texts without copying them."""
    _, offsets, characters = texts.buffers()
    kind = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    ends = np.frombuffer(offsets, dtype=kind)[texts.offset : texts.offset + len(texts) + 1]
    if characters is None or len(ends) == 0:
        return memoryview(b"")
    return memoryview(characters)[ends[0] : ends[-1]]
