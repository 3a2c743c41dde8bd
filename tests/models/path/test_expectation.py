"""The expected answers of the path model against enumeration of all paths of a tiny grid."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from ldptrace.models.path.answers import ANSWERS
from ldptrace.models.path.expectation import Expectation
from ldptrace.protocol.lattice import TURNS
from path_kit import moves_of, probabilities, random_expectation, turns_of

ASKED = {"length": 1, "start": 1, "end": 1, "terminals": 2, "visits": 2, "moves": 2, "links": 2, "turns": 1}


def counted(items: list[int], size: int) -> np.ndarray:
    return np.bincount(items, minlength=size).astype(float)


def enumerated(model: Expectation, name: str, most: int) -> np.ndarray:
    """Expected answer when every path of m moves counts its items with the probability that one is kept."""
    graph = model.graph
    answer = 0.0
    for path, chance in probabilities(model).items():
        moves = moves_of(graph, path)
        items, size = {
            "length": ([len(path) - 1], model.layout.lengths),
            "start": ([path[0]], graph.cells),
            "end": ([path[-1]], graph.cells),
            "terminals": ([path[0], path[-1]], graph.cells),
            "visits": (list(path), graph.cells),
            "moves": (moves, graph.moves),
            "links": (graph.link[moves].tolist(), graph.links),
            "turns": (turns_of(graph, path), TURNS),
        }[name]
        share = ANSWERS[name].inclusion(most, np.array([float(len(moves))]))[0]
        answer = answer + chance * share * counted(items, size)
    return np.asarray(answer)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "lengths"), [(2, 4), (3, 4), (2, 1), (2, 2)])
def test_expected_answers_are_exact(n: int, lengths: int, rng: np.random.Generator) -> None:
    model = random_expectation(n, lengths, rng)
    for name, answer in model.answers(ASKED).items():
        np.testing.assert_allclose(answer, enumerated(model, name, ASKED[name]), atol=1e-12, err_msg=name)


def test_expected_answers_are_exact_where_cells_are_closed(rng: np.random.Generator) -> None:
    # Two parts that do not touch: an angle of three cells and a corner of its own.
    land = np.array([True, True, False, True, False, False, False, False, True])
    model = random_expectation(3, 4, rng, land=land)
    for name, answer in model.answers(ASKED).items():
        np.testing.assert_allclose(answer, enumerated(model, name, ASKED[name]), atol=1e-12, err_msg=name)
    assert not model.answers(ASKED)["visits"][~land].any()


def test_steps_back_and_forth_are_exact(rng: np.random.Generator) -> None:
    model = random_expectation(2, 5, rng)
    graph = model.graph
    weight = model.length * ANSWERS["moves"].joint_inclusion(2, np.arange(5.0))
    returns, repeats, loops = np.zeros(graph.moves), np.zeros(graph.moves), np.zeros(graph.cells)
    for path, chance in probabilities(model).items():
        moves = moves_of(graph, path)
        share = chance * ANSWERS["moves"].joint_inclusion(2, np.array([float(len(moves))]))[0]
        for here, there in pairwise(moves):
            returns[here] += share * (there == graph.reverse[here])
        for here, between, there in zip(moves, moves[1:], moves[2:], strict=False):
            repeats[here] += share * (between == graph.reverse[here] and there == here)
        loops[path[0]] += chance * (path[0] == path[-1])
    np.testing.assert_allclose(model.messages.returns(weight), returns, atol=1e-12)
    np.testing.assert_allclose(model.messages.repeats(weight), repeats, atol=1e-12)
    _, left = model.jacobian({"terminals": 2})
    both = model.answers({"terminals": 2})["terminals"]
    np.testing.assert_allclose(left["terminals"] * both, both - loops, atol=1e-12)


@pytest.mark.parametrize(("n", "lengths"), [(2, 4), (3, 6), (2, 1)])
def test_derivatives_are_those_of_the_answers(n: int, lengths: int, rng: np.random.Generator) -> None:
    model = random_expectation(n, lengths, rng)
    slopes, left = model.jacobian(ASKED)
    step = 1e-5
    for column in range(model.layout.size):
        change = np.zeros(model.layout.size)
        change[column] = step
        more, less = model.moved(change).answers(ASKED), model.moved(-change).answers(ASKED)
        for name in ASKED:
            difference = (more[name] - less[name]) / (2 * step) * left[name]
            np.testing.assert_allclose(slopes[name][:, column], difference, atol=1e-8, err_msg=name)


def test_large_potentials_stay_finite(rng: np.random.Generator) -> None:
    model = random_expectation(4, 60, rng, scale=20.0)
    for answer in model.answers(ASKED).values():
        assert np.all(np.isfinite(answer))
        assert np.all(answer >= 0)
