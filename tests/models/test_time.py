"""Departures and speeds: learned where there is something to learn, public profiles otherwise; times that increase."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.timing import Timing, every, times_along
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import Estimates
from ldptrace.errors import FormatError, InputError
from ldptrace.evaluation.divergence import count_divergence
from ldptrace.generators import city
from ldptrace.io import read, write
from ldptrace.models import fit_model, load_model
from ldptrace.models.path.model import PathModel
from ldptrace.models.space_time import TimedModel
from ldptrace.models.time import DAY_PROFILE, TIME_QUESTIONS, Calendar, TimeDraws, TimeModel, _directions
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Departure, Tides
from ldptrace.protocol.randomizers import PrivSet
from ldptrace.protocol.round import Ask, Round
from ldptrace.synthesis import synthesize
from synthesis_kit import run_method
from trajectory_kit import straight_trips


def test_a_part_holds_the_draws_of_its_trips() -> None:
    whole = TimeDraws.drawn(50, np.random.default_rng(1))
    part = whole.part(20, 40)
    for name in ("speed", "hour", "minute"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[20:40])


BOX = (0.0, 0.0, 20_000.0, 20_000.0)
GRID = Grid(BOX, 6)
PLAN = Plan.single_report(GRID, 1.0, time=True)


@pytest.fixture(scope="module")
def trips() -> Trajectories:
    return city(3000, seed=3)


def exact(plan: Plan, trips: Trajectories, error: float) -> Estimates:
    """Estimates without noise that claim a small standard error for questions about time, a larger one for others."""
    from ldptrace.core.paths import CellPaths
    from ldptrace.curator.estimates import Estimate
    from ldptrace.simulation.answers import answers

    paths, timing = CellPaths.from_trajectories(trips, plan.grid), Timing.of(trips)
    rng, everyone = np.random.default_rng(0), np.arange(len(trips))
    found = {}
    for ask in plan.rounds[0].asks:
        rows = answers(ask.question, paths, everyone, rng, timing)
        counts = np.bincount(rows[rows >= 0], minlength=ask.question.domain)
        empty = float((rows < 0).sum()) / len(trips)
        errors = np.full(ask.question.domain, error if ask.question.name in TIME_QUESTIONS else 0.03)
        found[ask.question.name] = Estimate(ask.question, counts / len(trips), errors, len(trips), empty)
    return Estimates(plan, found)


@pytest.fixture(scope="module")
def model(trips: Trajectories) -> TimedModel:
    found = fit_model(exact(PLAN, trips, 0.001))
    assert isinstance(found, TimedModel)
    return found


@pytest.fixture(scope="module")
def simple() -> TimedModel:
    """Where it does not matter what was learned."""
    found = fit_model(exact(PLAN, straight_trips(300, seed=3), 0.01))
    assert isinstance(found, TimedModel)
    return found


def hours_of(trips: Trajectories) -> np.ndarray:
    return np.bincount(Timing.of(trips).hours % 24, minlength=24)


@pytest.mark.slow
def test_with_exact_answers_synthetic_trips_leave_and_last_like_real_ones(
    model: TimedModel, trips: Trajectories, rng: np.random.Generator
) -> None:
    drawn = model.sample(20_000, rng)
    assert count_divergence(hours_of(trips), hours_of(drawn)) < 0.003
    real, synthetic = Timing.of(trips), Timing.of(drawn)
    edges = np.geomspace(60, 6000, 20)
    durations = [np.histogram(timing.seconds, edges)[0] for timing in (real, synthetic)]
    assert count_divergence(*durations) < 0.01
    speeds = [timing.ways(3.6, 3.6) / timing.seconds for timing in (real, synthetic)]
    assert count_divergence(*(np.histogram(part, np.geomspace(8, 100, 20))[0] for part in speeds)) < 0.01


def turned_into_the_tide(trips: Trajectories, rng: np.random.Generator) -> Trajectories:
    """Most trips that leave the centre in the morning, or come to it in the evening, go the other way instead."""
    hours, ways = Timing.of(trips).hours % 24, _directions(trips, GRID, 21)
    against = ((hours >= 5) & (hours < 10) & (ways == 1)) | ((hours >= 15) & (hours < 20) & (ways == 0))
    x, y = trips.x.copy(), trips.y.copy()
    for number in np.flatnonzero(against & (rng.random(len(trips)) < 0.6)):
        part = slice(trips.offsets[number], trips.offsets[number + 1])
        x[part], y[part] = x[part][::-1].copy(), y[part][::-1].copy()
    return replace(trips, x=x, y=y)


@pytest.mark.slow
def test_the_tide_is_found_and_drawn(trips: Trajectories, rng: np.random.Generator) -> None:
    def tide(which: Trajectories) -> float:
        hours, ways = Timing.of(which).hours % 24, _directions(which, GRID, 21)
        share = []
        for first, last in ((5, 10), (15, 20)):
            here = (hours >= first) & (hours < last)
            share.append((ways[here] == 0).sum() / (ways[here] < 2).sum())
        return float(share[0] - share[1])

    real = turned_into_the_tide(trips, rng)
    model = fit_model(exact(PLAN, real, 0.001))
    assert tide(real) > 0.3
    assert abs(tide(real) - tide(model.sample(40_000, rng))) < 0.1
    still = fit_model(exact(PLAN, trips, 0.001))
    assert abs(tide(trips) - tide(still.sample(40_000, rng))) < 0.05


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the path model did not converge")
def test_with_few_users_departures_are_the_public_profile(trips: Trajectories) -> None:
    for seed in range(3):
        run = run_method(trips.take(np.arange(300)), 0.5, bounds=BOX, seed=seed, count=0)
        assert isinstance(run.synthesis.model, TimedModel)
        day = run.synthesis.model.time.hours.mean(axis=0)
        assert count_divergence(day, DAY_PROFILE) < 0.01


def test_nobody_asked_about_time_gets_public_profiles() -> None:
    empty = Estimates(PLAN, {})
    line = Trajectories(np.array([0.0, 9000.0]), np.array([0.0, 9000.0]), [0, 2])
    time = TimeModel.fit(empty, line, GRID)
    assert np.allclose(time.hours, DAY_PROFILE, atol=1e-6)
    assert "Nobody was asked" in time.explain()


@pytest.mark.slow
def test_devices_without_clocks_do_not_bend_the_day(trips: Trajectories) -> None:
    """Half of the people have no times: the other half stands for all."""
    assert trips.t is not None
    t = trips.t.copy()
    t[: trips.offsets[len(trips) // 2]] = np.nan
    half = fit_model(exact(PLAN, replace(trips, t=t), 0.001))
    whole = fit_model(exact(PLAN, trips, 0.001))
    assert isinstance(half, TimedModel)
    assert isinstance(whole, TimedModel)
    assert count_divergence(half.time.hours.mean(axis=0), whole.time.hours.mean(axis=0)) < 0.004
    assert count_divergence(half.time.speeds, whole.time.speeds) < 0.01


def test_a_saved_model_draws_the_same(simple: TimedModel, tmp_path: Path) -> None:
    simple.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert isinstance(again, TimedModel)
    assert isinstance(again.space, PathModel)
    first, second = (which.sample(200, np.random.default_rng(1)) for which in (simple, again))
    np.testing.assert_array_equal(first.t, second.t)
    np.testing.assert_array_equal(first.x, second.x)
    assert again.explain() == simple.explain()
    assert again.plan == PLAN


def test_damaged_models_are_refused(simple: TimedModel, tmp_path: Path) -> None:
    for change in (
        {"hours": simple.time.hours[:2]},
        {"speeds": -simple.time.speeds},
        {"lengths": simple.time.lengths[::-1]},
        {"hours": np.full((3, 24), np.nan)},
    ):
        replace(simple, time=replace(simple.time, **change)).save(tmp_path / "model.npz")
        with pytest.raises(FormatError):
            load_model(tmp_path / "model.npz")


def test_the_model_without_time_refuses_its_questions() -> None:
    estimates = exact(PLAN, straight_trips(300, seed=3), 0.01)
    with pytest.raises(InputError, match="departure"):
        PathModel.fit(estimates)
    assert isinstance(fit_model(estimates.without(*TIME_QUESTIONS)), PathModel)


@pytest.mark.slow
def test_days_of_the_week(trips: Trajectories, rng: np.random.Generator) -> None:
    """Everybody leaves on Tuesday or Saturday; with a date, trips are on these days of the week from it on."""
    question = Departure(6, 7, 1)
    channel = PrivSet.best(question.domain, question.capacity, PLAN.rounds[0].asks[0].randomizer.ratio)
    rest = [ask for ask in PLAN.rounds[0].asks if ask.question.name != "departure"]
    share = 65536 - sum(ask.share for ask in rest)
    week = PLAN.changed(rounds=(Round((*rest, Ask(question, channel, share)), "partition"),))
    assert trips.t is not None
    days = np.repeat(np.where(np.arange(len(trips)) % 2 == 0, 5, 9), trips.sizes)
    model = fit_model(exact(week, replace(trips, t=trips.t + 86_400.0 * days), 0.0005))
    assert isinstance(model, TimedModel)
    drawn = model.on(Calendar(date(2026, 11, 13), "America/New_York")).sample(5000, rng)
    timing = Timing.of(drawn)
    weekdays = np.bincount((timing.hours // 24 + 3) % 7, minlength=7) / len(drawn)
    assert weekdays[[1, 5]].sum() > 0.9
    assert timing.departure.min() >= (date(2026, 11, 13) - date(1970, 1, 1)).days * 86_400
    assert timing.departure.max() < (date(2026, 11, 20) - date(1970, 1, 1)).days * 86_400
    plain = model.sample(500, rng)
    assert plain.t is not None
    assert Timing.of(plain).departure.max() < 86_400


def test_times_increase_strictly_whatever_the_steps(rng: np.random.Generator) -> None:
    offsets = np.cumsum([0, *rng.integers(1, 9, 500)])
    steps = rng.exponential(1, offsets[-1]) * (rng.random(offsets[-1]) < 0.5)
    seconds = rng.choice([0.0, 1e-9, 5.0, 3600.0], 500)
    t = times_along(offsets, steps, rng.uniform(0, 2e9, 500), seconds)
    inner = np.ones(len(t), dtype=bool)
    inner[offsets[:-1]] = False
    assert np.all(np.diff(t)[inner[1:]] > 0)


def test_steps_share_the_time_of_the_trip() -> None:
    t = times_along(np.array([0, 4]), np.array([9.0, 1.0, 1.0, 2.0]), np.array([100.0]), np.array([40.0]))
    assert t.tolist() == [100, 110, 120, 140]


def test_points_every_so_many_seconds(simple: TimedModel, rng: np.random.Generator) -> None:
    drawn = simple.sample(300, np.random.default_rng(2))
    dense = simple.sample(300, np.random.default_rng(2), interval=15.0)
    assert drawn.t is not None
    assert dense.t is not None
    for number in range(len(drawn)):
        before, after = drawn[number], dense[number]
        assert before.t is not None
        assert after.t is not None
        assert (after.t[0], after.t[-1]) == (before.t[0], before.t[-1])
        assert np.allclose(np.diff(after.t)[:-1], 15.0)
        assert 0 < np.diff(after.t)[-1] <= 15.001 + 1e-6
        np.testing.assert_allclose(after.x, np.interp(after.t, before.t, before.x), atol=1e-6)
    with pytest.raises(InputError, match="interval"):
        simple.sample(3, rng, interval=0.0)
    with pytest.raises(InputError, match="no times"):
        every(replace(drawn, t=None), 15.0)


@pytest.mark.slow
def test_synthesize_asks_for_times_where_there_are_any(trips: Trajectories) -> None:
    timed = synthesize(trips, 1.0, bounds=BOX, seed=1, timezone="Europe/Berlin")
    assert timed.t is not None
    assert timed.timezone == "Europe/Berlin"
    assert timed.t.max() < 2 * 86_400
    assert synthesize(trips, 1.0, bounds=BOX, seed=1, time="off").t is None
    assert synthesize(replace(trips, t=None), 1.0, bounds=BOX, seed=1).t is None
    assert synthesize(trips, 1.0, bounds=BOX, seed=1, method="paper").t is None


@pytest.mark.slow
def test_dates_are_of_the_day_in_the_zone(trips: Trajectories) -> None:
    dated = synthesize(
        trips, 1.0, bounds=BOX, seed=1, date="2026-07-14", timezone="Europe/Paris", interval=30.0
    )
    local = Timing.of(dated).departure
    midnight = (date(2026, 7, 14) - date(1970, 1, 1)).days * 86_400
    assert local.min() >= midnight
    assert local.max() < midnight + 86_400
    assert dated.t is not None
    # Paris is two hours ahead of Greenwich in summer.
    assert np.isclose(dated.t[0] + 7200, local[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"date": "14.07.2026"}, "written as"),
        ({"date": "2026-07-14", "timezone": "Mars"}, "no time zone"),
        ({"date": "2026-07-14", "time": "off"}, "a date needs times"),
        ({"interval": -1.0}, "interval must be at least 0.001"),
        ({"interval": 5.0, "time": "off"}, "need trajectories with times"),
        ({"time": "always"}, "auto or off"),
    ],
)
def test_what_makes_no_sense_is_told(options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        synthesize(straight_trips(50, seed=3), 1.0, bounds=BOX, seed=1, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"week": True}, "without a date"),
        ({"week": True, "time": "off"}, "none of these is asked"),
        ({"centre": (1.0, 2.0), "time": "off"}, "none of these is asked"),
        ({"centre": (1.0, 99_999.0)}, "within the bounds"),
        ({"centre": (1.0, float("nan"))}, "within the bounds"),
        ({"centre": 5}, "two numbers"),
        pytest.param({"interval": 1e-6}, "at least 0.001", marks=pytest.mark.slow),
    ],
)
def test_weeks_and_centres_that_make_no_sense_are_told(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        synthesize(straight_trips(50, seed=3), 1.0, bounds=BOX, seed=1, **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_week_and_a_centre_are_in_the_plan(trips: Trajectories) -> None:
    few = trips.take(np.arange(300))
    assert few.t is not None
    dated = replace(few, t=few.t + 86_400.0 * 20_000)
    run = run_method(dated, 1.0, bounds=BOX, seed=1, week=True, centre=(19_000.0, 1.0), count=10)
    assert run.synthesis.plan is not None
    questions = {ask.question.name: ask.question for ask in run.synthesis.plan.rounds[0].asks}
    assert questions["departure"] == Departure(6, 7, 1)
    assert questions["tides"] == Tides(6, 30)
    assert isinstance(run.synthesis.model, TimedModel)
    assert run.synthesis.model.time.hours.shape == (3, 168)
    assert run.synthesis.model.time.centre == 30


def increasing(trips: Trajectories) -> bool:
    assert trips.t is not None
    steps = np.diff(trips.t)
    within = np.delete(np.arange(len(steps)), trips.offsets[1:-1] - 1)
    return bool((steps[within] > 0).all())


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_times_increase_through_nights_in_which_clocks_change(
    simple: TimedModel, rng: np.random.Generator, day: str
) -> None:
    """In Berlin clocks go from 2 to 3 in March and from 3 to 2 in October: durations stay as they were drawn."""
    night = np.zeros(24)
    night[1:4] = 1 / 3
    at_night = replace(simple, time=replace(simple.time, hours=np.tile(night, (3, 1))))
    calendar = Calendar(date.fromisoformat(day), "Europe/Berlin")
    drawn, dated = (one.sample(2000, np.random.default_rng(4)) for one in (at_night, at_night.on(calendar)))
    assert drawn.t is not None
    assert dated.t is not None
    assert increasing(dated)
    took = [trips.t[trips.offsets[1:] - 1] - trips.t[trips.offsets[:-1]] for trips in (drawn, dated)]
    np.testing.assert_allclose(took[0], took[1], atol=1e-5)


@pytest.mark.slow
def test_nobody_is_much_faster_than_the_streets_allow(
    model: TimedModel, trips: Trajectories, rng: np.random.Generator
) -> None:
    """Free streets of 30 km/h or 80 km/h: trips keep to them, and those on fast ones are the fast trips."""
    drawn = model.space.sample(2000, rng)
    fast = rng.random(len(drawn)) < 0.5
    metres = np.hypot(np.diff(drawn.x, prepend=drawn.x[0]), np.diff(drawn.y, prepend=drawn.y[0]))
    metres[drawn.offsets[:-1]] = 0.0
    free = metres / np.repeat(np.where(fast, 80 / 3.6, 30 / 3.6), drawn.sizes)
    clock = np.cumsum(free)
    on_streets = replace(drawn, t=clock - np.repeat(clock[drawn.offsets[:-1]], drawn.sizes))
    time = TimeModel.fit(exact(PLAN, trips, 0.001), on_streets, GRID)
    assert time.free is not None
    timing = Timing.of(time.timed(drawn, GRID, TimeDraws.drawn(len(drawn), rng), seconds=free))
    speeds, moving = 3.6 * timing.ways(1, 1) / timing.seconds, timing.ways(1, 1) > 0
    haste = 1.25 * max(1.0, time.middle / float(np.median(time.free))) * (1 + 1e-6)
    assert np.all(speeds[moving & ~fast] <= 30 * haste)
    assert np.all(speeds[moving & fast] <= 80 * haste)
    assert np.median(speeds[moving & fast]) > 1.2 * np.median(speeds[moving & ~fast])


# What each format calls the output, and the sampling that makes it hardest to keep times apart.
FILES = ("csv", "geojson", "parquet", "gpx", "mfjson")


@pytest.fixture(scope="module")
def degrees() -> Trajectories:
    """Dated synthetic trips in degrees, a point every 10 seconds."""
    real = city(150, seed=12)
    real = replace(real, x=13.3 + real.x / 70_000, y=52.4 + real.y / 111_000, crs="EPSG:4326")
    return synthesize(
        real,
        1.0,
        bounds=(13.3, 52.4, 13.6, 52.6),
        seed=1,
        date="2026-03-02",
        timezone="Europe/Berlin",
        interval=10.0,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_times_stay_apart_in_every_format(degrees: Trajectories, tmp_path: Path, kind: str) -> None:
    assert increasing(degrees)
    write(degrees, tmp_path / f"trips.{kind}")
    again = read(tmp_path / f"trips.{kind}")
    assert again.provenance is not None
    assert any("local times of Europe/Berlin" in note for note in again.provenance["notes"])
    assert len(again) == len(degrees)
    assert increasing(again)
    assert degrees.t is not None
    np.testing.assert_allclose(again.t, degrees.t, atol=2e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_geoparquet_opens_as_trips(degrees: Trajectories, tmp_path: Path) -> None:
    """As a stranger would: the file in geopandas, one line each; its points in movingpandas, one trip each."""
    pytest.importorskip("movingpandas")
    geopandas = pytest.importorskip("geopandas")
    write(degrees, tmp_path / "trips.parquet")
    lines = geopandas.read_parquet(tmp_path / "trips.parquet")
    assert len(lines) == len(degrees)
    assert lines.crs.is_geographic
    many = degrees.take(degrees.sizes > 1)
    collection = many.to_movingpandas()
    assert len(collection) == len(many)
    for trajectory in collection:
        assert trajectory.df.index.is_monotonic_increasing
        assert trajectory.df.index.is_unique


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_it_opens_in_movingpandas_and_geopandas(trips: Trajectories) -> None:
    movingpandas = pytest.importorskip("movingpandas")
    geopandas = pytest.importorskip("geopandas")
    pandas = pytest.importorskip("pandas")
    drawn = synthesize(trips.take(np.arange(400)), 1.0, bounds=BOX, seed=1, date="2026-03-02")
    assert drawn.t is not None
    frame = geopandas.GeoDataFrame(
        {
            "trip": np.repeat(np.arange(len(drawn)), drawn.sizes),
            "t": pandas.to_datetime(drawn.t, unit="s"),
        },
        geometry=geopandas.points_from_xy(drawn.x, drawn.y),
        crs="EPSG:32632",
    )
    collection = movingpandas.TrajectoryCollection(frame, traj_id_col="trip", t="t")
    assert len(collection) == len(drawn)
    for trajectory in collection:
        assert trajectory.df.index.is_monotonic_increasing
        assert trajectory.df.index.is_unique
