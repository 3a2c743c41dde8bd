from __future__ import annotations

import pytest

from ldptrace.errors import ProtocolError
from ldptrace.protocol.randomness import BytesReader, Source
from statistics_kit import assert_frequencies


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 256, 257, 1000])
def test_integers_below_a_bound_are_uniform(bound: int) -> None:
    source = Source()
    counts = [0] * bound
    for _ in range(60 * bound if bound > 100 else 20_000):
        counts[source.below(bound)] += 1
    if bound > 1:
        assert_frequencies(counts, [1 / len(counts)] * len(counts))


def test_a_bound_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Source().below(0)


def test_a_bound_of_one_reads_nothing() -> None:
    assert Source(BytesReader(b"")).below(1) == 0


def test_flags_read_the_same_bytes_as_draws() -> None:
    data = bytes(range(256)) * 8
    for limit, bound in [(3, 10), (128, 256), (1, 3), (70_000, 100_000), (0, 7), (7, 7)]:
        one, many = BytesReader(data), BytesReader(data)
        expected = [Source(one).below(bound) < limit for _ in range(50)]
        assert [bool(flag) for flag in Source(many).flags(limit, bound, 50)] == expected
        assert one.position == many.position


def test_every_place_is_as_likely_and_none_comes_twice() -> None:
    source = Source()
    counts = [0] * 6
    for _ in range(8000):
        places = source.places(6, 3)
        assert len(set(places)) == 3
        for place in places:
            counts[place] += 1
    assert_frequencies(counts, [1 / len(counts)] * len(counts))


def test_bytes_that_run_out_are_an_error() -> None:
    with pytest.raises(ProtocolError, match="ran out after 1 bytes"):
        Source(BytesReader(b"\xff")).below(10)
