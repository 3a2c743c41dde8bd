"""Sets of trajectories for property tests, when two are the same, and files that hold some."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from ldptrace.core.trajectories import Trajectories

WGS84 = "EPSG:4326"


@st.composite
def trajectory_sets(
    draw: st.DrawFn,
    *,
    geographic: bool | None = None,
    min_points: int = 1,
    times: bool = True,
    extra: bool = False,
) -> Trajectories:
    """Non-empty sets with and without times, ids and further columns; times do not go back."""
    sizes = draw(st.lists(st.integers(min_points, 5), min_size=1, max_size=6))
    points = sum(sizes)
    if geographic is None:
        geographic = draw(st.booleans())

    def numbers(low: float, high: float) -> list[float]:
        return draw(st.lists(st.floats(low, high), min_size=points, max_size=points))

    reach = (180.0, 90.0) if geographic else (1e9, 1e9)
    t = None
    if times and draw(st.booleans()):
        # Whole microseconds of this century, which a date can say exactly.
        micro = draw(st.lists(st.integers(0, 4 * 10**15), min_size=points, max_size=points))
        t = np.array(sorted(micro)) / 1e6
    ids = draw(
        st.none()
        | st.lists(st.integers(0, 2**53), min_size=len(sizes), max_size=len(sizes), unique=True).map(np.array)
    )
    words = st.lists(st.text("abc ,;\"'é", max_size=4), min_size=len(sizes), max_size=len(sizes))
    return Trajectories(
        np.array(numbers(-reach[0], reach[0])),
        np.array(numbers(-reach[1], reach[1])),
        np.cumsum([0, *sizes]),
        t=t,
        ids=ids,
        crs=WGS84 if geographic else None,
        extra=pa.table({"mode": draw(words), "speed": [1.5] * len(sizes)}) if extra else None,
    )


def straight_trips(count: int, seed: int, side: float = 20_000.0) -> Trajectories:
    """Trips of three points along straight lines through a square, at any hour, at 10 metres a second.

    Where the streets of a city do not matter: it takes most of a second to make one.
    """
    rng = np.random.default_rng(seed)
    start, end = rng.random((2, 2, count)) * side
    seconds = np.hypot(*(end - start)) / 10
    x, y = (np.column_stack((a, (a + b) / 2, b)).ravel() for a, b in zip(start, end, strict=True))
    t = rng.random(count)[:, None] * 80_000 + seconds[:, None] * [0, 0.5, 1]
    return Trajectories(x, y, 3 * np.arange(count + 1), t=t.ravel())


def assert_same(
    found: Trajectories, wanted: Trajectories, *, times: bool = True, crs: bool = True, extra: bool = True
) -> None:
    """Equal to the last bit, as far as the format can say it; ids count from 0 where there were none."""
    np.testing.assert_array_equal(found.offsets, wanted.offsets)
    np.testing.assert_array_equal(found.x, wanted.x)
    np.testing.assert_array_equal(found.y, wanted.y)
    numbered = np.arange(len(wanted)) if wanted.ids is None else wanted.ids
    assert found.ids is not None
    np.testing.assert_array_equal(found.ids, numbered)
    if crs:
        assert found.crs == wanted.crs
    if times:
        # A format that may hold times says that they are missing.
        t = None if found.t is not None and found.points and np.isnan(found.t).all() else found.t
        assert (t is None) == (wanted.t is None)
        if t is not None and wanted.t is not None:
            np.testing.assert_array_equal(t, wanted.t)
    if extra:
        assert (found.extra is None) == (wanted.extra is None)
        if found.extra is not None and wanted.extra is not None:
            assert found.extra.to_pydict() == wanted.extra.to_pydict()


def geolife_log(folder: Path, user: str, name: str, rows: list[str]) -> None:
    """A log in GeoLife's folders."""
    header = (
        "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved 3\r\n"
        "0,2,255,My Track,0,0,2,8421376\r\n0\r\n"
    )
    place = folder / "Data" / user / "Trajectory"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name}.plt").write_text(header + "".join(row + "\r\n" for row in rows), newline="")
