"""A release is repeated from its file and its seed, number for number."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ldptrace as lt
from ldptrace.core.drawing import Drawing
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from ldptrace.methods.release import Release
from ldptrace.models.base import MobilityModel, Sampler
from synthesis_kit import drawn, run_method

BOUNDS = (0.0, 0.0, 4.0, 4.0)


def commuters(count: int) -> Trajectories:
    rng = np.random.default_rng(1)
    x, y = np.clip(rng.normal(2, 1, (2, 4 * count)), 0, 4)
    t = np.repeat(rng.uniform(20_000, 60_000, count), 4) + np.tile(np.arange(4) * 300.0, count)
    return Trajectories(x, y, np.arange(count + 1) * 4, t=t)


@pytest.mark.parametrize(
    ("options", "timed"),
    [
        ({}, False),
        ({"spacing": 0.3, "placement": "uniform"}, False),
        ({"interval": 120.0, "date": "2026-03-01"}, True),
        ({"method": "paper"}, False),
    ],
)
@pytest.mark.slow
def test_a_file_and_its_seed_repeat_a_release(tmp_path: Path, options: dict[str, Any], timed: bool) -> None:
    real = commuters(800) if timed else replace(commuters(800), t=None)
    run = run_method(real, 2.0, bounds=BOUNDS, grid=4, count=300, timezone="Europe/Berlin", **options)
    assert run.release is not None
    run.release.save(tmp_path / "model.npz")
    made = run.trajectories
    again = drawn(Release.load(tmp_path / "model.npz"), 300, (made.provenance or {})["sample_seed"])
    for name in ("x", "y", "offsets", "t", "crs", "timezone", "provenance"):
        np.testing.assert_array_equal(getattr(again, name), getattr(made, name), err_msg=name)


def test_what_is_given_stands_before_what_is_saved() -> None:
    saved = Drawing(spacing=5.0, date=date(2026, 3, 1), timezone="Asia/Tokyo")
    assert Drawing().or_else(saved) == saved
    assert Drawing(interval=2.0).or_else(saved) == replace(saved, spacing=None, interval=2.0)
    assert Drawing(**saved.document()) == saved


def test_a_model_without_times_has_no_date(tmp_path: Path) -> None:
    run = run_method(replace(commuters(300), t=None), 2.0, bounds=BOUNDS, grid=2, count=1, method="paper")
    model = run.synthesis.model
    assert model is not None
    with pytest.raises(InputError, match="a markov model knows no times, so its trips have no date"):
        Release(model, Drawing(date=date(2026, 3, 1)))
    model.save(tmp_path / "broken.npz", release={"crs": None})
    with pytest.raises(FormatError, match="does not say how its trips are drawn"):
        Release.load(tmp_path / "broken.npz")


def test_trips_of_many_points_are_drawn_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Trajectories.from_lists([[(k, 0.0), (k, 1.0), (k, 2.0)] for k in range(1000)])

    class Lines(MobilityModel):
        def block(self, *_: Any, **__: Any) -> Any:
            return line.part

    Lines.__abstractmethods__ = frozenset()
    monkeypatch.setattr("ldptrace.models.base.DENSE", 300)
    few = list(Sampler.of(Lines(), 1000, np.random.default_rng(1)).pieces(0))  # type: ignore[abstract]
    assert [len(part) for part in few] == [100] * 10
    np.testing.assert_array_equal(Trajectories.concat(few).x, line.x)


def test_another_sample_of_one_source_is_another() -> None:
    run = run_method(replace(commuters(300), t=None), 2.0, bounds=BOUNDS, grid=2, count=1, method="paper")
    assert run.synthesis.model is not None
    source = np.random.default_rng(3)
    first, second = (run.synthesis.model.sample(50, source) for _ in range(2))
    assert first.points != second.points or not np.array_equal(first.x, second.x)


def test_a_spacing_is_in_metres_where_coordinates_are_degrees() -> None:
    real = replace(commuters(800), t=None, crs="EPSG:4326")
    real = replace(real, x=13 + real.x / 40, y=52 + real.y / 40)
    made = lt.synthesize(real, 2.0, bounds=(13, 52, 13.1, 52.1), grid=4, spacing=200.0, seed=1)
    x, y = np.diff(made.x) * 68_500, np.diff(made.y) * 111_195
    steps = np.delete(np.hypot(x, y), made.offsets[1:-1] - 1)
    assert 150 < np.median(steps) <= steps.max() < 205
