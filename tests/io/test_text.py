from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import InputError
from ldptrace.io import text
from ldptrace.io.text import (
    dates,
    encoding_of,
    joined,
    joined_lists,
    line_blocks,
    natural,
    output,
    pairs,
    paste,
    read_bytes,
    read_head,
    strings,
)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_bytes_there_and_back(tmp_path: Path, name: str) -> None:
    with output(tmp_path / name) as stream:
        stream.write(b"one\n")
        stream.write(b"two\n")
    assert read_bytes(tmp_path / name) == read_head(tmp_path / name) == b"one\ntwo\n"
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b") == name.endswith("gz")


@given(st.lists(st.sampled_from([b"a", b"bc", b"\n", b"long line\n"])).map(b"".join), st.integers(1, 9))
def test_blocks_end_where_a_line_ends(content: bytes, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(text, "BLOCK_BYTES", size)
        path = Path(folder, "a.gz")
        path.write_bytes(gzip.compress(content))
        blocks = list(line_blocks(path))
    assert b"".join(blocks) == content
    assert all(block.endswith(b"\n") for block in blocks[:-1])


@given(st.text("a;ß€\U0001f600", min_size=2, max_size=20))
def test_a_text_cut_anywhere_is_still_utf8(words: str) -> None:
    encoded = f"id,{words}".encode()
    assert encoding_of(encoded[:-1]) == "utf-8"
    assert f"id,{words}".encode("utf-16").decode(encoding_of(f"id,{words}".encode("utf-16"))) == f"id,{words}"
    assert encoding_of(b"id;x".decode().encode("utf-16-le")) == "utf-16-le"


def test_files_are_in_the_order_of_their_numbers() -> None:
    names = ["10.txt", "9.txt", "b/1.txt", "a/02.txt", "a/1.txt", "1\u00b23.txt"]
    ordered = [str(path) for path in sorted(map(Path, names), key=natural)]
    assert ordered == ["1\u00b23.txt", "9.txt", "10.txt", "a/1.txt", "a/02.txt", "b/1.txt"]


@given(st.lists(st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False))))
def test_numbers_come_back_to_the_last_bit(points: list[tuple[float, float]]) -> None:
    x, y = np.array(points).reshape(-1, 2).T
    lines = paste(strings(x), ",", strings(y), "\n")
    found = pairs(bytes(joined(lines)))
    np.testing.assert_array_equal(found, (x, y))


def test_lines_that_are_no_pairs_are_refused() -> None:
    for line in (b"1,2,3\n", b"1,a\n"):
        with pytest.raises(pa.ArrowInvalid):
            pairs(line)


def test_dates_keep_microseconds_where_there_are_some() -> None:
    assert dates(np.array([0.0, 86_399.0]), "GPX").to_pylist() == [
        "1970-01-01T00:00:00",
        "1970-01-01T23:59:59",
    ]
    assert dates(np.array([0.25]), "GPX").to_pylist() == ["1970-01-01T00:00:00.250000"]
    for t in (np.nan, 1e15, -1e15):
        with pytest.raises(
            InputError, match=r"GPX holds dates, and times from .* are not seconds of the epoch"
        ):
            dates(np.array([t]), "GPX")


def test_pieces_are_put_together_row_by_row() -> None:
    words = strings(np.array([1, 2, 3]))
    assert paste("<", words, ">").to_pylist() == ["<1>", "<2>", "<3>"]
    assert joined_lists(np.array([0, 2, 2, 3]), words, ";").to_pylist() == ["1;2", "", "3"]
    assert bytes(joined(words)) == b"123"
    assert bytes(joined(words.slice(1))) == b"23"
    assert bytes(joined(pa.array([], pa.string()))) == b""
