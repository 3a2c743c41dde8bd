"""Expected answers to each question against enumeration of the paths of a tiny grid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import pytest

from ldptrace.models.path.answers import (
    ANSWERS,
    Bends,
    End,
    Length,
    Links,
    Moves,
    Pairs,
    PathAnswer,
    Start,
    Terminals,
    Turns,
    Visits,
    named,
)
from ldptrace.models.path.flow import Flow
from ldptrace.protocol.questions import QUESTIONS
from path_kit import bends_of, moves_of, pair_of, probabilities, random_flow, turns_of


def assert_expected(
    model: Flow,
    answer: PathAnswer,
    most: int,
    items: Callable[[tuple[int, ...]], Sequence[int]],
    share: Callable[[int], float] = lambda moves: 1.0,
) -> None:
    """Expected items are those over all paths; each of a path's items counts by the share that its moves give."""
    found = model.answers({answer.name: most})[answer.name]
    total = np.zeros(len(found))
    for path, chance in probabilities(model).items():
        np.add.at(total, list(items(path)), chance * share(len(path) - 1))
    np.testing.assert_allclose(found, total, atol=1e-12)


@pytest.mark.parametrize(("most", "positions"), [(1, 4), (2, 5), (3, 3), (5, 3), (2, 1)])
def test_inclusion_is_the_share_of_subsets(most: int, positions: int) -> None:
    subsets = list(combinations(range(positions), min(most, positions)))
    one = np.mean([0 in subset for subset in subsets])
    assert Moves().inclusion(most, np.array([positions], float))[0] == pytest.approx(one)
    if positions > 1:
        two = np.mean([0 in subset and 1 in subset for subset in subsets])
        assert Moves().joint_inclusion(most, np.array([positions], float))[0] == pytest.approx(two)


def test_every_answer_is_to_a_question_of_the_protocol() -> None:
    assert set(ANSWERS) <= set(QUESTIONS)
    assert all(name == answer.name for name, answer in ANSWERS.items())


@pytest.mark.parametrize("name", list(ANSWERS))
def test_every_item_has_a_pool_and_all_but_lengths_a_feature(name: str, rng: np.random.Generator) -> None:
    model = random_flow(3, 4, rng)
    places, items, count = named(name, model.graph, model.layout)
    assert count == len(model.answers({name: 1})[name])
    assert np.array_equal(np.unique(items), np.arange(count)) or name == "length"
    assert len(places) == len(items)


def test_the_number_of_cells_is_a_part_of_the_model(rng: np.random.Generator) -> None:
    model = random_flow(2, 4, rng)
    found = model.answers({"length": 1})["length"]
    wanted = np.zeros(4)
    for path, chance in probabilities(model).items():
        wanted[len(path) - 1] += chance
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_only_lengths_change_lengths(rng: np.random.Generator) -> None:
    model = random_flow(2, 4, rng)
    products = model.products({"length": 1})
    direction = rng.normal(size=model.layout.size)
    direction[model.layout.length] = 0
    assert not products.apply(direction)["length"].any()
    # Probabilities add up to one, so that their changes add up to nothing.
    direction[model.layout.length] = rng.normal(size=4)
    np.testing.assert_allclose(products.apply(direction)["length"].sum(), 0, atol=1e-12)


def test_every_length_is_alone_in_its_pool(rng: np.random.Generator) -> None:
    model = random_flow(2, 4, rng)
    assert Length().pools(model.graph, model.layout).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("answer", "ends"), [(Start(), [0]), (End(), [-1]), (Terminals(), [0, -1])])
def test_ends_of_paths(answer: PathAnswer, ends: list[int], rng: np.random.Generator) -> None:
    model = random_flow(2, 4, rng)
    assert_expected(model, answer, 2, lambda path: [path[end] for end in ends])
    assert model.answers({answer.name: 2})[answer.name].sum() == pytest.approx(len(ends))


def test_pools_of_ends_are_blocks_of_neighbouring_cells(rng: np.random.Generator) -> None:
    model = random_flow(10, 3, rng)
    pools = Start().pools(model.graph, model.layout)
    assert len(np.unique(pools)) == 64
    i, j = np.divmod(np.arange(100), 10)
    for pool in np.unique(pools):
        assert np.ptp(i[pools == pool]) <= 1
        assert np.ptp(j[pools == pool]) <= 1


def test_cells_are_counted_with_their_chance_to_be_drawn(rng: np.random.Generator) -> None:
    assert_expected(random_flow(2, 4, rng), Visits(), 2, list, lambda moves: min(1, 2 / (moves + 1)))


def test_a_step_back_visits_its_source_again(rng: np.random.Generator) -> None:
    graph = random_flow(2, 3, rng).graph
    once, twice = rng.random((2, graph.moves))
    found = Visits().repeats(graph, once, twice)
    np.testing.assert_allclose(found, np.bincount(graph.source, weights=once, minlength=4))


def test_moves_are_counted_with_their_chance_to_be_drawn(rng: np.random.Generator) -> None:
    model = random_flow(2, 4, rng)
    items = lambda path: moves_of(model.graph, path)  # noqa: E731
    assert_expected(model, Moves(), 2, items, lambda moves: min(1, 2 / max(moves, 1)))


def test_a_link_is_a_move_and_the_move_back(rng: np.random.Generator) -> None:
    model = random_flow(3, 4, rng)
    graph = model.graph
    moves, links = model.answers({"moves": 9, "links": 9}).values()
    assert graph.links == graph.moves // 2
    for move in range(graph.moves):
        assert links[graph.link[move]] == pytest.approx(moves[move] + moves[graph.reverse[move]])


def test_a_step_back_repeats_a_link_at_once_and_a_move_one_step_later(rng: np.random.Generator) -> None:
    graph = random_flow(2, 3, rng).graph
    once, twice = rng.random((2, graph.moves))
    assert Moves().repeats(graph, once, twice).tolist() == twice.tolist()
    np.testing.assert_allclose(Links().repeats(graph, once, twice), graph.by_link(once))


def test_pools_hold_moves_of_one_direction(rng: np.random.Generator) -> None:
    model = random_flow(6, 4, rng)
    pools = Moves().pools(model.graph, model.layout)
    for pool in np.unique(pools):
        assert len(np.unique(model.graph.direction[pools == pool])) == 1
    assert len(Links().pools(model.graph, model.layout)) == model.graph.links


def test_turns_are_one_bend_of_all_that_a_path_has(rng: np.random.Generator) -> None:
    model = random_flow(2, 5, rng)
    items = lambda path: turns_of(model.graph, path)  # noqa: E731
    assert_expected(model, Turns(), 1, items, lambda moves: 1 / max(moves - 1, 1))
    # Every path of two moves or more names exactly one.
    found = model.answers({"turns": 1})["turns"]
    np.testing.assert_allclose(found.sum(), model.length[2:].sum(), atol=1e-12)


def test_both_ends_are_one_item(rng: np.random.Generator) -> None:
    model = random_flow(3, 4, rng)
    assert_expected(model, Pairs(), 1, lambda path: [pair_of(model, path)])


def test_pools_are_pairs_of_blocks_of_districts(rng: np.random.Generator) -> None:
    model = random_flow(6, 3, rng, districts=6)
    pools = Pairs().pools(model.graph, model.layout)
    assert len(np.unique(pools)) == 81
    assert np.bincount(pools).tolist() == [16] * 81


def test_bends_are_counted_with_their_chance_to_be_drawn(rng: np.random.Generator) -> None:
    model = random_flow(2, 5, rng)
    items = lambda path: bends_of(model.graph, path)  # noqa: E731
    assert_expected(model, Bends(), 2, items, lambda moves: min(1, 2 / max(moves - 1, 1)))


def test_pools_hold_bends_of_one_shape(rng: np.random.Generator) -> None:
    model = random_flow(4, 3, rng)
    pools = Bends().pools(model.graph, model.layout)
    for pool in np.unique(pools):
        assert len(np.unique(model.graph.bend_shape[pools == pool])) == 1
