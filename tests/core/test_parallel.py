from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from ldptrace.core.parallel import added, chunks, map_chunks


@pytest.mark.parametrize(("n", "size"), [(0, 3), (1, 3), (3, 3), (10, 3)])
def test_chunks_cover_everything_once(n: int, size: int) -> None:
    assert [at for start, stop in chunks(n, size) for at in range(start, stop)] == list(range(n))


def test_results_come_in_order() -> None:
    results = map_chunks(lambda number, start, stop: (number, stop - start), 10, 4)
    assert results == [(0, 4), (1, 4), (2, 2)]


def test_an_error_in_a_chunk_is_raised() -> None:
    def work(number: int, start: int, stop: int) -> None:
        if number == 1:
            raise ValueError("second chunk")

    with pytest.raises(ValueError, match="second chunk"):
        map_chunks(work, 10, 4)


def test_after_an_error_nobody_waits_for_the_rest() -> None:
    done = []

    def work(number: int, start: int, stop: int) -> None:
        done.append(number)
        if number == 0:
            raise KeyboardInterrupt
        time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        map_chunks(work, 500, 1)
    assert len(done) < 500


@dataclass(frozen=True)
class Block:
    name: str
    points: int
    highest: float


def test_fields_are_summed_unless_they_are_joined_otherwise() -> None:
    one, other = Block("a", 2, 5.0), Block("b", 3, 4.0)
    assert added(one, other, name="both", highest=max(one.highest, other.highest)) == Block("both", 5, 5.0)
    assert added(one, other) == Block("ab", 5, 9.0)
    assert one == Block("a", 2, 5.0)


def test_a_field_that_is_not_there_is_an_error() -> None:
    with pytest.raises(TypeError, match="heigth"):
        added(Block("a", 2, 5.0), Block("b", 3, 4.0), heigth=1.0)
