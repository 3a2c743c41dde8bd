from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core import crs
from ldptrace.core.crs import METRES_PER_DEGREE, LocalPlane, checked_crs, crs_hint, step_lengths, transform
from ldptrace.core.reading import Reading
from ldptrace.curator.facts import Facts
from ldptrace.errors import InputError
from ldptrace.protocol.units import DEGREE


@given(st.floats(-180, 180), st.floats(-89, 89), st.floats(-0.2, 0.2), st.floats(-0.2, 0.2))
def test_degrees_come_back(lon: float, lat: float, east: float, north: float) -> None:
    plane = LocalPlane(lon, lat)
    there = np.array([lon + east]), np.array([lat + north])
    back = plane.to_degrees(*plane.to_metres(*there))
    np.testing.assert_allclose(back, there, atol=1e-9)


def test_a_degree_of_longitude_is_half_as_long_at_sixty_degrees() -> None:
    plane = LocalPlane(0.0, 60.0)
    assert plane.scale == pytest.approx((METRES_PER_DEGREE / 2, METRES_PER_DEGREE))
    assert np.prod(plane.scale) == pytest.approx(METRES_PER_DEGREE**2 / 2)


def test_a_city_is_measured_to_a_tenth_of_a_percent() -> None:
    # Great circle between the two corners of a box of 0.2 degrees around Berlin (haversine, 6371.0 km).
    lon, lat = np.radians([13.3, 13.5]), np.radians([52.4, 52.6])
    half = np.sin(np.diff(lat) / 2) ** 2 + np.cos(lat[0]) * np.cos(lat[1]) * np.sin(np.diff(lon) / 2) ** 2
    circle = 2 * 6_371_000 * np.arcsin(np.sqrt(half[0]))
    plane = LocalPlane.around(np.degrees(lon), np.degrees(lat))
    assert (plane.lon, plane.lat) == pytest.approx((13.4, 52.5))
    x, y = plane.to_metres(np.degrees(lon), np.degrees(lat))
    assert np.hypot(np.diff(x), np.diff(y))[0] == pytest.approx(circle, rel=1e-3)


def test_devices_reckon_with_the_same_degree() -> None:
    assert round(1000 * METRES_PER_DEGREE) == DEGREE


@pytest.mark.parametrize(
    ("lon", "lat", "complaint"),
    [
        ([], [], "there must be some"),
        ([np.nan], [0], "must be finite"),
        ([500], [90], "longitudes up to 500"),
    ],
)
def test_places_off_the_earth(lon: list[float], lat: list[float], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        LocalPlane.around(np.array(lon, dtype=float), np.array(lat, dtype=float))


def test_systems_are_told_apart_by_their_axes() -> None:
    pytest.importorskip("pyproj")
    lon, lat = np.array([13.4]), np.array([52.5])
    x, _ = transform(lon, lat, "EPSG:4326", "EPSG:3857")
    # Web Mercator's x is the longitude times the equator's 20,037,508.34 m for 180 degrees.
    assert x[0] == pytest.approx(13.4 / 180 * 20_037_508.342789244)
    with pytest.raises(InputError, match="cannot be converted to EPSG:3857"):
        transform(np.array([0.0]), np.array([1e9]), "EPSG:4326", "EPSG:3857")
    with pytest.raises(InputError, match="cannot convert from EPSG:4326 to EPSG:0"):
        transform(lon, lat, "EPSG:4326", "EPSG:0")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyproj", None)
    with pytest.raises(InputError, match=r"pip install 'ldptrace\[geo\]'"):
        transform(np.zeros(1), np.zeros(1), "EPSG:4326", "EPSG:3857")


def test_steps_of_degrees_are_measured_in_metres() -> None:
    # A degree of latitude is 111.2 km; at 60 degrees north one of longitude is half of that.
    steps = step_lengths(np.array([0.0, 1, 1]), np.array([60.0, 60, 61]), "EPSG:4326")
    assert steps == pytest.approx([55_597, 111_195], rel=1e-3)
    assert step_lengths(np.array([0.0, 3]), np.array([0.0, 4]), None).tolist() == [5]


def test_a_system_that_does_not_exist_is_refused() -> None:
    assert checked_crs("EPSG:32633") == "EPSG:32633"
    with pytest.raises(InputError, match="there is no coordinate system 'EPSG:999999'; names are such as"):
        checked_crs("EPSG:999999")
    with pytest.raises(InputError, match="EPSG:999999"):
        Reading(crs="EPSG:999999")
    with pytest.raises(InputError, match="EPSG:999999"):
        Facts(1000, 1, (0, 0, 1, 1), "EPSG:999999")


def test_a_system_is_taken_at_its_word_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crs, "find_spec", lambda name: None)
    assert checked_crs("EPSG:999999") == "EPSG:999999"


def test_degrees_and_metres_name_the_system_of_the_data() -> None:
    degrees, metres = (13.0, 52.0, 14.0, 53.0), (380_000.0, 5_800_000.0, 400_000.0, 5_830_000.0)
    assert "the bounds look like degrees, the data are in EPSG:32633" in crs_hint(
        degrees, metres, "EPSG:32633"
    )
    assert "do not look like degrees, the data are in EPSG:4326" in crs_hint(metres, degrees, "EPSG:4326")
    assert "which they do not name" in crs_hint(degrees, metres, None)
    assert crs_hint(degrees, degrees, None) == ""
