from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ldptrace.core.area import Area
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.accounting import stated_lifetime
from ldptrace.curator.facts import Facts
from ldptrace.errors import DataWarning, InputError, PrivacyWarning
from ldptrace.io import read
from ldptrace.methods.public import Public
from ldptrace.streams.run import Streamed, notes_of, promise_of, stream
from ldptrace.streams.settings import PERIOD, SHOWN, Settings
from stream_kit import BOUNDS, lines

TICK = 30.0


def played(trips: Trajectories, step: float | None = 900.0, **changes: object) -> Streamed:
    """A stream on 3 x 3 cells; changes are those of the settings, or public, live, target."""
    asked: dict[str, object] = {"grid": 3, "seed": 1}
    if "method" not in changes:
        known = np.array([0.0, 1.0]) if trips.t is None or np.isnan(trips.t).all() else trips.t
        asked |= {"start": float(np.nanmin(known)), "end": float(np.nanmax(known))}
    other = {name: changes.pop(name) for name in ("public", "live", "target") if name in changes}
    settings = Settings(TICK, step, **(asked | changes))  # type: ignore[arg-type]
    return stream(trips, 2.0, bounds=BOUNDS, settings=settings, **other)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_hidden_trips_are_on_the_clock_of_the_input(rng: np.random.Generator) -> None:
    trips = lines(3000, rng)
    assert trips.t is not None
    told: list[str] = []
    found = played(trips, live=told.append)
    made = found.trajectories
    assert made.t is not None
    assert trips.t.min() <= made.t.min()
    assert made.t.max() <= trips.t.max()
    assert (np.diff(made.t)[np.diff(np.repeat(np.arange(len(made)), made.sizes)) == 0] > 0).all()
    assert len(found.steps) == int(np.ceil((trips.t.max() - trips.t.min()) / 900))
    # The first step knows nothing, and every device answers once.
    assert found.steps[0].reports == 0
    assert sum(step.reports for step in found.steps) < 3000
    ticks = [json.loads(line)["tick"] for line in told]
    assert ticks == list(range(len(ticks)))
    about = made.provenance
    assert about is not None
    assert about["leaks"] is None
    assert about["unit"] == "trip"
    assert any("epsilon holds for this answer" in note for note in about["notes"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_shown_warns_and_leaks(rng: np.random.Generator) -> None:
    with pytest.warns(PrivacyWarning, match="not eps-LDP: a report is sent when"):
        found = played(lines(1500, rng), step=1800.0, presence="shown")
    assert found.trajectories.provenance is not None
    assert "arrival shows" in found.trajectories.provenance["leaks"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_what_is_published_for_a_step_knows_nothing_of_what_comes_later(rng: np.random.Generator) -> None:
    """Another second half of the input leaves the first step's travellers as they are."""
    trips = lines(1000, rng)
    assert trips.t is not None
    begin = np.repeat(trips.t[trips.offsets[:-1]], trips.sizes)
    other = replace(trips, x=np.where(begin > 1500, 6000 - trips.x, trips.x))
    one, two = (played(each, step=1200.0).trajectories for each in (trips, other))
    assert one.t is not None
    assert two.t is not None
    early = [each.t[each.offsets[:-1]] < trips.t.min() + 1200 for each in (one, two)]
    assert one.take(early[0]).x.tolist() == two.take(early[1]).x.tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.geojson"])
def test_a_file_holds_what_memory_would(name: str, tmp_path: Path, rng: np.random.Generator) -> None:
    """Step by step where the format allows it; ids go on, and are those of the log."""
    trips, told = lines(600, rng), list[str]()
    whole = played(trips, step=1800.0, live=told.append)
    filed = played(trips, step=1800.0, target=tmp_path / name)
    assert len(filed.trajectories) == 0
    assert filed.count == len(whole.trajectories) == whole.count
    found = read(tmp_path / name)
    assert found.offsets.tolist() == whole.trajectories.offsets.tolist()
    assert np.allclose(found.x, whole.trajectories.x, atol=1e-3)
    assert found.provenance == whole.trajectories.provenance
    last = json.loads(told[-1])
    assert found.ids is not None
    assert set(last["trip"]) <= set(found.ids.tolist())
    for trip, x in zip(last["trip"], last["x"], strict=True):
        assert abs(found.x[found.offsets[trip + 1] - 1] - x) < 300.0


def test_a_trip_that_was_cut_has_one_device(rng: np.random.Generator) -> None:
    whole = lines(50, rng)
    pieces = Trajectories.concat([whole, whole]).take(np.arange(100).reshape(2, 50).T.ravel())
    cut = replace(pieces, trips=np.repeat(np.arange(50), 2))
    found = played(cut, step=None, method="retrasyn", options={"window": 10})
    assert found.trajectories.provenance is not None
    assert found.trajectories.provenance["users"] == 50


def test_routes_that_are_the_input_are_refused(rng: np.random.Generator) -> None:
    trips = lines(50, rng)
    with pytest.raises(InputError, match="routes must be public"):
        played(trips, public=Public.of(routes=trips))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_trips_stay_in_a_public_area(rng: np.random.Generator) -> None:
    """The southern third of the map is water."""
    area = Area.of([[[(0, 2000), (6000, 2000), (6000, 6000), (0, 6000)]]])
    found = played(lines(400, rng), step=1800.0, public=Public.of(area))
    assert found.trajectories.y.min() >= 2000.0
    assert found.trajectories.provenance is not None
    assert any("area" in note for note in found.trajectories.provenance["notes"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_a_user_is_one_device(rng: np.random.Generator) -> None:
    trips = lines(600, rng)
    owned = replace(trips, extra=pa.table({"who": np.arange(600) % 100}), user="who")
    found = played(owned, step=1200.0, every=1800.0)
    assert found.trajectories.provenance is not None
    assert found.trajectories.provenance["unit"] == "user"
    assert found.trajectories.provenance["users"] == 100
    assert sum(step.reports for step in found.steps) <= 300


def test_another_method_of_the_same_face(rng: np.random.Generator) -> None:
    found = played(lines(200, rng), step=None, method="retrasyn", options={"window": 10})
    assert found.trajectories.provenance is not None
    assert "public" in found.trajectories.provenance["leaks"]
    assert found.steps == ()


def test_without_a_period_the_promise_names_the_leak(rng: np.random.Generator) -> None:
    with pytest.warns(
        PrivacyWarning, match="the beginning and the end of the stream were taken from the trips"
    ):
        found = played(lines(50, rng), start=None)
    assert found.trajectories.provenance is not None
    assert "--start" in found.trajectories.provenance["leaks"]
    with pytest.raises(
        InputError, match="a stream ends after it begins, and this one begins at 2 h and ends at 1 h"
    ):
        played(lines(50, rng), start="02:00", end="01:00")


@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_a_period_without_trips_is_noticed_and_one_answer_has_no_interval(rng: np.random.Generator) -> None:
    trips = lines(50, rng)
    assert trips.t is not None
    with pytest.warns(DataWarning, match="no trip is in the stream: they are from .* h to .* h"):
        found = played(trips, start=float(trips.t.max()) + 3600, end=float(trips.t.max()) + 7200)
    assert any("answers once, at a moment of its own" in said for said in found.notes)


def test_misuse_is_refused(rng: np.random.Generator) -> None:
    trips = lines(20, rng)
    assert trips.t is not None
    with pytest.raises(InputError, match="method lpd has no use for live"):
        played(trips, step=None, method="lpd", live=print)
    with pytest.raises(InputError, match="these have none"):
        played(replace(trips, t=None))
    with pytest.raises(InputError, match="these have none"):
        played(replace(trips, t=trips.t * np.nan), start=None)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_each_step_of_a_shuffled_stream_is_a_batch(rng: np.random.Generator) -> None:
    found = played(lines(2000, rng), shuffled=True)
    told = found.trajectories.provenance or {}
    assert told["trust"] == "shuffler"
    assert float(told["epsilon"]) == 2
    assert 2 < float(told["local_epsilon"]) <= 6
    # Fewer than answer in a step.
    assert 1 < told["batch"] <= 0.8 * max(step.reports for step in found.steps)
    assert not any("deletes" in note for note in told["notes"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_steps_of_too_few_reports_are_deleted_after_they_were_paid_for(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips = lines(120, rng)
    sizes = [step.reports for step in played(trips, step=300.0).steps[1:]]
    # One step at least has just as many as a batch.
    monkeypatch.setattr("ldptrace.streams.run.usual_batch", lambda answers: sorted(sizes)[len(sizes) // 2])
    shuffled = played(trips, step=300.0, shuffled=True)
    told = shuffled.trajectories.provenance or {}
    # The devices answer at the same moments, about ten in a step.
    kept = [step.reports for step in shuffled.steps[1:]]
    assert told["batch"] in kept
    assert kept == [size if size >= told["batch"] else 0 for size in sizes]
    assert 0 < kept.count(0) < len(kept)
    [said] = [note for note in told["notes"] if "deletes" in note]
    assert said.startswith(
        f"{kept.count(0)} of the {len(sizes)} steps before the last had fewer than {told['batch']} "
    )
    assert f"so {sum(sizes) - sum(kept)} of {sum(sizes)} answers were paid for" in said


def test_several_answers_to_a_shuffled_stream_cost_less_together_than_their_sum(
    rng: np.random.Generator,
) -> None:
    trips, settings = lines(9, rng), Settings(TICK)
    plan = Facts(20_000, "0.5", (0, 0, 1, 1), grid=2, shuffled=True).simulated().plan()
    said = notes_of(settings, trips, 600.0, 3_600.0, Public(), plan)[1]
    composed = stated_lifetime(18_000, float(plan.epsilon), 1e-8, 6)
    assert composed < 3
    assert f"All 6 answers of a device together cost at most epsilon {composed:g} with delta 6e-08" in said
    assert said.endswith(f"and epsilon {float(6 * plan.epsilon):g} if they do.")
    once = notes_of(settings, trips, 3_600.0, 3_600.0, Public(), plan)
    assert not any("together" in note for note in once)


def test_a_shuffled_stream_needs_a_batch_in_each_step(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="about 2 of 9 devices answer in a step of 900 s: give a longer"):
        played(lines(9, rng), shuffled=True)


def test_what_a_stream_cannot_shuffle() -> None:
    for wrong, says in (
        ({"delta": 1e-8}, "delta belongs"),
        ({"shuffled": True, "presence": "shown"}, "presence shown"),
    ):
        with pytest.raises(InputError, match=says):
            Settings(TICK, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "owned", "unit", "leak"),
    [
        (Settings(30.0, start=0, end=9e3), False, "trip", None),
        (Settings(30.0, start="00:00", end="02:30"), True, "user", None),
        (Settings(30.0, presence="shown", start=0, end=9e3), True, "trip", SHOWN),
        (Settings(30.0, end="02:30"), True, "user", PERIOD),
    ],
)
def test_the_promise_says_whose_it_is_and_what_weakens_it(
    settings: Settings, owned: bool, unit: str, leak: str | None, rng: np.random.Generator
) -> None:
    trips = lines(40, rng)
    if owned:
        trips = replace(trips, extra=pa.table({"who": np.arange(40) % 10}), user="who")
    notes = notes_of(settings, trips, 600.0, 3_601.0, Public())
    assert any("The unit is the trip" in note for note in notes) == (unit == "trip")
    assert any("once in 10 minutes" in note for note in notes) == (settings.presence == "hidden")
    # A window that has begun counts: 3,601 s have seven of ten minutes.
    assert any("at most 7 here" in note for note in notes) == (settings.presence == "hidden")
    about = promise_of(1.0, settings, trips, None, notes, 10)
    assert about["leaks"] == leak
    assert about["users"] == 10
    # Somebody holds these trips, and without a plan nothing is known of users.
    assert about["simulated"] is True
    assert about["adjacency"] == "the data of one trip replaced by other data"


def test_another_method_says_what_it_takes_as_public(rng: np.random.Generator) -> None:
    settings = Settings(30.0, method="retrasyn", seed=1)
    about = promise_of(1.0, settings, lines(10, rng), None, ["note"], 10)
    assert settings.other is not None
    assert about["leaks"] == settings.other.public
    assert about["unit"] == "trip"
    assert about["experiment"] is not None
