from __future__ import annotations

import numpy as np
import pytest

from ldptrace.core.paths import CellPaths
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace_lab.central.resilience import deniable, shielded
from synthesis_kit import run_method
from trajectory_kit import straight_trips

GRID = Grid((0.0, 0.0, 3.0, 3.0), 3)
# Along the bottom and back, and a way through the middle that nobody else takes.
BOTTOM, BACK, MIDDLE = [0, 3, 6], [6, 3, 0], [1, 4, 7]


def paths(*lists: list[int]) -> CellPaths:
    return CellPaths.from_lists(list(lists), GRID)


def test_visitors_who_differ_are_replaced() -> None:
    asked: list[int] = []

    def draw(many: int) -> CellPaths:
        asked.append(many)
        return paths(*[BOTTOM] * (many - many // 2), *[MIDDLE] * (many // 2))

    found = shielded(paths(*[BOTTOM] * 20, *[MIDDLE] * 20), 4, draw)
    assert len(found) == 40
    assert not np.any(found.cells == 4)
    assert asked == [20, 10, 5, 2, 1]


def test_visitors_like_all_others_stay() -> None:
    given = paths(*[BOTTOM] * 20, *[BACK] * 20)
    assert shielded(given, 3, lambda _: pytest.fail("nothing to replace")) is given


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="a cell from 0 to 8, got 9"):
        shielded(paths(BOTTOM), 9, lambda _: paths())
    with pytest.raises(InputError, match="nearly all trips visit the sensitive cell 4"):
        shielded(paths(*[BOTTOM] * 20, MIDDLE), 4, lambda many: paths(*[MIDDLE] * many))
    with pytest.raises(InputError, match="kappa is too large"):
        deniable(np.ones((3, 3)), 10.0)


@pytest.mark.slow
def test_the_method_has_both_defences() -> None:
    """Hardly anybody begins in cell 0, and nobody is to be seen in cell 4."""
    everybody = straight_trips(600, seed=1)
    x0, y0, x1, y1 = map(float, everybody.bounds())
    grid = Grid((x0, y0, x1, y1), 3)
    began = CellPaths.from_trajectories(everybody, grid).starts()
    real = everybody.take((began != 0) | (np.arange(600) < 30))
    found = []
    for options in ({}, {"sensitive": 4, "kappa": 30}):
        with pytest.warns(match="trusted curator"):
            run = run_method(
                real, 20.0, bounds=grid.bounds, grid=3, method="adatrace", seed=1, count=2000, options=options
            )
        found.append(CellPaths.from_trajectories(run.trajectories, grid))
    before, after = found
    assert 0 in before.starts()
    assert 0 not in after.starts()
    assert np.mean(before.starts() == 4) > 0.05
    assert 4 not in after.starts()
    assert len(after) == 2000
