from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import InputError
from ldptrace_lab.campus.pois import Pois
from ldptrace_lab.ngram.full.regions import Knowledge, Node, Regions, common_ancestor, node, tree_distances


def town(rng: np.random.Generator, places: int = 60) -> Pois:
    kinds = ["food/cafe", "food/bar", "study/hall", "study/library", "home"]
    hours = {"food/cafe": (7.0, 19.0), "food/bar": (16.0, 27.0), "study/hall": (8.0, 20.0)}
    category = [kinds[k] for k in rng.integers(0, 5, places)]
    x, y = rng.random((2, places)) * 2000
    return Pois.build(x, y, category, hours, [str(k) for k in range(places)])


@pytest.mark.parametrize("order", [("space", "time", "category"), ("category", "time", "space")])
def test_open_places_are_in_one_region_of_enough_places(
    rng: np.random.Generator, order: tuple[str, ...]
) -> None:
    regions = Regions.build(town(rng), Knowledge(kappa=7, merge=order))
    hourly = regions.open.reshape(len(regions.pois), 24, 6).any(axis=2)
    assert np.array_equal(regions.of >= 0, hourly)
    assert np.diff(regions.members[0]).min() >= 7
    assert regions.count > 20
    for region in range(regions.count):
        places = regions.members[1][regions.members[0][region] : regions.members[0][region + 1]]
        assert set(places.tolist()) == set(np.nonzero(regions.of == region)[0].tolist())


def test_fewer_places_than_kappa_make_one_region(rng: np.random.Generator) -> None:
    regions = Regions.build(town(rng, 5), Knowledge(kappa=10))
    assert regions.count == 1
    assert regions.of.max() == 0


def test_bar_past_midnight_is_open_in_the_morning() -> None:
    bar = Pois.build(np.zeros(1), np.zeros(1), ["food/bar"], {"food/bar": (16.0, 27.0)}, ["bar"])
    open_ = Regions.build(bar, Knowledge(kappa=1)).open[0]
    assert open_[:18].all()
    assert not open_[18:96].any()
    assert open_[96:].all()
    assert bar.is_open(0, np.arange(144) * 600.0).tolist() == open_.tolist()


def test_distances_combine_space_time_and_category() -> None:
    hours = {"food/cafe": (8.0, 9.0), "study/hall": (12.0, 13.0)}
    pair = Pois.build(np.array([0.0, 3000.0]), np.zeros(2), ["food/cafe", "study/hall"], hours, ["a", "b"])
    regions = Regions.build(pair, Knowledge(kappa=1, side=2))
    assert regions.count == 2
    assert regions.distances[0, 1] == pytest.approx(np.sqrt(3**2 + 4**2 + 4**2))
    assert tree_distances([("a",), ("a", "b"), ()]).tolist() == [[0, 1, 1], [1, 0, 2], [1, 2, 0]]


def test_what_follows_is_later_and_reachable() -> None:
    """Three places; the third is eleven steps away on foot."""
    hours = {"one": (8.0, 9.0), "two": (9.0, 10.0), "far": (9.0, 10.0)}
    x = np.array([0.0, 500.0, 11_000.0])
    three = Pois.build(x, np.zeros(3), ["one", "two", "far"], hours, ["1", "2", "3"])
    regions = Regions.build(three, Knowledge(kappa=1, side=4, speed=5 / 3))
    of = regions.of.max(axis=1)
    follows = regions.follows
    assert follows[of[0], of[1]]
    assert not follows[of[1], of[0]]
    assert follows[of[0], of[2]]
    assert follows[of[0], of[0]]
    assert not follows[of[1], of[2]]


def test_visits_against_the_public_knowledge_have_a_region(rng: np.random.Generator) -> None:
    regions = Regions.build(town(rng), Knowledge(kappa=7))
    assert regions.nearest.min() >= 0
    assert np.array_equal(regions.nearest[regions.of >= 0], regions.of[regions.of >= 0])
    never = Pois.build(np.zeros(2), np.zeros(2), ["a", "b"], {"a": (8.02, 8.1)}, ["x", "y"])
    assert Regions.build(never, Knowledge(kappa=1)).nearest.min() >= 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"step": 7},
        {"interval": 50},
        {"kappa": 0},
        {"side": 0},
        {"merge": ("space",)},
        {"speed": 0.0},
        {"depth": -1},
    ],
)
def test_senseless_knowledge_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        Knowledge(**wrong)  # type: ignore[arg-type]


def test_table_without_open_places_is_refused() -> None:
    closed = Pois.build(np.zeros(1), np.zeros(1), ["a"], {"a": (8.02, 8.1)}, ["x"])
    with pytest.raises(InputError, match="ever open"):
        Regions.build(closed)
    with pytest.raises(InputError, match="empty"):
        Regions.build(Pois.build(np.zeros(0), np.zeros(0), [], {}, []))


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


def test_many_regions_of_one_node_need_little_memory() -> None:
    nodes = [("food", "cafe", "small"), ("study",)] * 500
    tracemalloc.start()
    try:
        between = tree_distances(nodes)
        assert tracemalloc.get_traced_memory()[1] < 2 * between.nbytes
    finally:
        tracemalloc.stop()


def test_distances_by_hand() -> None:
    cafe, bar, hall = node("food/cafe"), node("food/bar"), node("study/lecture/hall")
    assert tree_distances([cafe, bar, hall, ()]).tolist() == [
        [0, 2, 5, 2],
        [2, 0, 5, 2],
        [5, 5, 0, 3],
        [2, 2, 3, 0],
    ]
