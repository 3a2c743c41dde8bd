from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from ldptrace.core.reading import Outside, Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from ldptrace.io.account import Account, Parsed
from ldptrace.io.clean import clean
from ldptrace.protocol.grid import Bounds

BOX: Bounds = (0.0, 0.0, 10.0, 10.0)


def cleaned(
    trajectories: Trajectories,
    *,
    bounds: Bounds | None = None,
    outside: Outside = "cut",
    min_points: int = 0,
) -> Parsed:
    reading = Reading(bounds=bounds, outside=outside, min_points=min_points)
    return clean((trajectories, Account(rows=len(trajectories))), reading)


def test_a_clean_set_passes_as_it_is() -> None:
    trajectories = Trajectories.from_lists([[(1, 1), (2, 2)], [(3, 3)]])
    found = cleaned(trajectories, bounds=BOX)
    assert found[0] is trajectories
    assert (found[1].dropped, found[1].dropped_points, found[1].notes) == ({}, {}, ())


def test_points_that_are_no_numbers_go_and_the_rest_stays() -> None:
    trajectories = Trajectories.from_lists(
        [[(np.nan, 1), (2, 2), (3, -np.inf)], [(np.nan, np.inf)], [(5, 5)]]
    )
    found = cleaned(trajectories)
    assert found[1].dropped_points == {"not a number": 2, "infinite": 1}
    assert found[1].dropped == {}
    assert found[0].x.tolist() == [2, 5]
    assert found[0].offsets.tolist() == [0, 1, 1, 2]


def test_points_of_times_stay_with_their_points() -> None:
    trajectories = Trajectories([1, np.nan, 3], [1, 2, 3], [0, 3], t=[10, 20, 30])
    found = cleaned(trajectories)[0]
    assert found.t is not None
    assert found.t.tolist() == [10, 30]


def test_trajectories_that_leave_the_bounds_are_dropped_whole_and_counted() -> None:
    trajectories = Trajectories.from_lists([[(0, 0), (10, 10)], [(5, 5), (5, 10.1)], [], [(2, 2)]])
    found = cleaned(trajectories, bounds=BOX, outside="drop", min_points=1)
    assert found[1].dropped == {"no points": 1}
    assert found[1].crossings.dropped == 1
    assert found[0].x.tolist() == [0, 10, 2]


@pytest.mark.parametrize("outside", get_args(Outside))
def test_what_the_bounds_do_is_counted(outside: Outside) -> None:
    found = cleaned(Trajectories.from_lists([[(5, 5)], [(5, 5), (5, 11)]]), bounds=BOX, outside=outside)
    assert (found[1].crossings.policy, found[1].crossings.trips, found[1].crossings.points) == (outside, 1, 1)
    assert found[0].points == {"cut": 2, "drop": 1, "clamp": 3}[outside]


def test_clamping_moves_points_to_the_border_and_says_so() -> None:
    trajectories = Trajectories.from_lists([[(5, 5), (50, -3)], [(-1, 2)], [(1, 1)]])
    found = cleaned(trajectories, bounds=BOX, outside="clamp")
    assert found[1].dropped == {}
    assert found[0].x.tolist() == [5, 10, 0, 1]
    assert found[0].y.tolist() == [5, 0, 2, 1]
    assert (found[1].crossings.points, found[1].crossings.trips) == (2, 2)
    assert trajectories.x.tolist() == [5, 50, -1, 1]


@pytest.mark.parametrize("outside", get_args(Outside))
def test_bounds_that_miss_the_data_get_help(outside: Outside) -> None:
    trajectories = Trajectories.from_lists([[(116.3, 39.9), (116.4, 39.95)], [(116.5, 40.0)]])
    with pytest.raises(InputError, match=r"in the bounds 0,0,10,10: the data span 116\.3,39\.9,116\.5,40$"):
        cleaned(trajectories, bounds=BOX, outside=outside)
    with pytest.raises(
        InputError,
        match=r"with x and y swapped they would: give the bounds as 116,39,117,41, or name the columns",
    ):
        cleaned(trajectories, bounds=(39, 116, 41, 117), outside=outside)


def test_swapped_longitude_and_latitude_get_help() -> None:
    swapped = Trajectories.from_lists([[(39.9, 116.3), (39.95, 116.4)]], crs="EPSG:4326")
    with pytest.raises(
        FormatError,
        match=r"latitudes go from 116\.3 to 116\.4 .*longitude and latitude look swapped; name the columns",
    ):
        cleaned(swapped)


def test_metres_called_degrees_get_help() -> None:
    metres = Trajectories.from_lists([[(-959000, 5016000), (-958000, 5017000)]], crs="EPSG:4326")
    with pytest.raises(FormatError, match="these are not degrees; say what they are with crs"):
        cleaned(metres)


def test_a_few_points_off_the_earth_are_dropped_and_counted() -> None:
    trajectories = Trajectories.from_lists([[(116, 39), (116, 400.2), (116, 40)]], crs="EPSG:4326")
    found = cleaned(trajectories)
    assert found[1].dropped_points == {"not on earth": 1}
    assert found[0].y.tolist() == [39, 40]


def test_too_few_points() -> None:
    trajectories = Trajectories.from_lists([[(1, 1)], [(1, 1), (2, 2)]])
    assert cleaned(trajectories)[1].dropped == {}
    assert cleaned(trajectories, min_points=2)[1].dropped == {"fewer than 2 points": 1}
    with pytest.raises(FormatError, match="nothing in it can be used: fewer than 3 points"):
        cleaned(trajectories, min_points=3)


def test_empty_trajectories_stay_because_their_devices_answer_null() -> None:
    assert len(cleaned(Trajectories.from_lists([[], []]), bounds=BOX)[0]) == 2
    found = cleaned(Trajectories.from_lists([[], [(5, 5)], [(50, 50)]]), bounds=BOX)
    assert found[0].sizes.tolist() == [0, 1, 0]
    assert found[1].crossings.empty == 1


def test_fixes_at_zero_and_steps_that_nothing_takes_are_counted() -> None:
    t = [0.0, 60.0, 120.0, 180.0, 0.0, 60.0]
    x, y = [13.4, 0.0, 13.401, 13.402, 13.4, 13.5], [52.5, 0.0, 52.5, 52.5, 52.5, 52.5]
    log = Trajectories(x, y, [0, 4, 6], t=t, crs="EPSG:4326")
    assert cleaned(log)[1].doubts == {"points at 0,0": 1, "steps faster than 1,224 km/h": 2}
    assert cleaned(replace(log, crs=None))[1].doubts == {}
    # From one trajectory to the next is no step, and across the antimeridian it is a short one.
    near = Trajectories([179.99, -179.99, 13.4], [0.5, 0.5, 52.5], [0, 2, 3], t=[0, 60, 61], crs="EPSG:4326")
    assert cleaned(near)[1].doubts == {}


def test_a_teleport_is_kept() -> None:
    trajectories = Trajectories.from_lists([[(0, 0), (10, 10), (0, 0)]])
    assert cleaned(trajectories, bounds=BOX)[0].points == 3


def test_points_that_were_recorded_twice_are_counted() -> None:
    log = Trajectories([1, 1, 1, 1, 1], [2, 2, 2, 3, 3], [0, 4, 5], t=[0, 0, 5, 5, 5])
    assert cleaned(log)[1].doubts == {"points with the time and place of the one before": 1}
    # Without times it stands still.
    assert cleaned(replace(log, t=None))[1].doubts == {}


def test_bounds_that_are_no_degrees_are_refused_for_longitudes_and_latitudes() -> None:
    near_zero = Trajectories.from_lists([[(1, 1), (2, 2)]], crs="EPSG:4326")
    with pytest.raises(InputError, match=r"bounds 0,0,20000,20000 are no degrees, .*EPSG:4326"):
        cleaned(near_zero, bounds=(0, 0, 20_000, 20_000))
    assert cleaned(near_zero, bounds=(-5, -5, 185, 85))[0].points == 2
