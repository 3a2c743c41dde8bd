from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError, PrivacyWarning
from ldptrace.streams import Settings, Streamed, stream
from stream_kit import BOUNDS, lines

TICK = 30.0


def played(trips: Trajectories, **changes: object) -> Streamed:
    options: dict[str, object] = {"settings": Settings(TICK, 900.0), "grid": 3, "seed": 1} | changes
    return stream(trips, 2.0, bounds=BOUNDS, **options)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.counted
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
    assert any("at most 1 here" in note for note in about["notes"])


@pytest.mark.slow
@pytest.mark.counted
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_shown_warns_and_leaks(rng: np.random.Generator) -> None:
    with pytest.warns(PrivacyWarning, match="presence shown is not eps-LDP"):
        found = played(lines(1500, rng), settings=Settings(TICK, 1800.0, presence="shown"))
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
    one, two = (played(each, settings=Settings(TICK, 1200.0)).trajectories for each in (trips, other))
    assert one.t is not None
    assert two.t is not None
    early = [each.t[each.offsets[:-1]] < trips.t.min() + 1200 for each in (one, two)]
    assert one.take(early[0]).x.tolist() == two.take(early[1]).x.tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_a_user_is_one_device(rng: np.random.Generator) -> None:
    trips = lines(600, rng)
    owned = replace(trips, extra=pa.table({"who": np.arange(600) % 100}), user="who")
    found = played(owned, settings=Settings(TICK, 1200.0, every=1800.0))
    assert found.trajectories.provenance is not None
    assert found.trajectories.provenance["unit"] == "user"
    assert sum(step.reports for step in found.steps) <= 300


def test_another_method_of_the_same_face(rng: np.random.Generator) -> None:
    found = played(lines(200, rng), method="retrasyn", window=10)
    assert found.trajectories.provenance is not None
    assert "public" in found.trajectories.provenance["leaks"]
    assert found.steps == ()


def test_misuse_is_refused(rng: np.random.Generator) -> None:
    trips = lines(20, rng)
    assert trips.t is not None
    with pytest.raises(InputError, match="methods lpa, lpd, retrasyn, single-report"):
        played(trips, method="magic")
    with pytest.raises(InputError, match="has no option 'window'"):
        played(trips, window=3)
    with pytest.raises(InputError, match="these have none"):
        played(replace(trips, t=None))
    with pytest.raises(InputError, match="these have none"):
        played(replace(trips, t=trips.t * np.nan))
    with pytest.raises(InputError, match="tick must be"):
        Settings(0.0)
    with pytest.raises(InputError, match="hidden or shown"):
        Settings(1.0, presence="seen")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="every does not apply"):
        Settings(1.0, every=10.0, presence="shown")
    assert Settings(2.0).seconds == 100.0
