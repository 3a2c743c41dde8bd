from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from ldptrace.core.trajectories import Trajectories
from ldptrace.io import read, write
from trajectory_kit import assert_same, trajectory_sets

few = settings(max_examples=40)


def through(trajectories: Trajectories, name: str) -> Trajectories:
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        write(trajectories, path)
        return read(path, min_points=0)


@given(trajectory_sets(min_points=0, extra=True))
@few
def test_parquet(trajectories: Trajectories) -> None:
    assert_same(through(trajectories, "a.parquet"), trajectories)


@given(trajectory_sets())
@few
def test_csv(trajectories: Trajectories) -> None:
    assert_same(through(trajectories, "a.csv"), trajectories)


@given(trajectory_sets(), st.sampled_from(["a.csv.gz", "a.tsv", "a.tsv.gz"]))
@settings(max_examples=15)
def test_other_kinds_of_csv(trajectories: Trajectories, name: str) -> None:
    assert_same(through(trajectories, name), trajectories)


@given(trajectory_sets(min_points=0))
@few
def test_dat(trajectories: Trajectories) -> None:
    assert_same(through(trajectories, "a.dat"), trajectories, times=False, crs=False)


@given(trajectory_sets(geographic=True, min_points=0))
@few
def test_gpx(trajectories: Trajectories) -> None:
    found = through(trajectories, "a.gpx")
    if trajectories.points == 0:
        # Times without points leave no trace.
        assert_same(found, trajectories, times=False)
    else:
        assert_same(found, trajectories)


@given(trajectory_sets(min_points=0, extra=True))
@few
def test_geojson(trajectories: Trajectories) -> None:
    found = through(trajectories, "a.geojson")
    assert_same(found, trajectories, times=trajectories.points > 0)
