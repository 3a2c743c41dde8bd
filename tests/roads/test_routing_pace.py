"""How time passes on streets whose speeds are not known."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routing import DELAY, felt_lengths
from road_kit import lattice_roads


def test_a_street_without_junctions_is_as_long_as_it_is() -> None:
    line = RoadNetwork.of([0, 50, 100], [0, 0, 0], [0, 1], [1, 2])
    assert felt_lengths(line).tolist() == [50.0, 50.0]


def test_edges_near_junctions_are_longer_and_none_beyond_the_delay() -> None:
    roads = lattice_roads(4, block=1000.0)
    share = felt_lengths(roads) / roads.length
    assert np.all((share >= 1) & (share <= 1 + DELAY))
    # Corners of the lattice are no junctions: edges to them have one at one end only.
    corner = np.isin(roads.source, [0, 3, 12, 15]) | np.isin(roads.target, [0, 3, 12, 15])
    assert share[corner].max() < share[~corner].min()


def test_short_blocks_are_slower_than_long_ones() -> None:
    """A town of 12 km with blocks of 100 metres, or of 1 km: passing a junction takes about 60 metres' time."""
    short, long = lattice_roads(121, block=100.0), lattice_roads(13, block=1000.0)
    slow, fast = (float(felt_lengths(roads).sum() / roads.length.sum()) for roads in (short, long))
    assert slow == pytest.approx(1.5, abs=0.05)
    assert fast == pytest.approx(1.02, abs=0.02)


def test_how_a_street_is_cut_hardly_matters() -> None:
    """A cross with arms of 200 metres, whole or in pieces of 20 metres."""

    def cross(pieces: int) -> float:
        far = np.linspace(0, 200, pieces + 1)[1:]
        x = np.concatenate([[0], far, -far, 0 * far])
        y = np.concatenate([[0], 0 * far, 0 * far, far])
        arms = [np.concatenate([[0], 1 + arm * pieces + np.arange(pieces)]) for arm in range(3)]
        source, target = (
            np.concatenate([arm[:-1] for arm in arms]),
            np.concatenate([arm[1:] for arm in arms]),
        )
        return float(felt_lengths(RoadNetwork.of(x, y, source, target)).sum())

    assert cross(10) == pytest.approx(cross(1), rel=0.05)
