"""The settings of a synthesis: one record behind the command and the function, for every method."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ldptrace as lt
from cli_kit import run
from ldptrace.core.drawing import Points, Ways
from ldptrace.core.reading import Names, Reading
from ldptrace.curator.facts import Asked
from ldptrace.errors import InputError
from ldptrace.methods import method, names
from ldptrace.methods.single_report import Options
from ldptrace.options import options_in
from ldptrace.settings import Settings
from ldptrace.streams.settings import Settings as StreamSettings
from ldptrace_lab.campus.walks import campus_walks

BOX = (0.0, 0.0, 400.0, 400.0)
# One option of each method, with a value that is not its default.
OPTIONS: dict[str, dict[str, Any]] = {
    "single-report": {"cap": 3, "placement": "uniform"},
    "paper": {"quantile": 0.8},
    "ngram": {"hide_length": True},
    "ngram-full": {"longest": 4},
    "adatrace": {"most_extra": 2},
}
# What the function has by other names: the columns, which a data frame or `ldptrace.read` knows already.
ELSEWHERE = {"format", "split_gap", "min_points", "mean_trip", *(entry.name for entry in fields(Names))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trips between the places of a campus, which every method can take."""
    folder = tmp_path_factory.mktemp("trips")
    walks = campus_walks(1)
    lt.write(walks.trips(80, np.random.default_rng(2)), folder / "trips.parquet")
    walks.pois.to_csv(folder / "places.csv")
    return folder


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", names())
def test_the_command_and_the_function_take_the_options_of_every_method(name: str, folder: Path) -> None:
    real, out = lt.read(folder / "trips.parquet"), folder / "out.parquet"
    options = OPTIONS.get(name, {"neighbours": "added"} if method(name).leaks else {"capped": True})
    if name == "paper-unpadded":
        options = {"capped": True}
    if name == "ngram-full":
        options = options | {"pois": str(folder / "places.csv")}
    x0, y0, x1, y1 = bounds = real.bounds()
    words = [word for key, value in options.items() for word in ("--option", f"{key}={json.dumps(value)}")]
    common = ("--epsilon=2", "--seed=7", "--grid=3", f"--bounds={x0},{y0},{x1},{y1}", f"--method={name}")
    done = run("synthesize", str(folder / "trips.parquet"), "-o", str(out), *common, *words)
    assert done.exception is None, done.output
    made, typed = (
        lt.synthesize(real, 2.0, bounds=bounds, grid=3, method=name, seed=7, options=options),
        lt.read(out),
    )
    for column in ("x", "y", "offsets"):
        np.testing.assert_array_equal(getattr(made, column), getattr(typed, column))
    wrong = {"colour": 1}
    typed_wrong = run(
        "synthesize", str(folder / "trips.parquet"), "-o", str(out), *common, "--option", "colour=1"
    )
    with pytest.raises(InputError) as refused:
        lt.synthesize(real, 2.0, bounds=bounds, grid=3, method=name, options=wrong)
    assert str(refused.value) == str(typed_wrong.exception)


def test_the_function_has_the_names_and_defaults_of_the_record() -> None:
    kinds = (Settings, Reading, Points, Ways, Asked)
    known = {entry.name: entry.default for kind in kinds for entry, _ in options_in(kind)}
    taken = inspect.signature(lt.synthesize).parameters
    assert set(taken) == (set(known) - ELSEWHERE) | {"real", "options"}
    for name, parameter in taken.items():
        if name not in ("real", "options", "epsilon"):
            assert parameter.default == known[name], name


def test_the_help_names_every_method_of_the_package() -> None:
    words = inspect.getsource(Settings)
    assert all(name in words for name in names() if method(name))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"count": -1}, "count must be at least 0, got -1"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"seed": "x"}, "seed must be a whole number, got 'x'"),
        ({"pilot": 1.0}, "pilot must be between 0 and 1, got 1.0"),
        ({"unit": "car"}, "unit must be user or trip, got 'car'"),
        ({"simulation": "none"}, "simulation must be counts or devices, got 'none'"),
        ({"time": "always"}, "time must be auto or off, got 'always'"),
        ({"outside": "keep"}, "outside must be cut or drop or clamp, got 'keep'"),
        ({"grid": 1}, "from 2 to"),
        ({"spacing": -1.0}, "spacing must be a positive number, got -1.0"),
        ({"library": 0}, "library must be at least 1, got 0"),
        ({"placement": "middle"}, "placement must be uniform or neighbours, got 'middle'"),
        ({"method": "paper", "week": True}, "method paper has no option 'week'"),
        ({"method": "paper", "pilot": 0.1}, "method paper has nothing to choose by a pilot"),
        ({"method": "paper", "options": {"alpha": "much"}}, "alpha must be a number, got 'much'"),
        ({"bounds": None}, "give the public bounds"),
    ],
)
def test_what_cannot_be(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Settings.of(1.0, **{"bounds": BOX} | wrong)


def test_a_default_of_another_method_is_not_given() -> None:
    paper = Settings.of(1.0, bounds=BOX, method="paper", week=False, off_streets="auto", spacing=None)
    assert vars(paper.options)["quantile"] == 0.9
    assert paper.ways == Ways()
    assert Settings.of(1.0, bounds=BOX, week=True, x="lon").options == Options(week=True)


def test_facts_have_what_was_set() -> None:
    given = Settings.of(0.5, bounds=BOX, grid=7, week=True, mean_trip=20.0, roads="streets")
    facts = given.facts(100, BOX, "EPSG:25833", time=True, mean_trip=30.0)
    assert (facts.users, facts.grid, facts.week, facts.time, facts.for_map) == (100, 7, True, True, True)
    assert facts.mean_trip == 20.0
    assert Settings.of(1.0, bounds=BOX).facts(9, BOX, None, time=False, mean_trip=30.0).mean_trip == 30.0


def test_a_stream_has_the_same_common_options() -> None:
    common = {"grid"}
    for kind in (Settings, StreamSettings):
        assert common <= {entry.name for entry, _ in options_in(kind)}


def test_shuffled_reports_are_one_batch_of_all_devices() -> None:
    settings = Settings.of(1, bounds=BOX, shuffled=True, delta=1e-7)
    facts = settings.facts(10_000, BOX, None, time=False)
    plan = facts.plan()
    assert plan.shuffled is not None
    assert (plan.shuffled.batch, plan.shuffled.hidden) == (10_000, 9_000)
    assert (plan.shuffled.epsilon, float(plan.shuffled.delta)) == (1, 1e-7)
    assert plan.epsilon == facts.budget > 4
    assert plan.shuffled.operator == "a simulated shuffler"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"delta": 1e-8}, "delta belongs to shuffled reports"),
        ({"shuffled": True, "delta": 1e-3}, "delta of one answer must be from"),
        ({"shuffled": True, "method": "paper"}, "sends no reports that can be shuffled"),
        ({"shuffled": True, "pilot": 0.1}, "shuffled reports have one round"),
    ],
)
def test_what_cannot_be_shuffled(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Settings.of(1, bounds=BOX, **given)
