from __future__ import annotations

import copy
import pickle
from typing import ClassVar

import pytest

from ldptrace.protocol.records import Record


class Base(Record):
    n: int
    kind: ClassVar[str] = "base"


class Child(Base):
    size: int = 3

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("size")


def test_fields_come_in_order_and_by_name() -> None:
    assert Child.fields == ("n", "size")
    assert Child(1) == Child(1, 3) == Child(n=1) == Child(size=3, n=1)
    assert repr(Child(1)) == "Child(n=1, size=3)"


def test_values_compare_and_hash() -> None:
    assert Child(1) != Child(2)
    assert Base(1) != Child(1)
    assert len({Child(1), Child(1), Child(2)}) == 2


@pytest.mark.parametrize(
    ("values", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"n": 1}), ((1,), {"other": 1})]
)
def test_wrong_fields_are_errors(values: tuple[int, ...], named: dict[str, int]) -> None:
    with pytest.raises(TypeError, match="Child takes"):
        Child(*values, **named)


def test_nothing_changes() -> None:
    child = Child(1)
    with pytest.raises(AttributeError, match="frozen"):
        child.n = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        del child.n
    assert child.changed(size=5) == Child(1, 5)
    assert child == Child(1)


def test_checks_run_for_changed_values_too() -> None:
    with pytest.raises(ValueError, match="size"):
        Child(1).changed(size=-1)


def test_copies_and_pickles() -> None:
    child = Child(1, 7)
    assert copy.deepcopy(child) == pickle.loads(pickle.dumps(child)) == child
