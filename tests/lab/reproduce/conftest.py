from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ldptrace_lab.reproduce.data import generated
from ldptrace_lab.reproduce.experiments import SCALES, Setup
from trajectory_kit import straight_trips

TINY = replace(
    SCALES["quick"],
    repeats=2,
    grids=(2, 4),
    finest=4,
    lambdas=(2.5,),
    quantiles=(0.9,),
    parts=(0.5, 1.0),
    full_users=60,
    timed_users=100,
)


@pytest.fixture(scope="session")
def setup() -> Setup:
    """Two small sets with the smallest settings; instead of a city, whose streets take longer, straight trips."""
    streets, campus = (replace(generated(name, 150, seed=1), grid=3) for name in ("oldenburg", "campus"))
    streets = replace(streets, load=lambda: (straight_trips(150, seed=1), None))
    return Setup((streets, campus), TINY, 2, seed=1)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of all tests: nothing is measured twice."""
    return tmp_path_factory.mktemp("results")
