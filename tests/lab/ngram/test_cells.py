from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, sparse

from ldptrace.core.paths import CellPaths
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace_lab.ngram.cells import LONGEST_DISTANCE, Ngram, draw_grams, reconstruct
from statistics_kit import assert_frequencies, assert_proportions

Ints = NDArray[np.int64]


def pair_distance(ngram: Ngram, a: int, b: int) -> int:
    n = ngram.grid.n
    return int(ngram.distances[abs(a // n - b // n), abs(a % n - b % n)])


def adjacent(a: int, b: int, n: int, stay: bool) -> bool:
    return max(abs(a // n - b // n), abs(a % n - b % n)) <= 1 and (stay or a != b)


def test_fine_grids_need_little_memory() -> None:
    ngram = Ngram(Grid((0, 0, 1, 1), 64), 1.0)
    tracemalloc.start()
    try:
        assert ngram.near.shape == (4096, 9)
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


def grams(ngram: Ngram, length: int) -> list[tuple[int, ...]]:
    """All feasible grams of a length, listed."""
    cells, n = range(ngram.grid.cells), ngram.grid.n
    return [
        gram
        for gram in itertools.product(cells, repeat=length)
        if all(adjacent(a, b, n, ngram.stay) for a, b in itertools.pairwise(gram))
    ]


def exact_probabilities(ngram: Ngram, true: tuple[int, ...], epsilon: float) -> NDArray[np.float64]:
    """The exponential mechanism by its definition."""
    scores = [
        sum(pair_distance(ngram, a, b) for a, b in zip(true, gram, strict=True))
        for gram in grams(ngram, len(true))
    ]
    weights = np.exp(-epsilon * np.array(scores) / (2 * len(true) * LONGEST_DISTANCE))
    return np.asarray(weights / weights.sum())


def drawn_cells(ngram: Ngram, path: list[int], times: int, rng: np.random.Generator) -> Ints:
    """Draws of many users with one path: [user, position, draw]."""
    paths = CellPaths.from_lists([path] * times, ngram.grid)
    drawn = np.full((len(paths.cells), ngram.order), -1, dtype=np.int32)
    draw_grams(paths.cells, paths.offsets, ngram.distances, ngram.near, ngram.epsilon, rng, drawn)
    return drawn.reshape(times, len(path), ngram.order).astype(np.int64)


def counted(ngram: Ngram, draws: Ints) -> Ints:
    """How often each feasible gram occurs among the rows."""
    numbers = {gram: number for number, gram in enumerate(grams(ngram, draws.shape[1]))}
    return np.bincount([numbers[tuple(row)] for row in draws.tolist()], minlength=len(numbers))


@pytest.mark.slow
@pytest.mark.parametrize("stay", [True, False])
def test_draws_follow_the_exponential_mechanism(rng: np.random.Generator, stay: bool) -> None:
    """A large budget, so that the frequencies differ; three tests of false-alarm probability 1e-6 each."""
    ngram = Ngram(Grid((0, 0, 4, 3), 3), epsilon=60.0, stay=stay)
    draws = drawn_cells(ngram, [0, 4], 60_000, rng)
    each = 60.0 / 3
    assert_frequencies(counted(ngram, draws[:, [0], 1]), exact_probabilities(ngram, (0,), each))
    bigrams = np.stack([draws[:, 0, 0], draws[:, 1, 1]], axis=1)
    assert_frequencies(counted(ngram, bigrams), exact_probabilities(ngram, (0, 4), each))
    assert_frequencies(counted(ngram, draws[:, [1], 0]), exact_probabilities(ngram, (4,), each))


def test_trigrams_follow_the_exponential_mechanism(rng: np.random.Generator) -> None:
    ngram = Ngram(Grid((0, 0, 2, 2), 2), epsilon=40.0, order=3, stay=False)
    draws = drawn_cells(ngram, [0, 1, 3], 40_000, rng)
    trigrams = np.stack([draws[:, p, p] for p in range(3)], axis=1)
    assert_frequencies(counted(ngram, trigrams), exact_probabilities(ngram, (0, 1, 3), 40.0 / 5))


def test_every_cell_is_drawn_as_often_as_the_order_says(rng: np.random.Generator) -> None:
    for order, size in itertools.product((1, 2, 3, 5), (1, 2, 4)):
        draws = drawn_cells(Ngram(Grid((0, 0, 3, 3), 3), 1.0, order=order), [0, 1, 2, 5][:size], 3, rng)
        assert np.all((draws >= 0) & (draws < 9))


def test_one_draw_keeps_its_share_of_epsilon() -> None:
    """Largest ratio of the exact probabilities over all pairs of inputs."""
    ngram = Ngram(Grid((0, 0, 3, 3), 3), epsilon=1.0)
    every = np.array([exact_probabilities(ngram, gram, 1.0) for gram in grams(ngram, 2)])
    assert np.log(every.max(axis=0) / every.min(axis=0)).max() <= 1.0 + 1e-12


def costs(ngram: Ngram, draws: Ints) -> Ints:
    """Cost of each cell at each position, inner positions twice."""
    n, size = ngram.grid.n, len(draws)
    table = ngram.distances
    cells = np.arange(ngram.grid.cells)
    cost = np.zeros((size, ngram.grid.cells), dtype=np.int64)
    for p, row in enumerate(draws):
        for z in row:
            cost[p] += table[np.abs(cells // n - z // n), np.abs(cells % n - z % n)]
        if 0 < p < size - 1:
            cost[p] *= 2
    return cost


def allowed(ngram: Ngram, draws: Ints) -> list[int]:
    """Cells in the bounding box of the draws."""
    n = ngram.grid.n
    i, j = draws // n, draws % n
    return [c for c in range(n * n) if i.min() <= c // n <= i.max() and j.min() <= c % n <= j.max()]


def brute_force(ngram: Ngram, draws: Ints) -> tuple[int, set[tuple[int, ...]]]:
    """The least cost and all paths that have it."""
    n, cost = ngram.grid.n, costs(ngram, draws)
    best: dict[int, set[tuple[int, ...]]] = {}
    for path in itertools.product(allowed(ngram, draws), repeat=len(draws)):
        if all(adjacent(a, b, n, ngram.stay) for a, b in itertools.pairwise(path)):
            best.setdefault(int(sum(cost[p, c] for p, c in enumerate(path))), set()).add(path)
    least = min(best)
    return least, best[least]


def integer_program(ngram: Ngram, draws: Ints) -> float:
    """The reconstruction as the literature states it: a binary variable for each bigram and position."""
    n, size = ngram.grid.n, len(draws)
    single = costs(ngram, draws).astype(float)
    single[1:-1] /= 2
    pairs = [
        (a, b) for a in allowed(ngram, draws) for b in allowed(ngram, draws) if adjacent(a, b, n, ngram.stay)
    ]
    error = [single[i, a] + single[i + 1, b] for i in range(size - 1) for a, b in pairs]
    rows, columns, values = [], [], []
    for i in range(size - 1):
        for w in range(len(pairs)):
            rows.append(i), columns.append(i * len(pairs) + w), values.append(1.0)
    constraint = size - 1
    for i in range(size - 2):
        for cell in allowed(ngram, draws):
            for w, (a, b) in enumerate(pairs):
                if b == cell:
                    rows.append(constraint), columns.append(i * len(pairs) + w), values.append(1.0)
                if a == cell:
                    rows.append(constraint), columns.append((i + 1) * len(pairs) + w), values.append(-1.0)
            constraint += 1
    right = np.concatenate([np.ones(size - 1), np.zeros(constraint - size + 1)])
    matrix = sparse.csr_array((values, (rows, columns)), shape=(constraint, len(error)))
    scale = float(LONGEST_DISTANCE)
    solved = optimize.milp(
        np.array(error) / scale,
        constraints=optimize.LinearConstraint(matrix, right, right),
        integrality=np.ones(len(error)),
        bounds=optimize.Bounds(0, 1),
    )
    assert solved.success
    return float(solved.fun)


def rebuilt(ngram: Ngram, draws: Ints, rng: np.random.Generator, times: int = 1) -> Ints:
    size = len(draws)
    cells = np.empty(times * size, dtype=np.int32)
    offsets = np.arange(times + 1, dtype=np.int64) * size
    everything = np.tile(draws, (times, 1)).astype(np.int32)
    reconstruct(everything, offsets, ngram.distances, ngram.near, rng, cells)
    return cells.reshape(times, size).astype(np.int64)


@pytest.mark.slow
@pytest.mark.parametrize("stay", [True, False])
def test_reconstruction_is_one_of_the_best_paths(rng: np.random.Generator, stay: bool) -> None:
    ngram = Ngram(Grid((0, 0, 5, 3), 3), 1.0, stay=stay)
    for size in (1, 2, 3, 4):
        for _ in range(12):
            draws = rng.integers(0, 9, size=(size, 2))
            if len(allowed(ngram, draws)) > 1:
                _, best = brute_force(ngram, draws)
                assert tuple(rebuilt(ngram, draws, rng)[0]) in best


@pytest.mark.slow
@pytest.mark.parametrize("stay", [True, False])
def test_reconstruction_equals_the_integer_program(rng: np.random.Generator, stay: bool) -> None:
    """An independent solver on cases that listing all paths would not finish."""
    ngram = Ngram(Grid((0, 0, 1, 1), 5), 1.0, stay=stay)
    for size in (2, 5, 8):
        draws = rng.integers(0, 25, size=(size, 2))
        path = rebuilt(ngram, draws, rng)[0]
        cost = sum(costs(ngram, draws)[p, c] for p, c in enumerate(path)) / LONGEST_DISTANCE
        assert cost == pytest.approx(integer_program(ngram, draws), abs=1e-7)


def test_ties_are_broken_uniformly(rng: np.random.Generator) -> None:
    ngram = Ngram(Grid((0, 0, 3, 3), 3), 1.0)
    draws = np.array([[0, 8], [0, 8], [2, 6]])
    _, best = brute_force(ngram, draws)
    assert len(best) > 3
    found = [tuple(path) for path in rebuilt(ngram, draws, rng, times=20_000).tolist()]
    assert set(found) == best
    assert_proportions([found.count(path) for path in sorted(best)], 20_000, 1 / len(best))


def test_box_of_one_cell_grows_when_staying_is_not_allowed(rng: np.random.Generator) -> None:
    path = rebuilt(Ngram(Grid((0, 0, 3, 3), 3), 1.0, stay=False), np.full((4, 2), 8), rng)[0]
    assert all(adjacent(a, b, 3, stay=False) for a, b in itertools.pairwise(path.tolist()))


def test_large_budget_returns_the_path(paths: CellPaths, rng: np.random.Generator) -> None:
    published = Ngram(paths.grid, 1e6, stay=False).perturb(paths, rng)
    assert np.array_equal(published.cells, paths.cells)
    assert np.array_equal(published.offsets, paths.offsets)


def test_small_budget_forgets_the_place(rng: np.random.Generator) -> None:
    grid = Grid((0, 0, 2, 2), 2)
    published = Ngram(grid, 1e-9).perturb(CellPaths.from_lists([[0]] * 20_000, grid), rng)
    assert_proportions(np.bincount(published.cells, minlength=4), 20_000, 0.25)


def test_output_is_made_of_paths(paths: CellPaths, rng: np.random.Generator) -> None:
    for ngram in (Ngram(paths.grid, 1.0), Ngram(paths.grid, 1.0, hide_length=True)):
        published = ngram.perturb(paths, rng)
        assert len(published) == len(paths)
        for k in range(len(published)):
            cells = published.cells[published.offsets[k] : published.offsets[k + 1]].tolist()
            assert all(adjacent(a, b, paths.grid.n, stay=False) for a, b in itertools.pairwise(cells))


def test_length_stays_public_unless_hidden(paths: CellPaths, rng: np.random.Generator) -> None:
    assert np.array_equal(Ngram(paths.grid, 1.0, stay=False).perturb(paths, rng).sizes, paths.sizes)
    assert Ngram(paths.grid, 1.0, hide_length=True).perturb(paths, rng).sizes.min() >= 1


def test_hidden_length_is_randomized_response(rng: np.random.Generator) -> None:
    """Lengths 1..5 with half of the budget: the true one e^eps times as often as any other."""
    grid = Grid((0, 0, 4, 4), 4)
    ngram = Ngram(grid, 4.0, stay=False, hide_length=True, length_share=0.5, longest=5)
    sizes = ngram.perturb(CellPaths.from_lists([[0, 5, 10]] * 40_000, grid), rng).sizes
    truth = np.exp(2.0)
    expected = np.array([1, 1, truth, 1, 1]) / (4 + truth)
    assert_proportions(np.bincount(sizes, minlength=6)[1:], 40_000, expected)


def test_hidden_length_leaves_the_rest_of_the_budget(rng: np.random.Generator) -> None:
    grid = Grid((0, 0, 2, 2), 2)
    ngram = Ngram(grid, 10.0, order=1, hide_length=True, length_share=0.6, longest=1)
    published = ngram.perturb(CellPaths.from_lists([[3]] * 40_000, grid), rng)
    assert_proportions(np.bincount(published.cells), 40_000, exact_probabilities(ngram, (3,), 4.0))


def test_hidden_length_keeps_the_shape(rng: np.random.Generator) -> None:
    grid = Grid((0, 0, 4, 4), 4)
    ngram = Ngram(grid, 1e7, hide_length=True, length_share=1e-6, longest=4)
    published = ngram.perturb(CellPaths.from_lists([[0, 1, 2, 3]] * 200, grid), rng)
    ends = {(int(a), int(b)) for a, b in zip(published.starts(), published.ends(), strict=True)}
    assert (0, 3) in ends
    assert published.starts().max() == 0


def test_degenerate_inputs(rng: np.random.Generator) -> None:
    grid = Grid((0, 0, 2, 2), 2)
    nobody = CellPaths.from_lists([], grid)
    assert len(Ngram(grid, 1.0).perturb(nobody, rng)) == 0
    empty = CellPaths.from_lists([[], [3], []], grid)
    assert Ngram(grid, 1.0).perturb(empty, rng).sizes.tolist() == [0, 1, 0]
    assert Ngram(grid, 1.0, hide_length=True).perturb(empty, rng).sizes.min() >= 1
    assert Ngram(grid, 1.0, hide_length=True, longest=1).perturb(empty, rng).sizes.tolist() == [1, 1, 1]
    endless = CellPaths.from_lists([[0, 1] * 2000], grid)
    assert Ngram(grid, 1.0, stay=False).perturb(endless, rng).sizes.tolist() == [4000]


def test_same_seed_same_paths(paths: CellPaths) -> None:
    first, second = (Ngram(paths.grid, 1.0).perturb(paths, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first.cells, second.cells)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0.0},
        {"order": 0},
        {"metric": "taxi"},
        {"length_share": 1.0},
        {"longest": 0},
        {"epsilon": np.nan},
    ],
)
def test_senseless_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        Ngram(Grid((0, 0, 2, 2), 2), **({"epsilon": 1.0} | wrong))  # type: ignore[arg-type]
