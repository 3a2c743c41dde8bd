"""The command and the function make the same trips of the same file, number for number, with any options."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ldptrace as lt
from cli_kit import run
from ldptrace.errors import InputError
from ldptrace.roads import write_roads
from road_kit import lattice_roads

BOUNDS = (0.0, 0.0, 400.0, 400.0)


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trips on a tiny city: several of each user, some leave the bounds, some fixes are at 0,0 or far away."""
    folder = tmp_path_factory.mktemp("city")
    rng, rows = np.random.default_rng(1), []
    for trip in range(150):
        size = int(rng.integers(1, 8))
        x, y = (np.clip(np.cumsum(rng.normal(0, 60, size)) + rng.uniform(0, 400), -80, 480) for _ in range(2))
        if trip % 5 == 0:
            x[size // 2], y[size // 2] = 0.0, -9_000.0
        t = 1.7e9 + rng.uniform(0, 80_000) + 60.0 * np.arange(size)
        rows += [(trip, f"u{trip // 2}", *point) for point in zip(x, y, t, strict=True)]
    rows += [(150, "away", 900.0, 900.0, 1.7e9), (150, "away", 950.0, 900.0, 1.7e9 + 60)]
    table = pa.table(dict(zip(("trip_id", "user_id", "x", "y", "t"), zip(*rows, strict=True), strict=True)))
    pq.write_table(table, folder / "points.parquet")
    lt.write(lt.read(folder / "points.parquet"), folder / "trips.parquet")
    lt.write(lt.read(folder / "points.parquet"), folder / "trips.csv")
    write_roads(lattice_roads(), folder / "roads")
    return folder


OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "outside": st.sampled_from(["cut", "drop", "clamp"]),
    "unit": st.sampled_from(["user", "trip"]),
    "time": st.sampled_from(["auto", "off"]),
    "grid": st.sampled_from(["auto", 3]),
    "count": st.sampled_from([None, 40]),
    "timezone": st.sampled_from([None, "Asia/Tokyo"]),
    "crs": st.sampled_from([None, "EPSG:32632"]),
    "method": st.sampled_from(["single-report", "paper"]),
    "simulation": st.sampled_from(["counts", "devices"]),
    "bounds_from_data": st.booleans(),
}
# Those that the paper's method has no use for.
SINGLE: dict[str, st.SearchStrategy[Any]] = {
    "how": st.sampled_from(
        [{}, {"spacing": 30.0}, {"interval": 45.0}, {"date": "2026-03-01"}, {"week": True}]
    ),
    "roads": st.sampled_from([None, "roads"]),
    "pilot": st.sampled_from([None, None, 0.3]),
    "centre": st.sampled_from([None, (100.0, 200.0)]),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["points.parquet", "trips.parquet", "trips.csv"]),
    st.fixed_dictionaries(OPTIONS),
    st.fixed_dictionaries(SINGLE),
)
def test_both_faces_make_the_same_trips(
    city: Path, name: str, options: dict[str, Any], single: dict[str, Any]
) -> None:
    if options["method"] == "single-report":
        options = options | {key: value for key, value in single.items() if key != "how"} | single["how"]
        if options["roads"] is not None:
            options |= {"roads": str(city / "roads"), "options": {"library": 200}}
    if not options["bounds_from_data"]:
        options["bounds"] = BOUNDS
    out = city / "out.parquet"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = run("synthesize", str(city / name), "-o", str(out), "--epsilon=2", "--seed=7", *words(options))
        for real in (city / name, lt.read(city / name)):
            made, refused = called(real, options)
            if made is None:
                assert refused == str(done.exception)
                continue
            assert done.exit_code == 0, done.exception
            typed = lt.read(out)
            for column in ("x", "y", "t", "offsets", "crs", "timezone"):
                np.testing.assert_array_equal(getattr(made, column), getattr(typed, column), err_msg=column)
            assert json.loads(json.dumps(made.provenance)) == dict(typed.provenance or {})


def called(real: Any, options: dict[str, Any]) -> tuple[lt.Trajectories | None, str]:
    """What the function makes, or why it refuses."""
    try:
        return lt.synthesize(real, 2.0, seed=7, **options), ""
    except InputError as error:
        return None, str(error)


def words(options: dict[str, Any]) -> list[str]:
    """The options as they are typed."""
    typed: list[str] = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if name == "options":
            typed += [word for key, given_ in value.items() for word in ("--option", f"{key}={given_}")]
        elif isinstance(value, tuple):
            typed.append(f"{flag}={','.join(map(str, value))}")
        elif value is True:
            typed.append(flag)
        elif value is not None and value is not False:
            typed.append(f"{flag}={value}")
    return typed
