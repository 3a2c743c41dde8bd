from __future__ import annotations

import pytest

from evaluation_data import drifting_walks
from ldptrace.errors import InputError
from ldptrace.evaluation.sets import Place, Sets, set_names

SQUARE = (0.0, 0.0, 10.0, 10.0)


@pytest.mark.parametrize(("names", "given"), [("mine", "the text 'mine'"), (["a", "b"], "2 names")])
def test_names_are_one_for_each_set(names: list[str], given: str) -> None:
    with pytest.raises(InputError, match=f"one name for each of the 1 synthetic sets, got {given}"):
        set_names(names, 1)


def test_sets_share_an_area_and_count_what_they_have() -> None:
    real, other = drifting_walks(30, 1), drifting_walks(20, 2)
    sets = Sets.of(real, [other], ["ours"], Place(4, SQUARE))
    assert sets.area.n == 4
    assert [sets.size(number) for number in range(2)] == [30, 20]
    assert sets.names == ["the real set", "the synthetic set ours"]
    with pytest.raises(InputError, match="no synthetic set"):
        Sets.of(real, [], [], Place(4, SQUARE))
