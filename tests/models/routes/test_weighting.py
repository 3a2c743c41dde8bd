"""Expected answers of weighted routes, and their derivatives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.core.paths import CellPaths
from ldptrace.models.fit import Fit, fit_potentials
from ldptrace.models.observation import Observation
from ldptrace.models.path.components import components
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout
from ldptrace.models.prior import Prior
from ldptrace.models.routes.answers import PathTables
from ldptrace.models.routes.ends import MARKS, Ends, places_of
from ldptrace.models.routes.strides import STRIDES, Strides
from ldptrace.models.routes.weighting import OMITTED, Weighting, route_prior
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import move_count
from ldptrace.roads.library import Library
from road_kit import lattice_roads

CAPACITIES = {
    "length": 1,
    "start": 1,
    "end": 1,
    "terminals": 2,
    "visits": 3,
    "moves": 3,
    "links": 2,
    "turns": 1,
    "pairs": 1,
}
DISTRICTS = 2
LENGTHS, PLACES = 6, 16


# On the second grid moves are features of blocks of 2 x 2 cells.
@pytest.fixture(params=[3, 12])
def drawn(
    rng: np.random.Generator, request: pytest.FixtureRequest
) -> tuple[Weighting, np.ndarray, CellPaths, np.ndarray]:
    paths = random_paths(300, Grid((0, 0, 1, 1), request.param), rng, longest=7)
    paths = paths.take(paths.sizes > 0)
    kinds = rng.integers(0, len(STRIDES), len(paths)).astype(np.int8)
    weights = rng.random(len(paths))
    weights /= weights.sum()
    pairs = DISTRICTS**4
    seen = [Observation(name, most, 1, np.zeros(pairs), np.ones(pairs)) for name, most in CAPACITIES.items()]
    marks = np.hstack(
        [rng.integers(0, PLACES, (len(paths), 2)), PLACES + rng.integers(0, MARKS, (len(paths), 4))]
    )
    ends = Ends(marks.astype(np.int32), rng.normal(size=PLACES))
    weighting = Weighting.of(paths, kinds, ends, weights, LENGTHS, seen)
    return weighting.moved(rng.normal(0, 0.5, len(weighting.potentials))), weights, paths, kinds


def test_groups_weigh_as_their_routes_would_alone(
    drawn: tuple[Weighting, np.ndarray, CellPaths, np.ndarray],
) -> None:
    weighting, weights, paths, kinds = drawn
    built = PathTables(paths, LENGTHS, DISTRICTS)
    stride = np.eye(len(STRIDES))[kinds]
    marks = np.eye(PLACES + MARKS)[weighting.marks[np.argsort(weighting.order)]].sum(axis=1)
    features = [built.features.toarray()]
    if paths.grid.n == 12:
        wide, starts = PathTables(paths.coarser(2), LENGTHS), np.eye(144)[paths.starts()]
        ways, shapes = slice(wide.layout.turn.start), slice(built.layout.turn.start, None)
        both = wide.features.toarray()[:, ways], built.features.toarray()[:, shapes]
        features = [*both, built.passed.toarray(), starts]
    exponents = np.hstack([*features, stride, built.pairs.toarray(), marks]) @ weighting.potentials
    alone = weights * np.exp(exponents)
    alone /= alone.sum()
    np.testing.assert_allclose(weighting.weights, alone)
    for name, answer in weighting.answers(CAPACITIES).items():
        np.testing.assert_allclose(answer, built.answers(name, CAPACITIES[name]).T @ alone, atol=1e-12)


def test_derivatives_agree_with_finite_differences(
    drawn: tuple[Weighting, np.ndarray, CellPaths, np.ndarray], rng: np.random.Generator
) -> None:
    weighting = drawn[0]
    rows, left = weighting.jacobian(CAPACITIES)
    for _ in range(5):
        step = rng.normal(0, 1e-5, len(weighting.potentials))
        up, down = weighting.moved(step).answers(CAPACITIES), weighting.moved(-step).answers(CAPACITIES)
        for name in CAPACITIES:
            np.testing.assert_allclose(rows[name] @ step, (up[name] - down[name]) / 2, atol=1e-12, rtol=1e-5)
            assert np.all(left[name] == 1)


@pytest.mark.slow
def test_chance_is_what_other_routes_of_the_same_law_would_change(rng: np.random.Generator) -> None:
    """Libraries of 400 equally likely routes, drawn again and again: their answers vary as `chance` says."""
    grid = Grid((0, 0, 1, 1), 3)
    crowd = random_paths(3000, grid, rng, longest=7)
    crowd = crowd.take(crowd.sizes > 0)
    seen = [Observation("visits", 3, 1, np.zeros(1), np.ones(1))]

    def answers() -> tuple[np.ndarray, np.ndarray, float]:
        paths = crowd.take(rng.integers(0, len(crowd), 400))
        nowhere = Ends(np.zeros((400, 5), dtype=np.int32), np.zeros(PLACES))
        weights = np.full(400, 1 / 400)
        weighting = Weighting.of(paths, np.zeros(400, dtype=np.int8), nowhere, weights, LENGTHS, seen)
        return weighting.answers({"visits": 3})["visits"], *weighting.chance("visits")

    drawn = [answers() for _ in range(300)]
    means = np.array([one[0] for one in drawn])
    said = np.mean([one[1] for one in drawn], axis=0)
    # The variance of 300 draws is within 40 % of the true one: five standard deviations of its own.
    np.testing.assert_allclose(means.var(axis=0), said, rtol=0.4)
    np.testing.assert_allclose(means.sum(axis=1).var(), np.mean([one[2] for one in drawn]), rtol=0.4)


def test_variances_grow_by_the_chance_of_the_library(
    drawn: tuple[Weighting, np.ndarray, CellPaths, np.ndarray],
) -> None:
    weighting = drawn[0]
    cells = drawn[2].grid.cells
    seen = [Observation("visits", 3, 7, np.zeros(cells), np.full(cells, 0.5), total=(2.0, 0.25))]
    (allowed,) = weighting.allowed_for(seen)
    items, total = weighting.chance("visits")
    np.testing.assert_allclose(allowed.variances, 0.5 + items)
    assert allowed.total == (2.0, 0.25 + total)
    assert total > 0
    passed = weighting.answers({"visits": 3})["visits"] > 0
    assert items[passed].min() > 0
    assert not items[~passed].any()


@pytest.mark.parametrize(("n", "joined", "districts"), [(3, 1, 0), (3, 1, 2), (12, 2, 3)])
def test_the_prior_covers_every_potential(n: int, joined: int, districts: int) -> None:
    grid, broad = Grid((0, 0, 1, 1), n), n // joined
    places = places_of(grid).cells
    prior = route_prior(grid, LENGTHS, np.zeros(places), districts=districts)
    layout, single = Layout(broad**2, move_count(broad), LENGTHS), 2 * n * n if joined > 1 else 0
    assert prior.size == layout.size + single + len(STRIDES) + districts**4 + places + MARKS
    root = prior.root(np.array([part.variance for part in prior.components]))
    assert np.isfinite(root.pull(np.ones(prior.size))).all()
    names = [part.name for part in prior.components]
    assert names[-10 if districts else -7] == "stride"
    assert ("pairs" in names) == (districts > 0)


def test_streets_are_believed_before_any_answer() -> None:
    """What the path model knows nothing of begins small here, and how large it is, is learned."""
    grid = Grid((0, 0, 1, 1), 3)
    ours = route_prior(grid, LENGTHS, np.zeros(places_of(grid).cells)).components
    theirs = components(MoveGraph(grid), Layout(9, move_count(3), LENGTHS))
    kept = [part for part in theirs if part.name not in OMITTED]
    assert len(kept) == len(theirs) - len(OMITTED)
    for mine, part in zip(ours, kept, strict=False):
        assert mine.name == part.name
        assert mine.variance < part.variance
    assert {part.name for part in ours if part.fixed} == {
        "stride",
        "distance, trend",
        "ends by kind of street",
        "ends by street density",
    }


def blank(grid: Grid, domains: dict[str, int]) -> tuple[Weighting, Ends, list[Observation]]:
    """Routes of a small town with their public weights, and the questions, without any answer."""
    rng = np.random.default_rng(7)
    routes = Library(routes=4000).draw(lattice_roads(20), rng)
    ends, strides = Ends.of(routes, grid), Strides.drawn(routes, grid, rng)
    seen = [
        Observation(name, CAPACITIES[name], 1, np.zeros(many), np.ones(many))
        for name, many in domains.items()
    ]
    weights = strides.weighted(routes.weights)
    return (
        Weighting.of(strides.cells(routes, grid), strides.kind, ends, weights, LENGTHS, seen),
        ends,
        seen,
    )


def exactly(
    weighting: Weighting, seen: list[Observation], exact: dict[str, np.ndarray], prior: Prior, error: float
) -> Fit[Weighting]:
    """A fit to answers without noise that are believed to have this standard error."""
    answered = [
        replace(one, frequencies=exact[one.name], variances=np.full(len(exact[one.name]), error**2))
        for one in seen
    ]
    fit = fit_potentials(weighting, prior, answered)
    assert max(float(np.abs(fit.expected[name] - exact[name]).max()) for name in exact) < 2 * error
    return fit


@pytest.mark.slow
def test_exact_answers_of_a_known_model_give_it_back() -> None:
    """The smaller the noise, the nearer is the fit to the model that answered: the weights of cell paths."""
    grid, pairs = Grid((0, 0, 1900, 1900), 3), 81
    domains = {"length": LENGTHS, "start": 9, "end": 9, "terminals": 9, "visits": 9, "moves": 40, "links": 20}
    map_alone, ends, seen = blank(grid, domains | {"turns": 4, "pairs": pairs})
    known = np.random.default_rng(8).normal(0, 0.4, len(map_alone.potentials))
    # Where within cells trips begin and end, and the distance between fixes, answers about cells tell only in part.
    ends_at = len(known) - map_alone.places - MARKS
    known[ends_at:] = known[ends_at - pairs - len(STRIDES) : ends_at - pairs] = 0.0
    truth = map_alone.moved(known)
    exact, prior = truth.answers(CAPACITIES), route_prior(grid, LENGTHS, ends.density, districts=3)
    apart = [float(np.abs(map_alone.shares - truth.shares).sum())]
    for error in (1e-3, 1e-4, 1e-5):
        fit = exactly(map_alone, seen, exact, prior, error)
        apart.append(float(np.abs(fit.model.shares - truth.shares).sum()))
    assert apart == sorted(apart, reverse=True)
    assert apart[0] > 0.5
    assert apart[-1] < 0.05


@pytest.mark.slow
def test_fine_cells_have_starts_and_turns_of_their_own() -> None:
    """What is true of single cells, not of blocks of them, is learned: in some more trips begin than end."""
    grid = Grid((0, 0, 1900, 1900), 12)
    domains = {"start": 144, "end": 144, "turns": 4}
    map_alone, ends, seen = blank(grid, domains)
    exact = {name: answers.copy() for name, answers in map_alone.answers(dict.fromkeys(domains, 1)).items()}
    exact["start"] *= np.exp(np.random.default_rng(8).normal(0, 0.7, 144))
    exact["start"] /= exact["start"].sum()
    exact["turns"][3] *= 2
    exactly(map_alone, seen, exact, route_prior(grid, LENGTHS, ends.density), 5e-4)
