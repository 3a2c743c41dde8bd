"""A picture is drawn where there is something to draw."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.generators.picture import draw


@pytest.mark.slow
def test_lines_are_bright_on_black(tmp_path: Path) -> None:
    import matplotlib.image

    cross = Trajectories.from_lists([[(0, 0), (10, 10)], [(0, 10), (10, 0)]])
    draw(cross, tmp_path / "cross.png")
    image = matplotlib.image.imread(tmp_path / "cross.png")[:, :, :3].sum(axis=2)
    middle = len(image) // 2
    assert image[middle - 3 : middle + 3, middle - 3 : middle + 3].max() > 1.0
    assert image[middle - 3 : middle + 3, : middle // 2].max() < 0.1


@pytest.mark.slow
def test_places_are_drawn_too(tmp_path: Path) -> None:
    trips = Trajectories.from_lists([[(0, 0), (10, 10)]])
    draw(trips, tmp_path / "plain.png")
    draw(trips, tmp_path / "places.png", {"food": (np.array([3.0]), np.array([7.0]))})
    assert (tmp_path / "places.png").read_bytes() != (tmp_path / "plain.png").read_bytes()


@pytest.mark.slow
def test_a_single_place_can_be_drawn(tmp_path: Path) -> None:
    draw(Trajectories.from_lists([[(5, 5), (5, 5)]]), tmp_path / "dot.png")
    assert (tmp_path / "dot.png").stat().st_size > 0


@pytest.mark.slow
def test_nothing_and_nowhere_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be drawn"):
        draw(Trajectories.from_lists([]), tmp_path / "none.png")
    with pytest.raises(InputError, match="a picture can be"):
        draw(Trajectories.from_lists([[(0, 0), (1, 1)]]), tmp_path / "trips.xyz")
