from __future__ import annotations

import pytest

from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid


@pytest.mark.parametrize("n", [1, 0, -3, 257, 2.5, True, "6"])
def test_an_impossible_number_of_cells_is_refused(n: object) -> None:
    with pytest.raises(InputError, match=r"2 to 256, got"):
        Grid((0, 0, 1, 1), n)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "bounds", [(0, 0, 0, 1), (1, 0, 0, 1), (0, 0, 1, float("nan")), (0, 0, 1, float("inf"))]
)
def test_impossible_bounds_are_refused(bounds: tuple[float, float, float, float]) -> None:
    with pytest.raises(InputError, match="x0 < x1 and y0 < y1"):
        Grid(bounds, 6)


def test_bounds_must_be_four_numbers() -> None:
    with pytest.raises(InputError, match="four numbers"):
        Grid((0, 0, 1), 6)  # type: ignore[arg-type]


def test_cells_tile_the_bounds() -> None:
    grid = Grid((-2.0, 1.0, 4.0, 3.0), 5)
    areas = [(x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in map(grid.cell_bounds, range(grid.cells))]
    assert sum(areas) == pytest.approx(12.0, rel=1e-5)
    for cell in range(grid.cells):
        x0, y0, x1, y1 = grid.cell_bounds(cell)
        assert grid.cell((x0 + x1) / 2, (y0 + y1) / 2) == cell
        assert grid.polygon(cell)[0] == grid.polygon(cell)[-1]


def test_points_outside_count_for_the_nearest_cell() -> None:
    grid = Grid((0, 0, 3, 3), 3)
    assert [grid.cell(*p) for p in [(-9, -9), (9, -9), (-9, 9), (9, 9), (1.5, 99)]] == [0, 6, 2, 8, 5]
