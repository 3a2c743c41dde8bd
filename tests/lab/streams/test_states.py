from __future__ import annotations

import numpy as np

from ldptrace.protocol.grid import Grid
from ldptrace_lab.streams.cells import CellStreams, Clock
from ldptrace_lab.streams.states import WAYS, States


def test_the_domain_is_that_of_the_paper() -> None:
    """220 moves, 36 stays, 36 entrances, 36 quits on 6 x 6 cells."""
    states = States(6)
    assert states.possible.sum() == 328
    assert np.all(states.targets[:, 4] == np.arange(36))
    assert states.targets[0, 8] == 7


def test_everybody_does_one_thing_in_a_tick() -> None:
    streams = CellStreams(
        np.int32([0, 1, 1, 8, 5]),
        np.array([0, 4, 4, 5]),
        np.array([1, 0, 4]),
        Grid((0.0, 0.0, 3.0, 3.0), 3),
        Clock(0.0, 1.0, 6),
    )
    states = States(3)
    events = states.events(streams)
    enter, leave = WAYS * 9, (WAYS + 1) * 9
    found = [[(int(item), int(owner)) for item, owner in zip(*events.at(t), strict=True)] for t in range(6)]
    assert found == [
        [],
        [(enter + 0, 0)],
        [(0 * WAYS + 5, 0)],
        [(1 * WAYS + 4, 0)],
        # From cell 1 to cell 8 is too far: a quit where it was.
        [(leave + 1, 0), (enter + 5, 2)],
        [(leave + 8, 0), (leave + 5, 2)],
    ]


def test_a_vector_of_items_has_three_parts() -> None:
    ways, enter, leave = States(2).split(np.arange(44.0))
    assert ways.shape == (4, 9)
    assert enter.tolist() == [36, 37, 38, 39]
    assert leave.tolist() == [40, 41, 42, 43]
