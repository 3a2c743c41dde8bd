from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ldptrace_lab.ngram.full.categories import Node, common_ancestor, node, tree_distances

nodes = st.lists(st.lists(st.sampled_from("abc"), max_size=4).map(tuple), min_size=1, max_size=6)


def test_paths_of_categories() -> None:
    assert node("") == ()
    assert node("/food//cafe/") == ("food", "cafe")


def test_the_root_is_above_all() -> None:
    assert common_ancestor([("a", "b"), ("c",)]) == ()
    assert common_ancestor([("a", "b"), ("a",)]) == ("a",)
    assert common_ancestor([("a", "b")]) == ("a", "b")
    assert common_ancestor([]) == ()


@given(nodes)
def test_distances_are_those_of_a_tree(some: list[Node]) -> None:
    between = tree_distances(some)
    assert np.array_equal(between, between.T)
    for i, a in enumerate(some):
        for j, b in enumerate(some):
            assert (between[i, j] == 0) == (a == b)
            # Up to the root and down again is never shorter.
            assert between[i, j] <= len(a) + len(b)
            for k in range(len(some)):
                assert between[i, j] <= between[i, k] + between[k, j]


def test_distances_by_hand() -> None:
    cafe, bar, hall = node("food/cafe"), node("food/bar"), node("study/lecture/hall")
    assert tree_distances([cafe, bar, hall, ()]).tolist() == [
        [0, 2, 5, 2],
        [2, 0, 5, 2],
        [5, 5, 0, 3],
        [2, 2, 3, 0],
    ]
