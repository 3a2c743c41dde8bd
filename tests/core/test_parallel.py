from __future__ import annotations

import time

import pytest

from ldptrace.core.parallel import chunks, map_chunks


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
