from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.errors import InputError
from ldptrace.roads.drawing import draw
from road_kit import lattice_roads


@pytest.mark.slow
@pytest.mark.counted
@pytest.mark.parametrize("kind", ["svg", "png"])
def test_networks_can_be_drawn(tmp_path: Path, kind: str) -> None:
    draw(lattice_roads(), tmp_path / f"town.{kind}")
    assert (tmp_path / f"town.{kind}").stat().st_size > 1000
    with pytest.raises(InputError, match="a picture can be"):
        draw(lattice_roads(), tmp_path / "town.bmp")


@pytest.mark.slow
@pytest.mark.counted
def test_a_street_of_two_ways_is_drawn_once(tmp_path: Path) -> None:
    draw(lattice_roads(3), tmp_path / "town.svg")
    drawing = (tmp_path / "town.svg").read_text().partition('id="LineCollection_1"')[2]
    # Twelve streets of a lattice of 3 x 3 junctions, each travelled both ways.
    assert drawing.count("<path ") == 12
