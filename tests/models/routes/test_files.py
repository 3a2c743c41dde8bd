from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ldptrace.models.base import Arrays
from ldptrace.models.routes.files import felt_restored, routes_contents, routes_restored, strides_restored
from ldptrace.models.routes.strides import STRIDES
from ldptrace.roads.library import Library
from ldptrace.roads.routes import Routes
from road_kit import scattered_roads


@pytest.fixture(scope="module")
def routes() -> Routes:
    roads = scattered_roads(crs="EPSG:25833", name="town")
    return Library(routes=50).draw(roads, np.random.default_rng(1))


def test_routes_come_back_with_the_streets_that_they_use(routes: Routes) -> None:
    again = routes_restored(*routes_contents(routes))
    assert (again.roads.name, again.roads.crs) == ("town", "EPSG:25833")
    assert again.roads.edges == len(np.unique(routes.edges)) <= routes.roads.edges
    np.testing.assert_array_equal(again.weights, routes.weights)
    np.testing.assert_array_equal(again.sizes, routes.sizes)
    for mine, theirs in zip(again.points(), routes.points(), strict=True):
        np.testing.assert_allclose(mine.x, theirs.x, atol=1e-3)
        np.testing.assert_allclose(mine.y, theirs.y, atol=1e-3)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda arrays: arrays | {"begin": arrays["begin"] - 2},
        lambda arrays: arrays | {"end": np.full_like(arrays["end"], np.nan)},
        lambda arrays: arrays | {"edges": arrays["edges"] + 10_000},
        lambda arrays: {name: value for name, value in arrays.items() if name != "weights"},
    ],
)
def test_what_was_changed_is_refused(routes: Routes, spoil: Callable[[Arrays], Arrays]) -> None:
    header, arrays = routes_contents(routes)
    with pytest.raises((ValueError, KeyError, IndexError)):
        routes_restored(header, spoil(arrays))


def strides(apart: list[float], kind: list[int], many: int) -> object:
    return strides_restored({"strides": {"apart": apart, "timed": True}}, {"stride": np.array(kind)}, many)


def test_strides_are_checked() -> None:
    fine = [1.0] * len(STRIDES)
    found = strides_restored({"strides": {"apart": fine, "timed": True}}, {"stride": np.array([0, 4])}, 2)
    assert found.kind.tolist() == [0, 4]
    assert found.timed
    for apart in ([], [0.0] * len(STRIDES), [np.inf] * len(STRIDES)):
        with pytest.raises(ValueError, match="strides must be positive"):
            strides(apart, [0], 1)
    for kind in ([0, 0], [len(STRIDES)], [-1]):
        with pytest.raises(ValueError, match="every route needs a stride"):
            strides(fine, kind, 1)


def test_felt_lengths_are_checked() -> None:
    assert felt_restored({}, 2) is None
    found = felt_restored({"felt": np.array([1.0, 2.0])}, 2)
    assert found is not None
    assert found.tolist() == [1.0, 2.0]
    for wrong in ([1.0], [1.0, 0.0], [1.0, np.nan]):
        with pytest.raises(ValueError, match="every edge needs a positive length"):
            felt_restored({"felt": np.array(wrong)}, 2)
