"""Second moments against enumeration of all paths of a tiny grid."""

from __future__ import annotations

import numpy as np

from ldptrace.models.path.moments import Moments
from path_kit import moves_of, probabilities, random_expectation


def test_first_and_last_cells_go_together_as_enumerated(rng: np.random.Generator) -> None:
    model = random_expectation(2, 4, rng)
    messages = model.messages
    moved, ended = messages.pairs(messages.uses(model.length)[None], messages.finals(model.length)[None])
    moments = Moments(messages, model.length, model.length, moved[0], ended[0])
    pairs = np.zeros((4, 4))
    for path, chance in probabilities(model).items():
        pairs[path[0], path[-1]] += chance
    np.testing.assert_allclose(moments.start_and_end, pairs, atol=1e-12)


def test_rows_of_moves_are_covariances_at_a_fixed_length(rng: np.random.Generator) -> None:
    model = random_expectation(2, 4, rng)
    messages, graph, layout = model.messages, model.graph, model.layout
    moved, ended = messages.pairs(messages.uses(model.length)[None], messages.finals(model.length)[None])
    rows = Moments(messages, model.length, model.length, moved[0], ended[0]).move_rows
    both = np.zeros((graph.moves, graph.moves))
    for path, chance in probabilities(model).items():
        used = np.bincount(moves_of(graph, path), minlength=graph.moves)
        both += chance * np.outer(used, used)
    both -= (messages.moves * model.length[:, None]).T @ messages.moves
    np.testing.assert_allclose(rows[:, layout.move], both, atol=1e-12)
