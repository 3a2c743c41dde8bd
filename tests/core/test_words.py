from __future__ import annotations

from ldptrace.core.words import by_reason, count, total


def test_counts_by_reason() -> None:
    assert total([{"a": 1, "b": 0}, {"a": 2, "c": 1}]) == {"a": 3, "c": 1}
    assert by_reason({"infinite": 7}) == "infinite"
    assert by_reason({"infinite": 7, "empty": 1200}) == "7 infinite, 1,200 empty"


def test_one_and_many() -> None:
    assert [count(number, "city") for number in (0, 1, 2000)] == ["0 cities", "1 city", "2,000 cities"]
    assert (count(1, "point"), count(2, "stray")) == ("1 point", "2 strays")
