from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from ldptrace.protocol import lattice


@given(st.integers(2, 40), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(-0.2, 1.2))
def test_a_point_is_in_the_interval_it_is_counted_for(n: int, low: float, width: float, where: float) -> None:
    origin, step = lattice.axis_origin_and_step(low, low + width, n)
    value = low + where * width
    index = lattice.axis_cell(value, origin, step, n)
    assert 0 <= index < n
    nearest = min(max(value, origin), origin + n * step)
    slack = 1e-9 * (abs(low) + width)
    assert origin + index * step - slack <= nearest <= origin + (index + 1) * step + slack


def test_a_shared_border_belongs_to_the_lower_cell() -> None:
    assert [lattice.axis_cell(v, 0.0, 2.0, 3) for v in (0.0, 2.0, 4.0, 6.0)] == [0, 0, 1, 2]


def test_what_is_not_a_number_still_has_a_cell() -> None:
    # A device always answers; readers reject such points long before.
    assert lattice.axis_cell(math.nan, 0.0, 1.0, 3) == 0
    assert lattice.axis_cell(math.inf, 0.0, 1.0, 3) == 2
    assert lattice.axis_cell(-math.inf, 0.0, 1.0, 3) == 0


def test_the_number_of_feasible_moves() -> None:
    for n in (2, 3, 6, 8):
        assert len(list(lattice.moves(n))) == 8 * n * n - 12 * n + 4


def test_moves_lead_to_the_neighbour_in_their_direction() -> None:
    for cell, number, target in lattice.moves(5):
        di, dj = target // 5 - cell // 5, target % 5 - cell % 5
        assert lattice.direction(di, dj) == number


def test_turns_are_the_angle_between_moves() -> None:
    for before in range(8):
        for after in range(8):
            a = math.atan2(lattice.DIRECTION_DJ[before], lattice.DIRECTION_DI[before])
            b = math.atan2(lattice.DIRECTION_DJ[after], lattice.DIRECTION_DI[after])
            angle = abs((b - a + math.pi) % (2 * math.pi) - math.pi)
            assert lattice.turn(before, after) == round(angle / (math.pi / 4))
