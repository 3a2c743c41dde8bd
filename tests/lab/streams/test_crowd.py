from __future__ import annotations

import numpy as np

from ldptrace.protocol.grid import Grid
from ldptrace_lab.streams.methods import Clock, States, SyntheticCrowd

STATES, GRID, CLOCK = States(3), Grid((0.0, 0.0, 3.0, 3.0), 3), Clock(0.0, 1.0, 5)


def east(share: float = 1.0) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    ways = np.zeros((9, 9))
    ways[:6, 7] = share
    return ways


def test_people_move_by_the_chain_and_are_kept(rng: np.random.Generator) -> None:
    crowd = SyntheticCrowd(STATES, rng)
    corner = np.eye(9)[0]
    crowd.enter(3, corner, 0)
    crowd.keep()
    crowd.move(east(), np.zeros(9), 10.0, 1)
    crowd.enter(1, corner, 1)
    crowd.keep()
    # At the border nobody was seen to go anywhere: they stay.
    for tick in (2, 3):
        crowd.move(east(), np.zeros(9), 10.0, tick)
        crowd.keep()
    streams = crowd.streams(GRID, CLOCK)
    assert streams.begins.tolist() == [0, 0, 0, 1]
    assert [part.tolist() for part in np.split(streams.cells, streams.offsets[1:-1])] == [
        [0, 3, 6, 6],
        [0, 3, 6, 6],
        [0, 3, 6, 6],
        [0, 3, 6],
    ]


def test_the_old_quit_more_often_than_the_young(rng: np.random.Generator) -> None:
    crowd = SyntheticCrowd(STATES, rng)
    crowd.enter(10_000, np.eye(9)[0], 0)
    crowd.enter(10_000, np.eye(9)[1], 9)
    stay = np.zeros((9, 9))
    stay[:, 4] = 0.5
    crowd.move(stay, np.full(9, 0.5), 10.0, 10)
    left = np.bincount(crowd.people[1], minlength=9)[:2]
    # Ages 10 and 1 of 10: half stay, against 0.5 / 0.55.
    assert abs(left[0] - 5000) < 5 * 50
    assert abs(left[1] - 10_000 / 1.1) < 5 * 30


def test_who_is_too_many_quits_where_quitting_was_reported(rng: np.random.Generator) -> None:
    crowd = SyntheticCrowd(STATES, rng)
    crowd.enter(50, np.eye(9)[0], 0)
    crowd.enter(50, np.eye(9)[8], 0)
    crowd.trim(60, np.eye(9)[8])
    assert np.bincount(crowd.people[1], minlength=9)[[0, 8]].tolist() == [50, 10]
    crowd.trim(30, np.zeros(9))
    assert len(crowd) == 30


def test_without_an_age_nobody_quits(rng: np.random.Generator) -> None:
    crowd = SyntheticCrowd(STATES, rng)
    crowd.enter(2000, np.eye(9)[0], 0)
    crowd.move(np.zeros((9, 9)), np.zeros(9), None, 1)
    counts = np.bincount(crowd.people[1], minlength=9)
    assert counts.sum() == 2000
    assert counts[[0, 1, 3, 4]].min() > 500 - 5 * 20
    crowd.enter(5, np.zeros(9), 1)
    assert len(crowd) == 2005
