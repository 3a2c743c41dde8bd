from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core import ragged

SIZES = st.lists(st.integers(0, 4), max_size=8)


@given(SIZES, st.data())
def test_everything_is_what_a_list_of_lists_says(sizes: list[int], data: st.DataObject) -> None:
    offsets = ragged.offsets_of(sizes)
    values = list(range(sum(sizes)))
    lists = [values[a:b] for a, b in pairwise(offsets)]
    assert [len(one) for one in lists] == sizes
    assert ragged.owners(offsets).tolist() == [k for k, one in enumerate(lists) for _ in one]
    assert ragged.places(offsets).tolist() == [k for one in lists for k in range(len(one))]
    assert ragged.first_values(offsets).tolist() == [k == 0 for one in lists for k in range(len(one))]
    assert ragged.inner_steps(offsets).sum() == sum(max(0, len(one) - 1) for one in lists)

    picked = data.draw(st.lists(st.integers(0, len(sizes) - 1), max_size=6) if sizes else st.just([]))
    new, source = ragged.taken(offsets, np.array(picked, dtype=np.int64))
    assert source.tolist() == [value for k in picked for value in lists[k]]
    assert np.diff(new).tolist() == [sizes[k] for k in picked]

    mask = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))), dtype=np.bool_
    )
    assert np.diff(ragged.kept(offsets, mask)).tolist() == [int(mask[one].sum()) for one in lists]
    assert ragged.holders(offsets, mask).tolist() == [bool(mask[one].any()) for one in lists]


def test_nothing_has_offsets_too() -> None:
    assert ragged.offsets_of([]).tolist() == [0]
    assert ragged.offsets_of(np.array([True, False])).dtype == np.int64
    offsets, values = ragged.ranges(np.array([7, 0, 2]), np.array([2, 0, 1]))
    assert (offsets.tolist(), values.tolist()) == ([0, 2, 2, 3], [7, 8, 2])
