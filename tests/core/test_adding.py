from __future__ import annotations

from dataclasses import dataclass

import pytest

from ldptrace.core.adding import added


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
